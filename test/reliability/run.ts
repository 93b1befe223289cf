// The checks of reliability at any size: `npm run crash -- --times 200`. Prints what was measured.
import { parseArgs } from 'node:util';
import { checkAreaReaders } from './area-readers.ts';
import { checkCrashes } from './crashes.ts';
import { checkCrowd } from './crowd.ts';
import type { Figure } from './minutes.ts';
import { checkOrder } from './order.ts';
import { checkReaders } from './readers.ts';
import { checkRoom } from './room.ts';

/** Numbers of one check with what they are when not given. */
type Numbers = Record<string, number>;

const checks: Readonly<Record<string, { readonly numbers: Numbers; run(given: never): Promise<Figure[]> }>> =
  {
    order: { numbers: { symbols: 10_000, minutes: 100, seed: 1 }, run: checkOrder },
    crash: {
      numbers: { times: 200, symbols: 400, minutes: 400, seed: 1, repairEvery: 1 },
      run: checkCrashes,
    },
    readers: {
      numbers: { days: 40, symbols: 10_000, minutes: 1_000, rounds: 12 },
      run: async (given: Parameters<typeof checkReaders>[0] & Parameters<typeof checkAreaReaders>[0]) => [
        ...(await checkReaders(given)),
        ...(await checkAreaReaders(given)),
      ],
    },
    crowd: { numbers: { callers: 1_000, seconds: 25 }, run: checkCrowd },
    room: { numbers: { rows: 2_000_000 }, run: ({ rows }: { rows: number }) => checkRoom(rows) },
  };

const [name = '', ...args] = process.argv.slice(2);
const check = checks[name];
if (check === undefined) throw new Error(`name a check: ${Object.keys(checks).join(', ')}`);
const names = Object.keys(check.numbers);
const options = Object.fromEntries(names.map((number) => [number, { type: 'string' as const }]));
const { values } = parseArgs({ args, options });
const given = { ...check.numbers };
for (const [number, text] of Object.entries(values)) given[number] = Number(text);
process.stderr.write(`${name} ${JSON.stringify(given)}\n`);
for (const [what, value] of await check.run(given as never)) process.stdout.write(`${what}: ${value}\n`);
