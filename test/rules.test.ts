// Each rule is held by a test that cites it, and what is cited is a rule.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citations, citedIn, rules, rulesOf } from './rules.ts';

test('every rule of the specification and the contract is cited by a test, and nothing else is', () => {
  const cited = citations();
  const known = rules();
  assert.ok(known.length > 80);
  assert.deepEqual(
    known.filter((rule) => !cited.has(rule)),
    [],
  );
  const chapters = new Set(known.map((rule) => rule.split('.')[0]!));
  assert.deepEqual(
    [...cited.keys()].filter((rule) => !known.includes(rule) && !chapters.has(rule)),
    [],
  );
});

test('citations are read in every form that is written', () => {
  assert.deepEqual(citedIn('it holds (contract 4.1, 4.2 and 6.3)'), [
    'contract 4.1',
    'contract 4.2',
    'contract 6.3',
  ]);
  assert.deepEqual(citedIn('(spec 4.6 rules 1 and 2, contract 8.4)'), [
    'spec 4.6',
    'spec 4.6 rule 1',
    'spec 4.6 rule 2',
    'contract 8.4',
  ]);
  assert.deepEqual(rulesOf('- **4.2** A rule. **spec 4.6 rule 1** One.'), [
    'contract 4.2',
    'spec 4.6 rule 1',
  ]);
});
