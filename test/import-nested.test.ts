// Objects, and lists of objects, in the columns of Parquet and Arrow: read by their paths as those of JSON
// are, so that each form of one table imports the same (contract 11).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import * as arrow from 'apache-arrow';
import { holdReader } from '../src/imports/read/reader-process.ts';
import { runStatement } from './duckdb.ts';
import { Vendor } from './presets/vendor.ts';
import { rowsOf } from './stores.ts';

process.once('exit', holdReader());
const vendor = new Vendor();
after(() => vendor.close());

const [text, number, whole] = [new arrow.Utf8(), new arrow.Float64(), new arrow.Int32()];
const object = (types: Readonly<Record<string, arrow.DataType>>): arrow.Struct =>
  new arrow.Struct(Object.entries(types).map(([key, type]) => new arrow.Field(key, type, true)));
const list = (type: arrow.DataType): arrow.List => new arrow.List(new arrow.Field('item', type, true));

/** A type of Arrow in the words of DuckDB. */
function sqlOf(type: arrow.DataType): string {
  if (type === text) return 'VARCHAR';
  if (type === number) return 'DOUBLE';
  if (type === whole) return 'INTEGER';
  const [inner] = type.children as arrow.Field[];
  if (type instanceof arrow.List) return `${sqlOf(inner!.type)}[]`;
  return `STRUCT(${(type.children as arrow.Field[]).map((one) => `"${one.name}" ${sqlOf(one.type)}`).join()})`;
}

type Types = Readonly<Record<string, arrow.DataType>>;
type Rows = readonly Readonly<Record<string, unknown>>[];

/** A table as NDJSON, Parquet and Arrow. */
async function formsOf(types: Types, rows: Rows): Promise<readonly (readonly [string, Buffer])[]> {
  const [json, parquet] = ['made.ndjson', 'made.parquet'].map((name) => vendor.shop.path(name)) as [
    string,
    string,
  ];
  writeFileSync(json, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const columns = Object.entries(types).map(([name, type]) => `"${name}": '${sqlOf(type)}'`);
  await runStatement(
    `copy (select * from read_json('${json}', format='newline_delimited', columns={${columns.join()}}))
      to '${parquet}' (format parquet)`,
  );
  const table = new arrow.Table(
    Object.fromEntries(
      Object.entries(types).map(([name, type]) => [
        name,
        arrow.vectorFromArray(
          rows.map((row) => row[name] ?? null),
          type,
        ),
      ]),
    ),
  );
  return [
    ['a.ndjson', readFileSync(json)],
    ['a.parquet', readFileSync(parquet)],
    ['a.arrow', Buffer.from(arrow.tableToIPC(table, 'file'))],
    ['a.arrows', Buffer.from(arrow.tableToIPC(table, 'stream'))],
  ];
}

let maps = 0;
function mapped(columns: object, values?: object): { map: string } {
  const map = vendor.shop.path(`nested-${++maps}.json`);
  writeFileSync(map, JSON.stringify({ columns, values }));
  return { map };
}

const prices = { o: number, h: number, l: number, c: number };
const bar = (at: number, more: object = {}) => ({
  o: 10 + at,
  h: 12.5 + at,
  l: 9 + at,
  c: 11.1 + at,
  ...more,
});
const at = (minute: number): string => `2024-01-02T14:3${minute}:00Z`;
const served = (minute: number, volume: number | null) =>
  [
    at(minute).replace('Z', '+00:00'),
    10 + minute,
    12.5 + minute,
    9 + minute,
    11.1 + minute,
    volume,
    null,
  ] as const;
const fields = { asset_schema: 'stock', country_iso_code: 'US', interval: '1M', symbol: 'A' };
const both = [served(0, 100), served(1, null)];
const volumes = [100, null];
const rowsWith = (rowOf: (minute: number) => object): Rows => [0, 1].map((minute) => ({ ...rowOf(minute) }));

const oneBar = (key: string) => Object.fromEntries(['o', 'h', 'l', 'c'].map((one) => [one, `${key}.${one}`]));
const named = ({ o, h, l, c }: Record<string, string>) => ({ open: o, high: h, low: l, close: c });

const cases: readonly (readonly [
  what: string,
  types: Types,
  rows: Rows,
  expected: readonly unknown[],
  map?: object,
])[] = [
  [
    'an object of prices beside the time',
    { t: text, bar: object({ ...prices, v: whole }), n: whole },
    rowsWith((minute) => ({ t: at(minute), bar: bar(minute, { v: volumes[minute] }), n: 7 })),
    both,
  ],
  [
    'an object within another, with the time',
    { note: text, data: object({ source: text, bar: object({ t: text, ...prices, volume: number }) }) },
    rowsWith((minute) => ({
      note: 'é "q"',
      data: { source: null, bar: { t: at(minute), ...bar(minute), volume: volumes[minute] } },
    })),
    both,
  ],
  [
    'a list of objects beside a symbol',
    { ticker: text, bars: list(object({ t: text, ...prices, v: whole })) },
    [
      { ticker: 'A', bars: [0, 1].map((minute) => ({ t: at(minute), ...bar(minute), v: volumes[minute] })) },
      { ticker: 'B', bars: [{ t: at(0), ...bar(0), v: 1 }] },
    ],
    both,
  ],
  [
    'one of several objects, by a map',
    { t: text, bid: object(prices), ask: object(prices), quote: object({ size: object({ total: number }) }) },
    rowsWith((minute) => ({
      t: at(minute),
      bid: bar(9),
      ask: bar(minute),
      quote: { size: { total: volumes[minute] } },
    })),
    both,
    { datetime: 't', ...named(oneBar('ask')), volume: 'quote.size.total' },
  ],
  [
    'lists within a list, by a map',
    { days: list(object({ name: text, bars: list(object({ t: text, ...prices })) })) },
    [{ days: [0, 1].map((minute) => ({ name: 'x', bars: [{ t: at(minute), ...bar(minute) }] })) }],
    [served(0, null), served(1, null)],
    { datetime: 'days[].bars[].t', ...named(oneBar('days[].bars[]')) },
  ],
  [
    'a conversion of a nested value, by a map',
    { t: text, bar: object({ ...prices, v: text }) },
    rowsWith((minute) => ({ t: at(minute), bar: bar(minute, { v: ['0.1K', '-'][minute] }) })),
    both,
    { datetime: 't', ...named(oneBar('bar')), volume: { column: 'bar.v', scale: 'suffix', odd: 'missing' } },
  ],
];

const { symbol: _, ...withoutSymbol } = fields;
const given = (types: Types): Readonly<Record<string, string>> =>
  'ticker' in types ? withoutSymbol : fields;

for (const [what, types, rows, expected, map] of cases)
  test(`${what}: each form imports the same (contract 11)`, async () => {
    const flags = { fields: given(types), ...(map !== undefined && mapped(map)) };
    for (const [name, bytes] of await formsOf(types, rows)) {
      const report = await vendor.import(name, bytes, flags);
      assert.deepEqual([name, report.rowsRefused, report.refused], [name, 0, []]);
      assert.deepEqual([name, await vendor.served('stock/US:A', '1M')], [name, expected]);
    }
  });

test('a row without its object is refused in each form, and so is a list without values (contract 11)', async () => {
  const types = { t: text, bar: object(prices) };
  const rows = [
    { t: at(0), bar: bar(0) },
    { t: at(1), bar: null },
    { t: at(2), bar: { ...bar(2), c: null } },
  ];
  for (const [name, bytes] of await formsOf(types, rows)) {
    const { rowsNew, refused } = await vendor.import(name, bytes, { fields });
    assert.deepEqual(
      [name, rowsNew, ...refused.map(({ row, column }) => [row, column])],
      [name, 1, [2, 'bar.o'], [3, 'bar.c']],
    );
  }
  const lists = { ticker: text, bars: list(object({ t: text, ...prices })) };
  const filled = [
    { ticker: 'A', bars: [] },
    { ticker: 'A', bars: null },
    { ticker: 'A', bars: [{ t: at(0), ...bar(0) }] },
  ];
  for (const [name, bytes] of await formsOf(lists, filled)) {
    const { rowsRead, rowsNew, rowsRefused } = await vendor.import(name, bytes, { fields: given(lists) });
    assert.deepEqual([name, rowsRead, rowsNew, rowsRefused], [name, 3, 1, 2]);
  }
});

test('a list of one object, or of several, with their lists; and pages one after the other (contract 11)', async () => {
  const minutes = [0, 1].map((minute) => ({ date: at(minute), ...bar(minute), v: volumes[minute] }));
  const of = (ticker: string, priceData: object[]) => ({ ticker, baseCurrency: 'x', priceData });
  for (const content of [
    JSON.stringify([of('A', minutes)]),
    JSON.stringify([of('A', minutes), of('B', minutes.slice(1))]),
    minutes.map((one) => JSON.stringify(of('A', [one]))).join('\n'),
  ]) {
    const report = await vendor.import('a.json', content, { fields: withoutSymbol });
    assert.deepEqual(report.refused, []);
    assert.deepEqual(await vendor.served('stock/US:A', '1M'), both);
  }
});

test('quotes of option contracts are read by their paths (contract 9.22, 11)', async () => {
  const greeks = object({ delta: number, gamma: number });
  const types = {
    ticker: text,
    quote: object({ bid: number, ask: number, greeks }),
    expiry: text,
    strike: number,
  };
  const rows = [
    {
      ticker: 'A270115C00100000',
      quote: { bid: 1.5, ask: 1.75, greeks: { delta: 0.5, gamma: null } },
      expiry: '2027-01-15',
      strike: 100,
    },
  ];
  const flags = {
    dataset: 'option-contracts',
    ...mapped(
      {
        ...{ symbol: 'ticker', expiration_date: 'expiry', strike_price: 'strike' },
        ...{ bid: 'quote.bid', ask: 'quote.ask', delta: 'quote.greeks.delta', gamma: 'quote.greeks.gamma' },
      },
      { country_iso_code: 'US', parent_asset_schema: 'stock', underlying_name: 'A', option_type: 'call' },
    ),
  };
  for (const [name, bytes] of await formsOf(types, rows)) {
    const report = await vendor.import(name, bytes, flags);
    assert.deepEqual([name, report.rowsNew, report.refused], [name, 1, []]);
    assert.deepEqual(
      rowsOf(vendor.url, 'select symbol, bid, ask, delta, gamma from option_quotes').map((row) =>
        Object.values(row),
      ),
      [['A270115C00100000', 1.5, 1.75, 0.5, null]],
    );
  }
});

test('a volume beside the object of a bar that has its own, or beside a list, is not that of the bar (contract 11)', async () => {
  const bars = { t: text, ...prices, v: whole };
  const one = rowsWith((minute) => ({
    ...{ volume: 1_000_000, vwap: 500 },
    bar: { t: at(minute), ...bar(minute, { v: volumes[minute] }) },
  }));
  const outside = { volume: whole, vwap: number };
  for (const [name, bytes] of await formsOf({ ...outside, bar: object(bars) }, one)) {
    await vendor.import(name, bytes, { fields });
    const [first] = await vendor.served('stock/US:A', '1M');
    assert.deepEqual([name, ...first!.slice(5)], [name, volumes[0], 500]);
  }
  const many = [{ volume: 1_000_000, vwap: 500, bars: one.map((row) => (row as { bar: object }).bar) }];
  for (const [name, bytes] of await formsOf({ ...outside, bars: list(object(bars)) }, many)) {
    await vendor.import(name, bytes, { fields });
    assert.deepEqual([name, await vendor.served('stock/US:A', '1M')], [name, both]);
  }
});

test('a map names values beside a list that is within their object (contract 11)', async () => {
  const types = {
    data: object({
      symbol: text,
      days: list(object({ day: text, bars: list(object({ t: text, ...prices })) })),
    }),
  };
  const rows = ['A', 'B'].map((symbol) => ({
    data: {
      symbol,
      days: [0, 1].map((minute) => ({ day: 'x', bars: [{ t: at(minute), ...bar(minute) }] })),
    },
  }));
  const paths = {
    symbol: 'data.symbol',
    datetime: 'data.days[].bars[].t',
    ...named(oneBar('data.days[].bars[]')),
  };
  for (const [name, bytes] of await formsOf(types, rows)) {
    const report = await vendor.import(name, bytes, { fields: withoutSymbol, ...mapped(paths) });
    assert.deepEqual([name, report.rowsNew, report.refused], [name, 4, []]);
    for (const symbol of ['A', 'B'])
      assert.deepEqual(
        (await vendor.served(`stock/US:${symbol}`, '1M')).map((one) => one.slice(1, 5)),
        both.map((one) => one.slice(1, 5)),
      );
  }
});

test('keys that no path can name are in no map of a message (contract 11)', async () => {
  const bar = { '1. open': '10', '2. high': '12', '3. low': '9', '4. close': '11' };
  assert.match(
    await vendor.refusal('a.json', JSON.stringify([{ date: '2024-01-02', bar }]), { fields }),
    /required columns missing: open, high, low, close\. The columns of the file are date, bar\.$/,
  );
});

test('where two objects have prices, or one has only some of them, the message names their paths (contract 11)', async () => {
  const two = { t: text, bid: object(prices), ask: object(prices) };
  const quotes = rowsWith((minute) => ({ t: at(minute), bid: bar(minute), ask: bar(minute) }));
  for (const [name, bytes] of await formsOf(two, quotes))
    assert.match(
      await vendor.refusal(name, bytes, { fields }),
      /required columns missing: open, high, low, close\. The open may be bid\.o or ask\.o\. .* --map FILE with .*"open":"bid\.o"/,
    );
  const apart = { t: text, o: number, h: number, l: number, before: object({ c: number }) };
  const parts = rowsWith((minute) => ({ t: at(minute), o: 10, h: 12, l: 9, before: { c: 11 } }));
  for (const [name, bytes] of await formsOf(apart, parts))
    assert.match(
      await vendor.refusal(name, bytes, { fields }),
      /required column missing: close\. .* --map FILE with .*"close":"before\.c"/,
    );
});

test('a path of Parquet that leads nowhere is refused with what is there (contract 11)', async () => {
  const path = vendor.shop.path('made.parquet');
  await runStatement(
    `copy (select '${at(0)}' as t, map {'o': 1.5} as m, {o: 1.5, u: union_value(x := 1)} as s, [{o: 1.5}] as l, 2.5 as p)
      to '${path}' (format parquet)`,
  );
  const bytes = readFileSync(path);
  const refused = (open: string): Promise<string> =>
    vendor.refusal('a.parquet', bytes, { fields, ...mapped({ datetime: 't', ...named(oneBar('s')), open }) });
  for (const [open, says] of [
    ['m.o', /names m\.o, but m is not an object: it is MAP\(VARCHAR, DECIMAL/],
    ['p.o', /names p\.o, but p is not an object: it is DECIMAL/],
    ['l.o', /names l\.o, but l is not an object: it is STRUCT.*\. Name its values by l\[\]$/],
    ['s[].o', /names s\[\]\.o, but s\[\] is not a list: omit \[\]/],
    ['s.opn', /has no opn in s\.opn, which the column mapping names; there it has o, u; is it o\?$/],
    ['z.o', /has no z in z\.o, which the column mapping names; there it has t, m, s, l, p; is it t\?$/],
  ] as const)
    assert.match(await refused(open), says);
});

test('a list of Parquet that would repeat a long text in very many rows is refused (contract 11)', async () => {
  const path = vendor.shop.path('made.parquet');
  await runStatement(
    `copy (select repeat('x', 1000000) as title, range(3000) as numbers) to '${path}' (format parquet)`,
  );
  const flags = {
    dataset: 'news',
    ...mapped({ title: 'title', published_date: 'numbers[]', publisher_url: 'title' }),
  };
  assert.match(
    await vendor.refusal('a.parquet', readFileSync(path), flags),
    /a list repeats title in each of its rows, which would have more than/,
  );
});

test('a map or a union of Arrow is refused by its name (contract 11)', async () => {
  const made = arrow.vectorFromArray(
    [new Map([['o', 1]])],
    new arrow.Map_(new arrow.Field('entries', object({ key: text, value: whole }), false)),
  );
  const table = new arrow.Table({ t: arrow.vectorFromArray([at(0)], text), levels: made });
  assert.match(
    await vendor.refusal('a.arrow', Buffer.from(arrow.tableToIPC(table, 'file')), { fields }),
    /^a\.arrow: the column levels has an Arrow type that is not read/,
  );
});

test('a row without a symbol is refused, not the file (contract 11)', async () => {
  const types = { symbol: text, t: text, ...prices };
  const rows = [
    { symbol: null, t: at(0), ...bar(0) },
    { symbol: 'A', t: at(0), ...bar(0) },
  ];
  for (const [name, bytes] of await formsOf(types, rows)) {
    const { rowsNew, refused } = await vendor.import(name, bytes, { fields: withoutSymbol });
    assert.deepEqual([name, rowsNew, refused.map(({ column }) => column)], [name, 1, ['symbol']]);
  }
});

test('--write-map writes the paths, and imports by them; --explain shows the first rows (contract 10, 11)', async () => {
  const types = { t: text, bar: object({ ...prices, v: whole }) };
  const rows = rowsWith((minute) => ({ t: at(minute), bar: bar(minute, { v: volumes[minute] }) }));
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
  for (const [name, bytes] of await formsOf(types, rows)) {
    writeFileSync(vendor.shop.path(name), bytes);
    const map = `${name}.map.json`;
    const told = await vendor.shop.must('import', 'bars', name, '--explain', '--write-map', map, ...flags);
    assert.match(told, /^open: bar\.o$|^ {2}open: bar\.o$/m);
    const { columns } = JSON.parse(readFileSync(vendor.shop.path(map), 'utf8')) as { columns: object };
    assert.deepEqual(columns, {
      ...{ datetime: 't', open: 'bar.o', high: 'bar.h', low: 'bar.l', close: 'bar.c', volume: 'bar.v' },
    });
    const report = await vendor.import(name, bytes, { map: vendor.shop.path(map) });
    assert.deepEqual([report.rowsNew, report.rowsRefused], [2, 0]);
    assert.deepEqual(await vendor.served('stock/US:A', '1M'), both);
  }
});
