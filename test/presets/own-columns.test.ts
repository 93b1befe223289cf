// Files whose columns have our own names, and cells of other forms; odd cells in optional columns; files
// without a header, and of actions of one kind (contract 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { holdReader } from '../../src/imports/read/reader-process.ts';
import { rowsOf } from '../stores.ts';
import { type Flags, Vendor } from './vendor.ts';

const vendor = new Vendor();
process.once('exit', holdReader());
after(() => vendor.close());

const market = { asset_schema: 'stock', country_iso_code: 'US' };
const days = { ...market, symbol: 'X', interval: 'DAY' };
const minutes = { ...days, interval: '1M' };
const own = 'datetime,open,high,low,close,volume';
const prices = '10,11,9,10.5';
const dayNumber = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

/** Files of days with our own names: the bars of 2024-01-02 and 2024-01-31 are stored of each. */
const dayFiles: readonly (readonly [
  what: string,
  lines: readonly string[],
  cell: object | null,
  told?: Flags['told'],
])[] = [
  ['ISO dates', [own, `2024-01-02,${prices},1200`, `2024-01-31,${prices},1300`], null],
  ['dates with slashes', [own, `2024/01/02,${prices},1200`, `2024/01/31,${prices},1300`], null],
  [
    'blanks that join words',
    [own, `\u00a02024-01-02 ,${prices},1200`, `2024-01-31\u00a0,${prices},1300`],
    null,
  ],
  [
    'dates of short months',
    [own, `2024/1/2,${prices},1200`, `2024/1/31,${prices},1300`],
    { column: 'datetime', format: '%Y/%m/%d' },
  ],
  [
    'dates that begin with the day',
    [own, `02.01.2024,${prices},1200`, `31.01.2024,${prices},1300`],
    { column: 'datetime', format: '%d.%m.%Y' },
  ],
  [
    'dates that begin with the month',
    [own, `1/2/2024,${prices},1200`, `1/31/2024,${prices},1300`],
    { column: 'datetime', format: '%m/%d/%Y' },
  ],
  [
    'dates that a flag tells',
    [own, `01/02/2024,${prices},1200`],
    { column: 'datetime', format: '%m/%d/%Y' },
    { dateFormat: '%m/%d/%Y' },
  ],
  [
    'dates of numbers',
    [own, `20240102,${prices},1200`, `20240131,${prices},1300`],
    { column: 'datetime', format: '%Y%m%d' },
  ],
  [
    'a time that is no time of the bar',
    [`${own},time`, `2024-01-02,${prices},1200,16:00`, `2024-01-31,${prices},1300,16:01`],
    null,
  ],
  [
    'times that are none of the bars, of the same day in two countries',
    [
      `country_iso_code,${own},time`,
      ...['02', '31'].flatMap((day) => [
        `US,2024-01-${day},${prices},${day === '02' ? 1200 : 1300},16:00`,
        `DE,2024-01-${day},${prices},7,17:30`,
      ]),
    ],
    null,
  ],
  [
    'JSON',
    [
      `{"datetime":"1/2/2024","open":10,"high":11,"low":9,"close":10.5,"volume":1200}`,
      `{"datetime":"1/31/2024","open":10,"high":11,"low":9,"close":10.5,"volume":1300}`,
    ],
    { column: 'datetime', format: '%m/%d/%Y' },
  ],
];

for (const [what, lines, cell, told] of dayFiles) {
  test(`own names and ${what}: the days are stored, the report names what was converted (contract 11)`, async () => {
    const { country_iso_code: country, ...others } = days;
    const hasCountry = lines[0]!.startsWith('country');
    const fields = hasCountry ? others : { ...others, country_iso_code: country };
    const report = await vendor.import('own.csv', text(lines), {
      fields,
      ...(told !== undefined && { told }),
    });
    assert.deepEqual(report.map?.datetime ?? null, cell);
    assert.equal('datetime' in report.conversions, cell !== null);
    assert.deepEqual(
      await vendor.served('stock/US:X', 'DAY'),
      [
        ['2024-01-02', 10, 11, 9, 10.5, 1200, null],
        ['2024-01-31', 10, 11, 9, 10.5, 1300, null],
      ].slice(0, report.rowsNew),
    );
    assert.equal(report.rowsRefused, 0);
  });
}

/** Files of minutes with our own names: the bars of 09:30 and 15:05 in New York are stored of each. */
const minuteFiles: readonly (readonly [what: string, lines: readonly string[], zone?: string])[] = [
  [
    'a clock of twelve hours',
    [own, `3/15/2024 9:30 AM,${prices},7`, `3/15/2024 3:05 PM,${prices},7`],
    'America/New_York',
  ],
  [
    'a time of its own',
    [`${own.replace(',', ',time,')}`, `2024-03-15,09:30,${prices},7`, `2024-03-15,15:05,${prices},7`],
    'America/New_York',
  ],
  [
    'a time of its own, rows of two symbols in turn',
    [
      `symbol,datetime,time,${own.slice(9)}`,
      ...['0930', '1505'].flatMap((time) =>
        ['X', 'Y'].map((symbol) => `${symbol},2024/3/15,${time},${prices},7`),
      ),
    ],
    'America/New_York',
  ],
  [
    'blanks that join words',
    [own, `2024-03-15\u00a009:30,${prices},7`, `2024-03-15 3:05\u202fPM,${prices},7`],
    'America/New_York',
  ],
  [
    'blanks that join words and the month first',
    [own, `3/15/2024\u00a09:30\u202fAM,${prices},7`, `3/15/2024\u00a03:05\u202fPM,${prices},7`],
    'America/New_York',
  ],
  [
    'a comma before the time, as JavaScript writes it',
    [own, `"15.3.2024, 09:30:00",${prices},7`, `"15.3.2024, 15:05:00",${prices},7`],
    'America/New_York',
  ],
  ['digits alone', [own, `202403150930,${prices},7`, `202403151505,${prices},7`], 'America/New_York'],
  ['the name of an offset', [own, `2024-03-15 09:30:00 EDT,${prices},7`, `2024-03-15T15:05 EDT,${prices},7`]],
];

for (const [what, lines, zone] of minuteFiles) {
  test(`own names and ${what}: the minutes are stored (contract 11)`, async () => {
    const { symbol: _, ...others } = minutes;
    const fields = lines[0]!.includes('symbol') ? others : minutes;
    const report = await vendor.import('own.csv', text(lines), {
      fields,
      ...(zone !== undefined && { zone }),
    });
    assert.equal(report.rowsRefused, 0);
    assert.deepEqual(
      (await vendor.served('stock/US:X', '1M')).map(([datetime, ...values]) => [
        datetime.slice(0, 16),
        ...values,
      ]),
      ['13:30', '19:05'].map((time) => [`2024-03-15T${time}`, 10, 11, 9, 10.5, 7, null]),
    );
  });
}

/** Numbers in columns of our own names: the open, the close and the volume that are stored. */
const numberFiles: readonly (readonly [
  what: string,
  row: string,
  values: readonly (number | null)[],
  told?: Flags['told'],
])[] = [
  ['commas between thousands', '"1,010.5","1,200","1,000","1,100.25","12,500"', [1010.5, 1100.25, 12_500]],
  ['decimal commas', '"10,5","11,25","9,5","10,75","12"', [10.5, 10.75, 12]],
  [
    'points between thousands',
    '"1.010,5","1.200,0","1.000,0","1.100,25","12.500"',
    [1010.5, 1100.25, 12_500],
  ],
  ['a comma that a flag tells', '"10,500","11,250","9,500","10,750",12', [10.5, 10.75, 12], { decimal: ',' }],
  ['letters for their size', '10.5,11.25,9.5,10.75,1.2M', [10.5, 10.75, 1_200_000]],
  ['the sign of a currency', '$10.5,$11.25,$9.5,$10.75,12', [10.5, 10.75, 12]],
  ['apostrophes between thousands', "1'010.5,1'200,1'000,1'100.25,12'500", [1010.5, 1100.25, 12_500]],
  [
    'apostrophes between thousands that a flag tells',
    "110'165,110'225,110'012,110'117,12",
    [110_165, 110_117, 12],
    { decimal: '.' },
  ],
];

for (const [what, row, [open, close, volume], told] of numberFiles) {
  test(`own names and ${what}: the numbers are stored (contract 11)`, async () => {
    const flags = { fields: days, ...(told !== undefined && { told }) };
    const report = await vendor.import('own.csv', text([own, `2024-01-02,${row}`]), flags);
    const [bar] = await vendor.served('stock/US:X', 'DAY');
    assert.deepEqual([bar![1], bar![4], bar![5]], [open, close, volume]);
    assert.notDeepEqual(report.conversions, {});
  });
}

test('blanks between thousands have one meaning, whatever separates the columns (contract 11)', async () => {
  const lines = ['Date;Open;High;Low;Close;Volume', '2024-01-02;10;11;9;10;1 234'];
  await vendor.import('whole.csv', text(lines), { fields: days });
  const [bar] = await vendor.served('stock/US:X', 'DAY');
  assert.deepEqual([bar![1], bar![5]], [10, 1234]);
});

/** Files that are asked about. */
const unsure: readonly (readonly [what: string, lines: readonly string[], says: RegExp, flags?: Flags])[] = [
  [
    'dates of two meanings',
    [own, `01/02/2024,${prices},1200`, `05/02/2024,${prices},1300`],
    /the dates of datetime \(01\/02\/2024\) may begin with the day or with the month\. Say which: --date-format '%d\/%m\/%Y' or --date-format '%m\/%d\/%Y'/,
  ],
  [
    'numbers of two meanings',
    [own, '2024-01-02,"1,200","1,300","1,100","1,250",7'],
    /1,200 may be a number of thousands or one with decimals\. .* --decimal , or --decimal \./,
  ],
  ...[own, 'Date,Open,High,Low,Close,Volume'].map(
    (header) =>
      [
        `points that a comma elsewhere would make thousands of, ${header}`,
        [header, '2024-01-02,151.234,151.345,151.123,151.250,"3,5"'],
        /151\.234 may be a number of thousands or one with decimals\. .* --decimal , or --decimal \./,
      ] as const,
  ),
  [
    'prices in 32nds',
    [own, "2024-01-02,110'165,110'225,110'012,110'117,12"],
    /110'165 may be a number of thousands or a price in 32nds\. Write .* 110'165 as 110\.515625; for thousands add --decimal \./,
  ],
  [
    'dates of one each year, which begin with two digits of it',
    [own, ...[13, 14, 15, 16].map((year) => `${year}-02-0${year % 7},${prices},7`)],
    /the dates of datetime \(13-02-06\) may begin with the day or with the year\. .* --date-format '%y-%m-%d'/,
  ],
  [
    'dates of dividends of two meanings',
    ['symbol,action_type,ex_date,cash_amount', 'A,dividend,01/02/2024,0.5'],
    /the dates of ex_date \(01\/02\/2024\) may begin with .* --date-format '%d\/%m\/%Y' or/,
    { dataset: 'corporate-actions', fields: { country_iso_code: 'US' } },
  ],
];

for (const [what, lines, says, flags = { fields: days }] of unsure) {
  test(`own names and ${what}: the import asks (contract 11)`, async () => {
    assert.match(await vendor.refusal('own.csv', text(lines), flags), says);
  });
}

test('other datasets have dates and numbers of other forms in columns of our own names too (contract 11)', async () => {
  const lines = [
    'symbol,action_type,ex_date,cash_amount,pay_date',
    'A,dividend,1/31/2024,"0,51",2/29/2024',
    'A,dividend,2/1/2024,"0,52",TBD',
  ];
  const report = await vendor.import('actions.csv', text(lines), {
    dataset: 'corporate-actions',
    fields: { country_iso_code: 'US' },
  });
  assert.deepEqual(report.rowsRefused, 0);
  assert.deepEqual(
    rowsOf(vendor.url, 'select ex_date, cash_amount, pay_date from corporate_actions order by ex_date').map(
      (row) => Object.values(row),
    ),
    [
      [dayNumber('2024-01-31'), 0.51, dayNumber('2024-02-29')],
      [dayNumber('2024-02-01'), 0.52, null],
    ],
  );
});

test('a date that tells the day from the month tells it for all columns of its file (contract 11)', async () => {
  const lines = ['symbol,Ex/EFF DATE,cash_amount,PAYMENT DATE', 'A,02/01/2024,$0.24,02/15/2024'];
  await vendor.import('actions.csv', text(lines), {
    dataset: 'corporate-actions',
    fields: { country_iso_code: 'US' },
  });
  const [row] = rowsOf(vendor.url, 'select ex_date, pay_date, cash_amount from corporate_actions');
  assert.deepEqual(Object.values(row!), [dayNumber('2024-02-01'), dayNumber('2024-02-15'), 0.24]);
  const apart = ['Date,Open,High,Low,Close,Expiry', `03/04/2024,${prices},31-12-2024`];
  assert.match(
    await vendor.refusal('apart.csv', text(apart), { fields: days }),
    /the dates of Date \(03\/04\/2024\) may begin with the day or with the month\./,
    'dates of another form tell nothing',
  );
});

test('times of our own column that are read as they are get no conversion: others below may have other forms (contract 11)', async () => {
  for (const [usual, other] of [
    ['20240315 0930', '20240315 093100'],
    ['20240315 09:30', '20240315 09:31:00'],
    ['2024.03.15 09:30', '2024-03-15T09:31'],
  ] as const) {
    // More rows than are looked at before.
    const rows = [...Array<string>(5_000).fill(usual), other].map((time) => `${time},${prices},7`);
    const flags = { fields: { ...days, interval: '1M' }, zone: 'America/New_York' };
    const { map, refused } = await vendor.import('long.csv', text([own, ...rows]), flags);
    assert.deepEqual([map, refused], [null, []]);
    const times = (await vendor.served('stock/US:X', '1M')).map(([datetime]) => datetime.slice(11, 16));
    assert.deepEqual(times, ['13:30', '13:31']);
  }
});

/** Cells of a volume: what is stored, and whether it is counted. */
const volumes: readonly (readonly [cell: string, volume: number | null, isOdd?: true])[] = [
  ['', null],
  [' ', null],
  ['n/a', null],
  ['N/A', null],
  ['--', null],
  ['-', null],
  ['nan', null],
  ['NaN', null],
  ['null', null],
  ['None', null],
  ['NA', null],
  ['halted', null, true],
  ['12 lots', null, true],
  ['1 0', null, true],
  ['0x10', null, true],
];

/** Rows before and behind: more than the beginning that is looked at. */
const ROWS = 3_000;
const dayAt = (row: number): string =>
  new Date(Date.UTC(1990, 0, 1) + row * 86_400_000).toISOString().slice(0, 10);

/** Numbers of other forms than those before: their rows are refused, for no number is lost. */
const otherNumbers = [
  '"1,200"',
  '"12,34,567"',
  '1.2K',
  '12.345.678',
  "1'200",
  '$5',
  '"1,5"',
  '-inf',
  'Infinity',
];

for (const [what, first] of [
  ['plain numbers', '5'],
  ['letters for their size', '5K'],
] as const)
  test(`an optional number of another form than ${what} at the beginning is not left out (contract 11)`, async () => {
    const before = Array.from({ length: ROWS }, () => first);
    const cells = first === '5' ? otherNumbers : ['inf', '-Infinity'];
    const content = text([
      own,
      ...[...before, ...cells].map((cell, row) => `${dayAt(row)},${prices},${cell}`),
    ]);
    const { rowsNew, refused } = await vendor.import('other.csv', content, { fields: days });
    assert.deepEqual(
      [rowsNew, refused.map(({ column, value }) => [column, value])],
      [ROWS, cells.map((cell) => ['volume', cell.replaceAll('"', '')])],
    );
  });

test('values within other objects of JSON say nothing about the form of a column (contract 11)', async () => {
  const bar = { open: 10, high: 11, low: 9, close: 10.5, volume: 1200 };
  const expiry = { datetime: '31/01/2024', t: '31/01/2024', volume: '1,5' };
  const rows = [
    { symbol: 'X', datetime: '03/02/2024', ...bar, expiry },
    { symbol: 'X', expiry, bars: [{ t: '03/02/2024', ...bar }] },
  ];
  for (const row of rows)
    assert.match(
      await vendor.refusal('a.json', JSON.stringify([row]), { fields: days }),
      /the dates of (datetime|bars\[\]\.t) \(03\/02\/2024\) may begin with the day or with the month/,
    );
});

test('numbers of JSON have a decimal point, whatever texts beside them have (contract 11)', async () => {
  const bar = { datetime: '2024-01-02', open: 1.234, high: 1.345, low: 1.123, close: 1.25 };
  const report = await vendor.import('a.json', JSON.stringify([{ ...bar, volume: '1,200' }]), {
    fields: days,
  });
  assert.equal(report.rowsNew, 1);
  assert.deepEqual(await vendor.served('stock/US:X', 'DAY'), [
    ['2024-01-02', 1.234, 1.345, 1.123, 1.25, 1200, null],
  ]);
  const { refused } = await vendor.import('a.json', JSON.stringify([{ ...bar, volume: '12.345.678' }]), {
    fields: days,
  });
  assert.deepEqual(
    refused.map(({ column, value }) => [column, value]),
    [['volume', '12.345.678']],
  );
});

for (const [name, header] of [
  ['our own names', own],
  ['other names', 'Date,Open,High,Low,Close,Volume'],
] as const)
  for (const far of [false, true]) {
    test(`${name}: optional cells ${far ? 'far behind the beginning' : 'at the beginning'} that are no numbers are null, odd ones are counted (contract 11)`, async () => {
      const before = far ? ROWS : 10;
      const cells = [...Array.from({ length: before }, () => '5'), ...volumes.map(([cell]) => cell)];
      const content = text([header, ...cells.map((cell, row) => `${dayAt(row)},${prices},${cell}`)]);
      const report = await vendor.import('odd.csv', content, { fields: days });
      assert.deepEqual([report.rowsNew, report.rowsRefused], [cells.length, 0]);
      const stored = await vendor.served('stock/US:X', 'DAY', { from_date: dayAt(before) });
      assert.deepEqual(
        stored.map((bar) => bar[5]),
        volumes.map(([, volume]) => volume),
      );
      const column = header.split(',').at(-1)!;
      const count = volumes.filter(([, , isOdd]) => isOdd).length;
      assert.deepEqual(
        Object.entries(report.findings).filter(([finding]) => finding.includes('without')),
        [[`stored without ${column} that is not a number, such as "halted"`, count]],
      );
    });
  }

test('an odd cell of a required column refuses its row, and so does a volume that is negative or infinite (contract 11)', async () => {
  const rows = ['x,11,9,10.5,7', '10,11,9,10.5,-7', '10,11,9,10.5,inf', '10,11,9,10.5,7'];
  const content = text([own, ...rows.map((row, at) => `${dayAt(at)},${row}`)]);
  const { refused, rowsNew } = await vendor.import('odd.csv', content, { fields: days });
  assert.deepEqual(
    [refused.map(({ row, column }) => [row, column]), rowsNew],
    [
      [
        [1, 'open'],
        [2, 'volume'],
        [3, 'volume'],
      ],
      1,
    ],
  );
});

test('a map, and --preset none, leave no odd cell out that they do not say (contract 11)', async () => {
  const content = text([own, `2024-01-02,${prices},halted`]);
  const path = vendor.shop.path('own.json');
  writeFileSync(path, JSON.stringify({ columns: { volume: 'volume' } }));
  for (const flags of [{ map: path }, { preset: 'none' }]) {
    const { refused } = await vendor.import('odd.csv', content, { fields: days, ...flags });
    assert.deepEqual(
      refused.map(({ column, value }) => [column, value]),
      [['volume', 'halted']],
    );
  }
});

const quotes = [
  'O:A270115C00030000,A,30,2027-01-15,call,1.5,n/a',
  'A270115P00030000,A,30,2027-01-15,put,bad,7',
];

test('odd quotes of option contracts are left out and counted, their contracts are stored (contract 9.22, 11)', async () => {
  const lines = [
    'symbol,underlying_name,strike_price,expiration_date,option_type,bid,open_interest',
    ...quotes,
  ];
  const report = await vendor.import('c.csv', text(lines), {
    dataset: 'option-contracts',
    fields: { country_iso_code: 'US', parent_asset_schema: 'stock' },
  });
  assert.deepEqual([report.rowsNew, report.rowsRefused], [2, 0]);
  assert.deepEqual(
    Object.entries(report.findings).filter(([finding]) => finding.includes('without')),
    [['stored without bid that is not a number, such as "bad"', 1]],
  );
});

/** Files of bars without a header, as ccxt users write lists of bars. */
const minute = 1_704_067_200_000;
const candle = (row: number, values = '10,12,9,11,100'): string => `${minute + row * 60_000},${values}`;
const bare: readonly (readonly [what: string, lines: readonly string[], bar: readonly number[]])[] = [
  ['ccxt', [candle(0), candle(1), candle(2)], [10, 12, 9, 11, 100]],
  [
    'Bitfinex, the close before the high',
    ['10,11,12,9,100', '11,10,13,9.5,50', '10,12,14,8,70'].map((values, row) => candle(row, values)),
    [10, 12, 9, 11, 100],
  ],
  [
    'epochs in seconds',
    [0, 1, 2].map((row) => `${minute / 1000 + row * 60},10,12,9,11,100`),
    [10, 12, 9, 11, 100],
  ],
];

for (const [what, lines, bar] of bare) {
  test(`bars without a header, ${what}: the order of the values is certain (contract 11)`, async () => {
    const fields = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSDT', interval: '1M' };
    const report = await vendor.import('bare.csv', text(lines), { fields });
    assert.deepEqual([report.rowsNew, report.rowsRefused], [lines.length, 0]);
    assert.match(report.shape!, /^text separated by commas, without a header: datetime, open, /);
    const [first] = await vendor.served('crypto/GLOBAL:BTCUSDT', '1M');
    assert.deepEqual([first![0].slice(0, 16), ...first!.slice(1, 6)], ['2024-01-01T00:00', ...bar]);
  });
}

/** Files without a header of which the order is not certain. */
const doubtful: readonly (readonly [what: string, lines: readonly string[], says: RegExp])[] = [
  [
    'too few rows',
    [candle(0), candle(1)],
    /\{"header":\["datetime","open","high","low","close","volume"\]\}, if its columns are these/,
  ],
  ['a gap', [candle(0), candle(1), candle(3)], /\["datetime","open","high","low","close","volume"\]/],
  [
    'dates',
    [2, 3, 4].map((day) => `2024-01-0${day},10,12,9,11,100`),
    /\["datetime","open","high","low","close","volume"\]/,
  ],
  [
    'equal prices',
    [0, 1, 2].map((row) => candle(row, '10,10,10,10,100')),
    /\["…","…","…","…","…","…"\]\}, and a name in place of each …; the first row is 1704067200000,10,10,10,10,100/,
  ],
  ['a high below the close', [0, 1, 2].map((row) => candle(row, '10,9,8,12,100')), /"…"/],
  [
    'the close before the open',
    ['11,12,9,10,100', '12,13,10,11,50', '11.8,14,11.5,12,70'].map((values, row) => candle(row, values)),
    /\["datetime","open","high","low","close","volume"\]\}, if its columns are these/,
  ],
  [
    'seven columns',
    [0, 1, 2].map((row) => candle(row, '10,12,9,11,100,7')),
    /"turnover"\]\}, if its columns are these/,
  ],
];

for (const [what, lines, says] of doubtful) {
  test(`bars without a header and with ${what}: the message has the map (contract 11)`, async () => {
    const message = await vendor.refusal('bare.csv', text(lines), { fields: minutes });
    assert.match(
      message,
      /its first line has only values, no column names\. Add a header line, or name the columns by --map FILE with "header": /,
    );
    assert.match(message, says);
  });
}

/** Frames of pandas with two levels of columns. */
const wide: readonly (readonly [what: string, lines: readonly string[]])[] = [
  [
    'fields above symbols, no name of the index',
    [
      'Price,Open,Open,High,High,Low,Low,Close,Close,Volume,Volume',
      'Ticker,A,B,A,B,A,B,A,B,A,B',
      '2024-01-02,10,20,11,21,9,19,10.5,20.5,7,8',
    ],
  ],
  [
    'symbols above fields, no name of the index',
    [
      'Ticker,A,A,A,A,A,B,B,B,B,B',
      'Price,Open,High,Low,Close,Volume,Open,High,Low,Close,Volume',
      '2024-01-02,10,11,9,10.5,7,20,21,19,20.5,8',
    ],
  ],
  [
    'levels without names',
    [
      ',Open,Open,High,High,Low,Low,Close,Close,Volume,Volume',
      ',A,B,A,B,A,B,A,B,A,B',
      '2024-01-02,10,20,11,21,9,19,10.5,20.5,7,8',
    ],
  ],
  [
    'pandas-datareader',
    [
      'Attributes,Adj Close,Adj Close,Open,Open,High,High,Low,Low,Close,Close,Volume,Volume',
      'Symbols,A,B,A,B,A,B,A,B,A,B,A,B',
      'Date,,,,,,,,,,,,',
      '2024-01-02,1,2,10,20,11,21,9,19,10.5,20.5,7,8',
    ],
  ],
];

for (const [what, lines] of wide) {
  test(`a frame with columns of two levels, ${what}: a row for each symbol (contract 11)`, async () => {
    const { symbol: _, ...fields } = days;
    const report = await vendor.import('wide.csv', text(lines), { fields });
    assert.deepEqual([report.rowsNew, report.rowsRefused], [2, 0]);
    assert.deepEqual(await vendor.served('stock/US:A', 'DAY'), [['2024-01-02', 10, 11, 9, 10.5, 7, null]]);
    assert.deepEqual(await vendor.served('stock/US:B', 'DAY'), [['2024-01-02', 20, 21, 19, 20.5, 8, null]]);
  });
}

for (const header of [',Date,open', ',,open', 'Unnamed: 0,Unnamed: 1,open', 'level_0,level_1,Open'])
  test(`a frame whose rows begin ${header} has symbols without a name (contract 11)`, async () => {
    const lines = [`${header},high,low,close`, `X,2024-01-02,${prices}`, 'BRK.B,2024-01-02,20,21,19,20.5'];
    const { symbol, ...fields } = days;
    assert.equal((await vendor.import('rows.csv', text(lines), { fields })).rowsNew, 2);
    assert.equal((await vendor.served('stock/US:BRK.B', 'DAY'))[0]![1], 20);
    const told = await vendor.import('rows.csv', text(lines.slice(0, 2)), { fields: { ...fields, symbol } });
    assert.equal(told.rowsNew, 1);
  });

test('a frame with rows of two levels has a symbol and a time in each row (contract 11)', async () => {
  const lines = [
    'symbol,timestamp,open,high,low,close,volume,vwap',
    `X,2024-03-15 13:30:00+00:00,${prices},7,10.2`,
    `Y,2024-03-15 13:30:00+00:00,20,21,19,20.5,8,20.2`,
  ];
  const { symbol: _, ...fields } = minutes;
  assert.equal((await vendor.import('rows.csv', text(lines), { fields })).rowsNew, 2);
  assert.deepEqual((await vendor.served('stock/US:Y', '1M'))[0]!.slice(1), [20, 21, 19, 20.5, 8, 20.2]);
});

/** Files of actions without a column of their kind: kind, cash, old and new shares that are stored. */
const actions: readonly (readonly [lines: readonly string[], stored: readonly unknown[]])[] = [
  [
    ['symbol,ex_date,cash_amount', 'A,2024-01-02,0.5'],
    ['dividend', 0.5, null, null],
  ],
  [
    ['Symbol,Ex-Date,Dividend', 'A,2024-01-02,0.5'],
    ['dividend', 0.5, null, null],
  ],
  [
    ['symbol,ex_date,split_ratio', 'A,2024-01-02,4'],
    ['split', null, 1, 4],
  ],
  [
    ['symbol,ex_date,split_from,split_to', 'A,2024-01-02,1,4'],
    ['split', null, 1, 4],
  ],
  [
    ['symbol,ex_date,split_ratio,split_from,split_to', 'A,2024-01-02,,1,4'],
    ['split', null, 1, 4],
  ],
  [
    ['symbol,Ex-Dividend Date,Amount', 'A,2024-01-02,0.5'],
    ['dividend', 0.5, null, null],
  ],
  [
    ['symbol,date,dividend', 'A,2024-01-02,0.5'],
    ['dividend', 0.5, null, null],
  ],
  [
    ['symbol,date,dividend,split', 'A,2024-01-02,0.5,0'],
    ['dividend', 0.5, null, null],
  ],
  [
    ['symbol,ex_date,split_ratio', 'A,2024-01-02,4:1'],
    ['split', null, 1, 4],
  ],
  [
    ['symbol,ex_date,split_ratio', 'A,2024-01-02,4-for-1'],
    ['split', null, 1, 4],
  ],
  [
    ['symbol,ex_date,split_ratio', 'A,2024-01-02,3 for 2'],
    ['split', null, 2, 3],
  ],
  [
    ['symbol,ex_date,split_ratio', 'A,2024-01-02,1/10'],
    ['split', null, 10, 1],
  ],
  [
    ['symbol,ex_date,split_ratio', 'A,2024-01-02,4.000000/2.000000'],
    ['split', null, 1, 2],
  ],
  [
    ['symbol,ex_date,split_ratio', 'A,2024-01-02,1.05:1'],
    ['split', null, 20, 21],
  ],
];

for (const [lines, stored] of actions) {
  test(`actions of ${lines.join(' ')} are of one kind (contract 11)`, async () => {
    const flags = { dataset: 'corporate-actions', fields: { country_iso_code: 'US' } };
    const report = await vendor.import('actions.csv', text(lines), flags);
    assert.equal(report.rowsNew, 1);
    assert.match(report.conversions.action_type!, new RegExp(`, value "${String(stored[0])}"$`));
    assert.deepEqual(
      rowsOf(vendor.url, 'select action_type, cash_amount, split_from, split_to from corporate_actions').map(
        (row) => Object.values(row),
      ),
      [stored],
    );
  });
}

test('actions whose kind the columns do not tell are refused, and so are ratios that are none (contract 11)', async () => {
  const flags = { dataset: 'corporate-actions', fields: { country_iso_code: 'US' } };
  for (const header of ['cash_amount,split_ratio', 'cash_amount,adjustment_factor', 'currency'])
    assert.match(
      await vendor.refusal(
        'actions.csv',
        text([
          `symbol,ex_date,${header}`,
          'A,2024-01-02,1,1'
            .split(',')
            .slice(0, 2 + header.split(',').length)
            .join(),
        ]),
        flags,
      ),
      /required column missing: action_type/,
    );
  const trades = ['Symbol,Date,Action,Quantity,Amount', 'A,2024-01-02,Buy,10,2200'];
  assert.match(
    await vendor.refusal('trades.csv', text(trades), flags),
    /required column missing: action_type/,
  );
  assert.match(
    await vendor.refusal('a.csv', text(['symbol,ex_date,dividend,split', 'A,2024-01-02,0.5,']), flags),
    /Its rows may be dividends or splits: add a column action_type with dividend or split/,
  );
  const both = ['symbol,date,dividends,stock splits', 'A,2024-01-02,0.5,0', 'A,2024-01-03,0.5,4'];
  assert.match(
    await vendor.refusal('both.csv', text(both), flags),
    /Its rows may be dividends or splits: add a column action_type with dividend or split/,
  );
  for (const ratio of ['4:0', '0:1', '4:', '4-for', '1:2:3', '4;1']) {
    const { refused } = await vendor.import(
      'actions.csv',
      text(['symbol,ex_date,split_ratio', `A,2024-01-02,${ratio}`]),
      flags,
    );
    assert.deepEqual(
      refused.map(({ column, value }) => [column, value]),
      [['split_ratio', ratio]],
    );
  }
});
