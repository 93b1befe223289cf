// kill -9 in short: `npm run crash` for more.
import { test } from 'node:test';
import { checkCrashes } from '../reliability/crashes.ts';
import { seed } from '../seed.ts';

test(`a killed import leaves the store as before it or as after it, and can be run again (seed ${seed}, contract 11)`, async (t) => {
  const size = { times: 6, symbols: 120, minutes: 200, repairEvery: 4, seed };
  for (const [what, value] of await checkCrashes(size)) t.diagnostic(`${what}: ${value}`);
});
