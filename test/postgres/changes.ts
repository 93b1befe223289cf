// Changes of a store for comparing engines: imports, corrections, deletions and undos, by chance and the same
// for the same chance.

import { importFile } from '../../src/imports/load/importers.ts';
import { deleteBars } from '../../src/runs/delete-bars.ts';
import { deleteRows } from '../../src/runs/delete-rows.ts';
import { newestRuns, undoRun } from '../../src/runs/undo-run.ts';
import { fileDatasetNamed } from '../../src/store/schema/index.ts';
import type { Store } from '../../src/store/store.ts';
import { NOW_MS } from '../fuzz/in-process.ts';
import type { Random } from '../fuzz/random.ts';
import { fillings } from '../fuzz/store.ts';
import { type FileRow, type Filling, opened, rowsFile } from '../importing.ts';

/** A change of a store; it gives a report. */
export type Change = (store: Store, folder: string) => Promise<unknown>;

/** Undone are the newest runs. */
const RUNS = 12;

const about = { dryRun: false, nowMs: () => NOW_MS };

const stock = { asset_schema: 'stock', country_iso_code: 'US' };

/** Prices that a store of fewer digits would round. */
const prices = [0.1, 0.30000000000000004, 1 / 3, 2.675, 123_456_789.123_456_7, 1e9 / 7];

/** Minutes that overlap with those of the fuzzer's data, begin inside a session, and go on behind it. */
const overlapping: readonly FileRow[] = ['03', '04', '05', '06'].flatMap((day, at) =>
  Array.from({ length: 40 }, (_, minute) => {
    const datetime = new Date(Date.parse(`2025-03-${day}T15:10:00Z`) + minute * (at + 1) * 60_000);
    const price = prices[(minute + at) % prices.length]!;
    return {
      ...{
        ...stock,
        symbol: at % 2 === 0 ? 'AAPL' : 'NOBARS',
        interval: '1M',
        datetime: datetime.toISOString(),
      },
      ...{ open: price, high: price, low: price, close: price, volume: minute * 1_000_003 },
    };
  }),
);

/** Names whose order, letter case and accents collations see differently. */
const named: readonly FileRow[] = [
  'a',
  'B',
  'b',
  'Z',
  'é',
  'e',
  'ß',
  'ss',
  'Ärger',
  '_',
  '~',
  '10',
  '9',
  ' x',
  '\u{1f4c8}',
  '\uffee',
].flatMap((name, at) =>
  Array.from({ length: 8 }, (_, copy) => ({
    ...{ ...stock, symbol: `${'~_^.$-AZ'[copy]}N${at}`, name: `${name} company ${copy % 3}` },
    ...{ industry: copy === 0 ? null : name, tick_size: prices[copy % 3] },
  })),
);

/** Symbols of another time, and dates of trading. */
const renamed: readonly FileRow[] = [
  { ...stock, symbol: 'AAPL', former_symbols: 'OLDCO:2024-01-01..2025-03-04' },
  { ...stock, symbol: 'AAPL', former_symbols: 'OLDCO:2024-01-01..2025-03-05 OLDER:2023-01-01..2023-12-31' },
  {
    ...stock,
    symbol: 'NOBARS',
    former_symbols: 'OLDCO:2025-03-06..2025-03-31',
    delisting_date: '2025-04-30',
  },
];

/** Calendar overrides of the market that has bars. */
const overrides: readonly FileRow[] = ['03', '04', '05', '06'].flatMap((day, at) =>
  ['*', 'AAPL'].map((symbol, of) => ({
    ...{ name: `Day ${day}`, holiday_code: `HOLIDAY_OWN_${at}`, calendar_date: `2025-03-${day}` },
    ...{ asset_name: 'stock', country_iso_code: 'US', symbol, priority: 10 * at + of },
    session_template: (at + of) % 2 === 0 ? 'CLOSED' : 'REGULAR',
  })),
);

/** What imports take rows from. */
const files: readonly Filling[] = [
  ...fillings,
  ['bars', overlapping],
  ['bars', overlapping],
  ['instruments', named],
  ['instruments', renamed],
  ['holidays', overrides],
];

/** An import of some rows, in any order and some of them changed: a correction, or the same again. */
function importOf(random: Random): Change {
  const [dataset, rows] = random.pick(files);
  const chosen = rows.filter(() => random.chance(0.3));
  const some = random.shuffle((chosen.length > 0 ? chosen : rows).map((row) => changed(random, row)));
  return importRows(dataset, some);
}

const importRows =
  (dataset: string, rows: readonly FileRow[]): Change =>
  async (store, folder) => {
    const file = await opened(rowsFile(`${folder}/${dataset}.ndjson`, rows));
    const how = { flags: new Map<string, string>(), zone: null, basis: 'raw', source: null } as const;
    const report = await importFile(store, dataset, { file, ...how, ...about });
    await file.close();
    // Its name has the time.
    return { ...report, rejectedFile: report.rejectedFile !== null };
  };

/** Columns that a correction changes, and by what. */
const corrections: Readonly<Record<string, (random: Random) => unknown>> = {
  close: (random) => random.pick([1, 1.5, 2, 3]),
  volume: (random) => random.below(1_000),
  name: (random) => `Name ${random.below(5)}`,
  text_content: (random) => random.pick([null, 'Told again', '"']),
  cash_amount: (random) => random.below(100) / 8,
  status: (random) => random.pick(['active', 'inactive']),
  actual_value: (random) => random.pick([null, 0, -1.5, 12]),
  description: (random) => `What ${random.below(5)}`,
  priority: (random) => random.below(90) + 1,
  session_template: (random) => random.pick(['CLOSED', 'REGULAR']),
};

function changed(random: Random, row: FileRow): FileRow {
  const columns = Object.keys(corrections).filter((column) => row[column] != null);
  if (columns.length === 0 || random.chance(0.4)) return row;
  const column = random.pick(columns);
  return { ...row, [column]: corrections[column]!(random) };
}

/** A deletion of the rows of some dataset, or of bars of an instrument. */
function deletionOf(random: Random): Change {
  const [dataset, rows] = random.pick(files);
  const row = random.pick(rows) as Readonly<Record<string, string>>;
  if (dataset === 'bars' || dataset === 'instruments') {
    const whose = { assetSchema: null, country: row.country_iso_code!, symbol: row.symbol! };
    const range = { interval: null, from: null, to: null };
    return (store) => deleteBars(store, { ...whose, ...range, ...about, words: 'bars' });
  }
  const choices: readonly Readonly<Record<string, string | undefined>>[] = [
    { '--country': row.country_iso_code, '--symbol': row.symbol },
    { '--country': row.country_iso_code, '--event-code': row.event_code },
  ];
  const flags = Object.fromEntries(
    Object.entries(random.pick(choices)).filter((entry): entry is [string, string] => entry[1] != null),
  );
  const request = { flags, dataset: fileDatasetNamed(dataset)!, ...about, words: 'rows' };
  return (store) => deleteRows(store, request);
}

/** An undo of one of the newest runs, undone already or not. */
function undoOf(random: Random): Change {
  const place = random.below(RUNS);
  return async (store) => {
    const runs = await store.snapshot((reader) => newestRuns(reader, RUNS));
    return undoRun(store, { runId: runs[place % runs.length]!.run_id, ...about });
  };
}

/** Some change. */
export const changeOf = (random: Random): Change =>
  random.chance(0.5) ? importOf(random) : random.chance(0.5) ? undoOf(random) : deletionOf(random);

/** Changes that every comparison begins with: each kind once. */
export const firstChanges: readonly Change[] = [
  importRows('instruments', named),
  importRows('instruments', renamed.slice(1)),
  importRows('bars', overlapping.toReversed()),
  importRows('holidays', overrides),
];
