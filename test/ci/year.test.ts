// Two weeks of the year (`npm run year` for all of it): a service and a watched folder under a false clock,
// held to a plain reading each morning.
import { test } from 'node:test';
import { seed } from '../seed.ts';
import { type Trouble, Year } from '../year/year.ts';

const troubles: Readonly<Record<number, Trouble>> = {
  5: 'undo',
  6: 'kill',
  7: 'full disk',
  8: 'cleaned folder',
};

test(`each morning of ten sessions all bars, coverage and findings are as the files say (seed ${seed}, contract 3.9, 9.9, 9.10)`, async (t) => {
  const year = new Year({
    ...{ seed, count: 10, upgrade: 2, troubleAt: (at) => troubles[at] ?? null, tell: console.log },
    turns: { delisted: 2, split: 3, renamed: 4, recorded: 5, reused: 6 },
  });
  await year.live();
  for (const [what, number] of year.tally) t.diagnostic(`${what}: ${number}`);
});
