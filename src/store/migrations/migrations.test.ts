// The steps end in the declared datasets: a declaration that changes needs a step.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dataset } from '../schema/dataset.ts';
import { dataDatasets } from '../schema/index.ts';
import { controlDatasets } from '../schema/internal.ts';
import {
  controlHistory,
  type History,
  layoutRefusal,
  newestLayout,
  stepsFrom,
  storeHistory,
} from './index.ts';
import { columnsAdded, type Step, type Table, tablesAfter } from './step.ts';

/** What an engine makes a table of: nothing else of a declaration is part of its layout. */
const layoutOf = ({ columns, key, indexes = [], group = [], keptAsTheyCome }: Table) => ({
  columns: Object.fromEntries(
    Object.entries(columns).map(([name, { kind, nullable = false }]) => [name, { kind, nullable }]),
  ),
  key,
  indexes,
  group,
  isKeptAsTheyCome: keptAsTheyCome === true,
});

/** Holds the tables that steps make to those that are declared. */
function assertEndsAt(steps: readonly Step[], datasets: readonly Dataset[]): void {
  const made = new Map(tablesAfter(steps).map((table) => [table.name, table]));
  for (const dataset of datasets) {
    const table = made.get(dataset.name);
    const cure = 'add a frozen migration step in src/store/migrations that adds';
    assert.ok(table !== undefined, `no step makes the dataset ${dataset.name}: ${cure} its table`);
    const columns = Object.keys(dataset.columns).filter((name) => !Object.hasOwn(table.columns, name));
    const lacking = columns.join(', ');
    assert.equal(lacking, '', `no step makes ${lacking} of ${dataset.name}: ${cure} ${lacking}`);
    assert.deepEqual(
      layoutOf(table),
      layoutOf(dataset),
      `the steps in src/store/migrations make another table ${dataset.name} than src/store/schema declares: add a frozen step`,
    );
  }
  const declared = datasets.map(({ name }) => name).sort();
  assert.deepEqual([...made.keys()].sort(), declared, 'the steps make tables that are not declared');
}

test('the steps of a store end in the declared datasets', () =>
  assertEndsAt(storeHistory.steps, dataDatasets));

test('the steps of a control file end in the declared datasets', () =>
  assertEndsAt(controlHistory.steps, controlDatasets));

const toy: Dataset = { name: 'toys', columns: { id: { kind: 'text' } }, key: ['id'] };
const toyStep: Step = { tables: [{ name: 'toys', columns: { id: 'text' }, key: ['id'] }] };

test('a declaration without its step is named, with what to add', () => {
  const color = { kind: 'text', nullable: true } as const;
  const wider = { ...toy, columns: { ...toy.columns, color } };
  assertEndsAt([toyStep], [toy]);
  assert.throws(() => assertEndsAt([], [toy]), /no step makes the dataset toys: add a frozen migration step/);
  assert.throws(
    () => assertEndsAt([toyStep], [wider]),
    /no step makes color of toys: add a frozen migration step in src\/store\/migrations that adds color/,
  );
  assertEndsAt([toyStep, { columns: { toys: { color: 'text null' } } }], [wider]);
});

test('other kinds, keys, indexes and clustering than declared are reported', () => {
  const others: readonly Partial<Dataset>[] = [
    { columns: { id: { kind: 'integer' } } },
    { columns: { id: { kind: 'text', nullable: true } } },
    { key: ['id', 'id'] },
    { indexes: [['id']] },
    { group: ['id'] },
    { keptAsTheyCome: true },
  ];
  for (const other of others)
    assert.throws(
      () => assertEndsAt([toyStep], [{ ...toy, ...other }]),
      /another table toys/,
      JSON.stringify(other),
    );
});

test('a step groups the rows of a table that was there', () =>
  assertEndsAt([toyStep, { groups: { toys: ['id'] } }], [{ ...toy, group: ['id'] }]));

test('columns that steps add are known by table; those of a new table are not among them', () => {
  const steps: Step[] = [
    toyStep,
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
  const [first, brought, second]: Step[] = [toyStep, { drops: ['games'] }, { drops: ['toys'] }];
  const history: History = { first: 7, steps: [first!, second!], before: new Map([[6, [brought!]]]) };
  assert.equal(newestLayout(history), 8);
  assert.deepEqual(stepsFrom(history, 0), [first, second]);
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
