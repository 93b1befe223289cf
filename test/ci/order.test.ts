// The order of rows and files, in short: `npm run order` for more.
import { test } from 'node:test';
import { checkOrder } from '../reliability/order.ts';
import { seed } from '../seed.ts';

test(`rows and files in any order, once or twice, are one content (seed ${seed}, contract 11)`, async (t) => {
  for (const [what, value] of await checkOrder({ symbols: 150, minutes: 50, seed })) {
    t.diagnostic(`${what}: ${value}`);
  }
});
