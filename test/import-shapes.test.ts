// Files whose rows are no records of one table: lists, columns, objects by date, answers, several header
// lines (contract 11). What is stored was worked out by hand.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { holdReader } from '../src/imports/read/reader-process.ts';
import { reshape } from '../src/imports/read/reshape.ts';
import { membersOf } from '../src/imports/read/unpack.ts';
import { type ServedBar, Vendor } from './presets/vendor.ts';
import { rowsOf } from './stores.ts';
import { zipOf } from './zip.ts';

const vendor = new Vendor();
process.once('exit', holdReader());
after(() => vendor.close());

const stock = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' };
const [minute, day] = [
  { ...stock, interval: '1M' },
  { ...stock, interval: 'DAY' },
];

/** 2024-01-02T14:30:00Z and the minute after it; and two days. */
const [one, two] = [1_704_205_800, 1_704_205_860];
const minutes: ServedBar[] = [
  ['2024-01-02T14:30:00+00:00', 10, 12, 9, 11, 100, null],
  ['2024-01-02T14:31:00+00:00', 11, 13, 10, 12, 200, null],
];
const days: ServedBar[] = [
  ['2024-01-02', 10, 12, 9, 11, 100, null],
  ['2024-01-03', 11, 13, 10, 12, 200, null],
];
const withoutVolume = (bars: readonly ServedBar[]): ServedBar[] =>
  bars.map((bar) => bar.map((value, at) => (at === 5 ? null : value)) as unknown as ServedBar);

const names = (datetime: string, [open, high, low, close, volume]: readonly string[]) => ({
  columns: { datetime, open, high, low, close, ...(volume !== undefined && { volume }) },
});
const titled = ['Open', 'High', 'Low', 'Close', 'Volume'];
const short = ['o', 'h', 'l', 'c', 'v'];
const own = ['open', 'high', 'low', 'close', 'volume'];

let maps = 0;
const mapOf = (map: object | undefined): { map?: string } => {
  if (map === undefined) return {};
  const path = vendor.shop.path(`shape-${++maps}.json`);
  writeFileSync(path, JSON.stringify(map));
  return { map: path };
};

type Case = readonly [
  what: string,
  content: unknown,
  fields: Readonly<Record<string, string>>,
  bars: readonly ServedBar[],
  map?: object,
];

const ohlcv = [
  [10, 12, 9, 11, 100],
  [11, 13, 10, 12, 200],
];
const at = (ms: boolean) => ohlcv.map((row, place) => [[one, two][place]! * (ms ? 1000 : 1), ...row]);
const column = (place: number): number[] => ohlcv.map((row) => row[place]!);
const columns = (keys: readonly string[]) =>
  Object.fromEntries(keys.map((key, place) => [key, column(place)]));
const dates = ['2024-01-02', '2024-01-03'];
const epochs = dates.map((date) => String(Date.parse(date)));
const record = (keys: readonly string[], place: number) =>
  Object.fromEntries(keys.map((key, index) => [key, ohlcv[place]![index]]));
const alpha = ['1. open', '2. high', '3. low', '4. close', '5. volume'];

const cases: readonly Case[] = [
  ['lists of ccxt and freqtrade', at(true), minute, minutes],
  [
    'lists in a wrapper, texts as Kraken writes them',
    {
      error: [],
      result: {
        XX: at(false).map(([t, o, h, l, c, v]) => [t, `${o}`, `${h}`, `${l}`, `${c}`, '10.5', `${v}`, 7]),
        last: two,
      },
    },
    minute,
    minutes.map((bar) => [...bar.slice(0, 6), 10.5] as unknown as ServedBar),
  ],
  [
    'lists of Coinbase, low before high',
    at(false).map(([t, o, h, l, c, v]) => [t, l, h, o, c, v]),
    minute,
    minutes,
  ],
  [
    'lists of Bitfinex, the close second',
    at(true).map(([t, o, h, l, c, v]) => [t, o, c, h, l, v]),
    minute,
    minutes,
  ],
  [
    'klines of Binance',
    at(true).map(([t, ...rest]) => [t, ...rest.map(String), t! + 59_999, '1', 5, '1', '1', '0']),
    minute,
    minutes,
  ],
  [
    'lists that a map names',
    at(false).map(([t, o, h, l, c, v]) => [v, c, l, h, o, t]),
    minute,
    minutes,
    { header: ['v', 'c', 'l', 'h', 'o', 't'], ...names('t', short) },
  ],
  [
    'lists beside their names, pandas split',
    { columns: titled, index: epochs.map(Number), data: ohlcv },
    day,
    days,
    names('datetime', titled),
  ],
  [
    'lists beside their names, in objects',
    {
      datatable: {
        data: ohlcv.map((row, place) => [dates[place], ...row]),
        columns: ['day', ...own].map((name) => ({ name, type: 'x' })),
      },
      meta: { next_cursor_id: null },
    },
    day,
    days,
    names('day', own),
  ],
  ['columns of Finnhub', { ...columns(short), s: 'ok', t: [one, two] }, minute, minutes, names('t', short)],
  [
    'columns of the chart of Yahoo',
    {
      chart: {
        result: [
          {
            meta: { symbol: 'A', validRanges: ['1d', '5d', '1mo'] },
            timestamp: [one, two],
            indicators: { quote: [columns(own)], adjclose: [{ adjclose: [5, 6] }] },
          },
        ],
        error: null,
      },
    },
    minute,
    minutes,
    names('timestamp', own),
  ],
  [
    'columns of pandas, by epochs',
    Object.fromEntries(
      titled.map((key, place) => [
        key,
        Object.fromEntries(epochs.map((epoch, row) => [epoch, column(place)[row]])),
      ]),
    ),
    day,
    days,
    names('datetime', titled),
  ],
  [
    'columns of pandas, by rows',
    Object.fromEntries(
      ['datetime', ...own].map((key, place) => [
        key,
        Object.fromEntries([0, 1].map((row) => [row, place === 0 ? dates[row] : column(place - 1)[row]])),
      ]),
    ),
    day,
    days,
  ],
  [
    'objects by their dates, pandas index',
    Object.fromEntries(dates.map((date, row) => [date, record(own, row)])),
    day,
    days,
  ],
  [
    'objects by their times, pandas index with date_format="iso"',
    Object.fromEntries([one, two].map((s, row) => [new Date(s * 1000).toISOString(), record(own, row)])),
    minute,
    minutes,
  ],
  [
    'objects by their dates, Alpha Vantage, newest first',
    {
      'Meta Data': { '1. Information': 'Daily', '2. Symbol': 'A' },
      'Time Series (Daily)': Object.fromEntries([1, 0].map((row) => [dates[row], record(alpha, row)])),
    },
    day,
    days,
  ],
  [
    'an answer with pages',
    {
      status: 'OK',
      resultsCount: 2,
      ticker: 'A',
      next_url: 'https://x',
      results: [0, 1].map((row) => ({ t: epochs[row], ...record(short, row) })),
    },
    day,
    days,
    names('t', short),
  ],
  [
    'an answer with its list two keys deep',
    {
      status: 'success',
      data: { count: 2, values: [0, 1].map((row) => ({ datetime: dates[row], ...record(own, row) })) },
    },
    day,
    days,
  ],
  [
    'pages with two lists side by side',
    {
      pagination: { limit: 2, offset: 0, total: 2 },
      data: [0, 1].map((row) => ({ date: dates[row], ...record(own, row) })),
      links: [{ rel: 'next', href: 'https://x' }],
    },
    day,
    days,
  ],
  [
    'value under values',
    { series: { values: { value: [0, 1].map((row) => ({ date: dates[row], ...record(own, row) })) } } },
    day,
    days,
  ],
  [
    'objects of JSON:API',
    {
      data: [0, 1].map((row) => ({
        id: row,
        type: 'bar',
        attributes: { date: dates[row], ...record(own, row) },
      })),
      meta: { total: 2 },
    },
    day,
    days,
  ],
  [
    'a table of pandas with its schema',
    {
      schema: { fields: [{ name: 'datetime', type: 'string' }], pandas_version: '1.4.0' },
      data: [0, 1].map((row) => ({ datetime: dates[row], ...record(own, row) })),
    },
    day,
    days,
  ],
  [
    'an answer whose rows have objects',
    { instrument: 'A', candles: [0, 1].map((row) => ({ time: dates[row], mid: record(short, row) })) },
    day,
    withoutVolume(days),
    names(
      'time',
      short.slice(0, 4).map((key) => `mid.${key}`),
    ),
  ],
];

for (const [what, content, fields, bars, map] of cases) {
  test(`${what}: the rows are found (contract 11)`, async () => {
    const text = JSON.stringify(content);
    const flags = { fields, ...mapOf(map) };
    const report = await vendor.import('a.json', text, flags);
    assert.deepEqual([report.rowsRead, report.rowsNew, report.rowsRefused], [2, 2, 0]);
    assert.deepEqual(await vendor.served('stock/US:A', fields.interval!), bars);
    await vendor.import('a.json', JSON.stringify(content, null, 2), flags);
    assert.deepEqual(await vendor.served('stock/US:A', fields.interval!), bars);
    // Nothing is imported of a file that was cut off, wherever that was.
    const [path, target] = [vendor.shop.path('cut.json'), vendor.shop.path('rows')];
    for (let end = text.length - 1; end > 1; end--) {
      writeFileSync(path, text.slice(0, end));
      assert.throws(
        () => reshape({ kind: 'json', name: 'x', path, target }),
        /x: the JSON is not well-formed: it ends too early/,
      );
    }
    assert.match(
      await vendor.refusal('a.json', text.slice(0, -1), flags),
      /^a.json: the JSON is not well-formed/,
    );
  });
}

test('an index of pandas with two levels, as `split`, has symbols and times (contract 11)', async () => {
  const index = ['A', 'B'].flatMap((symbol) => [one, two].map((seconds) => [symbol, seconds * 1000]));
  const content = JSON.stringify({ columns: own, index, data: [...ohlcv, ...ohlcv] });
  const { symbol: _, ...fields } = minute;
  assert.equal((await vendor.import('a.json', content, { fields })).rowsNew, 4);
  for (const symbol of ['A', 'B']) assert.deepEqual(await vendor.served(`stock/US:${symbol}`, '1M'), minutes);
});

const wide = JSON.stringify(at(true).map((row) => [...row, 1, 2, 3, 4]));
const refusals: readonly (readonly [what: string, content: string, says: RegExp])[] = [
  [
    'lists in an order that is not known',
    wide,
    /^a.json: its rows are lists of 10 values without names, in no known order, such as 1704.*--map FILE with \{"header"/,
  ],
  [
    'lists whose prices are all the same',
    '[[1704205800,5,5,5,5,1]]',
    /in the order datetime,open,high,low,close,volume or datetime,low,/,
  ],
  [
    'lists of different lengths',
    '[[1704205800,5,6,4,5,1],[1704205860,5,6,4,5]]',
    /row 2 has 5 values, others have 6\. Nothing/,
  ],
  [
    'columns of different lengths',
    '{"t":[1,2],"o":[1,2],"h":[1,2],"l":[1,2],"c":[1]}',
    /columns differ from each other at row 2/,
  ],
  [
    'columns with different keys',
    '{"o":{"0":1,"1":2},"h":{"0":1,"2":2},"c":{"0":1,"1":2}}',
    /differ from each other at row 2/,
  ],
  [
    'several tables',
    '{"A":[[1704205800,5,6,4,5,1]],"B":[[1704205800,5,6,4,5,1]]}',
    /has several tables: A, B\. Write/,
  ],
  [
    'keys that differ only in case',
    '{"data":[{"trade":{"T":"A","t":1704205800}}]}',
    /an object has keys that differ only in case: rename them\. Nothing was imported/,
  ],
  ['a comma at the end', '[[1704205800,5,6,4,5,1],]', /not well-formed: near byte 24/],
  ['a value without a comma', '[[1704205800,5,6,4 5,1]]', /not well-formed: near byte 19/],
  [
    'a word that is none of JSON',
    '{"t":[1],"o":[None],"h":[1],"l":[1],"c":[1]}',
    /not well-formed: near byte/,
  ],
  [
    'names that make of few bytes very many',
    JSON.stringify({
      columns: ['datetime', 'x'.repeat(900_000)],
      data: Array.from({ length: 400 }, () => [1, 2]),
    }),
    /unpacks to more than 200 times its size/,
  ],
  [
    'a value that is longer than a row may be',
    JSON.stringify({ results: [{ a: 'x'.repeat(5_000_000) }] }),
    /a row is longer than 4100000 bytes/,
  ],
];
for (const [what, content, says] of refusals) {
  test(`${what}: refused with one message (contract 11)`, async () => {
    assert.match(await vendor.refusal('a.json', content, { fields: minute }), says);
  });
}

test('what is no table, or is read by the paths of a map, is read as before (contract 11)', () => {
  const [path, target] = [vendor.shop.path('plain.json'), vendor.shop.path('rows')];
  const answer = { status: 'OK', results: [{ a: 1 }] };
  for (const [content, paths] of [
    [[{ a: [[1]] }], undefined],
    [{ a: 1, b: ['x', 'y'] }, undefined],
    [{ bids: [{ a: 1 }], asks: [{ a: 1 }] }, undefined],
    [answer, ['results[].a', 'status']],
    [answer, ['status', 'results']],
    [{ results: [], status: 'OK' }, undefined],
  ] as const) {
    writeFileSync(path, JSON.stringify(content));
    assert.equal(reshape({ kind: 'json', name: 'x', path, target, paths }), null);
  }
  writeFileSync(path, `${JSON.stringify(answer)}\n${JSON.stringify(answer)}`);
  assert.equal(reshape({ kind: 'json', name: 'x', path, target }), null);
});

test('objects by their symbols are the bars of each, whatever is around them (contract 11)', async () => {
  const bars = (shift: number) =>
    ohlcv.map((row, place) =>
      Object.fromEntries([
        ['t', new Date([one, two][place]! * 1000).toISOString()],
        ...row.map((value, at) => [short[at]!, value + shift]),
      ]),
    );
  const [a, b] = [bars(0), bars(1000)];
  const shifted = minutes.map(
    ([at, ...values]) => [at, ...values.map((value) => value && value + 1000)] as unknown as ServedBar,
  );
  const { symbol: _, ...fields } = minute;
  for (const [content, count, findings] of [
    [{ A: a, 'B.B': b }, 2, {}],
    [{ data: { A: a, 'B.B': b, C: [] }, next_page_token: null }, 2, { 'symbols without rows, such as C': 1 }],
    [{ A: { note: 'x', rows: a }, 'B.B': { rows: b, status: 'ok' } }, 2, {}],
    [{ A: a[0], 'B.B': b[0] }, 1, {}],
    [{ bars: { A: a[1], 'B.B': b[1] } }, -1, {}],
  ] as const) {
    const report = await vendor.import('a.json', JSON.stringify(content), { fields });
    assert.equal(report.shape, 'JSON, objects by their symbols');
    assert.deepEqual(report.findings, findings);
    const [start, end] = count < 0 ? [1, 2] : [0, count];
    assert.deepEqual(await vendor.served('stock/US:A', '1M'), minutes.slice(start, end));
    assert.deepEqual(await vendor.served('stock/US:B.B', '1M'), shifted.slice(start, end));
  }
  // A symbol in the rows is theirs; a value that is no object is refused.
  const own = { A: a.map((bar) => ({ ...bar, symbol: 'D' })), B: b.map((bar) => ({ ...bar, symbol: 'E' })) };
  await vendor.import('a.json', JSON.stringify(own), { fields });
  assert.deepEqual(await vendor.served('stock/US:E', '1M'), shifted);
  assert.match(
    await vendor.refusal('a.json', JSON.stringify({ A: a, B: b, C: [...a, 1] }), { fields }),
    /a row of C is no object/,
  );
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`S${at}`, a]));
  const report = await vendor.import('a.json', JSON.stringify(many), { fields });
  assert.deepEqual([report.rowsNew, report.newInstruments], [600, 300]);
  assert.match(
    await vendor.refusal('a.json', JSON.stringify({ ...many, LAST: [...a, 1] }), { fields }),
    /a row of LAST is no object/,
  );
  // One symbol for all of them would mix their bars.
  const [five, cells] = ['Open,High,Low,Close,Volume', '1,2,1,1,9'];
  const symbols = [...Array(5).fill('A'), ...Array(5).fill('B')].join();
  const head = [`Price,${five},${five}`, `Ticker,${symbols}`, `Date${','.repeat(10)}`];
  const wide = [...head, `2024-01-02,${cells},${cells}`, ''].join('\n');
  for (const [name, text] of [
    ['a.json', JSON.stringify({ A: a, 'B.B': b })],
    ['a.csv', wide],
  ] as const)
    assert.match(
      await vendor.refusal(name, text, { fields: minute }),
      /has its symbols side by side: not all can have the symbol [^;]+; leave it out/,
    );
  await vendor.import('a.json', JSON.stringify({ data: { A: a, 'B.B': [] } }), { fields: minute });
  assert.deepEqual(await vendor.served('stock/US:A', '1M'), minutes);
  // Keys that may be no symbols are not guessed, and no map reads one list alone.
  for (const content of [
    { a, b },
    { a: a[0], b: b[0] },
  ]) {
    const refusal = await vendor.refusal('a.json', JSON.stringify(content), { fields });
    assert.match(refusal, /A column mapping reads only one of these\. Write the rows of all into one list/);
    assert.doesNotMatch(refusal, /--map/);
  }
  const flags = {
    fields: minute,
    ...mapOf(
      names(
        'A[].t',
        short.map((key) => `A[].${key}`),
      ),
    ),
  };
  await vendor.import('a.json', JSON.stringify({ A: a, B: b }), flags);
  assert.deepEqual(await vendor.served('stock/US:A', '1M'), minutes);
});

const byDay = { asset_schema: 'stock', country_iso_code: 'US', interval: 'DAY' };
const bar = (shift = 0, more: object = {}) => ({
  ...{ t: '2024-01-02', o: 10 + shift, h: 12 + shift, l: 9 + shift, c: 11 + shift, v: 100 },
  ...more,
});

test('objects by moments with a letter are no symbols (contract 11)', async () => {
  const keys = ['2024-01-02T14:30:00.000Z', '2024-01-02T14:31:00.000Z'];
  const content = Object.fromEntries(keys.map((key, place) => [key, record(own, place)]));
  const report = await vendor.import('a.json', JSON.stringify(content), { fields: minute });
  assert.equal(report.shape, 'JSON, one object per date, which is its datetime');
  assert.deepEqual(await vendor.served('stock/US:A', '1M'), minutes);
});

test('numbers and dates beside the list of a symbol are not those of its rows (contract 11)', async () => {
  const around = { close: 99, volume: 5, datetime: '2024-01-05', date: '2024-01-05', exchange: 'XNAS' };
  const answers = { A: { ...around, bars: [bar()] }, B: { ...around, bars: [bar(20)] } };
  await vendor.import('a.json', JSON.stringify(answers), { fields: byDay });
  assert.deepEqual(await vendor.served('stock/US:A', 'DAY'), [['2024-01-02', 10, 12, 9, 11, 100, null]]);
  assert.deepEqual(await vendor.served('stock/US:B', 'DAY'), [['2024-01-02', 30, 32, 29, 31, 100, null]]);
});

test('keys that may be no symbols, and rows that are not found, are refused (contract 11)', async () => {
  const many = (of: (at: number) => unknown, last: unknown) => ({
    ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`S${at}`, of(at)])),
    LAST: last,
  });
  const answer = (at: number) => ({ values: [bar(at)] });
  for (const [content, message, more] of [
    // Exchanges, intervals, dates.
    [
      { NYSE: [bar(0, { ticker: 'A' })], NASDAQ: [bar(0, { ticker: 'B' })] },
      /its key NYSE may not be a symbol: a row below it has the ticker A/,
    ],
    [{ '1D': [bar()], '1W': [bar()] }, /required columns missing: .*symbol/],
    [{ H1: [bar()], D1: [bar()] }, /required columns missing: .*symbol/],
    [{ '000001': [bar()], 600000: [bar()] }, /its keys are only values, such as 600000\. Write its rows/],
    // Two lists in an answer, or lists of other keys.
    [{ A: { q: [bar(9)], bars: [bar()] }, B: { bars: [bar()], q: [bar(9)] } }, /A\.q\[\]\.t or A\.bars/],
    [{ A: { bars: [bar()] }, B: { values: [bar()] } }, /required columns missing: .*symbol/],
    [many(answer, { bars: [bar()] }), /the rows of LAST are not where those of other symbols are/],
    [many(answer, [bar()]), /the rows of LAST are not where/],
    [many(answer, { data: { values: [bar()] } }), /the rows of LAST are not where/],
    [many(answer, { values: [bar()], splits: [{ a: 1 }] }), /the rows of LAST are not where/],
    [many((at) => [bar(at)], { values: [bar()] }), /the rows of LAST are not where/],
    // All of them cannot have one symbol.
    [
      { A: [bar()], B: [bar(20)] },
      /has its symbols side by side: not all can have the symbol A/,
      { symbol: 'A' },
    ],
  ] as const)
    assert.match(
      await vendor.refusal('a.json', JSON.stringify(content), { fields: { ...byDay, ...more } }),
      message,
    );
  const [once, twice] = [JSON.stringify(bar()), JSON.stringify(bar()).replace('"o":10', '"o":10,"o":11')];
  assert.match(
    await vendor.refusal('a.json', `{"A":[${twice}],"B":[${once}]}`, { fields: byDay }),
    /has the key "o" twice/,
  );
  const event = (name: string) => ({ event_code: name, event_name: name, datetime: '2024-01-02T10:00:00Z' });
  const events = { dataset: 'economic-events', fields: { country_iso_code: 'US' } };
  assert.match(
    await vendor.refusal('a.json', JSON.stringify({ US: [event('A')], DE: [event('B')] }), events),
    /has its symbols side by side: its rows have none/,
  );
});

test('a table may be wider and longer than an object that DuckDB reads (contract 11)', async () => {
  const count = 60_000;
  const dated = Object.fromEntries(
    Array.from({ length: count }, (_, row) => [String(one! * 1000 + row * 60_000), record(own, 0)]),
  );
  const report = await vendor.import('a.json', JSON.stringify(dated), {
    fields: { ...minute, asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'A/USD' },
  });
  assert.deepEqual(
    [report.rowsNew, report.shape],
    [count, 'JSON, one object per date, which is its datetime'],
  );
});

// Made by `iconv`, whose tables are not those of Node.
const inEncoding = (text: string, encoding: string): Buffer =>
  execFileSync('iconv', ['-f', 'UTF-8', '-t', encoding], { input: text });

const rows = dates.map((date, row) => [date, ...ohlcv[row]!].join()).join('\r\n');
const inChinese = `日期,开盘,最高,最低,收盘,成交量\r\n${rows}\r\n`;
const inJapanese = `日付,始値,高値,安値,終値,出来高\r\n${rows}\r\n`;
const inKorean = `일자,시가,고가,저가,종가,거래량\r\n${rows}\r\n`;
const plain = `datetime,open,high,low,close,volume,note −\r\n${rows.replaceAll('00', '00,"−"')}\r\n`;
const mapOfHeader = (text: string): object => {
  const [date, ...fields] = text.split('\r\n')[0]!.split(',');
  return names(date!, fields);
};
const texts: readonly (readonly [encoding: string, text: string, named?: string])[] = [
  ['GB18030', inChinese],
  ['GBK', inChinese],
  ['SHIFT_JIS', inJapanese],
  ['EUC-KR', inKorean],
  ['UTF-16', inJapanese],
  ['UTF-16LE', inKorean],
  ['UTF-16BE', inChinese],
  ['GBK', inChinese.replace(/^[^\r]*/, '甲,乙,丙,丁,戊,己'), 'gbk'],
  ['SHIFT_JIS', inJapanese.replace(/^[^\r]*/, '甲,乙,丙,丁,戊,己'), 'Shift-JIS'],
];
for (const [encoding, text, named] of texts) {
  test(`${encoding}: read ${named === undefined ? 'by itself' : 'where a map names it'} (contract 11)`, async () => {
    const bytes = inEncoding(text, encoding);
    const map = mapOfHeader(text);
    const flags = { fields: day, ...mapOf({ ...map, ...(named !== undefined && { encoding: named }) }) };
    const report = await vendor.import('a.csv', bytes, flags);
    assert.deepEqual([report.rowsNew, report.rowsRefused, report.mayBeCut], [2, 0, false]);
    assert.match(report.shape ?? '', /^text in (gb18030|shift_jis|euc-kr|utf-16le|utf-16be)$/);
    assert.deepEqual(await vendor.served('stock/US:A', 'DAY'), days);
    if (named !== undefined)
      assert.match(
        await vendor.refusal('a.csv', bytes, { fields: day, ...mapOf(map) }),
        /not UTF-8, .*--encoding/,
      );
  });
}

test('a minus sign of UTF-16, half of which is a quote, opens no cell (contract 11)', async () => {
  const report = await vendor.import('a.csv', inEncoding(plain, 'UTF-16LE'), { fields: day });
  assert.equal(report.rowsNew, 2);
});

test('bytes that are no text in the encoding are refused, also far below the header (contract 11)', async () => {
  const long = `${inJapanese}${`${rows}\r\n`.repeat(2000)}`;
  const bytes = Buffer.concat([inEncoding(long, 'SHIFT_JIS'), Buffer.from([0x81, 0x0a])]);
  const flags = { fields: day, ...mapOf(mapOfHeader(inJapanese)) };
  assert.match(
    await vendor.refusal('a.csv', bytes, flags),
    /has bytes that are not shift_jis text\. Nothing/,
  );
  // Half of the last character.
  const cut = inEncoding(inChinese, 'UTF-16LE').subarray(0, -1);
  assert.match(await vendor.refusal('a.csv', cut, flags), /not (?:text in )?utf-16le/);
});

const stocks = { asset_schema: 'stock', country_iso_code: 'US', interval: 'DAY' };
const values = (place: number, symbol: number): number[] =>
  ohlcv[place]!.map((value) => value + symbol * 1000);
/** As pandas writes the frame of yfinance.download: fields in the order of its own, which is alphabetic. */
const frame = (
  corner: readonly [string, string, string],
  isByTicker: boolean,
  symbols: readonly string[],
): string => {
  const fields = ['Close', 'High', 'Low', 'Open', 'Volume'];
  const order = [3, 1, 2, 0, 4];
  const columnsOf = isByTicker
    ? symbols.flatMap((symbol, at) => fields.map((field, place) => [field, symbol, at, place] as const))
    : fields.flatMap((field, place) => symbols.map((symbol, at) => [field, symbol, at, place] as const));
  const lines = [
    [corner[0], ...columnsOf.map(([field, symbol]) => (isByTicker ? symbol : field))],
    [corner[1], ...columnsOf.map(([field, symbol]) => (isByTicker ? field : symbol))],
    [corner[2], ...columnsOf.map(() => '')],
    ...dates.map((date, row) => [
      date,
      ...columnsOf.map(([, , symbol, place]) =>
        row === 0 && symbol === 1 ? '' : String(values(row, symbol)[order[place]!]),
      ),
    ]),
  ];
  return lines.map((cells) => `${cells.join()}\n`).join('');
};
const downloads: readonly (readonly [what: string, content: string])[] = [
  ['of one symbol', frame(['Price', 'Ticker', 'Date'], false, ['A'])],
  ['of two symbols', frame(['Price', 'Ticker', 'Date'], false, ['A', 'B'])],
  ['grouped by ticker', frame(['Ticker', 'Price', 'Date'], true, ['A', 'B'])],
  ['of former versions', frame(['', '', 'Date'], false, ['A', 'B'])],
];
for (const [what, content] of downloads) {
  test(`yfinance.download ${what}: a row for each symbol and date (contract 11)`, async () => {
    const flags = {
      fields: stocks,
      ...mapOf({ columns: { ...names('Date', titled).columns, symbol: 'symbol' } }),
    };
    const report = await vendor.import('a.csv', content, flags);
    const isPair = content.includes('B');
    assert.deepEqual([report.rowsNew, report.rowsRefused], [isPair ? 3 : 2, 0]);
    assert.equal(report.shape, `columns of ${isPair ? '2 symbols' : '1 symbol'}, whose names are symbol`);
    const swapped = (symbol: number): ServedBar[] =>
      dates.map((date, row) => {
        const [open, high, low, close, volume] = values(row, symbol);
        return [date, open!, high!, low!, close!, volume!, null];
      });
    assert.deepEqual(await vendor.served('stock/US:A', 'DAY'), swapped(0));
    if (isPair) assert.deepEqual(await vendor.served('stock/US:B', 'DAY'), swapped(1).slice(1));
    const cut = content.slice(0, content.lastIndexOf(','));
    assert.match(await vendor.refusal('a.csv', cut, flags), /row 2 has \d+ cells, others have \d+\. Nothing/);
  });
}

const [first, second] = ['2024-01-02,10,12,9,11,100', '2024-01-03,11,13,10,12,200'].map(
  (row) => `datetime,open,high,low,close,volume\n${row}\n`,
) as [string, string];
const folder = (): string => {
  mkdirSync(vendor.shop.path('tarred/in'), { recursive: true });
  writeFileSync(vendor.shop.path('tarred/a.csv'), first);
  writeFileSync(vendor.shop.path(`tarred/in/${'b'.repeat(120)}.csv`), second);
  return vendor.shop.path('tarred');
};
const tarOf = (...flags: readonly string[]): Buffer =>
  execFileSync('tar', [...flags, '-cf', '-', '.'], { cwd: folder() });
const packed = (program: string, bytes: Buffer | string): Buffer =>
  execFileSync(program, ['-c'], { input: bytes });
const both = `${first}${second.split('\n')[1]}\n`;

const packings: readonly (readonly [what: string, make: () => Buffer])[] = [
  ['bzip2', () => packed('bzip2', both)],
  ['xz', () => packed('xz', both)],
  [
    'two streams of bzip2',
    () => Buffer.concat([packed('bzip2', first), packed('bzip2', `${second.split('\n')[1]}\n`)]),
  ],
  ['tar of POSIX', () => tarOf('--format=ustar', '--transform=s,b*.csv,b.csv,')],
  ['tar of GNU', () => tarOf('--format=gnu')],
  ['pax', () => tarOf('--format=pax')],
  ['tar.gz', () => gzipSync(tarOf())],
  ['tar.xz', () => packed('xz', tarOf())],
];
for (const [what, make] of packings) {
  test(`${what}: read as what is in it (contract 11)`, async () => {
    const bytes = make();
    const report = await vendor.import('a.bin', bytes, { fields: day });
    assert.match(report.file, what.includes('tar') || what === 'pax' ? /a\.bin\/.+\.csv$/ : /a\.bin$/);
    assert.deepEqual(await vendor.served('stock/US:A', 'DAY'), days);
    for (const end of [bytes.length - 1, Math.floor(bytes.length * 0.7), 600, 300, 60]) {
      // The end of an archive is blocks of zeros, of which tar needs the first.
      if (end < bytes.length && bytes.subarray(end).some((byte) => byte !== 0))
        assert.match(
          await vendor.refusal('a.bin', bytes.subarray(0, end), { fields: day }),
          /^a\.bin: .*(damaged|not a text file|missing)/s,
        );
    }
    const flipped = Buffer.from(bytes);
    flipped[Math.floor(bytes.length / 2)]! ^= 0x10;
    if (!what.startsWith('tar of') && what !== 'pax')
      assert.match(await vendor.refusal('a.bin', flipped, { fields: day }), /data is damaged/);
  });
}

/** Numbers as Python writes them in JSON: the volume that is stored, or the refused column. */
const bare: readonly (readonly [volume: string, close: string, stored: number | null | string])[] = [
  ['NaN', '11', null],
  ['Infinity', '11', null],
  ['-Infinity', '11', null],
  ['null', '11', null],
  ['7', '11', 7],
  ['7', 'NaN', 'close'],
  ['7', 'Infinity', 'close'],
  ['7', '-Infinity', 'close'],
];

const label = (content: string, map: object | undefined): string =>
  `JSON ${content.slice(0, 6)}${map === undefined ? '' : ', by a map'}`;

for (const [volume, close, stored] of bare) {
  const row = `{"datetime":"2024-01-02","open":10,"high":12,"low":9,"close":${close},"volume":${volume}}`;
  const next = '{"datetime":"2024-01-03","open":11,"high":13,"low":10,"close":12,"volume":200}';
  for (const content of [`[${row},\n${next}]`, `${row}\n${next}\n`, `{"bars":[${row},${next}]}`])
    for (const scale of [undefined, { columns: { volume: { column: 'volume', scale: 'suffix' } } }])
      test(`${label(content, scale)}: close ${close}, volume ${volume} (contract 11)`, async () => {
        const report = await vendor.import('a.json', content, { fields: day, ...mapOf(scale) });
        const bars = await vendor.served('stock/US:A', 'DAY');
        const refused = report.refused.map(({ row: at, column: name }) => [at, name]);
        assert.deepEqual(refused, typeof stored === 'string' ? [[1, stored]] : []);
        assert.deepEqual(
          bars.map((bar) => bar[5]),
          typeof stored === 'string' ? [200] : [stored, 200],
        );
      });
}

test('an infinite number is missing in rows too, and the text Infinity is a text (contract 11)', async () => {
  const event = (title: string, value: string): string =>
    [
      `{"country_iso_code":"US","event_code":"${title}","event_name":"Infinity"`,
      `"event_timestamp":"2024-03-14T13:30:00Z","actual_value":${value},"forecast_value":2}`,
    ].join();
  const content = `[${event('A', 'Infinity')},${event('B', 'NaN')}]`;
  await vendor.import('a.json', content, { dataset: 'economic-events' });
  assert.deepEqual(
    rowsOf(vendor.url, 'select event_name, actual_value, forecast_value from economic_events').map((row) =>
      Object.values(row),
    ),
    [
      ['Infinity', null, 2],
      ['Infinity', null, 2],
    ],
  );
});

test('a tar with a damaged header, a link, or nothing in it is refused; one in a zip is packed twice (contract 11)', async () => {
  const bytes = tarOf('--format=ustar', '--transform=s,b*.csv,b.csv,');
  const flipped = Buffer.from(bytes);
  flipped[100]! ^= 1;
  assert.match(
    await vendor.refusal('a.tar', flipped, { fields: day }),
    /checksum of a header does not match/,
  );
  assert.match(await vendor.refusal('a.tar', bytes.subarray(0, 1536), { fields: day }), /cut off/);
  assert.match(
    await vendor.refusal('a.zip', zipOf({ name: 'a.tar', bytes }), { fields: day }),
    /packed more than once/,
  );
  symlinkSync('a.csv', vendor.shop.path('tarred/l.csv'));
  assert.match(await vendor.refusal('a.tar', tarOf(), { fields: day }), /l\.csv in it is a link/);
  rmSync(vendor.shop.path('tarred'), { recursive: true });
});

test('a watch knows the members of a packed tar (contract 11)', async () => {
  const path = vendor.shop.path('watched.tar.gz');
  writeFileSync(path, gzipSync(tarOf('--exclude=in')));
  assert.deepEqual(await membersOf(path), ['./a.csv']);
  writeFileSync(path, gzipSync(first));
  assert.equal(await membersOf(path), null);
});

test('without the program of a packing the message says which to install (contract 11)', async () => {
  const bytes = packed('xz', both);
  const { PATH } = process.env;
  process.env.PATH = vendor.shop.folder;
  try {
    assert.match(
      await vendor.refusal('a.xz', bytes, { fields: day }),
      /program xz cannot be run \(ENOENT\)\. Install xz-utils, or unpack/,
    );
  } finally {
    process.env.PATH = PATH;
  }
});
