// Map files to their full depth, and files that are not what they seem: each is read rightly or refused with
// what to do (contract 11).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { holdReader } from '../../src/imports/read/reader-process.ts';
import { barsOf } from '../stored.ts';
import { rowsOf } from '../stores.ts';
import { zipOf } from '../zip.ts';
import { type Flags, Vendor } from './vendor.ts';

const vendor = new Vendor();
process.once('exit', holdReader());
after(() => vendor.close());

const fields = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', interval: '1M' };
const columns = { datetime: 't', open: 'o', high: 'h', low: 'l', close: 'c', volume: 'v' };
const header = Object.values(columns).join();

let maps = 0;
function mapped(map: unknown, more: Flags = {}): Flags {
  const path = vendor.shop.path(`map-${++maps}.json`);
  writeFileSync(path, typeof map === 'string' ? map : JSON.stringify(map, null, 2));
  return { fields, map: path, ...more };
}

type Cell = string | Readonly<Record<string, unknown>>;

/** A file of one row of these times, and how its column is read. */
const moments: readonly (readonly [what: string, cell: Cell, text: string, at: string])[] = [
  [
    'a European date',
    { column: 't', format: '%d.%m.%Y %H:%M', offset: 'Z' },
    '03.02.2025 14:30',
    '2025-02-03T14:30',
  ],
  [
    'a US date with AM and PM',
    { column: 't', format: '%m/%d/%Y %I:%M %p', offset: 'Z' },
    '02/03/2025 02:30 PM',
    '2025-02-03T14:30',
  ],
  ['seconds with a fraction', { column: 't', epoch: 's' }, '1738593000.0', '2025-02-03T14:30'],
];

for (const [what, cell, text, at] of moments) {
  test(`a map reads ${what}`, async () => {
    const map = { columns: { ...columns, datetime: cell } };
    await vendor.import('a.csv', `${header}\n${text},1,2,0.5,1.5,10\n`, mapped(map));
    assert.deepEqual(await vendor.served('stock/US:A', '1M'), [[`${at}:00+00:00`, 1, 2, 0.5, 1.5, 10, null]]);
  });
}

const time = '2025-02-03T14:30:00Z';
/** Prices as text, and how their columns are read: the open that is stored. */
const prices: readonly (readonly [what: string, cell: object, text: string, open: number])[] = [
  ['ten-thousandths', { scale: 0.0001 }, '1680401', 168.0401],
  ['a decimal comma', { decimal: ',' }, '"1,25"', 1.25],
  ['commas between thousands', { remove: ',' }, '"1,234.5"', 1234.5],
];

for (const [what, cell, text, open] of prices) {
  test(`a map reads ${what}`, async () => {
    const price = (column: string) => ({ column, ...cell });
    const map = {
      columns: { ...columns, open: price('o'), high: price('o'), low: price('o'), close: price('o') },
    };
    await vendor.import('a.csv', `${header}\n${time},${text},,,,10\n`, mapped(map));
    assert.equal((await vendor.served('stock/US:A', '1M'))[0]?.[1], open);
  });
}

test('a German spreadsheet’s file: a title, semicolons, decimal commas, points between thousands, Berlin’s clock', async () => {
  const content = [
    'Exported 03.02.2025',
    'Datum;Zeit;Kürzel;Eröffnung;Hoch;Tief;Schluss;Stück',
    '03.02.2025;09:30;SAP;245,10;245,90;244,80;245,55;12.500',
    '03.02.2025;09:31;SAP;245,55;245,60;245.20;245,25;8.310',
  ];
  const price = (column: string) => ({ column, decimal: ',' });
  const map = {
    skip: 1,
    delimiter: ';',
    zone: 'Europe/Berlin',
    columns: {
      datetime: { column: 'Datum', join: 'Zeit', format: '%d.%m.%Y %H:%M' },
      symbol: 'Kürzel',
      open: price('Eröffnung'),
      high: price('Hoch'),
      low: price('Tief'),
      close: price('Schluss'),
      volume: { column: 'Stück', remove: '\\.' },
    },
  };
  const given = { asset_schema: 'stock', country_iso_code: 'DE', interval: '1M' };
  const { refused } = await vendor.import('mine.csv', content.join('\n'), mapped(map, { fields: given }));
  assert.deepEqual(await vendor.served('stock/DE:SAP', '1M'), [
    ['2025-02-03T08:30:00+00:00', 245.1, 245.9, 244.8, 245.55, 12500, null],
  ]);
  assert.deepEqual(refused, [
    { row: 2, column: 'Tief', reason: 'is not a number with a decimal comma', value: '245.20' },
  ]);
});

test('a map names the columns of a file without a header, its delimiter, its zone and what was done to its prices', async () => {
  const map = {
    header: ['day', 'clock', 'o', 'h', 'l', 'c', 'v', 'x'],
    delimiter: '|',
    skip: 2,
    zone: 'America/New_York',
    prices: 'split',
    columns: {
      ...columns,
      datetime: { column: 'day', join: 'clock', format: '%Y%m%d %H:%M' },
      exchange: { column: 'x', lookup: { N: 'XNYS', Q: 'XNAS' } },
    },
  };
  const rows = [
    'exported by hand',
    'on a Monday',
    '20250203|09:30|1|2|0.5|1.5|10|N',
    '20250203|09:31|1|2|0.5|1.5|10|Z',
    '20250203|9h|1|2|0.5|1.5|10|N',
    '20250203',
  ];
  const content = `${rows.join('\n')}\n`;
  const report = await vendor.import('a.txt', content, mapped(map));
  assert.deepEqual(
    report.refused.map(({ row, column, reason }) => [row, column, reason]),
    [
      [2, 'x', 'is not one of N, Q'],
      [3, 'clock', 'is not of the form %Y%m%d %H:%M'],
      [4, 'row', 'has fewer cells than the header has columns'],
    ],
  );
  assert.equal((await vendor.served('stock/US:A', '1M'))[0]?.[0], '2025-02-03T14:30:00+00:00');
});

test('a refusal shows all the text of joined columns, and an empty second one leaves the first (contract 11)', async () => {
  const event = { event_code: 'event', event_name: 'event' };
  const time = { column: 'date', join: 'time', format: '%d/%m/%Y %H:%M', offset: 'Z' };
  const flags = mapped(
    { columns: { ...event, event_timestamp: time }, values: { country_iso_code: 'US' } },
    { dataset: 'economic-events', fields: {} },
  );
  const rows = [
    '13/05/2025,All Day,Meetings',
    '13/05/2025,,Speech',
    ',10:30,Nothing',
    '13/05/2025,10:30,CPI',
  ];
  const { refused, rowsNew } = await vendor.import('c.csv', ['date,time,event', ...rows].join('\n'), flags);
  const form = 'is not of the form %d/%m/%Y %H:%M';
  assert.deepEqual(refused, [
    { row: 1, column: 'time', reason: form, value: '13/05/2025 All Day' },
    { row: 2, column: 'time', reason: form, value: '13/05/2025' },
    { row: 3, column: 'date', reason: 'is missing', value: '10:30' },
  ]);
  assert.equal(rowsNew, 1);
});

/** Cells of joined columns that make no time, and the column that is named. */
const joined: readonly (readonly [format: string, cells: readonly string[], wrong: string])[] = [
  ['%d/%m/%Y %H:%M', ['13/05/2025', 'Tentative'], 'b'],
  ['%d/%m/%Y %H:%M', ['13/05/2025', '9h30'], 'b'],
  ['%d/%m/%Y %H:%M', ['2025-05-13', '10:30'], 'a'],
  ['%d/%m/%Y %H:%M', ['13/05/25', ''], 'a'],
  ['%d/%m/%Y %H:%M', ['31/02/2025', '10:30'], 'a'],
  ['%d %b %Y %I:%M %p %z', ['13 May 2025', '10:30 XM', '+0200'], 'b'],
  ['%d %b %Y %I:%M %p %z', ['13 May 2025', '10:30 AM', 'CET!'], 'z'],
  ['%d %b %Y %I:%M %p %z', ['13. May 2025', '10:30 AM', '+0200'], 'a'],
  ['%Y %m %d %H %M', ['2025', '13', '5', '9', '31'], 'b'],
  ['%Y %-m %-d %-H %-M', ['2025', '5', '99', '9', '31'], 'z'],
  ['%Y %m %d %H %M', ['2025', '5', '13', '24', '31'], 'p'],
  ['%Y %m %d %H %M', ['2025', '5', '13', '9', '60'], 'q'],
  ['%Y %m %d %I %p', ['2025', '5', '13', '13', 'PM'], 'p'],
];

test('the column of a join is named whose cell is none of its part of the form (contract 11)', async () => {
  for (const [format, cells, wrong] of joined) {
    const names = ['a', 'b', 'z', 'p', 'q'].slice(0, cells.length);
    const time = {
      column: 'a',
      join: names.slice(1),
      format,
      ...(!format.includes('%z') && { offset: 'Z' }),
    };
    const flags = mapped({ columns: { ...columns, datetime: time } });
    const content = `${names.join()},${header}\n${cells.join()},,1,2,0.5,1.5,10\n`;
    const { refused } = await vendor.import('a.csv', content, flags);
    const form = `is not of the form ${format}`;
    assert.deepEqual(
      refused.map(({ column, reason }) => [column, reason]),
      [[wrong, form]],
      cells.join(),
    );
  }
});

/** Times with a weekday: null where it is that of the date, else the reason of the refusal. */
const weekdays: readonly (readonly [format: string, text: string, reason: string | null])[] = [
  ['%a %Y-%m-%d %H:%M', 'Tue 2024-01-02 15:00', null],
  ['%a %Y-%m-%d %H:%M', 'Mon 2024-01-02 15:00', 'has the wrong weekday: the date is a Tuesday'],
  ['%A, %B %d, %Y %H:%M', 'thursday, February 29, 2024 15:00', null],
  ['%A, %B %d, %Y %H:%M', 'Friday, February 29, 2024 15:00', 'has the wrong weekday: the date is a Thursday'],
  // The weekday is that of the local date, which is Wednesday already in UTC.
  ['%a, %d %b %Y %H:%M %z', 'Tue, 02 Jan 2024 23:00 -0500', null],
  ['%a, %d %b %Y %H:%M %Z', 'Tue, 02 Jan 2024 23:00 EST', null],
  ['%a, %d %b %y %H:%M %z', 'Wed, 02 Jan 24 23:00 -0500', 'has the wrong weekday: the date is a Tuesday'],
];

test('a weekday beside a date must be its own (contract 11)', async () => {
  for (const [format, text, wrong] of weekdays) {
    const time = { column: 't', format, ...(!/%z/i.test(format) && { offset: 'Z' }) };
    const flags = mapped({ columns: { ...columns, datetime: time } });
    const report = await vendor.import('a.csv', `${header}\n"${text}",1,2,0.5,1.5,10\n`, flags);
    const said = report.refused.map(({ column, reason, value }) => [column, reason, value]);
    assert.deepEqual(said, wrong === null ? [] : [['t', wrong, text]], text);
  }
});

/** Rows of a calendar, with the times that are stored by event; null where the row is refused. */
const filledRows: readonly (readonly [row: string, time: string | null])[] = [
  [',09:00,E', null],
  ['13/05/2025,10:00,A', '2025-05-13T10:00'],
  [',,B', '2025-05-13T10:00'],
  [' ,11:00,C', '2025-05-13T11:00'],
  ['14/05/2025,"",D', '2025-05-14T11:00'],
];

const calendar = {
  columns: {
    event_timestamp: { column: 'date', join: 'time', fill: 'down', format: '%d/%m/%Y %H:%M', offset: 'Z' },
    ...{ event_code: 'event', event_name: 'event' },
  },
  values: { country_iso_code: 'US' },
};
const eventTimes = (): unknown =>
  rowsOf(vendor.url, 'select event_code, event_timestamp from economic_events order by event_code').map(
    (row) => [row.event_code, new Date(Number(row.event_timestamp)).toISOString().slice(0, 16)],
  );

test('blank cells are filled from the row above, also in refused rows (contract 11)', async () => {
  const flags = mapped(calendar, { dataset: 'economic-events', fields: {} });
  const head = 'date,time,event';
  const content = [head, ...filledRows.map(([row]) => row), ',soon,F', ''].join('\n');
  const expected = filledRows.flatMap(([row, time]) => (time === null ? [] : [[row.at(-1), time]]));
  const report = await vendor.import('c.csv', content, flags);
  assert.deepEqual(eventTimes(), expected);
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [
      [1, 'date'],
      [6, 'time'],
    ],
  );
  const kept = readFileSync(report.rejectedFile!, 'utf8').split(/\r?\n/);
  assert.match(kept[2]!, /^14\/05\/2025,soon,F,/);
  const objects = [
    { date: '13/05/2025', time: '10:00', event: 'A' },
    { event: 'B', time: null },
    { date: '', time: '12:00', event: 'C' },
  ];
  await vendor.import('c.json', JSON.stringify(objects), flags);
  assert.deepEqual(eventTimes(), [
    ['A', '2025-05-13T10:00'],
    ['B', '2025-05-13T10:00'],
    ['C', '2025-05-13T12:00'],
  ]);
  // Nothing of the file before.
  const next = await vendor.import('d.csv', `${head}\n,,A\n`, flags, false);
  assert.equal(next.rowsRefused, 1);
});

test('fill is refused for symbols side by side, whose rows are in turn (contract 11)', async () => {
  const wide = [
    ...['Price,Open,High,Low,Close,Open,High,Low,Close', 'Ticker,A,A,A,A,B,B,B,B', 'Date,,,,,,,,'],
    ...['2024-03-14,1,2,0.5,1.5,1,2,0.5,1.5', ''],
  ];
  const names = { open: 'Open', high: 'High', low: 'Low', close: 'Close', symbol: 'symbol' };
  const map = { columns: { ...names, datetime: { column: 'Date', fill: 'down' } } };
  const { symbol: _, ...given } = { ...fields, interval: 'DAY' };
  assert.match(
    await vendor.refusal('w.csv', wide.join('\n'), mapped(map, { fields: given })),
    /has its symbols side by side/,
  );
});

/** Cells with several tickers, their separator, and the symbols that are stored. */
const tickers: readonly (readonly [cell: string, split: string, symbols: readonly (string | null)[]])[] = [
  ['"AAPL,MSFT"', ',', ['AAPL', 'MSFT']],
  ['AAPL;MSFT', ';', ['AAPL', 'MSFT']],
  [' AAPL ; MSFT ;; ', ';', ['AAPL', 'MSFT']],
  ['AAPL | MSFT|KO', '|', ['AAPL', 'KO', 'MSFT']],
  ['AAPL and MSFT', ' and ', ['AAPL', 'MSFT']],
  ['AAPL', ',', ['AAPL']],
  ['', ',', [null]],
  [';;', ';', [null]],
];

for (const [cell, split, symbols] of tickers) {
  test(`split by ${JSON.stringify(split)}: ${cell} is ${symbols.join(' and ')} (contract 11)`, async () => {
    const names = { published_date: 'at', title: 'title', publisher_url: 'url' };
    const values = { asset_name: 'stock', country_iso_code: 'US' };
    const map = { columns: { ...names, symbol: { column: 's', split } }, values };
    const content = `at,title,url,s\n2025-05-13T10:00:00Z,"One, two",https://e.example/1,${cell}\n`;
    const json = [
      {
        at: '2025-05-13T10:00:00Z',
        title: 'One, two',
        url: 'https://e.example/1',
        s: cell.replaceAll('"', ''),
      },
    ];
    for (const text of [content, JSON.stringify(json)]) {
      const report = await vendor.import('n.txt', text, mapped(map, { dataset: 'news', fields: {} }));
      assert.deepEqual([report.rowsRead, report.rowsNew], [symbols.length, symbols.length]);
      const found = rowsOf(vendor.url, 'select title, symbol from news order by symbol');
      assert.deepEqual(
        found.map(({ title, symbol }) => [title, symbol]),
        symbols.map((symbol) => ['One, two', symbol]),
      );
    }
  });
}

test('a cell that would repeat too much of its row is refused (contract 11)', async () => {
  const names = { published_date: 'at', title: 'title', publisher_url: 'url' };
  const map = { columns: { ...names, symbol: { column: 's', split: ';' } }, values: { asset_name: 'stock' } };
  const row = `2025-05-13T10:00:00Z,${'x'.repeat(100_000)},https://e.example/1,${'A;'.repeat(5_000)}`;
  assert.match(
    await vendor.refusal(
      'n.csv',
      `at,title,url,s\n${row}\n`,
      mapped(map, { dataset: 'news', fields: { country_iso_code: 'US' } }),
    ),
    /a list repeats s in each of its rows, which would have more than 67108864 bytes/,
  );
});

const faults: readonly (readonly [line: string, says: RegExp])[] = [
  ['"close": 5', /line 3: "columns": "close" must be text/],
  [
    '"close": {"colum": "c"}',
    /line 3: "columns": "close": "colum" is not one of column, join, .*; is it "column"\?/,
  ],
  ['"close": {"scale": 2}', /line 3: "columns": "close" has no "column"/],
  ['"close": {"column": "c", "scale": "x"}', /line 3: .*"scale" must be a number, not 0/],
  ['"close": {"column": "c", "scale": 0}', /line 3: .*"scale" must be a number, not 0/],
  ['"close": {"column": "c", "remove": "("}', /line 3: .*"remove" is not a regular expression/],
  ['"close": {"column": "c", "remove": "a(?=b)"}', /line 3: .*"remove" uses lookahead/],
  [
    '"close": {"column": "c", "lookup": {"a": 1}}',
    /line 3: .*"lookup" must be an object whose values are texts/,
  ],
  ['"close": {"column": "c", "decimal": "."}', /line 3: .*"decimal" must be ","/],
  ['"close": {"column": "c", "epoch": "min"}', /line 3: .*"epoch" must be "s", "ms", "us", "ns"/],
  ['"close": {"column": "c", "offset": "EST"}', /line 3: .*"offset" must be an offset from UTC/],
  ['"close": {"column": "c", "format": "dd.mm"}', /line 3: .*"format" must be a date format/],
  [
    '"close": {"column": "c", "format": "%d.%m.%Y %k"}',
    /line 3: .*"format" has %k, which is not part of a date format/,
  ],
  [
    '"close": {"column": "c", "format": "%Z %d.%m.%Y"}',
    /line 3: .*"format" has %Z, which is not part of a date format/,
  ],
  ['"close": {"column": "c", "format": "%b %d %H:%M"}', /line 3: .*"format" has no year, such as %Y or %y/],
  ['"close": {"column": "c", "join": ["a", "b", "d", "e", "f"]}', /line 3: .*"join" must be a column, or/],
  [
    '"close": {"column": "c", "value": "1", "scale": 2}',
    /line 3: .*"close": "scale" cannot be combined with "value"/,
  ],
  ['"close": {"column": "c", "fill": "up"}', /line 3: .*"fill" must be "down"/],
  ['"close": {"column": "c", "split": ""}', /line 3: .*"split" must be text/],
  ['"close": {"column": "c", "split": ",", "join": "d"}', /line 3: .*"split" cannot be combined with "join"/],
  [
    '"close": {"column": "c", "split": ","}, "low": {"column": "l", "split": ","}',
    /line 3: "columns": "low": "split" is not of the same column as that of "close"/,
  ],
  ['"close": {"column": "c", "scale": 2, "epoch": "s"}', /line 3: .*"epoch" cannot be combined with "scale"/],
  ['"price": "c"', /line 3: the column mapping names a field price/],
  [
    '"close": {"column": "clsoe"}',
    /line 3: .*has no column clsoe, which the column mapping names.*is it close\?/,
  ],
  ['}, "zone": "New York", "values": {"symbol": "A"', /line 3: "zone" is not a time zone/],
  ['}, "delimiter": ";;", "values": {"symbol": "A"', /line 3: "delimiter" must be one character/],
  ['}, "header": [], "values": {"symbol": "A"', /line 3: "header" must be a list of names/],
  ['}, "skip": -1, "values": {"symbol": "A"', /line 3: "skip" must be a number of lines/],
  ['}, "prices": "adjusted", "values": {"symbol": "A"', /line 3: "prices" must be "raw", "split", "all"/],
  [
    '}, "colums": {}, "values": {"symbol": "A"',
    /line 3: a mapping file has no "colums"; it may have columns, values, header/,
  ],
  ['"close": "c"', /map-\d+\.json: is not JSON: /],
];

for (const [line, says] of faults) {
  test(`a map with ${line} is refused with its line`, async () => {
    const isCut = line === '"close": "c"';
    const flags = mapped(`{\n  "columns": {\n    ${line}\n  }\n${isCut ? '' : '}'}`);
    assert.match(await vendor.refusal('a.csv', 'datetime,open,high,low,close\n', flags), says);
  });
}

const own = 'datetime,open,high,low,close';
/** Files that are not what they seem, and what is said of them. */
const odd: readonly (readonly [what: string, content: string | Buffer, says: RegExp, flags?: Flags])[] = [
  [
    'semicolons',
    `${own.replaceAll(',', ';')}\n`,
    /this file separates columns by ";"\. Add --delimiter ";"$/,
  ],
  ['pipes', `${own.replaceAll(',', '|')}\n`, /this file separates columns by "\|"\. Add --delimiter "\|"$/],
  [
    'semicolons and a header in German',
    'Datum;Erster;Hoch;Tief;Schlusskurs;Stücke\n03.02.2025;1,0;2,0;0,5;1,5;1.000\n',
    /the dates of Datum \(03\.02\.2025\) may begin with the day or with the month\. Say which: --date-format '%d/,
  ],
  [
    'a title above the header',
    `Prices of A\n${own}\n`,
    /required columns missing.*skip them by --map FILE with "skip"/,
  ],
  [
    'no header',
    `${time},1,2,0.5,1.5\n`,
    /only values, no column names\. Add a header line, or name the columns by --map FILE with "header"/,
  ],
  [
    'a header in German',
    'Datum,Eröffnung,Hoch,Tief,Schluss\n03.02.2025,1,2,0.5,1.5\n',
    /the dates of Datum \(03\.02\.2025\) may begin with the day or with the month\. Say which: --date-format '%d/,
  ],
  [
    'columns that nobody knows',
    't,c1,c2,c3,c4\n1,2,3,4,5\n',
    /--map FILE with \{"columns":\{"datetime":"t","open":"…","high":"…","low":"…","close":"…"\}\}, and put a column of the file in place of each …/,
  ],
  ['an open quote in its first row', `${own}\n"${time},1,2,0.5,1.5\n`, /a quote is not closed/],
  [
    'the bars of MetaTrader, whose times have no zone',
    '2012.02.01,00:00,1.3,1.3,1.3,1.3,0\n',
    /times have no offset: name their zone, such as --zone/,
  ],
  [
    'the letters of Western Windows',
    Buffer.from(`${own},Stück\n${time},1,2,0.5,1.5,1\n`, 'latin1'),
    /is not UTF-8, and no other encoding is certain\. Name it: --encoding windows-1252/,
  ],
  [
    'the letters of Western Windows further down',
    Buffer.from(`${own},name\n${`${time},1,2,0.5,1.5,A\n`.repeat(4000)}${time},1,2,0.5,1.5,Ä\n`, 'latin1'),
    /not UTF-8.*--encoding windows-1252/,
  ],
  [
    'a workbook',
    zipOf({ name: '[Content_Types].xml', bytes: Buffer.from('<Types/>') }),
    /is an Excel workbook\. Save it as CSV/,
  ],
  ['an old workbook', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), /is an Excel workbook\. Save it as CSV/],
  ['a web page', '<!DOCTYPE html>\n<html></html>\n', /is a web page or XML.*Was the download refused/],
  [
    'a header in capitals',
    'DATE,OPEN,HIGH,LOW,PRICE,LAST\n',
    /use --map FILE with \{"columns":\{"datetime":"DATE","open":"OPEN"(?!.*preset)/,
  ],
  ['an adjusted close alone', 'datetime,open,high,low,Adj Close\n', /missing: close/],
  ['a column twice', 'datetime,open,high,low,close,close\n', /two columns are named close/],
  [
    'local times',
    `${own}\n2025-02-03 09:30:00,1,2,0.5,1.5\n`,
    /times have no offset: name their zone, such as --zone/,
  ],
];

for (const [what, content, says, flags = { fields }] of odd) {
  test(`a file with ${what} is refused with what to do`, async () => {
    assert.match(await vendor.refusal('prices.csv', content, flags), says);
  });
}

/** Cells that are not what they seem, in one row of a good file: the refused column and why. */
const oddRows: readonly (readonly [what: string, row: string, column: string, reason: RegExp])[] = [
  ['a decimal comma', `${time},"1,5",2,0.5,1.5`, 'open', /not a number/],
  ['commas between thousands', `${time},"1,500",2000,0.5,1.5`, 'open', /not a number/],
  ['high and low swapped', `${time},1,0.5,2,1.5`, 'high', /is below/],
  ['a European date', '03.02.2025 14:30,1,2,0.5,1.5', 'datetime', /write 2025-03-03T09:30:00Z, or an epoch/],
  ['a US date', '02/03/2025 14:30,1,2,0.5,1.5', 'datetime', /write 2025-03-03T09:30:00Z/],
  ['a date that is a number', '20250203,1,2,0.5,1.5', 'datetime', /with "format", such as %Y%m%d/],
  ['a date that is a number of minutes', '20250120,1,2,0.5,1.5', 'datetime', /with "format"/],
  ['a date and a time that are a number', '202502031430,1,2,0.5,1.5', 'datetime', /with "format"/],
  ['no time, as a number', '0,1,2,0.5,1.5', 'datetime', /with "format"/],
  ['a date alone', '2025-02-03,1,2,0.5,1.5', 'datetime', /a date without a time/],
  ['a footer', 'Total,,,,', 'open', /price is missing/],
  ['a price of nothing', `${time},0,0,0,0`, 'open', /must be positive/],
  ['a word for no price', `${time},N/A,N/A,N/A,N/A`, 'open', /price is missing/],
  ['an underscore in a number', `${time},1_0,20,5,15`, 'open', /not a number/],
  ['a unit behind the number', `${time},1k,2k,0.5k,1.5k`, 'open|close|high|low', /not a number/],
];

test('rows that are not what they seem are refused with --preset none, each with its column and the reason', async () => {
  const rows = oddRows.map(([, row]) => row);
  const content = [own, '2025-02-03T14:29:00Z,1,2,0.5,1.5', ...rows, ''].join('\n');
  const { refused } = await vendor.import('prices.csv', content, { fields, preset: 'none' });
  assert.deepEqual(
    refused.map(({ row }) => row),
    oddRows.map((_, index) => index + 2),
  );
  for (const [index, [what, , column, reason]] of oddRows.entries()) {
    assert.match(refused[index]!.column, new RegExp(`^(${column})$`), what);
    assert.match(refused[index]!.reason, reason, what);
  }
});

test('times of the wrong zone fall outside every session, and are counted', async () => {
  const rows = [30, 31, 32].map((minute) => `2025-02-03 09:${minute}:00,1,2,0.5,1.5`);
  const content = [own, ...rows].join('\n');
  const wrong = await vendor.import('prices.csv', content, { fields, zone: 'Australia/Sydney' });
  assert.equal(wrong.outsideSessions, 3);
  const right = await vendor.import('prices.csv', content, { fields, zone: 'America/New_York' });
  assert.equal(right.outsideSessions, 0);
});

test('a decimal comma in one column is that of the file: a point in another is refused, not taken for one', async () => {
  const map = {
    delimiter: ';',
    columns: {
      ...columns,
      ...Object.fromEntries(
        ['open', 'high', 'low', 'close'].map((field) => [field, { column: field[0], decimal: ',' }]),
      ),
    },
  };
  const content = [header.replaceAll(',', ';'), `${time};1,5;2;0,5;1,5;12.500`, `${time};1,5;2;0,5;1,5;0,5`];
  const report = await vendor.import('a.csv', `${content.join('\n')}\n`, mapped(map));
  assert.deepEqual(report.refused, [
    { row: 1, column: 'v', reason: 'is not a number with a decimal comma', value: '12.500' },
  ]);
  assert.deepEqual(barsOf(vendor.url)['stock:US:A:1M']?.[0]?.slice(1, 6), [1.5, 2, 0.5, 1.5, 0.5]);
  const plain = { ...map, columns: { ...map.columns, volume: { column: 'v', remove: '\\.' } } };
  await vendor.import('a.csv', `${content.slice(0, 2).join('\n')}\n`, mapped(plain));
  assert.equal(barsOf(vendor.url)['stock:US:A:1M']?.[0]?.[5], 12500);
});

const day = (at: number): string => new Date(Date.UTC(2025, 1, 3 + at)).toISOString().slice(0, 10);

test('minutes that are given as days are refused, not stored by the first of each', async () => {
  const rows = [30, 31, 32].map((minute) => `2025-02-03T14:${minute}:00Z,1,2,0.5,1.${minute}`);
  const daily = { fields: { ...fields, interval: 'DAY' } };
  assert.match(
    await vendor.refusal('a.csv', `${[own, ...rows].join('\n')}\n`, daily),
    /several bars within one DAY, in data rows 1 and 2: is the interval right \(--interval\)\?/,
  );
  const one = await vendor.import('a.csv', `${own}\n${rows[0]}\n${rows[0]}\n`, daily);
  assert.equal(one.rowsRefused, 0);
});

test('hours that are given as minutes, and weeks and months as days, are told', async () => {
  const hours = Array.from(
    { length: 24 },
    (_, at) => `${day(Math.floor(at / 6))}T${15 + (at % 6)}:30:00Z,1,2,0.5,1.5`,
  );
  const found = async (rows: readonly string[], interval: string) =>
    (
      await vendor.import('a.csv', `${[own, ...rows].join('\n')}\n`, {
        fields: { ...fields, interval },
      })
    ).findings;
  assert.deepEqual(await found(hours, '1M'), {
    'a multiple of 60 minutes apart, so that the interval may be wrong (--interval)': 24,
  });
  assert.deepEqual(await found(hours, '60M'), {});
  assert.deepEqual(await found([...hours, '2025-02-06T20:31:00Z,1,2,0.5,1.5'], '1M'), {});
  const weeks = [1, 8, 15, 22].map((at) => `${day(at)},1,2,0.5,1.5`);
  assert.deepEqual(await found([weeks[0]!, weeks[1]!, weeks[3]!], 'DAY'), {});
  assert.deepEqual(await found([...weeks, `${day(30)},1,2,0.5,1.5`], 'DAY'), {
    'at least 7 days apart, so that the interval may be wrong (--interval)': 5,
  });
  assert.deepEqual(await found(weeks, 'WEEK'), {});
  // Rows that go back to an earlier block, which is opened again, are counted once.
  const early = '2020-02-04,1,2,0.5,1.5';
  assert.deepEqual(await found([weeks[0]!, early, weeks[1]!], 'DAY'), {});
  assert.deepEqual(await found([weeks[0]!, early, ...weeks.slice(1, 3)], 'DAY'), {
    'at least 7 days apart, so that the interval may be wrong (--interval)': 4,
  });
  assert.deepEqual(
    await found(
      [0, 1, 4].map((at) => `${day(at)},1,2,0.5,1.5`),
      'DAY',
    ),
    {},
  );
});

test('bars of days on which the market is closed are told: the month may stand in the place of the day (contract 3.10)', async () => {
  const map = { columns: { ...columns, datetime: { column: 't', format: '%d/%m/%Y' } } };
  const rows = ['03/04/2025', '03/05/2025', '03/06/2025'].map((date) => `${date},1,2,0.5,1.5,10`);
  const report = await vendor.import('a.csv', `${[header, ...rows].join('\n')}\n`, {
    ...mapped(map),
    fields: { ...fields, interval: 'DAY' },
  });
  assert.deepEqual(report.findings, { 'on days that the market is closed, stored and served': 1 });
});

test('milliseconds before 1973 are told by the map, as their size does not', async () => {
  const map = { columns: { ...columns, datetime: { column: 't', epoch: 'ms' } } };
  await vendor.import('a.csv', `${header}\n63124200000,1,2,0.5,1.5,10\n`, mapped(map));
  assert.equal(barsOf(vendor.url)['stock:US:A:1M']?.[0]?.[0], '1972-01-01T14:30');
});

for (const [what, text] of [
  ['a date', '20250203'],
  ['a date and a time', '20250203143000'],
  ['the number of a day in a spreadsheet', '45691'],
] as const) {
  test(`${what} that is a number is no epoch of 1970, in a file of days neither`, async () => {
    const daily = { fields: { ...fields, interval: 'DAY' }, preset: 'none' };
    const report = await vendor.import('a.csv', `${own}\n${text},1,2,0.5,1.5\n`, daily);
    assert.equal(report.rowsRefused, 1);
    assert.match(report.refused[0]!.reason, /a map gives another form with "format"/);
  });
}

test('seconds of 1970 are told by the map, also where they look like a date', async () => {
  const map = { columns: { ...columns, datetime: { column: 't', epoch: 's' } } };
  await vendor.import('a.csv', `${header}\n20240820,1,2,0.5,1.5,10\n20250100,1,2,0.5,1.5,10\n`, {
    ...mapped(map),
    fields: { ...fields, interval: 'DAY' },
  });
  assert.equal(barsOf(vendor.url)['stock:US:A:DAY']?.[0]?.[0], '1970-08-23T00:00');
});

test('epochs in the wrong unit are refused, not put into 1970', async () => {
  const map = { columns: { ...columns, datetime: { column: 't', epoch: 's' } } };
  const report = await vendor.import('a.csv', `${header}\n1738593000000,1,2,0.5,1.5,10\n`, mapped(map));
  assert.equal(report.rowsRefused, 1);
});

test('epochs that a map takes for a finer unit are told, as they lie in the first weeks of 1970', async () => {
  const content = `${header}\n1738593000,1,2,0.5,1.5,10\n1738679400,1,2,0.5,1.5,10\n`;
  const found = async (epoch: string) => {
    const flags = mapped({ columns: { ...columns, datetime: { column: 't', epoch } } });
    const report = await vendor.import('a.csv', content, {
      ...flags,
      fields: { ...fields, interval: 'DAY' },
    });
    return report.findings;
  };
  assert.deepEqual(await found('s'), {});
  assert.deepEqual(await found('ms'), { 'of the first weeks of 1970, as epochs in the wrong unit are': 1 });
});

/** Files whose cells have blanks, missing values and midnights, and what is stored of their first rows. */
const cells: readonly (readonly [dataset: string, table: string, content: string, stored: object])[] = [
  [
    'instruments',
    'instruments',
    'asset_schema,country_iso_code,symbol,name,tick_size,listing_date,delisting_date\n stock , us,\tACME ,Acme,-, 2001-02-03 00:00:00 ,NaT\n',
    { symbol: 'ACME', name: 'Acme', tick_size: null, listing_date: '2001-02-03', delisting_date: null },
  ],
  [
    'corporate-actions',
    'corporate_actions',
    'country_iso_code,symbol,action_type,ex_date,cash_amount,currency,pay_date\nUS, ACME , dividend , 2024-02-09 00:00:00-05:00, 0.24 ,None,N/A\n',
    { ex_date: Date.parse('2024-02-09') / 86_400_000, cash_amount: 0.24, currency: null, pay_date: null },
  ],
  [
    'option-contracts',
    'option_contracts',
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type\nACME250919C00100000,US,stock, ACME, 100 ,2025-09-19T00:00:00.000Z, call \n',
    { strike_price: 100, expiration_date: Date.parse('2025-09-19') / 86_400_000, option_type: 'call' },
  ],
  [
    'economic-events',
    'economic_events',
    'country_iso_code,event_code,event_name,event_timestamp,actual_value,forecast_value,unit\nUS, CPI ,CPI, 2024-03-12 12:30+00 ,null, 3.1 ,NaN\n',
    {
      event_code: 'CPI',
      event_timestamp: Date.parse('2024-03-12T12:30Z'),
      actual_value: null,
      forecast_value: 3.1,
      unit: null,
    },
  ],
  [
    'news',
    'news',
    'published_date,title,publisher_url,publisher,symbol\n"Fri, 15 Mar 2024 13:30:00 GMT", A title , https://e.example/1 ,-,\n',
    { published_date: Date.parse('2024-03-15T13:30Z'), title: ' A title ', publisher: null, symbol: null },
  ],
];

for (const [dataset, table, content, stored] of cells) {
  test(`cells of ${dataset} may have blanks around them, words for a missing value, and dates with their midnight (contract 11)`, async () => {
    const report = await vendor.import('cells.csv', content, { dataset });
    assert.deepEqual(report.refused, []);
    const [found] = rowsOf(vendor.url, `select * from ${table}`);
    for (const [column, value] of Object.entries(stored)) assert.equal(found![column], value, column);
  });
}

test('a word for a missing value in a required field is refused as missing (contract 11)', async () => {
  const rows = ['stock,US,null', 'stock,US,-', 'stock,-,A', 'stock,US,NAN'];
  const content = `asset_schema,country_iso_code,symbol\n${rows.join('\n')}\n`;
  const { refused, rowsNew } = await vendor.import('words.csv', content, { dataset: 'instruments' });
  assert.deepEqual(
    refused.map(({ column, reason, value }) => [column, reason, value]),
    [
      ['symbol', 'is missing', 'null'],
      ['symbol', 'is missing', '-'],
      ['country_iso_code', 'is missing', '-'],
    ],
  );
  assert.equal(rowsNew, 1);
});

test('an hour that the zone has twice is told apart in a file with its newest row first (contract 2.5)', async () => {
  const clocks = ['02:00', '01:30', '01:00', '01:30', '01:00', '00:30'];
  const content = [own, ...clocks.map((clock) => `2024-11-03 ${clock},1,2,0.5,1.5`)].join('\n');
  const named = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'A', interval: '30M' };
  await vendor.import('newest-first.csv', content, { fields: named, zone: 'America/New_York' });
  const served = await vendor.served('crypto/GLOBAL:A', '30M');
  assert.deepEqual(
    served.map(([datetime]) => datetime.slice(11, 16)),
    ['04:30', '05:00', '05:30', '06:00', '06:30', '07:00'],
  );
});
