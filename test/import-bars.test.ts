// Rows of bars files into a real store: what is taken, what is refused and why, and what is then stored
// (contract 2.5, 3.6, 3.10, 11).
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { PriceBasis } from '../src/contract/file-words.ts';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { type ColumnMapping, noMapping } from '../src/imports/map/column-mapping.ts';
import { FileProblem } from '../src/imports/read/file-problem.ts';
import { findZone } from '../src/market/calendar/zone.ts';
import { opened } from './importing.ts';
import { fc, times } from './seed.ts';
import { barsOf, type StoredBar } from './stored.ts';
import { contentOf, openToWrite, rowsOf, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const { folder } = temporary;
after(() => temporary.close());

type Given = {
  readonly flags?: Readonly<Record<string, string>>;
  readonly zone?: string;
  readonly basis?: PriceBasis;
  readonly map?: Partial<ColumnMapping>;
  readonly dryRun?: boolean;
};

const minutesOfA = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', interval: '1M' };

let stores = 0;

/** A store of its own, and imports into it. */
class Shelf {
  readonly #folder = join(folder, String(++stores));
  readonly url = temporary.storeUrl(String(stores));

  constructor() {
    mkdirSync(this.#folder);
  }

  async import(csv: string | readonly string[], given: Given = {}): Promise<ImportReport> {
    const { flags = minutesOfA, zone, basis = 'raw', map = {}, dryRun = false } = given;
    const file = join(this.#folder, 'file.csv');
    writeFileSync(file, typeof csv === 'string' ? csv : `${csv.join('\n')}\n`);
    const store = await openToWrite(this.url);
    try {
      return await importFile(store, 'bars', {
        file: { ...(await opened(file)), mapping: { ...noMapping, ...map } },
        flags: new Map(Object.entries(flags)),
        source: null,
        dryRun,
        nowMs: Date.now,
        zone: zone === undefined ? null : findZone(zone),
        basis,
      });
    } finally {
      await store.close();
    }
  }

  get bars(): Record<string, StoredBar[]> {
    return barsOf(this.url);
  }

  /** Keys of the one series that is there. */
  get keys(): string[] {
    return Object.values(this.bars)[0]!.map(([key]) => key);
  }

  rejected(): string {
    return readFileSync(join(this.#folder, 'file.rejected.csv'), 'utf8');
  }
}

const header = 'datetime,open,high,low,close,volume,vwap';
const values = '10,12,9,11,100,10.5';
const minute = (at: number, rest = values): string =>
  `${new Date(Date.UTC(2024, 0, 2, 14, 30) + at * 60_000).toISOString().slice(0, 16)}:00Z,${rest}`;

/** Rows that are refused: what they have behind the time, the column named, the reason. */
const refusedRows: readonly (readonly [what: string, row: string, column: string, reason: RegExp])[] = [
  ...[
    'abc',
    '"1,5"',
    'inf',
    '-Infinity',
    '1_000',
    '0x10',
    '1 0',
    '--1',
    '+-1',
    '+-0',
    '1.2.3',
    'true',
    '$10',
    '１０',
  ].flatMap(
    (cell) =>
      [
        [`the open ${cell}`, `@,${cell},12,9,11,100,10.5`, 'open', /not a number/],
        [`the volume ${cell}`, `@,10,12,9,11,${cell},10.5`, 'volume', /not a number/],
        [`the vwap ${cell}`, `@,10,12,9,11,100,${cell}`, 'vwap', /not a number/],
      ] as const,
  ),
  ...['nan', 'NaN', 'N/A', '-', 'null', 'None', ' '].map(
    (cell) => [`the open ${cell}`, `@,${cell},12,9,11,100,10.5`, 'open', /price is missing/] as const,
  ),
  ['no open', '@,,12,9,11,100,10.5', 'open', /missing/],
  ['an empty quoted close', '@,10,12,9,"",100,10.5', 'close', /missing/],
  ['a price beyond all doubles', '@,10,1e999,9,11,100,10.5', 'high', /finite/],
  ['a volume beyond all doubles', '@,10,12,9,11,1e999,10.5', 'volume', /finite/],
  ['a price of zero', '@,10,12,0,11,100,10.5', 'low', /positive/],
  ['a negative price', '@,-10,12,-10,11,100,10.5', 'open', /positive/],
  ['a high below the low', '@,10,8,9,9,100,10.5', 'high', /below/],
  ['a high below the open', '@,13,12,9,11,100,10.5', 'high', /below/],
  ['a low above the close', '@,10,12,9,8,100,10.5', 'low', /above/],
  ['a negative volume', '@,10,12,9,11,-1,10.5', 'volume', /negative/],
  ['no time', ',10,12,9,11,100,10.5', 'datetime', /missing|not a date/],
  ['an empty quoted time', '"",10,12,9,11,100,10.5', 'datetime', /missing|not a date/],
  ['a time that is none', 'yesterday,10,12,9,11,100,10.5', 'datetime', /not a date or a time/],
  ['a day that is none', '2024-02-30T14:30:00Z,10,12,9,11,100,10.5', 'datetime', /not a date or a time/],
  ['the hour 24', '2024-01-02T24:00:00Z,10,12,9,11,100,10.5', 'datetime', /not a date or a time/],
  ['a year before 1900', '1899-12-31T14:30:00Z,10,12,9,11,100,10.5', 'datetime', /1900 to 2200/],
  ['a date alone', '2024-01-02,10,12,9,11,100,10.5', 'datetime', /date without a time/],
  ['seconds', '2024-01-02T14:30:30Z,10,12,9,11,100,10.5', 'datetime', /whole minute/],
  ['milliseconds', '2024-01-02T14:30:00.001Z,10,12,9,11,100,10.5', 'datetime', /whole minute/],
  ['an epoch within a minute', '1704205801,10,12,9,11,100,10.5', 'datetime', /whole minute/],
  ['too few cells', '@,10,12,9', 'row', /fewer cells/],
  ['a time alone', '@', 'row', /fewer cells/],
  ['too many cells', '@,10,12,9,11,100,10.5,x', 'row', /more cells/],
];

test('every row that is refused is named with its column and reason, the others are stored (contract 11)', async () => {
  const shelf = new Shelf();
  const lines = refusedRows.flatMap(([, row], index) => [
    minute(2 * index),
    row.replace('@', minute(2 * index + 1, '').slice(0, -1)),
  ]);
  const report = await shelf.import([header, ...lines]);
  assert.equal(report.rowsRead, 2 * refusedRows.length);
  assert.equal(report.rowsRefused, refusedRows.length);
  assert.equal(report.rowsWritten, refusedRows.length);
  assert.equal(report.refused.length, 20);
  const [head, ...rejected] = shelf.rejected().split('\r\n').slice(0, -1);
  assert.equal(head, `${header},rejected_row,rejected_column,rejected_reason`);
  assert.equal(rejected.length, refusedRows.length);
  for (const [index, [what, , column, reason]] of refusedRows.entries()) {
    const cells = /,(\d+),(\w+),("(?:[^"]|"")*"|[^,"]*)$/.exec(rejected[index]!);
    assert.ok(cells !== null, rejected[index]);
    assert.equal(Number(cells[1]), 2 * index + 2, what);
    assert.equal(cells[2], column, what);
    assert.match(cells[3]!, reason, what);
  }
  assert.deepEqual(
    shelf.keys,
    refusedRows.map((_, index) => minute(2 * index).slice(0, 16)),
  );
});

test('a file with one refused row among thousands stores all others (contract 11)', async () => {
  // The last file is large enough for threads of its own.
  for (const [length, bad] of [
    [5_000, 0],
    [5_000, 2_048],
    [5_000, 4_999],
    [30_000, 29_999],
  ] as const) {
    const shelf = new Shelf();
    const lines = Array.from({ length }, (_, at) => minute(at, at === bad ? '10,12,9,x,100,10.5' : values));
    const report = await shelf.import([header, ...lines]);
    assert.deepEqual(report.refused, [
      { row: bad + 1, column: 'close', reason: 'is not a number', value: 'x' },
    ]);
    assert.deepEqual([report.rowsRead, report.rowsWritten, report.rowsRefused], [length, length - 1, 1]);
    assert.equal(Object.values(shelf.bars)[0]!.length, length - 1);
  }
});

test('a time behind thousands of refused rows is read for itself', async () => {
  const shelf = new Shelf();
  const bad = Array.from(
    { length: 2047 },
    (_, at) => `2023-06-01T10:${10 + (at % 50)}:00Z,x,12,9,11,100,10.5`,
  );
  // A second chunk that begins with a refused row, whose time is like the next one's but for the minutes.
  const lines = [
    minute(0),
    ...bad,
    '2024-05-06T14:30:00Z,x,12,9,11,100,10.5',
    `2024-05-06T14:45:00Z,${values}`,
  ];
  await shelf.import([header, ...lines]);
  assert.deepEqual(shelf.keys, ['2024-01-02T14:30', '2024-05-06T14:45']);
});

test('a row without a time is refused among rows of one epoch', async () => {
  const shelf = new Shelf();
  const flags = { asset_schema: 'stock', country_iso_code: 'US', interval: '1M' };
  const row = (time: string, symbol: string): string => `${time},${symbol},10,12,9,11`;
  const report = await shelf.import(
    [
      'datetime,symbol,open,high,low,close',
      row('1704205800', 'A'),
      row('', 'B'),
      row('1704205800', 'C'),
      row('1704205800', 'D'),
    ],
    { flags },
  );
  assert.equal(report.rowsRefused, 1);
  assert.deepEqual(Object.keys(shelf.bars), ['stock:US:A:1M', 'stock:US:C:1M', 'stock:US:D:1M']);
});

test('prices of futures may be zero and negative (contract 11)', async () => {
  const shelf = new Shelf();
  const flags = { ...minutesOfA, asset_schema: 'future', symbol: 'CLK20' };
  const report = await shelf.import(
    [header, minute(0, '0,0,-40.32,-37.63,5,'), minute(1, '-1,-2,-3,-2,5,')],
    { flags },
  );
  assert.deepEqual(
    report.refused.map(({ column }) => column),
    ['high'],
  );
  assert.deepEqual(shelf.bars, {
    'future:US:CLK20:1M': [['2024-01-02T14:30', 0, 0, -40.32, -37.63, 5, null]],
  });
});

test('a key twice with the same values is one bar, with other values the second is refused (contract 11)', async () => {
  const shelf = new Shelf();
  const report = await shelf.import([
    header,
    minute(0),
    minute(0),
    minute(1, '10,12,9,11,,'),
    minute(1, '10.0,12,9,11,,'),
    minute(0, '10,12,9,11,100,10.6'),
    minute(1, '10,12,9,11,0,'),
  ]);
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [
      [5, 'datetime'],
      [6, 'datetime'],
    ],
  );
  assert.match(report.refused[0]!.reason, /has this bar already, with other values/);
  assert.deepEqual([report.rowsWritten, report.rowsUnchanged], [2, 2]);
  assert.deepEqual(Object.values(shelf.bars)[0], [
    ['2024-01-02T14:30', 10, 12, 9, 11, 100, 10.5],
    ['2024-01-02T14:31', 10, 12, 9, 11, null, null],
  ]);
});

test('cells that name no series are refused by their column, and other rows of the file are stored', async () => {
  const shelf = new Shelf();
  const names: readonly (readonly [string, string, RegExp])[] = [
    ['stock,US,A,1M,XNAS', '', /^$/],
    ['bond,US,A,1M,XNAS', 'asset_schema', /stock, future/],
    [',US,A,1M,XNAS', 'asset_schema', /missing/],
    ['stock,USA,A,1M,XNAS', 'country_iso_code', /two-letter/],
    ['stock,,A,1M,XNAS', 'country_iso_code', /missing/],
    ['stock,US,A B,1M,XNAS', 'symbol', /1 to 40 characters/],
    [`stock,US,${'A'.repeat(41)},1M,XNAS`, 'symbol', /1 to 40 characters/],
    ['stock,US,é,1M,XNAS', 'symbol', /1 to 40 characters/],
    ['stock,US,,1M,XNAS', 'symbol', /missing/],
    ['stock,US,A,2H30,XNAS', 'interval', /1M, 3M/],
    ['stock,US,A,0M,XNAS', 'interval', /1M, 3M/],
    ['stock,US,A,1441M,XNAS', 'interval', /1M, 3M/],
    ['stock,US,A,,XNAS', 'interval', /missing/],
    ['stock,US,A,1M,THE NEW YORK STOCK EXCHANGE', 'exchange', /MIC/],
    ['STOCK,us,a,1m,xnas', '', /^$/],
    ['Stock,GB,VOD,1h,', '', /^$/],
  ];
  const lines = names.map(([cells], index) => `${cells},${minute(30 * index)}`);
  const report = await shelf.import(
    [`asset_schema,country_iso_code,symbol,interval,exchange,${header}`, ...lines],
    {
      flags: {},
    },
  );
  const expected = names.flatMap(([, column], index) => (column === '' ? [] : [[index + 1, column]]));
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    expected,
  );
  for (const { row, reason } of report.refused) assert.match(reason, names[row - 1]![2]);
  assert.deepEqual(
    Object.entries(shelf.bars).map(([name, bars]) => [name, bars.length]),
    [
      ['stock:UK:VOD:60M', 1],
      ['stock:US:A:1M', 2],
    ],
  );
});

test('a refused cell is named by the column of the file that a map gave', async () => {
  const shelf = new Shelf();
  const report = await shelf.import(
    ['when,open,high,low,last', '2024-01-02T14:30:00Z,10,12,9,x', '7 May,10,12,9,11'],
    {
      map: { columns: { datetime: 'when', close: 'last' } },
    },
  );
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [
      [1, 'last'],
      [2, 'when'],
    ],
  );
});

test('a value that a map gives for the whole file is every row’s, whatever its field', async () => {
  const shelf = new Shelf();
  await shelf
    .import(['datetime,open,high,low,close', '2024-01-02T14:30:00Z,10,12,9,11'], {
      flags: {},
      map: { values: { ...minutesOfA, volume: '0', vwap: '10' } },
    })
    .catch((error: unknown) =>
      assert.ok(error instanceof FileProblem && error.kind === 'usage', String(error)),
    );
  const stored = rowsOf(shelf.url, 'select count(*) as count from series')[0]!.count;
  if (stored === 1)
    assert.deepEqual(shelf.bars, { 'stock:US:A:1M': [['2024-01-02T14:30', 10, 12, 9, 11, 0, 10]] });
  const dated = new Shelf();
  await dated
    .import(['open,high,low,close', '10,12,9,11'], { map: { values: { datetime: '2024-01-02T14:30:00Z' } } })
    .catch((error: unknown) =>
      assert.ok(error instanceof FileProblem && error.kind === 'usage', String(error)),
    );
});

test('a file all of whose rows are refused changes nothing', async () => {
  const shelf = new Shelf();
  await shelf.import([header, minute(0)]);
  const before = contentOf(shelf.url);
  const report = await shelf.import(
    [`${header},symbol`, `${minute(1, '10,12,9,x,1,')},NEW`, `${minute(2, '10,1,9,9,1,')},A`],
    {
      flags: { asset_schema: 'stock', country_iso_code: 'US', interval: '1M' },
    },
  );
  assert.deepEqual([report.rowsRead, report.rowsWritten, report.rowsRefused, report.runId], [2, 0, 2, null]);
  assert.deepEqual(contentOf(shelf.url), before);
});

test('a dry run reads and checks everything, and stores nothing', async () => {
  const shelf = new Shelf();
  await shelf.import([header, minute(0)]);
  const before = contentOf(shelf.url);
  const report = await shelf.import([header, minute(0), minute(1), minute(2, '10,12,9,x,1,')], {
    dryRun: true,
  });
  assert.deepEqual(
    [report.rowsRead, report.rowsWritten, report.rowsUnchanged, report.rowsRefused],
    [3, 1, 1, 1],
  );
  assert.equal(report.runId, null);
  assert.deepEqual(contentOf(shelf.url), before);
});

/** What a file problem leaves: the store as it was. */
async function problemOf(
  shelf: Shelf,
  csv: readonly string[] | string,
  given: Given = {},
): Promise<FileProblem> {
  const before = contentOf(shelf.url);
  const error: unknown = await shelf.import(csv, given).then(
    (report) => report,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FileProblem, JSON.stringify(error));
  assert.deepEqual(contentOf(shelf.url), before);
  return error;
}

test('a quote that is not closed refuses the file wherever it stands, and the store is as before', async () => {
  const shelf = new Shelf();
  await shelf.import([header, minute(0)]);
  const lines = Array.from({ length: 3000 }, (_, at) => minute(at));
  for (const at of [0, 1500, 2999]) {
    const broken = lines.map((line, index) => (index === at ? `"${line}` : line));
    assert.equal((await problemOf(shelf, [header, ...broken])).kind, 'content');
    const noted = lines.map((line, index) => `${line},${index === at ? '"a note' : 'a note'}`);
    assert.equal((await problemOf(shelf, [`${header},note`, ...noted])).kind, 'content');
  }
  // Closed by nothing but the end of the file, in the last cell of the last row.
  assert.equal((await problemOf(shelf, `${header},note\n${minute(0)},"cut off`)).kind, 'content');
});

test('lines that end in different ways are read, or the file is refused with a reason that says so', async () => {
  const shelf = new Shelf();
  await shelf.import([header, minute(0)]);
  const csv = `${header}\r\n${minute(0)}\n${minute(1)}\r\n`;
  const report = await shelf.import(csv).catch((error: unknown) => error);
  if (report instanceof Error) {
    assert.ok(report instanceof FileProblem);
    assert.match(report.message, /line/);
    assert.doesNotMatch(report.message, /state machine|Invalid Input Error/);
  } else assert.equal((report as ImportReport).rowsRead, 2);
});

test('prices of another basis than the stored ones are refused, and the store is as before (contract 9.4)', async () => {
  const shelf = new Shelf();
  await shelf.import([header, minute(0)]);
  const flags = { asset_schema: 'stock', country_iso_code: 'US', interval: '1M' };
  const rows = [`${header},symbol`, `${minute(0)},NEW`, `${minute(1)},A`];
  const problem = await problemOf(shelf, rows, { flags, basis: 'split' });
  assert.equal(problem.kind, 'unfit');
  assert.match(problem.message, /1M bars of A .*basis.*--prices/);
  await shelf.import([header, minute(0)], { flags: { ...minutesOfA, interval: 'DAY' }, basis: 'all' });
  assert.deepEqual(
    rowsOf(shelf.url, 'select interval, prices from series order by interval').map((row) =>
      Object.values(row),
    ),
    [
      ['1M', 'raw'],
      ['DAY', 'all'],
    ],
  );
});

test('times without an offset need a zone: without one nothing is imported', async () => {
  const shelf = new Shelf();
  await shelf.import([header, minute(0)]);
  const problem = await problemOf(shelf, [header, minute(1), `2024-01-02 09:32:00,${values}`]);
  assert.equal(problem.kind, 'unfit');
  assert.match(problem.message, /no offset.*--zone/);
});

test('local times of a zone are stored as instants; a skipped hour is refused (contract 2.5)', async () => {
  const shelf = new Shelf();
  const at = (clock: string): string => `${clock}:00,${values}`;
  const report = await shelf.import(
    [
      header,
      at('2024-03-08 09:30'),
      at('2024-03-10T01:59'),
      at('2024-03-10T02:30'),
      at('2024-03-10T03:00'),
      at('2024-03-11 09:30'),
    ],
    {
      zone: 'America/New_York',
      flags: { ...minutesOfA, asset_schema: 'crypto', country_iso_code: 'GLOBAL' },
    },
  );
  assert.deepEqual(
    report.refused.map(({ row }) => row),
    [3],
  );
  assert.match(report.refused[0]!.reason, /America\/New_York skips/);
  assert.deepEqual(shelf.keys, [
    '2024-03-08T14:30',
    '2024-03-10T06:59',
    '2024-03-10T07:00',
    '2024-03-11T13:30',
  ]);
});

test('the minutes of a doubled hour are distinguished by the order of the file (contract 2.5)', async () => {
  const hour = 3_600_000;
  for (const [zone, doubledMs, offsets] of [
    ['America/New_York', Date.UTC(2024, 10, 3, 5), [-4, -5]],
    // Here the doubled hour begins with a day of UTC.
    ['Europe/London', Date.UTC(2024, 9, 27, 0), [1, 0]],
  ] as const) {
    const shelf = new Shelf();
    const instants = Array.from({ length: 240 }, (_, index) => doubledMs - hour + index * 60_000);
    const clockAt = (ms: number): string =>
      new Date(ms + (ms < doubledMs + hour ? offsets[0] : offsets[1]) * hour).toISOString().slice(0, 19);
    const flags = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD', interval: '1M' };
    const report = await shelf.import([header, ...instants.map((ms) => `${clockAt(ms)},${values}`)], {
      zone,
      flags,
    });
    assert.equal(report.rowsRefused, 0, zone);
    assert.deepEqual(
      shelf.keys,
      instants.map((ms) => new Date(ms).toISOString().slice(0, 16)),
      zone,
    );
  }
});

test('a doubled hour is resolved for each symbol of a mixed file', async () => {
  const shelf = new Shelf();
  const clocks = ['00:30', '01:00', '01:30', '01:00', '01:30', '02:00'];
  const rows = clocks.flatMap((clock) =>
    ['A', 'B'].map((symbol) => `2024-11-03T${clock}:00,${values},${symbol}`),
  );
  const flags = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', interval: '1M' };
  const report = await shelf.import([`${header},symbol`, ...rows], { zone: 'America/New_York', flags });
  assert.equal(report.rowsRefused, 0);
  const expected = ['04:30', '05:00', '05:30', '06:00', '06:30', '07:00'].map(
    (clock) => `2024-11-03T${clock}`,
  );
  for (const bars of Object.values(shelf.bars))
    assert.deepEqual(
      bars.map(([key]) => key),
      expected,
    );
});

const daily = 'datetime,open,high,low,close';
const row = (when: string, close = 11): string => `${when},10,12,9,${close}`;

/** A row of DAY, WEEK or MON, and the key that it is stored under. */
const labels: readonly (readonly [
  what: string,
  interval: string,
  when: string,
  key: string,
  market?: string,
])[] = [
  ['a date', 'DAY', '2024-01-02', '2024-01-02'],
  ['a midnight without an offset', 'DAY', '2024-01-02 00:00:00', '2024-01-02'],
  ['an instant in a regular session', 'DAY', '2024-01-02T14:30:00Z', '2024-01-02'],
  ['an epoch in a regular session', 'DAY', '1704205800', '2024-01-02'],
  ['an instant in a post-market of the next UTC date', 'DAY', '2024-01-03T00:30:00Z', '2024-01-02'],
  ['an instant between sessions', 'DAY', '2024-01-03T05:00:00Z', '2024-01-03'],
  ['an instant on a holiday', 'DAY', '2024-01-01T15:00:00Z', '2024-01-01'],
  ['an instant of the evening before', 'DAY', '2024-01-02T00:00:00-05:00', '2024-01-02'],
  ['a midnight of UTC', 'DAY', '2024-01-03T00:00:00Z', '2024-01-03'],
  ['a midnight of UTC to the millisecond', 'DAY', '2024-01-03 00:00:00.000+00:00', '2024-01-03'],
  ['a midnight far east of UTC', 'DAY', '2024-01-03 00:00:00+13:00', '2024-01-03'],
  ['a midnight far west of UTC', 'DAY', '2024-01-03T00:00:00-11:00', '2024-01-03'],
  ['an epoch of midnight in UTC', 'DAY', '1704240000', '2024-01-03'],
  ['an epoch of milliseconds of midnight in UTC', 'DAY', '1704240000000', '2024-01-03'],
  ['a midnight of UTC that is written as an evening', 'DAY', '2024-01-02T19:00:00-05:00', '2024-01-02'],
  ['a midnight of UTC on a Sunday of forex', 'DAY', '2024-01-07T00:00:00Z', '2024-01-07', 'forex:GLOBAL'],
  [
    'a midnight of a market that is not built in',
    'DAY',
    '2023-05-08 00:00:00+02:00',
    '2023-05-08',
    'stock:SE',
  ],
  ['a midnight of UTC on a Monday', 'WEEK', '2024-01-08T00:00:00Z', '2024-01-08'],
  ['a midnight of UTC on the first of a month', 'MON', '2024-02-01T00:00:00Z', '2024-02-01'],
  ['a date the calendar holds closed', 'DAY', '2024-01-06', '2024-01-06'],
  ['an instant of a futures evening', 'DAY', '2024-01-02T23:30:00Z', '2024-01-03', 'future:US'],
  ['an instant of a forex evening', 'DAY', '2024-01-02T22:30:00Z', '2024-01-03', 'forex:GLOBAL'],
  ['an instant of a crypto day', 'DAY', '2024-01-02T23:30:00Z', '2024-01-02', 'crypto:GLOBAL'],
  ['a Monday', 'WEEK', '2024-01-08', '2024-01-08'],
  ['a Friday', 'WEEK', '2024-01-12', '2024-01-08'],
  ['a Sunday', 'WEEK', '2024-01-14', '2024-01-08'],
  ['a Tuesday behind a holiday', 'WEEK', '2024-01-16', '2024-01-15'],
  ['an instant of a Friday evening', 'WEEK', '2024-01-13T00:30:00Z', '2024-01-08'],
  ['a week before 1970', 'WEEK', '1968-03-07', '1968-03-04'],
  ['the first of a month', 'MON', '2024-02-01', '2024-02-01'],
  ['the last of a month', 'MON', '2024-02-29', '2024-02-01'],
  ['an instant in a closing auction', 'DAY', '2024-06-06T15:35:00Z', '2024-06-06', 'stock:UK'],
  ['an instant in a month', 'MON', '2024-03-01T00:30:00Z', '2024-02-01'],
];

test('DAY, WEEK and MON rows are stored under their label, whatever date of the period they have (contract 3.6, 3.10)', async () => {
  const shelf = new Shelf();
  const market = (given = 'stock:US'): string[] => given.split(':');
  const lines = labels.map(([, interval, when, , given], index) =>
    [when, '10,12,9,11', ...market(given), `X${index}`, interval].join(),
  );
  const report = await shelf.import([`${daily},asset_schema,country_iso_code,symbol,interval`, ...lines], {
    flags: {},
  });
  assert.equal(report.rowsWritten, labels.length);
  const stored = shelf.bars;
  for (const [index, [what, interval, when, key, given]] of labels.entries()) {
    const bars = stored[[...market(given), `X${index}`, interval].join(':')];
    assert.deepEqual(bars, [[`${key}T00:00`, 10, 12, 9, 11, null, null]], `${what}: ${when}`);
  }
});

test('two dates of one week are one key: the same values once, other values refused (contract 3.6, 11)', async () => {
  const shelf = new Shelf();
  const report = await shelf.import(
    [daily, row('2024-01-08'), row('2024-01-12'), row('2024-01-10', 10), row('2024-01-15')],
    {
      flags: { ...minutesOfA, interval: 'WEEK' },
    },
  );
  assert.deepEqual(
    report.refused.map((refusal) => refusal.row),
    [3],
  );
  assert.deepEqual(shelf.keys, ['2024-01-08T00:00', '2024-01-15T00:00']);
});

test('hours by the clock are counted as off the grid, others are not (contract 3.10)', async () => {
  const flags = { ...minutesOfA, interval: '60M' };
  const hours = (minutes: string) =>
    Array.from({ length: 6 }, (_, hour) => `2024-01-02T${15 + hour}:${minutes}:00Z,${values}`);
  assert.equal((await new Shelf().import([header, ...hours('00')], { flags })).offGrid, 6);
  assert.equal((await new Shelf().import([header, ...hours('30').slice(0, 5)], { flags })).offGrid, 0);
  // A typhoon kept Hong Kong closed until half past one: hours from the usual open at one are still on the
  // grid.
  const late = ['06', '07'].map((hour) => `2020-08-19T${hour}:00:00Z,${values}`);
  const inHongKong = { flags: { ...flags, country_iso_code: 'HK' } };
  assert.equal((await new Shelf().import([header, ...late], inHongKong)).offGrid, 0);
});

test('an hour off the grid that begins before a session and reaches into it is not counted as outside (contract 3.10)', async () => {
  // Hong Kong trades from 09:30 to 12:00 and from 13:00 to 16:00: the hour of 12:00 is in the break.
  const clocks = ['09', '10', '11', '12', '13', '14', '15'];
  const rows = clocks.map((hour) => `2025-03-03T${hour}:00:00+08:00,${values}`);
  const shelf = new Shelf();
  const flags = { ...minutesOfA, country_iso_code: 'HK', interval: '60M' };
  for (const _ of [1, 2]) {
    const { offGrid, outsideSessions } = await shelf.import([header, ...rows], { flags });
    assert.deepEqual([offGrid, outsideSessions], [2, 1]);
  }
});

test('a DAY row of a Sunday that opens Monday is counted as merged, one of another closed date as a finding (contract 3.10)', async () => {
  const flags = { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'EURUSD', interval: 'DAY' };
  const dates = ['2024-06-07', '2024-06-08', '2024-06-09', '2024-06-10'];
  const shelf = new Shelf();
  const rows = dates.map((date) => `${date},${values}`);
  for (const _ of [1, 2]) {
    const { mergedDays, findings } = await shelf.import([header, ...rows], { flags });
    assert.equal(mergedDays, 1);
    assert.deepEqual(Object.values(findings), [1]);
    assert.match(Object.keys(findings)[0]!, /market is closed/);
  }
  assert.deepEqual(
    shelf.keys.map((key) => key.slice(0, 10)),
    dates,
  );
});

test('an auction that moves with an early close takes no series off the grid of other days (contract 3.10, 3.13)', async () => {
  // Sydney's auction of 2025-12-24 begins at 14:10: quarters of an hour go on from 14:00.
  const quarters = ['02:45', '03:00', '03:15'].map((time) => `2025-12-24T${time}:00Z,${values}`);
  const flags = { ...minutesOfA, country_iso_code: 'AU', interval: '15M' };
  const report = await new Shelf().import([header, ...quarters], { flags });
  assert.deepEqual([report.offGrid, report.outsideSessions], [0, 0]);
});

test('bars outside every session are kept and counted (contract 3.10)', async () => {
  const shelf = new Shelf();
  const report = await shelf.import([
    header,
    `2024-01-06T15:00:00Z,${values}`,
    `2024-01-02T03:00:00Z,${values}`,
    minute(0),
  ]);
  assert.deepEqual([report.rowsWritten, report.outsideSessions], [3, 2]);
  assert.equal(shelf.keys.length, 3);
});

test('a bar in a closing auction is inside its session, one after it is not (contract 3.13)', async () => {
  const flags = { ...minutesOfA, country_iso_code: 'UK' };
  const lines = ['15:35', '15:51', '15:52'].map((time) => `2024-06-06T${time}:00Z,${values}`);
  const report = await new Shelf().import([header, ...lines], { flags });
  assert.deepEqual([report.rowsWritten, report.outsideSessions], [3, 1]);
});

test('an instrument that a row names and the store does not know is created, its exchange filled (contract 11)', async () => {
  const shelf = new Shelf();
  const flags = { asset_schema: 'stock', country_iso_code: 'US', interval: '1M' };
  const exchanges = (): unknown[] =>
    rowsOf(shelf.url, 'select symbol, exchange from instruments order by symbol').map((found) =>
      Object.values(found),
    );
  const first = await shelf.import([`${header},symbol,exchange`, `${minute(0)},A,xnas`, `${minute(0)},B,`], {
    flags,
  });
  assert.equal(first.newInstruments, 2);
  assert.deepEqual(exchanges(), [
    ['A', 'XNAS'],
    ['B', null],
  ]);
  const second = await shelf.import([`${header},symbol,exchange`, `${minute(0)},A,`, `${minute(0)},B,XNYS`], {
    flags,
  });
  assert.equal(second.newInstruments, 0);
  assert.deepEqual(exchanges(), [
    ['A', 'XNAS'],
    ['B', 'XNYS'],
  ]);
  const third = await shelf.import([`${header},symbol,exchange`, `${minute(0)},C,`, `${minute(1)},C,ARCX`], {
    flags,
  });
  assert.equal(third.newInstruments, 1);
  assert.deepEqual(exchanges()[2], ['C', 'ARCX']);
  const ids = rowsOf(shelf.url, 'select instrument_id from instruments').map((found) => found.instrument_id);
  assert.equal(new Set(ids).size, 3);
});

test('a row that is refused makes no instrument: a header in the middle, a footer, a symbol of refused rows (contract 11)', async () => {
  const shelf = new Shelf();
  const flags = { asset_schema: 'stock', country_iso_code: 'US' };
  const bar = '2024-01-02T14:30:00Z,10,12,9,11,100';
  const report = await shelf.import(
    [
      'datetime,open,high,low,close,volume,symbol,interval',
      `${bar},A,1M`,
      'datetime,open,high,low,close,volume,symbol,1M',
      ',,,,,100,Total,1M',
      '2024-01-02T14:31:00Z,10,8,9,11,100,B,1M',
      `${bar},B,5M`,
      `${bar},B,1M`,
    ],
    { flags },
  );
  assert.deepEqual([report.rowsRefused, report.newInstruments], [3, 2]);
  const symbols = rowsOf(shelf.url, 'select symbol from instruments order by symbol');
  assert.deepEqual(
    symbols.map(({ symbol }) => symbol),
    ['A', 'B'],
  );
});

const forms: readonly (readonly [what: string, csv: string])[] = [
  ['CRLF', `${header}\r\n${minute(0)}\r\n${minute(1)}\r\n`],
  ['no last line break', `${header}\n${minute(0)}\n${minute(1)}`],
  ['CRLF and no last line break', `${header}\r\n${minute(0)}\r\n${minute(1)}`],
  ['a byte order mark', `\ufeff${header}\n${minute(0)}\n${minute(1)}\n`],
  ['empty lines', `${header}\n${minute(0)}\n\n${minute(1)}\n\n\n`],
  [
    'every cell quoted',
    [header, minute(0), minute(1)].map((line) => `"${line.replaceAll(',', '","')}"\n`).join(''),
  ],
  [
    'a quoted line break in another column',
    `${header},note\n${minute(0)},"one\ntwo"\n${minute(1)},"a ""b"", c"\n`,
  ],
  ['another column without a name', `${header},\n${minute(0)},\n${minute(1)},x\n`],
  ['another column that differs by case', `${header},Close\n${minute(0)},99\n${minute(1)},98\n`],
  [
    'columns in another order',
    `vwap,close,volume,low,datetime,high,open\n10.5,11,100,9,${minute(0, '12,10')}\n10.5,11,100,9,${minute(1, '12,10')}\n`,
  ],
  ['spaces around its column names', `${header.replaceAll(',', ' , ')}\n${minute(0)}\n${minute(1)}\n`],
];

for (const [what, csv] of forms) {
  test(`a file with ${what} is read like any other, with a refused row in it too`, async () => {
    const expected = [
      ['2024-01-02T14:30', 10, 12, 9, 11, 100, 10.5],
      ['2024-01-02T14:31', 10, 12, 9, 11, 100, 10.5],
    ];
    const shelf = new Shelf();
    const report = await shelf.import(csv);
    assert.deepEqual([report.rowsRead, report.rowsRefused], [2, 0]);
    assert.deepEqual(shelf.bars['stock:US:A:1M'], expected);
    const other = new Shelf();
    const broken = `${csv}${csv.endsWith('\n') ? '' : csv.includes('\r\n') ? '\r\n' : '\n'}x,y${csv.includes('\r\n') ? '\r\n' : '\n'}`;
    const second = await other.import(broken);
    assert.deepEqual([second.rowsRead, second.rowsRefused], [3, 1]);
    assert.deepEqual(other.bars['stock:US:A:1M'], expected);
  });
}

test('what is passed over is named once', async () => {
  const report = await new Shelf().import([`note,${header},Symbol`, `n,${minute(0)},B`]);
  assert.deepEqual(report.ignoredColumns, ['note', 'Symbol']);
});

test('the same file twice changes no bar, a corrected one replaces its own (contract 11)', async () => {
  const shelf = new Shelf();
  const lines = Array.from({ length: 3000 }, (_, at) => minute(at));
  const first = await shelf.import([header, ...lines]);
  assert.deepEqual([first.rowsWritten, first.rowsUnchanged], [3000, 0]);
  const stored = shelf.bars;
  const second = await shelf.import([header, ...lines]);
  assert.deepEqual([second.rowsWritten, second.rowsUnchanged], [0, 3000]);
  assert.deepEqual(shelf.bars, stored);
  const corrected = [minute(7, '10,12,9,11.5,100,10.5'), minute(8), minute(9, '10,12,9,11,,')];
  const third = await shelf.import([header, ...corrected]);
  assert.deepEqual([third.rowsWritten, third.rowsUnchanged], [2, 1]);
  const bars = shelf.bars['stock:US:A:1M']!;
  assert.equal(bars.length, 3000);
  assert.deepEqual(bars[7]!.slice(1), [10, 12, 9, 11.5, 100, 10.5]);
  assert.deepEqual(bars[9]!.slice(1), [10, 12, 9, 11, null, null]);
});

type Row = {
  readonly symbol: string;
  readonly interval: string;
  readonly at: number;
  readonly close: number;
};

const stepMs: Readonly<Record<string, number>> = {
  '1M': 60_000 * 700,
  '30M': 86_400_000 * 40,
  DAY: 86_400_000 * 400,
};
const keyOf = ({ symbol, interval, at }: Row): string => `${symbol}:${interval}:${at}`;
const timeOf = ({ interval, at }: Row): string => {
  const iso = new Date(Date.UTC(2020, 0, 1) + at * stepMs[interval]!).toISOString();
  return interval === 'DAY' ? iso.slice(0, 10) : `${iso.slice(0, 16)}:00Z`;
};

test('files in any order, one after the other, leave what a plain map of their rows leaves', async () => {
  const rowOf = fc.record({
    symbol: fc.constantFrom('AAA', 'BBB', 'A-SYMBOL-OF-MORE-THAN-TWELVE'),
    interval: fc.constantFrom('1M', '30M', 'DAY'),
    at: fc.integer({ min: 0, max: 9 }),
    close: fc.constantFrom(10, 11),
  });
  const file = fc.array(rowOf, { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 3 }), async (several) => {
      const shelf = new Shelf();
      const model = new Map<string, Row>();
      for (const rows of several) {
        const brought = new Map<string, Row>();
        let refused = 0;
        for (const each of rows) {
          const known = brought.get(keyOf(each));
          if (known === undefined) brought.set(keyOf(each), each);
          else if (known.close !== each.close) refused++;
        }
        let written = 0;
        for (const [key, each] of brought) {
          if (model.get(key)?.close !== each.close) written++;
          model.set(key, each);
        }
        const lines = rows.map(
          (each) => `${timeOf(each)},10,12,9,${each.close},${each.symbol},${each.interval}`,
        );
        const report = await shelf.import(['datetime,open,high,low,close,symbol,interval', ...lines], {
          flags: { asset_schema: 'crypto', country_iso_code: 'GLOBAL' },
        });
        assert.deepEqual(
          [report.rowsRead, report.rowsWritten, report.rowsUnchanged, report.rowsRefused],
          [rows.length, written, rows.length - written - refused, refused],
        );
      }
      const expected: Record<string, StoredBar[]> = {};
      for (const each of [...model.values()].sort((a, b) => a.at - b.at)) {
        const name = `crypto:GLOBAL:${each.symbol}:${each.interval}`;
        expected[name] ??= [];
        const time = timeOf(each);
        expected[name].push([
          time.length === 10 ? `${time}T00:00` : time.slice(0, 16),
          10,
          12,
          9,
          each.close,
          null,
          null,
        ]);
      }
      assert.deepEqual(shelf.bars, expected);
      const series = rowsOf(
        shelf.url,
        "select symbol || ':' || series.interval as name, first_ms, last_ms, bar_count from series join instruments using (instrument_id)",
      );
      for (const { name, first_ms: firstMs, last_ms: lastMs, bar_count: count } of series) {
        const bars = expected[`crypto:GLOBAL:${String(name)}`]!;
        const span = [bars[0]![0], bars[bars.length - 1]![0]].map((key) => Date.parse(`${key}:00Z`));
        assert.deepEqual([firstMs, lastMs, count], [...span, bars.length], String(name));
      }
    }),
    { numRuns: times(12) },
  );
});

test('each import is recorded with its counts and the hash of its file (contract 11)', async () => {
  const shelf = new Shelf();
  const report = await shelf.import([header, minute(0), minute(1, '10,12,9,x,1,')]);
  const [run] = rowsOf(shelf.url, 'select * from import_runs');
  assert.deepEqual(
    [run!.dataset, run!.file, run!.sha256, run!.rows_read, run!.rows_written, run!.rows_refused],
    ['bars', 'file.csv', report.sha256, 2, 1, 1],
  );
  assert.ok((run!.started_ms as number) <= (run!.finished_ms as number));
});

test('a row that is cut short in its optional cells is refused: its last price may be cut too (contract 11)', async () => {
  const shelf = new Shelf();
  const header = 'datetime,open,high,low,close,volume,vwap';
  const whole = '2024-01-02T14:30:00Z,105.1,106.2,10.5,105.9,100,105.5';
  const report = await shelf.import(`${header}\n${whole}\n2024-01-02T14:31:00Z,105.1,106.2,10.5,10.55`);
  assert.deepEqual([report.rowsWritten, report.rowsRefused], [1, 1]);
  assert.match(report.refused[0]!.reason, /fewer cells/);
});

test('findings are counted once a bar, however often its block is opened again (contract 3.10, 11)', async () => {
  const shelf = new Shelf();
  // Nights of two days by turns: each row closes the block of the other. Every vwap lies above its high.
  const night = 14 * 60;
  const rows = Array.from({ length: 12 }, (_, at) =>
    minute(night + Math.floor(at / 2) + (at % 2) * 1440, '10,12,9,11,100,12.5'),
  );
  for (const count of [12, 12]) {
    const report = await shelf.import([header, ...rows]);
    assert.deepEqual([report.outsideSessions, report.vwapOutside], [count, count]);
  }
});

test('a bar twice in a file is refused among older bars too, however often its block is opened again (contract 11)', async () => {
  const shelf = new Shelf();
  await shelf.import([header, ...[0, 3, 6, 1440, 1443, 1446].map((at) => minute(at))]);
  // Two days by turns, around and in place of the older bars.
  const places = [1, 1441, 2, 1442, 4, 1443, 3, 1444, 7, 1447];
  const other = '10,12,9,11.5,100,10.5';
  const report = await shelf.import([
    header,
    ...places.map((at) => minute(at, other)),
    ...places.map((at) => minute(at)),
    ...places.map((at) => minute(at, other)),
  ]);
  assert.deepEqual(
    report.refused.map(({ row }) => row),
    places.map((_, at) => places.length + at + 1),
  );
  assert.deepEqual([report.rowsWritten, report.rowsNew, report.rowsUnchanged], [10, 8, 10]);
  const closes = [11, 11.5, 11.5, 11.5, 11.5, 11, 11.5];
  assert.deepEqual(
    shelf.bars['stock:US:A:1M']!.map(([, , , , close]) => close),
    [...closes, 11, 11.5, 11.5, 11.5, 11.5, 11, 11.5],
  );
});

test('a last line without an end is reported: its last cell may have been cut off', async () => {
  const whole = [header, minute(0), minute(1)].join('\n');
  assert.equal((await new Shelf().import(whole)).mayBeCut, true);
  assert.equal((await new Shelf().import(`${whole}\n`)).mayBeCut, false);
  assert.equal((await new Shelf().import(`${whole.replaceAll('\n', '\r\n')}\r\n`)).mayBeCut, false);
});

test('a high that is below the close in its last bit is equal to it, and the bar is stored as it is (contract 3.12, 11)', async () => {
  const shelf = new Shelf();
  const prices = [183.45, 183.449_999_999_999_96, 180.1, 183.449_999_999_999_99];
  assert.ok(prices[1]! < prices[3]! && prices[1]! < prices[0]!);
  const rows = [`${minute(0, '')}${prices.join()},NaN,`, minute(1)];
  const report = await shelf.import([header, ...rows]);
  assert.deepEqual([report.rowsWritten, report.rowsRefused], [2, 0]);
  assert.deepEqual(Object.values(shelf.bars)[0]![0]!.slice(1), [...prices, null, null]);
});
