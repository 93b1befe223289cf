// Rows of instruments files into a real store: typed fields, partial updates, refusals (contract 11, spec
// 2.3).
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { FileProblem } from '../src/imports/read/file-problem.ts';
import { opened } from './importing.ts';
import { contentOf, openToWrite, rowsOf, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const { folder } = temporary;
after(() => temporary.close());

let stores = 0;

class Shelf {
  readonly folder = join(folder, String(++stores));
  readonly url = temporary.storeUrl(String(stores));

  constructor() {
    mkdirSync(this.folder);
  }

  async import(
    csv: string | readonly string[],
    flags: Readonly<Record<string, string>> = {},
  ): Promise<ImportReport> {
    const file = join(this.folder, 'file.csv');
    writeFileSync(file, typeof csv === 'string' ? csv : `${csv.join('\n')}\n`);
    const store = await openToWrite(this.url);
    try {
      const about = { file: await opened(file), source: null, dryRun: false, nowMs: Date.now };
      return await importFile(store, 'instruments', { ...about, flags: new Map(Object.entries(flags)) });
    } finally {
      await store.close();
    }
  }

  /** The fields of an instrument that are known, identifiers left out. */
  known(symbol: string): Record<string, unknown> {
    const [row] = rowsOf(this.url, `select * from instruments where symbol = '${symbol}'`);
    const { instrument_id: _, asset_id: __, row_check: ___, ...fields } = row!;
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  }
}

const names = 'asset_schema,country_iso_code,symbol';

test('every field is stored as its type has it (spec 2.3)', async () => {
  const shelf = new Shelf();
  const fields: readonly (readonly [field: string, cell: string, stored: unknown])[] = [
    ['name', '"Apple, ""Inc."""', 'Apple, "Inc."'],
    ['exchange', 'xnas', 'XNAS'],
    ['currency', 'USD', 'USD'],
    ['time_zone', 'America/New_York', 'America/New_York'],
    ['open_time', '09:30:00', '09:30:00'],
    ['close_time', '16:00:00', '16:00:00'],
    [
      'trading_hours',
      '"{""regular_trading"":[""09:30:00-16:00:00""]}"',
      '{"regular_trading":["09:30:00-16:00:00"]}',
    ],
    [
      'former_symbols',
      'fb:2012-05-18..2022-06-08 TFB:2012-01-01..2012-05-17',
      JSON.stringify([
        { symbol: 'FB', from_day: 15_478, to_day: 19_151 },
        { symbol: 'TFB', from_day: 15_340, to_day: 15_477 },
      ]),
    ],
    ['status', 'inactive', 'inactive'],
    ['support_dst', 'TRUE', 1],
    ['support_week_trading', 'no', 0],
    ['is_indices', '0', 0],
    ['daily_minute_count', '390', 390],
    ['contract_value', '1', '1'],
    ['description', 'é 中', 'é 中'],
    ['price_precision', '2', 2],
    ['min_initial_open_quantity', '0.001', 0.001],
    ['tick_size', '1e-2', 0.01],
    ['lot_size', '100', 100],
    ['listing_date', '1980-12-12', '1980-12-12'],
    ['delisting_date', '1980-12-12', '1980-12-12'],
    ['base_currency', 'BTC', 'BTC'],
  ];
  const report = await shelf.import([
    `${names},${fields.map(([field]) => field).join()}`,
    `Stock,us,aapl,${fields.map(([, cell]) => cell).join()}`,
  ]);
  assert.deepEqual(
    [report.rowsRead, report.rowsWritten, report.newInstruments, report.rowsRefused],
    [1, 1, 1, 0],
  );
  assert.deepEqual(shelf.known('AAPL'), {
    asset_schema: 'stock',
    country_iso_code: 'US',
    symbol: 'AAPL',
    ...Object.fromEntries(fields.map(([field, , stored]) => [field, stored])),
  });
});

const refused: readonly (readonly [field: string, cell: string, reason: RegExp])[] = [
  ['asset_schema', 'bond', /stock, future/],
  ['asset_schema', '', /missing/],
  ['country_iso_code', 'USA', /two-letter/],
  ['country_iso_code', '', /missing/],
  ['symbol', 'A B', /1 to 40 characters/],
  ['symbol', '', /missing/],
  ['time_zone', 'New York', /time zone/],
  ['open_time', '9:30', /HH:MM:SS/],
  ['close_time', '24:00:00', /HH:MM:SS/],
  ['status', 'gone', /active or inactive/],
  ['support_dst', 'perhaps', /boolean/],
  ['is_indices', '2', /boolean/],
  ['daily_minute_count', '6.5', /is not a whole number/],
  ['daily_minute_count', 'many', /is not a whole number/],
  ['price_precision', '0x2', /is not a whole number/],
  ['tick_size', '1,5', /real|number/],
  ['tick_size', '1e999', /real|number|finite/],
  ['lot_size', '1_000', /real|number/],
  ['listing_date', '1980-02-30', /date/],
  ['listing_date', '12/12/1980', /date/],
  ['delisting_date', '2018-06-31', /date/],
  ['trading_hours', '{regular}', /JSON/],
  ['trading_hours', '[]', /JSON/],
  ['trading_hours', '{""regular"":[]}', /regular_trading/],
  ['trading_hours', '{""regular_trading"":[""9:30-16:00""]}', /regular_trading/],
  ['trading_hours', '{""regular_trading"":""09:30:00-16:00:00""}', /regular_trading/],
  ['former_symbols', 'FB', /first and last day/],
  ['former_symbols', 'FB:2022-06-08..2012-05-18', /first and last day/],
  ['former_symbols', 'FB:2012-02-30..2022-06-08', /first and last day/],
  ['former_symbols', 'FB:2012-05-18..2022-06-08,X:2000-01-01..2001-01-01', /first and last day/],
];

test('a row with a value of another type is refused by its column, the others are stored', async () => {
  const shelf = new Shelf();
  const fields = [...new Set(refused.map(([field]) => field))];
  const rowOf = (index: number, given: Readonly<Record<string, string>>): string => {
    const cells: Record<string, string> = {
      asset_schema: 'stock',
      country_iso_code: 'US',
      symbol: `S${index}`,
      ...given,
    };
    return fields.map((field) => `"${cells[field] ?? ''}"`).join();
  };
  const lines = refused.flatMap(([field, cell], index) => [
    rowOf(2 * index, {}),
    rowOf(2 * index + 1, { [field]: cell }),
  ]);
  const report = await shelf.import([fields.join(), ...lines, `${rowOf(99, {})},surplus`]);
  const rejected = readFileSync(join(shelf.folder, 'file.rejected.csv'), 'utf8').split('\r\n').slice(1, -1);
  const rejectedRow = (row: string): string => /,(\d+),\w+,("[^"]*"|[^,"]*)$/.exec(row)![1]!;
  assert.deepEqual(
    rejected.map((row) => Number(rejectedRow(row))),
    [...refused.map((_, index) => 2 * index + 2), 2 * refused.length + 1],
  );
  for (const [index, [field, cell, reason]] of refused.entries()) {
    const told = rejected[index]!;
    assert.match(told, new RegExp(`,${2 * index + 2},${field},`), `${field} ${cell}`);
    assert.match(told.slice(told.lastIndexOf(`,${field},`)), reason);
  }
  assert.match(rejected.at(-1)!, /,row,.*more cells/);
  assert.deepEqual([report.rowsRefused, report.rowsWritten], [refused.length + 1, refused.length]);
});

test('a row changes the fields that it gives and keeps all others; the same row again changes nothing', async () => {
  const shelf = new Shelf();
  await shelf.import([
    `${names},name,currency,lot_size,trading_hours`,
    'stock,US,A,Agilent,USD,100,"{""regular_trading"":[]}"',
  ]);
  const [before] = rowsOf(shelf.url, 'select * from instruments');
  const report = await shelf.import([`${names},name,currency,tick_size`, 'stock,US,A,,EUR,0.01']);
  assert.deepEqual([report.rowsWritten, report.rowsUnchanged, report.newInstruments], [1, 0, 0]);
  const [changed] = rowsOf(shelf.url, 'select * from instruments');
  const { row_check } = changed!;
  assert.deepEqual({ ...changed }, { ...before, currency: 'EUR', tick_size: 0.01, row_check });
  const again = await shelf.import([
    `${names},name,currency,trading_hours`,
    'stock,US,A,Agilent,EUR,"{""regular_trading"": []}"',
  ]);
  assert.deepEqual([again.rowsWritten, again.rowsUnchanged], [0, 1]);
  assert.deepEqual(rowsOf(shelf.url, 'select * from instruments')[0], changed);
});

test('an instrument twice in a file is one with the same values, refused with others', async () => {
  const shelf = new Shelf();
  const report = await shelf.import([
    `${names},name`,
    'stock,US,A,One',
    'Stock,us,a,One',
    'stock,US,A,Two',
    'stock,UK,A,Two',
  ]);
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [[3, 'symbol']],
  );
  assert.deepEqual([report.rowsWritten, report.rowsUnchanged, report.newInstruments], [2, 1, 2]);
});

test('identifiers are given out by the store alone, and never twice', async () => {
  const shelf = new Shelf();
  const report = await shelf.import([`${names},instrument_id`, 'stock,US,A,7', 'stock,US,B,7']);
  assert.deepEqual(report.ignoredColumns, ['instrument_id']);
  const ids = rowsOf(shelf.url, 'select instrument_id, asset_id from instruments').flatMap((row) =>
    Object.values(row),
  );
  assert.equal(new Set(ids).size, 2);
  assert.ok(!ids.includes(7));
});

test('a file all of whose rows are refused changes nothing', async () => {
  const shelf = new Shelf();
  await shelf.import([names, 'stock,US,A']);
  const before = contentOf(shelf.url);
  const report = await shelf.import([`${names},status`, 'stock,US,B,gone']);
  assert.equal(report.runId, null);
  assert.deepEqual(contentOf(shelf.url), before);
});

test('a delisting before the listing is refused, whether file or store has the listing (contract 3.9, 11)', async () => {
  const shelf = new Shelf();
  await shelf.import([`${names},listing_date`, 'stock,US,OLD,2010-03-04']);
  const report = await shelf.import([
    `${names},listing_date,delisting_date`,
    'stock,US,NEW,2018-06-15,2018-06-14',
    'stock,US,NEW,2018-06-15,2018-06-14',
    'stock,US,OLD,,2010-03-03',
    'stock,US,OLD,,2010-03-04',
    'stock,US,LATE,1980-12-12,2018-06-15',
  ]);
  const cure = 'correct it, or give the right listing_date beside it';
  assert.deepEqual(
    report.refused.map(({ row, column, reason }) => [row, column, reason]),
    [
      [1, 'delisting_date', `is before the listing_date 2018-06-15: ${cure}`],
      [2, 'delisting_date', `is before the listing_date 2018-06-15: ${cure}`],
      [3, 'delisting_date', `is before the stored listing_date 2010-03-04: ${cure}`],
    ],
  );
  assert.deepEqual([report.rowsWritten, report.rowsUnchanged, report.newInstruments], [2, 0, 1]);
  assert.deepEqual(shelf.known('OLD').delisting_date, '2010-03-04');
  const listed = await shelf.import([`${names},listing_date`, 'stock,US,OLD,2010-03-05']);
  assert.deepEqual(
    listed.refused.map(({ column, reason }) => [column, reason]),
    [
      [
        'listing_date',
        'is after the stored delisting_date 2010-03-04: correct it, or give the right delisting_date beside it',
      ],
    ],
  );
});

test('a row that says active and gives no delisting date takes a stored one away: the instrument trades again (contract 3.9)', async () => {
  const shelf = new Shelf();
  await shelf.import([`${names},status,delisting_date`, 'stock,US,TWX,inactive,2018-06-15']);
  await shelf.import([`${names},name`, 'stock,US,TWX,Time Warner']);
  assert.equal(shelf.known('TWX').delisting_date, '2018-06-15');
  await shelf.import([`${names},status,listing_date`, 'stock,US,TWX,active,2026-01-02']);
  const { status, delisting_date, listing_date } = shelf.known('TWX');
  assert.deepEqual([status, delisting_date, listing_date], ['active', undefined, '2026-01-02']);
  // One that is announced stands beside it.
  await shelf.import([`${names},status,delisting_date`, 'stock,US,TWX,active,2027-01-02']);
  assert.equal(shelf.known('TWX').delisting_date, '2027-01-02');
});

const flags: readonly (readonly [field: string, value: string, says: RegExp])[] = [
  ['asset_schema', 'stok', /--schema stok/],
  ['country_iso_code', 'USA', /--country USA/],
  ['symbol', 'A B', /--symbol A B/],
];

for (const [field, value, says] of flags) {
  test(`${field} ${value} for the whole file is wrong usage, and the store is as before (contract 10)`, async () => {
    const shelf = new Shelf();
    await shelf.import([names, 'stock,US,A']);
    const before = contentOf(shelf.url);
    const all = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', [field]: value };
    await assert.rejects(shelf.import(['name', 'Agilent'], all), (error) => {
      assert.ok(error instanceof FileProblem, String(error));
      assert.equal(error.kind, 'usage');
      assert.match(error.message, says);
      return true;
    });
    assert.deepEqual(contentOf(shelf.url), before);
  });
}
