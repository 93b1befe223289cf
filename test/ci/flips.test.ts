// Flipped bits in short: `npm run flips` for more.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { describeFlip, type Flip, flipBits, isSilent } from '../reliability/flips.ts';
import { seed } from '../seed.ts';

/** Each flip is asked a part of everything. */
const check = { times: 24, seed, pageBytes: 1_024, in: '', first: 0, share: 6 };

const flips: Flip[] = [];
before(() => flipBits(check, (flip) => flips.push(flip)));

const described = (isMeant: (flip: Flip) => boolean): string[] => flips.filter(isMeant).map(describeFlip);

test(`the scrub finds every flipped bit that changes an answer, and none makes a request endless (seed ${seed}, house rules)`, (t) => {
  const changed = flips.filter(({ verdict }) => verdict !== 'none').length;
  t.diagnostic(`${changed} of ${flips.length} flips changed an answer`);
  assert.ok(changed > 0);
  assert.deepEqual(described(isSilent), []);
  assert.deepEqual(
    described(({ verdict }) => verdict === 'blowup' || verdict === 'hang'),
    [],
  );
});

test(`a flipped bit is never served (seed ${seed}, house rules)`, () => {
  assert.deepEqual(
    described(({ verdict }) => verdict === 'wrong'),
    [],
  );
});
