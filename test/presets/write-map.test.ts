// `bourse import --explain --write-map`: a mapping file that imports without an edit, and what it asks for
// (contract 10, contract 11).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from '../service.ts';
import { rowsOf } from '../stores.ts';

const shop = new Workshop();
after(() => shop.close());

/** A text in Windows-1252: of its letters beyond Latin-1 these are used. */
const windows: Readonly<Record<string, number>> = { '€': 0x80, '–': 0x96 };
const latin = (text: string): Buffer =>
  Buffer.from(Array.from(text, (one) => windows[one] ?? one.codePointAt(0)!));
const write = (name: string, content: string | Buffer): void => writeFileSync(shop.path(name), content);
const mapOf = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(shop.path(name), 'utf8')) as Record<string, unknown>;
let stores = 0;
const newStore = (): string => shop.storeUrl(`s${++stores}`);
const german = ['--schema', 'stock', '--country', 'DE', '--interval', '1M'];

/** The bars of one symbol as the service answers, open to volume. */
async function bars(store: string, symbol: string, interval = '1M'): Promise<unknown[]> {
  const path = `/api/v2/stock/bars/${symbol}/${interval}/from/2025-01-01/to/2025-12-31`;
  const { result } = JSON.parse(await shop.must('query', path, '--store', store)) as {
    result: { data: Record<string, unknown>[] };
  };
  return result.data.map(({ datetime, open, high, low, close, volume }) => [
    datetime,
    open,
    high,
    low,
    close,
    volume,
  ]);
}

const spreadsheet = [
  'Kurse in €, exportiert am 28.02.2025',
  '',
  'Datum;Zeit;Kürzel;Eröffnung;Hoch;Tief;Schluss;Stück;Bemerkung',
  '03.02.2025;09:30;SAP;1.245,10;1.245,90;1.244,80;1.245,55;12.500;20 €',
  '14.02.2025;09:31;SAP;245,5;1.245,6;245;1.245,25;8;',
  '',
].join('\r\n');

test('a German spreadsheet is imported by two calls, without an edit (contract 10, 11)', async () => {
  write('kurse.csv', latin(spreadsheet));
  const store = newStore();
  const flags = [...german, '--zone', 'Europe/Berlin', '--store', store];
  await shop.must('import', 'bars', 'kurse.csv', '--explain', '--write-map', 'kurse.json', ...flags);
  const told = await shop.must('import', 'bars', 'kurse.csv', '--map', 'kurse.json', '--store', store);
  assert.match(told, /2 rows read, 2 new, 0 replaced, 0 unchanged, 0 refused/);
  assert.deepEqual(await bars(store, 'DE:SAP'), [
    ['2025-02-03T08:30:00+00:00', 1245.1, 1245.9, 1244.8, 1245.55, 12500],
    ['2025-02-14T08:31:00+00:00', 245.5, 1245.6, 245, 1245.25, 8],
  ]);
  const { encoding, delimiter, skip, zone } = mapOf('kurse.json');
  assert.deepEqual([encoding, delimiter, skip, zone], ['windows-1252', ';', 2, 'Europe/Berlin']);
});

test('what the first call lacks is named, and may be given with the second (contract 10)', async () => {
  write('kurse.csv', latin(spreadsheet));
  const store = newStore();
  const first = await shop.run(
    'import',
    'bars',
    'kurse.csv',
    '--explain',
    '--write-map',
    'bare.json',
    '--store',
    store,
  );
  assert.equal(first.status, 2);
  assert.match(
    first.stderr,
    /wrote bare\.json; import with it, with --schema, --country, --interval: bourse import bars kurse\.csv --map bare\.json/,
  );
  const zoneless = await shop.run(
    'import',
    'bars',
    'kurse.csv',
    '--map',
    'bare.json',
    ...german,
    '--store',
    store,
  );
  assert.match(zoneless.stderr, /its times have no offset: name their zone/);
  const flags = [...german, '--zone', 'Europe/Berlin', '--store', store];
  await shop.must('import', 'bars', 'kurse.csv', '--map', 'bare.json', ...flags);
  assert.equal((await bars(store, 'DE:SAP')).length, 2);
});

const daily = (...rows: readonly string[]): string =>
  ['Datum;Erster;Hoch;Tief;Schlusskurs', ...rows, ''].join('\n');
const days = ['--schema', 'stock', '--country', 'DE', '--interval', 'DAY', '--symbol', 'X'];

test('dates that may begin with the day or the month are asked for, and nothing is written (contract 10)', async () => {
  write('days.csv', daily('03.04.2025;1,5;2,5;0,5;2,0', '04.04.2025;1,5;2,5;0,5;2,0'));
  const call = [
    'import',
    'bars',
    'days.csv',
    '--explain',
    '--write-map',
    'days.json',
    ...days,
    '--store',
    newStore(),
  ];
  const asked = await shop.run(...call);
  assert.equal(asked.status, 2);
  assert.match(
    asked.stderr,
    /the dates of Datum \(03\.04\.2025\) may begin with the day or with the month\. Say which: --date-format '%d\.%m\.%Y' or --date-format '%m\.%d\.%Y'/,
  );
  assert.ok(!existsSync(shop.path('days.json')));
  for (const [format, first] of [
    ['%d.%m.%Y', '2025-04-03'],
    ['%m.%d.%Y', '2025-03-04'],
  ] as const) {
    const store = newStore();
    const map = `days-${first}.json`;
    await shop.must(
      'import',
      'bars',
      'days.csv',
      '--explain',
      '--write-map',
      map,
      ...days,
      '--date-format',
      format,
      '--store',
      store,
    );
    await shop.must('import', 'bars', 'days.csv', '--map', map, '--store', store);
    assert.equal(String((await bars(store, 'DE:X', 'DAY'))[0]).slice(0, 10), first);
  }
});

test('numbers that may be of thousands or have decimals are asked for (contract 10)', async () => {
  write('three.csv', 'date,open,high,low,close\n2025-04-03,1.234,1.235,1.233,1.234\n');
  const call = (map: string) => ['import', 'bars', 'three.csv', '--explain', '--write-map', map, ...days];
  const asked = await shop.run(...call('three.json'), '--store', newStore());
  assert.match(
    asked.stderr,
    /1\.234 may be a number of thousands or one with decimals\. Say which mark is decimal: --decimal , or --decimal \./,
  );
  for (const [mark, open] of [
    [',', 1234],
    ['.', 1.234],
  ] as const) {
    const store = newStore();
    await shop.must(...call(`three${open}.json`), '--decimal', mark, '--store', store);
    await shop.must('import', 'bars', 'three.csv', '--map', `three${open}.json`, '--store', store);
    assert.equal(((await bars(store, 'DE:X', 'DAY')) as number[][])[0]?.[1], open);
  }
});

test('a point that is not between groups of three digits is never removed: the row is refused (contract 11)', async () => {
  write(
    'mixed.csv',
    daily('13.02.2025;1.245,10;1.246;1.244;1.245,5', '14.02.2025;245.20;245,30;245,10;245,20'),
  );
  const store = newStore();
  const explained = await shop.run(
    'import',
    'bars',
    'mixed.csv',
    '--explain',
    '--write-map',
    'mixed.json',
    ...days,
    '--decimal',
    ',',
    '--store',
    store,
  );
  assert.match(
    explained.stdout,
    /1 of 2 rows would be refused:\n {2}data row 2, column Erster: is not a number with a decimal comma \("245\.20"\)/,
  );
  const told = await shop.run('import', 'bars', 'mixed.csv', '--map', 'mixed.json', '--store', store);
  assert.match(told.stdout, /2 rows read, 1 new, .* 1 refused/);
  assert.deepEqual(
    ((await bars(store, 'DE:X', 'DAY')) as unknown[][])[0]?.slice(1, 5),
    [1245.1, 1246, 1244, 1245.5],
  );
});

test('another dataset, tabs, a date without an order, and the letters of Windows in names (contract 11)', async () => {
  write(
    'names.txt',
    latin('symbol\tname\tlisting_date\nGLE\tSociété Générale € – A\t25/12/1987\nBN\tDanone\t01/02/1990\n'),
  );
  const store = newStore();
  const flags = ['--schema', 'stock', '--country', 'FR', '--store', store];
  await shop.must('import', 'instruments', 'names.txt', '--explain', '--write-map', 'names.json', ...flags);
  await shop.must('import', 'instruments', 'names.txt', '--map', 'names.json', '--store', store);
  assert.deepEqual(
    rowsOf(store, 'select symbol, name, listing_date from instruments order by symbol').map((row) =>
      Object.values(row),
    ),
    [
      ['BN', 'Danone', '1990-02-01'],
      ['GLE', 'Société Générale € – A', '1987-12-25'],
    ],
  );
});

test('what cannot be is told: beside a map, for a preset, over a file, without --explain (contract 10)', async () => {
  write('plain.csv', 'datetime,open,high,low,close\n2025-02-03T14:30:00Z,1.5,2,0.5,1.5\n');
  write('yahoo.csv', 'Date,Open,High,Low,Close,Adj Close,Volume\n2025-02-03,1,2,0.5,1.5,1.5,10\n');
  write('there.json', '{}');
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { status, stderr } = await shop.run('import', 'bars', ...args, '--store', newStore());
    assert.equal(status, 2, stderr);
    return stderr;
  };
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
  assert.match(
    await refused('plain.csv', '--write-map', 'a.json', ...flags),
    /--write-map needs --explain and exactly one file/,
  );
  assert.match(
    await refused('plain.csv', '--explain', '--write-map', 'a.json', '--map', 'there.json'),
    /leave --map and --preset out/,
  );
  assert.match(
    await refused('plain.csv', '--decimal', ',', '--map', 'there.json'),
    /--decimal is for files without --map and --preset/,
  );
  assert.match(
    await refused('yahoo.csv', '--date-format', '%d/%m/%Y', ...flags),
    /is read by the preset yahoo: leave --date-format/,
  );
  assert.match(
    await refused('yahoo.csv', '--explain', '--write-map', 'a.json', ...flags),
    /is read by the preset yahoo: it needs no mapping file/,
  );
  assert.match(
    await refused('plain.csv', '--explain', '--write-map', 'there.json', ...flags),
    /--write-map there\.json: this file exists: name another one/,
  );
  assert.equal(readFileSync(shop.path('there.json'), 'utf8'), '{}');
});

const plainDays = ['--schema', 'stock', '--country', 'US', '--symbol', 'X', '--interval', 'DAY'];

test('--write-map writes a map of JSON and Parquet too (contract 10)', async () => {
  write('bars.ndjson', '{"Date":"2024-03-14","Open":10,"High":11,"Low":9,"Close":10.5,"Vol":1200}\n');
  const store = newStore();
  const flags = [...plainDays, '--store', store];
  await shop.must('import', 'bars', 'bars.ndjson', ...flags);
  const parquet = shop.path('bars.parquet');
  await shop.must('export', 'bars', '--store', store, '--out', parquet);
  for (const file of ['bars.ndjson', 'bars.parquet']) {
    await shop.must('import', 'bars', file, '--explain', '--write-map', `${file}.json`, ...flags);
    const again = await shop.must('import', 'bars', file, '--map', `${file}.json`, '--store', store);
    assert.match(again, /1 row read, 0 new, 0 replaced, 1 unchanged, 0 refused/);
  }
});
