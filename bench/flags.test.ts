// The flags of the benchmark: what they choose, and which mistakes they name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Misuse, readFlags } from './flags.ts';
import { groups } from './groups/index.ts';
import { fullScale, shortScale } from './scale.ts';

test('without flags everything is measured in full; --short takes the small sizes, and a number given with it holds', () => {
  const full = readFlags([])!;
  assert.deepEqual(full.scale, fullScale);
  assert.deepEqual(full.groups, groups);
  assert.deepEqual(readFlags(['--short'])!.scale, shortScale);
  const given = readFlags(['--short', '--rounds', '9', '--rows', '7', '--bars', '100000000'])!;
  assert.deepEqual(given.scale, { ...shortScale, rounds: 9, importRounds: 3, rows: 7, bars: 100_000_000 });
});

test('--only takes one group or several, in the order in which they are measured', () => {
  const names = (only: string) => readFlags(['--only', only])!.groups.map(({ name }) => name);
  assert.deepEqual(names('disk'), ['disk']);
  assert.deepEqual(names('disk,serve'), ['serve', 'disk']);
});

test('a mistake is named', () => {
  for (const [args, message] of [
    [['--only', 'serv'], /--only serv: must be one of .*serve/],
    [['--rounds', '0'], /--rounds 0: must be a whole number from 1/],
    [['--rows', '1e6'], /--rows 1e6/],
    [['--bars', '1000'], /--bars 1000: must be a whole number from 1000000/],
    [['--what'], /--what/],
  ] as const)
    assert.throws(
      () => readFlags(args),
      (error) => error instanceof Misuse && message.test(error.message),
    );
  assert.equal(readFlags(['--help']), null);
});
