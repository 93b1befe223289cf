// Names of instruments that a file looks up together, against the same names one by one (contract 9.6, 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { hashOf } from './reliability/minutes.ts';
import { Workshop } from './service.ts';
import { alterStore, copyStore, rowsOf } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

const flags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY'];
const HEADER = 'symbol,datetime,open,high,low,close,exchange';
const symbols = ['NEW', 'OLD', 'KEPT', 'GONE', 'MOVED', 'OTHER'];

/**
 * Rows of a symbol on two days: on the first one `OLD` was the symbol of `KEPT`, which had not taken its own
 * yet.
 */
const rowsFor = (symbol: string): string[] =>
  (symbol === 'KEPT' ? ['2024-06-12'] : ['2024-01-10', '2024-06-12']).map((day) =>
    [symbol, day, 1, 1, 1, 1, symbol === 'MOVED' ? 'XNYS' : ''].join(),
  );

const write = (name: string, lines: readonly string[]): string => {
  writeFileSync(shop.path(name), `${lines.join('\n')}\n`);
  return name;
};

const instrumentsOf = (store: string) =>
  rowsOf(store, 'select instrument_id, symbol, exchange from instruments order by symbol').map((row) => ({
    ...row,
  }));

test('a file of many names finds the instruments that files of one name each find, former and moved ones too', async () => {
  const former = 'OLD:2020-01-01..2024-03-01';
  const header = 'asset_schema,country_iso_code,symbol,name,exchange,former_symbols';
  write('instruments.csv', [
    header,
    `stock,US,KEPT,Kept,XNAS,${former}`,
    'stock,US,GONE,Gone,XNAS,',
    'stock,US,MOVED,Moved,XNAS,',
  ]);
  await shop.must('import', 'instruments', 'instruments.csv');
  const gone = instrumentsOf(shop.store).find(({ symbol }) => symbol === 'GONE')!.instrument_id;
  await shop.must('delete', 'instruments', '--schema', 'stock', '--country', 'US', '--symbol', 'GONE');
  const [together, apart, lost] = ['together', 'apart', 'lost'].map((name) => shop.storeUrl(name));
  for (const store of [together!, apart!, lost!]) copyStore(shop.store, store);
  write('all.csv', [HEADER, ...symbols.flatMap(rowsFor)]);
  await shop.must('import', 'bars', 'all.csv', ...flags, '--store', together!);
  const files = symbols.map((symbol) => write(`${symbol}.csv`, [HEADER, ...rowsFor(symbol)]));
  for (const file of files) await shop.must('import', 'bars', file, ...flags, '--store', apart!);
  assert.equal(await hashOf(together!), await hashOf(apart!));
  assert.deepEqual(instrumentsOf(together!), instrumentsOf(apart!));
  const found = new Map(instrumentsOf(together!).map((row) => [row.symbol, row]));
  assert.equal(found.get('GONE')!.instrument_id, gone);
  assert.equal(found.get('MOVED')!.exchange, 'XNYS');
  const kept = found.get('KEPT')!.instrument_id as number;
  const days = rowsOf(together!, `select bar_count from series where instrument_id = ${kept}`);
  assert.equal(days[0]!.bar_count, 2);
  // A row that is lost is refused, as by itself.
  alterStore(lost!, "delete from instruments where symbol = 'MOVED'");
  for (const file of ['all.csv', 'MOVED.csv']) {
    const { status, stderr } = await shop.run('import', 'bars', file, ...flags, '--store', lost!);
    assert.equal(status, 3);
    assert.match(stderr, /symbol "MOVED": the row is lost/);
  }
});

test('a damaged instrument that has a former symbol now stops no file that means the one before it (contract 9.6, 11)', async () => {
  const store = shop.storeUrl('damaged');
  write('bearers.csv', [
    'asset_schema,country_iso_code,symbol,name,exchange,former_symbols',
    'stock,US,KEPT,Kept,XNAS,OLD:2020-01-01..2024-03-01',
    'stock,US,OLD,Another,XNAS,',
  ]);
  await shop.must('import', 'instruments', 'bearers.csv', '--store', store);
  alterStore(store, "update instruments set name = 'Anothes' where symbol = 'OLD'");
  const dayOf = (symbol: string): string => rowsFor(symbol)[0]!;
  for (const [name, rows] of [
    ['one.csv', [dayOf('OLD')]],
    ['several.csv', [dayOf('OLD'), dayOf('OTHER')]],
  ] as const) {
    write(name, [HEADER, ...rows]);
    const report = JSON.parse(
      await shop.must('import', 'bars', name, ...flags, '--store', store, '--json'),
    ) as { rowsRefused: number };
    assert.equal(report.rowsRefused, 0);
  }
  const held = rowsOf(
    store,
    'select symbol, bar_count from series join instruments using (instrument_id) order by symbol',
  );
  assert.deepEqual(
    held.map((row) => [row.symbol, row.bar_count]),
    [
      ['KEPT', 1],
      ['OTHER', 1],
    ],
  );
});
