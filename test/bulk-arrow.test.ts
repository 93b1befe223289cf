// Bars in bulk as an Arrow stream (contract 9.11), read by Apache Arrow's own reader: the values of the CSV,
// which are those of pages.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { type Table, tableFromIPC } from 'apache-arrow';
import { type Cell, parseCsv } from './csv.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const DAYS = ['2025-02-03', '2025-02-04', '2025-02-05'];
const MINUTES = 390;

/** Rows of minutes: some without volume, none of some symbols with one, prices of many sizes. */
function* rows() {
  for (const [index, symbol] of [
    'A',
    'BB',
    'CCC',
    'Y/M',
    ...Array.from({ length: 20 }, (_, at) => `Z${at}`),
  ].entries())
    for (const day of DAYS)
      for (let minute = index; minute < MINUTES; minute += index === 2 ? 7 : 1) {
        const at = new Date(Date.parse(`${day}T14:30:00Z`) + minute * 60_000).toISOString();
        const price = Number((10 ** ((index % 7) - 1) * (1 + minute / 1_000)).toPrecision(6));
        const volume = index === 3 || minute % 5 === 0 ? '' : String(minute * 10 + 0.125);
        const vwap = index === 0 ? String(price) : '';
        yield `stock,US,${symbol},1M,${at},${price},${price},${price},${price},${volume},${vwap}`;
      }
}

const HEAD = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume,vwap';
writeFileSync(shop.path('bars.csv'), [HEAD, ...rows(), ''].join('\n'));
await shop.must('import', 'bars', shop.path('bars.csv'));
writeFileSync(
  shop.path('instruments.csv'),
  'asset_schema,country_iso_code,symbol,exchange\nstock,US,A,XNAS\nstock,US,CCC,XNYS\n',
);
await shop.must('import', 'instruments', shop.path('instruments.csv'));
writeFileSync(
  shop.path('actions.csv'),
  'country_iso_code,symbol,action_type,ex_date,split_from,split_to\nUS,A,split,2025-02-05,1,3\n',
);
await shop.must('import', 'corporate-actions', shop.path('actions.csv'));
const key = await shop.must('keys', 'create', 'bulk');
const server = await shop.serve();

const path = (query: string, interval = '1M'): string =>
  `/api/v2/stock/bulk/bars/us/${interval}/from/2025-02-03/to/2025-02-05?secret_key=${key}${query}`;

const typesOf = (table: Table): Record<string, string> =>
  Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));

const INSTANT = 'Timestamp<MICROSECOND, UTC>';
const TYPES = {
  asset_schema: 'Utf8',
  interval: 'Utf8',
  country_iso_code: 'Utf8',
  exchange: 'Utf8',
  symbol: 'Utf8',
  datetime: INSTANT,
  close_datetime: INSTANT,
  open: 'Float64',
  high: 'Float64',
  low: 'Float64',
  close: 'Float64',
  volume: 'Float64',
  vwap: 'Float64',
};

/** A column's values as CSV has them; numbers stay numbers. */
function valuesOf(table: Table, name: string): (Cell | number)[] {
  const column = table.getChild(name)!;
  const type = String(column.type);
  return Array.from({ length: table.numRows }, (_, row) => {
    const value: unknown = column.get(row);
    if (value === null || typeof value === 'string') return value;
    // The reader gives instants and dates as epoch milliseconds.
    if (type === INSTANT) return `${new Date(Number(value)).toISOString().slice(0, 19)}+00:00`;
    return type.startsWith('Date') ? new Date(Number(value)).toISOString().slice(0, 10) : (value as number);
  });
}

const NUMBERS = new Set(['open', 'high', 'low', 'close', 'volume', 'vwap']);

for (const [query, interval] of [
  ['', '1M'],
  ['&session_date=true', '1M'],
  ['&session_date=true&adjust=split&adjust_as_of=2025-02-05', 'DAY'],
  ['&symbols=CCC,BB&is_eth=true', '15M'],
  ['&symbols=A', '45M'],
  ['&as_of=2025-02-04T20:00:00Z', '5M'],
] as const)
  test(`an Arrow stream of ${interval} bars${query} has the values of the CSV (contract 9.11)`, async () => {
    const csv = await server.get(path(`&format=csv${query}`, interval));
    const arrow = await server.get(path(`&format=arrow${query}`, interval));
    assert.equal(arrow.status, 200);
    assert.equal(arrow.headers.get('content-type'), 'application/vnd.apache.arrow.stream');
    for (const name of ['x-data-version', 'x-as-of'])
      assert.equal(arrow.headers.get(name), csv.headers.get(name));
    const [names, ...lines] = parseCsv(await csv.text());
    const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
    const types = Object.entries(TYPES).flatMap(([name, type]) =>
      name === 'open' && query.includes('session_date')
        ? [
            ['session_date', 'Date32<DAY>'],
            [name, type],
          ]
        : [[name, type]],
    );
    assert.deepEqual(typesOf(table), Object.fromEntries(types));
    assert.ok(lines.length > 0);
    assert.equal(table.numRows, lines.length);
    for (const [at, name] of names!.entries()) {
      const cells = lines.map((line) => line[at]!);
      const expected = NUMBERS.has(name!)
        ? cells.map((cell) => (cell === null ? null : Number(cell)))
        : cells;
      assert.deepEqual(valuesOf(table, name!), expected, name!);
    }
  });

test('fields that may be null are nullable, the others are not; nulls are counted (contract 9.11)', async () => {
  const answer = await server.get(path('&format=arrow'));
  const table = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
  const nullable = table.schema.fields.filter((field) => field.nullable).map(({ name }) => name);
  assert.deepEqual(nullable, ['exchange', 'volume', 'vwap']);
  const symbols = new Set(valuesOf(table, 'symbol'));
  assert.equal(symbols.size, 24);
  assert.ok(table.getChild('volume')!.nullCount > 0);
  assert.ok(table.batches.length > 1, 'it came in several steps');
});

test('a market without bars is a schema and an end (contract 9.11)', async () => {
  const answer = await server.get(path('&format=arrow').replace('/us/', '/JP/'));
  const bytes = Buffer.from(await answer.arrayBuffer());
  const table = tableFromIPC(bytes);
  assert.deepEqual(typesOf(table), TYPES);
  assert.equal(table.numRows, 0);
  assert.equal(bytes.subarray(-8).toString('hex'), 'ffffffff00000000');
});

test('bourse query gives the bytes of the service, in each format that is streamed (contract 9.11, 10)', async () => {
  for (const format of ['csv', 'arrow']) {
    const asked = path(`&format=${format}&session_date=1`);
    const served = Buffer.from(await (await server.get(asked)).arrayBuffer());
    const printed = await buffer(shop.start(['query', asked]).stdout!);
    assert.ok(served.length > 0);
    assert.ok(printed.equals(served), format);
  }
});
