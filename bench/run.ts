// `npm run bench`: the lines of the budget, measured on this machine (docs/performance.md).
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBars } from './bars.ts';
import { benchCalendar } from './calendar.ts';
import { benchDisk } from './disk.ts';
import { benchImport } from './import.ts';
import { describe, type Line } from './line.ts';
import { benchLists } from './lists.ts';
import { hasWrk, WRK_MISSING } from './load.ts';
import { benchServe } from './serve.ts';
import { type Options, tell, Workshop } from './workshop.ts';

const HELP = `npm run bench -- [options]
  --only bars|serve|lists|import|disk|calendar   these lines alone
  --rounds N                 rounds of a line, of which the median counts (default 5; imports at most 3)
  --seconds N                seconds of load a round (default 5)
  --rows N                   rows of the file ordered by symbol, five times those by time (default 10000000)
  --news N                   news items of the store that lists are taken from (default 200000; 10000000 take minutes and 8 GB)
  --json FILE                the lines as JSON
  --keep DIR                 keep generated files there for the next run
`;

const EXIT_USAGE = 2;

const parts: Readonly<Record<string, (options: Options) => Promise<Line[]>>> = {
  bars: benchBars,
  serve: benchServe,
  lists: benchLists,
  import: benchImport,
  disk: benchDisk,
  calendar: benchCalendar,
};

/** Ends the run for a mistake of its caller. */
function misused(message: string): never {
  tell(message);
  process.exit(EXIT_USAGE);
}

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  misused(`--${name} ${text}: must be a whole number from 1`);
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string' },
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '5' },
        rows: { type: 'string', default: '10000000' },
        news: { type: 'string', default: '200000' },
        json: { type: 'string' },
        keep: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    misused(`${(error as Error).message}\n\n${HELP}`);
  }
}

const flags = readFlags();
if (flags.help) {
  process.stdout.write(HELP);
  process.exit();
}
if (flags.only !== undefined && !Object.hasOwn(parts, flags.only))
  misused(`--only ${flags.only}: must be one of ${Object.keys(parts).join(', ')}`);
const names = flags.only === undefined ? Object.keys(parts) : [flags.only];
if (['bars', 'serve', 'lists'].some((part) => names.includes(part)) && !hasWrk()) misused(WRK_MISSING);

const numbers = {
  rounds: wholeNumber('rounds', flags.rounds),
  seconds: wholeNumber('seconds', flags.seconds),
  rows: wholeNumber('rows', flags.rows),
  news: wholeNumber('news', flags.news),
};
const workshop = new Workshop(flags.keep);
process.once('exit', () => workshop.close());

const lines: Line[] = [];
for (const name of names) lines.push(...(await parts[name]!({ ...numbers, workshop })));
process.stdout.write(describe(lines));
if (flags.json !== undefined) {
  const processors = cpus();
  const machine = { cpu: processors[0]?.model ?? '', cores: processors.length, node: process.version };
  writeFileSync(flags.json, `${JSON.stringify({ machine, ...numbers, lines }, null, 2)}\n`);
}
