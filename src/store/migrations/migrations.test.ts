// Layouts by their numbers, and what the steps between them add. That stores of older programs get the declared
// tables is tested on such stores (`store/sqlite/layout.test.ts`, `test/postgres/layouts.test.ts`).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type History, layoutRefusal, newestLayout, stepsFrom } from './index.ts';
import { columnsAdded, type Step, type Table } from './step.ts';

const toys: Table = { name: 'toys', columns: { id: { kind: 'text' } }, key: ['id'] };

test('columns that steps add are known by table; those of a new table are not among them', () => {
  const steps: Step[] = [
    { tables: [toys] },
    { columns: { toys: { color: 'text null' }, games: { age: 'integer null' } } },
    { columns: { toys: { size: 'real null' } } },
  ];
  assert.deepEqual(
    columnsAdded(steps),
    new Map([
      ['toys', new Set(['color', 'size'])],
      ['games', new Set(['age'])],
    ]),
  );
});

test('a layout has a number, and the steps that lead from it to the newest; others are refused in words', () => {
  const [brought, second]: Step[] = [{ drops: ['games'] }, { groups: { toys: ['id'] } }];
  const before = new Map([[6, [brought!]]]);
  const history: History = { tables: [toys], first: 7, steps: [second!], before };
  assert.equal(newestLayout(history), 8);
  assert.deepEqual(stepsFrom(history, 0), [{ tables: [toys] }]);
  assert.deepEqual(stepsFrom(history, 6), [brought, second]);
  assert.deepEqual(stepsFrom(history, 7), [second]);
  assert.deepEqual(stepsFrom(history, 8), []);
  for (const layout of [0, 6, 7, 8]) assert.equal(layoutRefusal(history, layout), null);
  assert.match(layoutRefusal(history, 9)!, /^was written by a newer Bourse \(layout 9, this one knows 8\)$/);
  for (const layout of [1, 5])
    assert.match(
      layoutRefusal(history, layout)!,
      new RegExp(`^has layout ${layout}, .* commit 0a54d0a brings it to layout 6, which this one reads$`),
    );
});
