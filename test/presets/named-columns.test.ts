// Columns that a map names, and columns that are found by their names without one: beside a map one that only
// has a field's name never slips in (contract 8.2, 11).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import * as arrow from 'apache-arrow';
import { namesOf } from '../../src/imports/map/column-mapping.ts';
import { holdReader } from '../../src/imports/read/reader-process.ts';
import { barFields } from '../../src/store/schema/bars.ts';
import { fileDatasetNamed, fileDatasets } from '../../src/store/schema/index.ts';
import { runStatement } from '../duckdb.ts';
import { contentOf, rowsOf } from '../stores.ts';
import { type Flags, Vendor } from './vendor.ts';

const vendor = new Vendor();
process.once('exit', holdReader());
after(() => vendor.close());

/**
 * The fields of one good row of each dataset, which a map names, and values that its other fields could have.
 */
const good: Readonly<Record<string, readonly [row: Record<string, string>, poison: Record<string, string>]>> =
  {
    bars: [
      {
        ...{ datetime: '2025-02-03T14:30:00Z', open: '1', high: '2', low: '0.5', close: '1.5' },
        ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', interval: '1M' },
      },
      { volume: '7', vwap: '1.2', exchange: 'XNAS' },
    ],
    instruments: [
      { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' },
      { currency: 'GBP', status: 'inactive', exchange: 'XNYS', name: 'Of the wrapper' },
    ],
    'corporate-actions': [
      {
        ...{ country_iso_code: 'US', symbol: 'A', action_type: 'dividend' },
        ...{ ex_date: '2025-02-03', cash_amount: '0.5' },
      },
      { adjustment_factor: '0.5', currency: 'EUR', reference_price: '100', occurrence: '2' },
    ],
    news: [
      { published_date: '2025-02-03T14:30:00Z', title: 'A', publisher_url: 'https://example.com/a' },
      { asset_name: 'stock', country_iso_code: 'US', symbol: 'A', sentiment_label: 'negative' },
    ],
    'option-contracts': [
      {
        ...{ symbol: 'A270115C00030000', country_iso_code: 'US', parent_asset_schema: 'stock' },
        ...{ underlying_name: 'A', strike_price: '30', expiration_date: '2027-01-15', option_type: 'call' },
      },
      { status: 'inactive', exercise_style: 'european', contract_value: '10', tick_size: '0.5' },
    ],
    holidays: [
      {
        ...{ name: 'A day', holiday_code: 'HOLIDAY_A_DAY', calendar_date: '2027-01-13' },
        ...{ asset_name: 'stock', country_iso_code: 'US', symbol: '*', session_template: 'CLOSED' },
      },
      { priority: '7', announced: '2027-01-02' },
    ],
    'economic-events': [
      { country_iso_code: 'US', event_code: 'A', event_name: 'A', event_timestamp: '2025-02-03T14:30:00Z' },
      { importance: '3', impact: 'high', actual_value: '5', period: 'Jan', source_id: 'a'.repeat(64) },
    ],
    'economic-event-codes': [{ country_iso_code: 'US', event_code: 'A', description: 'Says it.' }, {}],
  };

const BAD = '?\u00e9 bad';
function optionalOf(dataset: string, row: object): string[] {
  const { needed, optional } = namesOf(
    dataset === 'bars' ? barFields : fileDatasetNamed(dataset)!.file.fields,
  );
  return optional.filter((field) => !needed.includes(field) && !Object.hasOwn(row, field));
}

/** A file whose columns of the row have other names, and the map that names them. */
function mapped(
  dataset: string,
  row: Record<string, string>,
  more: Record<string, string>,
  header?: boolean,
) {
  const names = Object.keys(row).map((field) => `the ${field}`);
  const columns = Object.fromEntries(Object.keys(row).map((field) => [field, `the ${field}`]));
  const path = vendor.shop.path(`${dataset}.json`);
  const all = [...names, ...Object.keys(more)];
  writeFileSync(path, JSON.stringify(header ? { columns, header: all } : { columns }));
  const lines = [...(header ? [] : [all]), [...Object.values(row), ...Object.values(more)]];
  const flags: Flags = { dataset, map: path };
  return { content: lines.map((cells) => `${cells.join()}\n`).join(''), flags };
}

/** What a store has of rows and bars. */
const kept = (): unknown =>
  Object.entries(contentOf(vendor.url)).filter(
    ([table]) => table === 'bar_blocks' || fileDatasets.some(({ name }) => name === table),
  );

for (const [dataset, [row, poison]] of Object.entries(good)) {
  test(`${dataset}: columns with the names of fields that a map does not name are ignored and listed (contract 11)`, async () => {
    const { content, flags } = mapped(dataset, row, {});
    assert.equal((await vendor.import('a.csv', content, flags)).rowsNew, 1);
    const clean = kept();
    const optional = optionalOf(dataset, row);
    for (const more of [Object.fromEntries(optional.map((field) => [field, BAD])), poison]) {
      const odd = mapped(dataset, row, more);
      const report = await vendor.import('a.csv', odd.content, odd.flags);
      assert.deepEqual(report.refused, []);
      assert.deepEqual(report.ignoredColumns, Object.keys(more));
      assert.deepEqual(kept(), clean);
    }
  });

  test(`${dataset}: what a map, its header, its values or a flag names is read (contract 11)`, async () => {
    const all = mapped(dataset, { ...row, ...poison }, {});
    const report = await vendor.import('a.csv', all.content, all.flags);
    assert.deepEqual([report.rowsNew, report.ignoredColumns], [1, []]);
    const wanted = kept();
    const headed = mapped(dataset, row, poison, true);
    assert.deepEqual((await vendor.import('a.csv', headed.content, headed.flags)).ignoredColumns, []);
    assert.deepEqual(kept(), wanted);
    // A price is never the same in every row.
    if (dataset === 'bars') return;
    const given = mapped(dataset, row, {});
    await vendor.import('a.csv', given.content, { ...given.flags, fields: poison });
    assert.deepEqual(kept(), wanted);
    const own = [Object.keys({ ...row, ...poison }), Object.values({ ...row, ...poison })];
    const map = vendor.shop.path('values.json');
    writeFileSync(map, JSON.stringify({ values: poison }));
    await vendor.import('a.csv', own.map((cells) => `${cells.join()}\n`).join(''), { dataset, map });
    assert.deepEqual(kept(), wanted);
  });
}

test('amounts and shares, of which each kind of action needs its own, come from columns of their own names too (contract 11)', async () => {
  const path = vendor.shop.path('actions.json');
  writeFileSync(path, JSON.stringify({ columns: { ex_date: 'Date', cash_amount: 'Paid' } }));
  const rows = ['US,A,dividend,2025-02-03,0.5,,,EUR', 'US,A,split,2025-03-03,,1,4,EUR'];
  const content = [
    'country_iso_code,symbol,action_type,Date,Paid,split_from,split_to,currency',
    ...rows,
  ].join('\n');
  const report = await vendor.import('a.csv', content, { dataset: 'corporate-actions', map: path });
  assert.deepEqual([report.rowsNew, report.ignoredColumns], [2, ['currency']]);
});

const days = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'X', interval: 'DAY' };
const prices = '10,11,9,10.5';

/** Files of days that nobody described, with the volume of their row. */
const dailyFiles: readonly (readonly [
  what: string,
  lines: readonly string[],
  volume: number | null,
  told?: Flags['told'] & { zone?: string },
])[] = [
  ['pandas', [',Open,High,Low,Close,Volume', `2024-03-14,${prices},1200`], 1200],
  [
    'pandas, read and written again',
    ['Unnamed: 0,open,high,low,close,volume', `2024-03-14,${prices},1200`],
    1200,
  ],
  ['most programs', ['Date,Open,High,Low,Close,Volume', `2024-03-14,${prices},1200`], 1200],
  [
    'Investing.com',
    ['"Date","Price","Open","High","Low","Change %"', '"03/14/2024","10.50","10.00","11.00","9.00","1.2%"'],
    null,
  ],
  ['a broker with names of one letter', ['t,o,h,l,c,v,vw,n', `1710374400,${prices},1200,10.2,7`], 1200],
  [
    'Alpha Vantage',
    ['timestamp,1. open,2. high,3. low,4. close,5. volume', `2024-03-14,${prices},1200`],
    1200,
  ],
  [
    'Tushare',
    ['ts_code,trade_date,open,high,low,close,pre_close,vol,amount', `X,20240314,${prices},10.1,1200,12600`],
    1200,
  ],
  ['akshare', ['日期,开盘,收盘,最高,最低,成交量,成交额', '2024-03-14,10,10.5,11,9,1200,12600'], 1200],
  [
    'CoinMarketCap, as its page has it',
    ['Date,Open*,High,Low,Close**,Volume', `"Mar 14, 2024",$10.0,$11.0,$9.0,$10.5,"$1,200"`],
    1200,
  ],
  ['a Japanese site', ['日付,始値,高値,安値,終値,出来高', `2024/3/14,${prices},"1,200"`], 1200],
  ['a Korean site', ['날짜,종가,시가,고가,저가,거래량', '2024-03-14,10.5,10,11,9,1200'], 1200],
  [
    'a French site',
    ['date;ouv;haut;bas;clot;vol;devise', '14/03/2024;10,0;11,0;9,0;10,5;1 200;EUR'],
    1200,
    { delimiter: ';' },
  ],
  [
    'an Italian site',
    ['Data;Ultimo;Apertura;Massimo;Minimo;Vol.', '14.03.2024;10,5;10,0;11,0;9,0;1.200'],
    1200,
    { delimiter: ';' },
  ],
  [
    'a Swiss spreadsheet',
    ['Datum;Eröffn.;Hoch;Tief;Zuletzt;Stück', "14.03.2024;10.0;11.0;9.0;10.5;1'200"],
    1200,
    { delimiter: ';' },
  ],
  [
    'India',
    ['Date,Open Price,High Price,Low Price,Close Price,Last Price,Vol', `14-Mar-2024,${prices},10.4,"1,200"`],
    1200,
  ],
  [
    'a site that says the day first',
    ['Date,Open,High,Low,Close,Volume', `03.04.2024,${prices},1200`],
    1200,
    { dateFormat: '%m.%d.%Y' },
  ],
  [
    'two closes: the own name is the surer one',
    ['Date,Open,High,Low,Last,Adj Close,CLOSE,Settle', '2024-03-14,10,11,9,7,8,10.5,7'],
    null,
  ],
  ['Bloomberg', ['Dates,PX_OPEN,PX_HIGH,PX_LOW,PX_LAST,PX_VOLUME', `14-Mar-24,${prices},1200`], 1200],
  [
    'a program with names in one word',
    ['TradeDate,OpenPrice,HighPrice,LowPrice,ClosePrice,TotalVolume', `14MAR2024,${prices},1200`],
    1200,
  ],
  [
    'prices in dollars, and a volume in them',
    ['Day,Open (USD),High (USD),Low (USD),Close (USD),Volume (USD)', `20240314.0,${prices},1200`],
    null,
  ],
  ['Taiwan', ['日期,成交股數,開盤價,最高價,最低價,收盤價', '2024/03/14,"1,200",10,11,9,10.5'], 1200],
  ['Brazil', ['Data,Abertura,Máxima,Mínima,Fechamento,Volume', `2024-03-14,${prices},1200`], 1200],
  ['Russia', ['Дата,Открытие,Максимум,Минимум,Закрытие,Объём', `2024-03-14,${prices},1200`], 1200],
  ['R, with no volume', ['Date,Open,High,Low,Close,Volume', `2024-03-14,${prices},NA`], null],
  [
    'R, with no volume beside one in thousands',
    ['Date,Open,High,Low,Close,Volume', `2024-03-14,${prices},NA`, `2024-03-15,${prices},"1,200,000"`],
    null,
  ],
  [
    'days before months, with years of two digits',
    ['Date,Open,High,Low,Close', `14/03/24,${prices}`, `15/03/24,${prices}`],
    null,
  ],
  ['long dates', ['Date,Open,High,Low,Close', `"Thursday, March 14, 2024",${prices}`], null],
  ['the dates of a letter', ['Date,Open,High,Low,Close', `"March 14, 2024",${prices}`], null],
  ['the dates of JavaScript', ['Date,Open,High,Low,Close', `Thu Mar 14 2024,${prices}`], null],
  ['dates by dashes with short months', ['Date,Open,High,Low,Close', `2024-3-14,${prices}`], null],
  ['dates without a comma', ['Date,Open,High,Low,Close', `Mar 14 2024,${prices}`], null],
  ['the dates of a feed', ['Date,Open,High,Low,Close', `"Thu, 14 Mar 2024",${prices}`], null],
  ['pandas with its rows numbered', [',index,Open,High,Low,Close', `0,2024-03-14,${prices}`], null],
  ['dates and their times', ['date,timestamp,open,high,low,close', `2024-03-14,1710423000,${prices}`], null],
  ['NDJSON', ['{"Date":"2024-03-14","Open":10,"High":11,"Low":9,"Close":10.5,"Volume":1200}'], 1200],
  [
    'JSON of texts',
    ['[{"date":"03/14/2024","open":"10","high":"11","low":"9","last":"10.5","vol":"1,200"}]'],
    1200,
  ],
];

for (const [what, lines, volume, { zone, ...told } = {}] of dailyFiles) {
  test(`a file of ${what} is imported at once, and the report names the map (contract 11)`, async () => {
    const content = `${lines.join('\n')}\n`;
    const flags = { fields: days, ...(zone !== undefined && { zone }) };
    const { map, rowsNew } = await vendor.import('days.csv', content, { ...flags, told });
    const day = told.dateFormat === undefined ? '2024-03-14' : '2024-03-04';
    const [bar] = await vendor.served('stock/US:X', 'DAY');
    assert.deepEqual(bar!.slice(0, 6), [day, 10, 11, 9, 10.5, volume]);
    // A file with the map gives the same.
    const path = vendor.shop.path('days.json');
    const { delimiter } = told;
    writeFileSync(path, JSON.stringify({ delimiter, columns: map }));
    const again = await vendor.import('days.csv', content, { ...flags, map: path }, false);
    assert.deepEqual([again.map, again.rowsUnchanged, again.rowsRefused], [null, rowsNew, 0]);
  });
}

test('a time that is midnight in every row is not joined: the rows are days (contract 11)', async () => {
  const content = `<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>\n20240314,000000,${prices},1200\n`;
  const { map } = await vendor.import('days.csv', content, { fields: days });
  assert.deepEqual(map?.datetime, { column: '<DATE>', format: '%Y%m%d' });
});

/** Columns of times beside a date, and 09:30 and 15:05 in them. */
const clocks: readonly (readonly [header: string, first: string, second: string])[] = [
  ['Time', '0930', '1505'],
  ['Time', '093000', '150500'],
  ['time', '9:30 AM', '3:05 PM'],
  ['TIME', '9:30:00 am', '03:05:00 pm'],
  ['Time', '9:30am', '3:05pm'],
  ['<TIME>', '09:30:00', '15:05:00'],
  ['Time', '09:30:00.0', '15:05:00.000'],
  ['时间', '09:30', '15:05'],
  ['Timestamp', '09:30:00', '15:05:00'],
  ['Time', '930', '1505'],
  ['Time', '93000', '150500'],
];

for (const [header, first, second] of clocks) {
  test(`a time of ${first} in a column ${header} is joined to its date (contract 11)`, async () => {
    const rows = [first, second].map((clock) => `2024-03-15,${clock},${prices}\n`);
    const content = [`Date,${header},Open,High,Low,Close\n`, ...rows].join('');
    const flags = { fields: { ...days, interval: '1M' }, zone: 'America/New_York' };
    await vendor.import('minutes.csv', content, flags);
    const bars = await vendor.served('stock/US:X', '1M');
    assert.deepEqual(
      bars.map(([datetime]) => datetime.slice(0, 16)),
      ['2024-03-15T13:30', '2024-03-15T19:05'],
    );
  });
}

test('a date and a time before bars are of MetaTrader 4 by their form, not by their names (contract 11)', async () => {
  const content = `date,time,open,high,low,close,volume\n2024-03-15,09:30,${prices},7\n`;
  const flags = { fields: { ...days, interval: '1M' }, zone: 'America/New_York' };
  const { rowsNew, preset } = await vendor.import('minutes.csv', content, flags);
  assert.deepEqual([rowsNew, preset], [1, null]);
});

test('numbers of times without zeros before them are read where hours show what they are (contract 11)', async () => {
  const coin = { ...days, asset_schema: 'crypto', country_iso_code: 'GLOBAL' };
  const flags = { fields: { ...coin, interval: '1M' }, zone: 'UTC' };
  const file = (clocks: readonly string[]): string =>
    ['Date,Time,Open,High,Low,Close', ...clocks.map((clock) => `20240315,${clock},${prices}`), ''].join('\n');
  const numbers = file(['0', '100', '1200', '3000', '93000', '150500']);
  const joined = numbers.replace(',Time', '').replaceAll(/20240315,/g, '2024-03-15 ');
  for (const content of [
    numbers,
    joined,
    joined.replace('Date,Open,High,Low,Close', 'datetime,open,high,low,close'),
  ]) {
    await vendor.import('minutes.csv', content, flags);
    const bars = await vendor.served('crypto/GLOBAL:X', '1M');
    assert.deepEqual(
      bars.map(([datetime]) => datetime.slice(11, 16)),
      ['00:00', '00:01', '00:12', '00:30', '09:30', '15:05'],
    );
  }
  const { refused } = await vendor.import('minutes.csv', file(['0', '100', '200']), flags);
  assert.equal(refused.length, 3);
});

test('texts of Parquet and Arrow are read in the forms of those of a CSV (contract 11)', async () => {
  const rows = ['31/01/2024', '01/02/2024'].map((date) => ({
    Date: date,
    Open: '1.010,5',
    High: '1.020,0',
    Low: '990,25',
  }));
  const columns = rows.map((row) => ({ ...row, Close: '1.000,0', Volume: '1,5M' }));
  const json = vendor.shop.path('texts.ndjson');
  writeFileSync(json, columns.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const parquet = vendor.shop.path('made.parquet');
  const types = Object.keys(columns[0]!).map((name) => `${name}: 'VARCHAR'`);
  await runStatement(
    `copy (from read_json('${json}', columns={${types.join()}})) to '${parquet}' (format parquet)`,
  );
  const table = arrow.tableFromJSON(columns);
  for (const [name, content] of [
    ['a.ndjson', readFileSync(json)],
    ['a.parquet', readFileSync(parquet)],
    ['a.arrow', Buffer.from(arrow.tableToIPC(table, 'file'))],
  ] as const) {
    const report = await vendor.import(name, content, { fields: days });
    assert.deepEqual(report.map?.datetime, { column: 'Date', format: '%d/%m/%Y' });
    assert.deepEqual(await vendor.served('stock/US:X', 'DAY'), [
      ['2024-01-31', 1010.5, 1020, 990.25, 1000, 1_500_000, null],
      ['2024-02-01', 1010.5, 1020, 990.25, 1000, 1_500_000, null],
    ]);
  }
});

test('the index of pandas that Parquet has behind its columns is the date (contract 11)', async () => {
  const path = vendor.shop.path('index.parquet');
  const columns = '10 as "Open", 11 as "High", 9 as "Low", 10.5 as "Close"';
  await runStatement(
    `copy (select ${columns}, timestamp '2024-03-14' as __index_level_0__) to '${path}' (format parquet)`,
  );
  await vendor.import('a.parquet', readFileSync(path), { fields: days });
  assert.deepEqual((await vendor.served('stock/US:X', 'DAY'))[0]!.slice(0, 2), ['2024-03-14', 10]);
});

test('of dates and times the times are taken, of two times neither (contract 11)', async () => {
  const flags = { fields: { ...days, interval: '1M' } };
  const content = `date,timestamp,open,high,low,close\n2024-03-15,1710509400,${prices}\n`;
  const { map } = await vendor.import('minutes.csv', content, flags);
  assert.equal(map?.datetime, 'timestamp');
  const [bar] = await vendor.served('stock/US:X', '1M');
  assert.equal(bar![0].slice(0, 16), '2024-03-15T13:30');
  const tushare = `trade_time,open,high,low,close,vol,trade_date\n2024-03-15 14:30:00,${prices},7,20240315\n`;
  assert.equal(
    (await vendor.import('stk_mins.csv', tushare, { ...flags, zone: 'UTC' })).map?.datetime,
    'trade_time',
  );
  // Epochs from before September 2001 have a digit less.
  for (const zeros of ['', '000']) {
    const old = `Date,Timestamp,Open,High,Low,Close\n1999-03-03,920471400${zeros},${prices}\n`;
    await vendor.import('old.csv', old, flags);
    const [first] = await vendor.served('stock/US:X', '1M');
    assert.equal(first![0].slice(0, 16), '1999-03-03T14:30');
  }
  const two = `open time,time,open,high,low,close\n1710509400,1710509460,${prices}\n`;
  assert.match(await vendor.refusal('two.csv', two, flags), /The datetime may be open time or time\./);
});

/** Files that are not imported: what is said of them. */
const unsure: readonly (readonly [what: string, lines: readonly string[], says: RegExp])[] = [
  [
    'two columns that may be the close',
    ['Date,Open,High,Low,Last,Settle,Volume', '2024-03-14,10,11,9,10.5,10.4,1200'],
    /missing: close\. The close may be Last or Settle\. .*"low":"Low","volume":"Volume","close":"Last"\}\}/,
  ],
  [
    'times of day that could be epochs',
    ['Date,Time,Open,High,Low,Close', `20240131,153000000,${prices}`, `20240131,153100000,${prices}`],
    /missing: datetime\. The datetime may be Date or Time\./,
  ],
  [
    'an answer that says why it has no rows',
    ['{"Note":"25 a day"}'],
    /missing: datetime, open, high, low, close\. It begins: \{"Note":"25 a day"\}\. The columns/,
  ],
  ['an adjusted close alone', ['Date,Open,High,Low,Adj Close', `2024-03-14,${prices}`], /missing: close\./],
  ['another one', ['Date,Open,High,Low,Close (adj)', `2024-03-14,${prices}`], /missing: close\./],
  [
    'a name that is only similar',
    ['Date,Open,High,Low,Clsoe,Volume', `2024-03-14,${prices},7`],
    /missing: close\..*"volume":"Volume","close":"Clsoe"/,
  ],
  [
    'numbers of three digits behind a comma',
    ['Date,Open,High,Low,Close,Volume', '2024-03-14,10,11,9,10,"1,200"'],
    /1,200 may be a number of thousands or one with decimals\. .* --decimal , or --decimal \./,
  ],
  [
    'days and years',
    ['Date,Open,High,Low,Close', `24/01/16,${prices}`],
    /\(24\/01\/16\) may begin with the day or with the year\. .* or --date-format '%y\/%m\/%d'/,
  ],
  [
    'days and months',
    ['Date,Open,High,Low,Close', `03/04/2024,${prices}`],
    /the dates of Date \(03\/04\/2024\) may begin with .* --date-format '%d\/%m\/%Y' or/,
  ],
];

for (const [what, lines, says] of unsure) {
  test(`a file with ${what} is refused with what would import it (contract 11)`, async () => {
    assert.match(await vendor.refusal('unsure.csv', `${lines.join('\n')}\n`, { fields: days }), says);
  });
}

test('a column that is no volume by its content is ignored, and an own name wins (contract 11)', async () => {
  const ignored = async (header: string, cells: string): Promise<unknown> => {
    const content = `Date,Open,High,Low,Close,${header}\n2024-03-14,${prices},${cells}\n`;
    const report = await vendor.import('content.csv', content, { fields: days });
    return [report.rowsNew, report.map?.volume, report.ignoredColumns];
  };
  assert.deepEqual(await ignored('Vol,volume', 'low,5'), [1, 'volume', ['Vol']]);
  assert.deepEqual(await ignored('Vol', '1.2 lots'), [1, undefined, ['Vol']]);
  assert.deepEqual(await ignored('Vol,TickVol', '3,4'), [1, 'Vol', ['TickVol']]);
  assert.deepEqual(await ignored('Vol,V', '3,4'), [1, undefined, ['Vol', 'V']]);
});

test('of two columns that may be a volume the report says how one is read (contract 11)', async () => {
  for (const [date, mark, layout] of [
    ['Date', ',', ''],
    ['datetime', ',', ''],
    ['Date', ';', '"delimiter":";",'],
  ] as const) {
    const lines = [
      [date, 'open', 'high', 'low', 'close', 'Vol', 'V'],
      ['2024-03-14', '10', '11', '9', '10.5', '3', '4'],
    ];
    const content = lines.map((cells) => `${cells.join(mark)}\n`).join('');
    const report = await vendor.import('two.csv', content, { fields: days });
    const own = `"datetime":"${date}","open":"open","high":"high","low":"low","close":"close"`;
    const map = `{${layout}"columns":{${own},"volume":"Vol"}}`;
    assert.equal(
      report.alike,
      `the volume may be Vol or V: none was read. To read one, name it by --map FILE with ${map}`,
    );
    const path = vendor.shop.path('one.json');
    writeFileSync(path, map);
    const again = await vendor.import('two.csv', content, { fields: days, map: path });
    assert.deepEqual([again.ignoredColumns, 'alike' in again], [['V'], false]);
    assert.equal((await vendor.served('stock/US:X', 'DAY'))[0]![5], 3);
  }
});

/** Volumes of which most are numbers: what is stored of them. */
const oddVolumes: readonly (readonly [texts: readonly string[], volumes: readonly (number | null)[]])[] = [
  [
    ['1200', '—', '3400'],
    [1200, null, 3400],
  ],
  [
    ['1,200,000', 'n/t', '900', '-- '],
    [1_200_000, null, 900, null],
  ],
  [
    ['1.2M', '3K', 'Dividend'],
    [1_200_000, 3000, null],
  ],
  [
    ['1200', '12 lots', '1,2,3', '800', '900', '901', '902', '903'],
    [1200, null, null, 800, 900, 901, 902, 903],
  ],
  [
    ['1200', 'NA', 'none traded', '800'],
    [1200, null, null, 800],
  ],
];

for (const [texts, volumes] of oddVolumes)
  for (const name of ['Volume', 'volume'])
    test(`${name} with ${texts.join(' ')}: numbers are read, others left out (contract 11)`, async () => {
      const rows = texts.map((text, day) => `2024-03-${11 + day},${prices},"${text}"\n`);
      const content = `Date,Open,High,Low,Close,${name}\n${rows.join('')}`;
      const report = await vendor.import('odd.csv', content, { fields: days });
      assert.deepEqual([report.rowsNew, report.rowsRefused], [texts.length, 0]);
      const served = async () => (await vendor.served('stock/US:X', 'DAY')).map((bar) => bar[5]);
      assert.deepEqual(await served(), volumes);
      const counts = Object.entries(report.findings).filter(([finding]) => /stored without/.test(finding));
      const odd = texts.filter((text, row) => volumes[row] === null && !/^(NA|-- )$/.test(text));
      assert.deepEqual(counts, [
        [`stored without ${name} that is not a number, such as ${JSON.stringify(odd[0])}`, odd.length],
      ]);
      const path = vendor.shop.path('odd.json');
      writeFileSync(path, JSON.stringify({ columns: report.map }));
      await vendor.import('odd.csv', content, { fields: days, map: path });
      assert.deepEqual(await served(), volumes);
    });

test('a required cell that is none is shown when its row is refused (contract 11)', async () => {
  const refused = async (cells: string): Promise<unknown> => {
    const report = await vendor.import('a.csv', `Date,Open,High,Low,Close\n${cells}\n`, { fields: days });
    return report.refused.map(({ row, column, value }) => [row, column, value]);
  };
  assert.deepEqual(await refused(`first,${prices}`), [[1, 'Date', 'first']]);
  assert.deepEqual(await refused('2024-03-14,about 10,11,9,10.5'), [[1, 'Open', 'about 10']]);
});

test('symbols in a column Name are those of the rows, names of companies are not (contract 11)', async () => {
  const { symbol: _, ...fields } = days;
  const rows = (name: string): string => `date,open,high,low,close,Name\n2024-03-14,${prices},${name}\n`;
  assert.equal((await vendor.import('all.csv', rows('AAL'), { fields })).map?.symbol, 'Name');
  assert.match(await vendor.refusal('all.csv', rows('Aal Inc'), { fields }), /missing: symbol\./);
});

test('other datasets have their names too, in any case (contract 11)', async () => {
  const content = 'Ticker,Company Name,Exchange,IPO Date\nAAA,A Company,XNYS,2001-02-03\n';
  const { asset_schema, country_iso_code } = days;
  await vendor.import('list.csv', content, {
    dataset: 'instruments',
    fields: { asset_schema, country_iso_code },
  });
  assert.deepEqual(
    rowsOf(vendor.url, 'select symbol, name, exchange, listing_date from instruments').map((row) =>
      Object.values(row),
    ),
    [['AAA', 'A Company', 'XNYS', '2001-02-03']],
  );
  const feed = 'pubDate,title,link\n"Mon, 03 Mar 2025 14:30:00 GMT",Rates stay,https://a.example/1\n';
  assert.equal((await vendor.import('feed.csv', feed, { dataset: 'news' })).rowsNew, 1);
  const chain =
    'OCC Symbol,Underlying,Strike,Expiry,Put/Call,OI,IV\nA270115C00030000,A,30,2027-01-15,C,7,0.25\n';
  const fields = { country_iso_code, parent_asset_schema: 'stock' };
  const { map } = await vendor.import('chain.csv', chain, { dataset: 'option-contracts', fields });
  assert.deepEqual([map?.option_type, map?.open_interest, map?.implied_volatility], ['Put/Call', 'OI', 'IV']);
});

test('the codes of economic events are proposed to be made of their names (contract 11)', async () => {
  const content = 'Date,Country,Event,Actual\n2025-03-07T13:30:00Z,US,Nonfarm Payrolls,151\n';
  const flags = { dataset: 'economic-events' };
  const message = await vendor.refusal('events.csv', content, flags);
  const [, map = ''] = /missing: event_code\. .* use --map FILE with (\{.*\})\. /.exec(message) ?? [];
  const path = vendor.shop.path('events.json');
  writeFileSync(path, map);
  assert.equal((await vendor.import('events.csv', content, { ...flags, map: path })).rowsNew, 1);
  const [row] = rowsOf(vendor.url, 'select event_code, actual_value from economic_events');
  assert.deepEqual(Object.values(row!), ['NONFARM_PAYROLLS', 151]);
});
