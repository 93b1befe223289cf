// The checks of reliability at any size: `npm run crash -- --times 200`. Prints what was measured, and
// exits with 1 where a target is missed.
import { parseArgs } from 'node:util';
import { checkAreaReaders } from './area-readers.ts';
import { checkCrashes } from './crashes.ts';
import { checkCrowd } from './crowd.ts';
import { checkFlips } from './flips.ts';
import { checkHolds } from './holds.ts';
import type { Figure } from './minutes.ts';
import { checkOrder } from './order.ts';
import { checkReaders } from './readers.ts';
import { checkRoom } from './room.ts';
import { checkShare } from './share.ts';
import { checkSoak } from './soak.ts';

/** Settings of one check with what they are when not given. */
type Settings = Record<string, number | string>;

const checks: Readonly<
  Record<string, { readonly settings: Settings; run(given: never): Promise<Figure[]> }>
> = {
  order: { settings: { symbols: 10_000, minutes: 100, seed: 1 }, run: checkOrder },
  crash: {
    settings: { times: 200, symbols: 400, minutes: 400, seed: 1, repairEvery: 1 },
    run: checkCrashes,
  },
  readers: {
    settings: { days: 40, symbols: 10_000, minutes: 1_000, rounds: 12 },
    run: async (given: Parameters<typeof checkReaders>[0] & Parameters<typeof checkAreaReaders>[0]) => [
      ...(await checkReaders(given)),
      ...(await checkAreaReaders(given)),
    ],
  },
  flips: {
    settings: { times: 1_000, seed: 1, pageBytes: 1_024, in: '', first: 0, share: 1 },
    run: checkFlips,
  },
  crowd: { settings: { callers: 1_000, seconds: 25 }, run: checkCrowd },
  share: { settings: { connections: 100, seconds: 5 }, run: checkShare },
  hold: { settings: { times: 20 }, run: checkHolds },
  soak: { settings: { minutes: 60, importSeconds: 60, furtherBars: 0 }, run: checkSoak },
  room: { settings: { rows: 2_000_000 }, run: ({ rows }: { rows: number }) => checkRoom(rows) },
};

const [name = '', ...args] = process.argv.slice(2);
const check = checks[name];
if (check === undefined) throw new Error(`name a check: ${Object.keys(checks).join(', ')}`);
const names = Object.keys(check.settings);
const options = Object.fromEntries(names.map((one) => [one, { type: 'string' as const }]));
const { values } = parseArgs({ args, options });
const given = { ...check.settings };
for (const [one, text = ''] of Object.entries(values) as [string, string | undefined][])
  given[one] = typeof given[one] === 'number' ? Number(text) : text;
process.stderr.write(`${name} ${JSON.stringify(given)}\n`);
const figures = await check.run(given as never);
for (const [what, value] of figures) process.stdout.write(`${what}: ${value}\n`);
for (const [what, value, target] of figures) {
  if (target === undefined) continue;
  process.stderr.write(`missed: ${what}: ${value}; the target is ${target}\n`);
  process.exitCode = 1;
}
