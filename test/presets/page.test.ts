// Each preset has its example on docs/using/presets.md: it is imported as the page says, and the first and
// the last bar are those that a person reads in it (contract 11).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { presets } from '../../src/imports/map/presets/index.ts';
import { barFields } from '../../src/store/schema/bars.ts';
import { fileDatasetNamed } from '../../src/store/schema/index.ts';
import { wordsOf } from '../examples/commands.ts';
import { commandsOf, consoleOf, readPage } from '../examples/page.ts';
import { type Flags, type ServedBar, Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const page = readPage('docs/using/presets.md');

type Example = { readonly dataset: string; readonly file: string; readonly flags: Flags };

/** The flags of a call that no field of the dataset takes. */
const others = { '--zone': 'zone', '--prices': 'prices', '--preset': 'preset' } as const;

/** The imports that the page shows, of files that it shows. */
const examples: readonly Example[] = page.blocks
  .filter(({ kind }) => kind === 'sh' || kind === 'console')
  .flatMap(({ kind, text }) => (kind === 'sh' ? commandsOf(text) : consoleOf(text).map((one) => one.command)))
  .flatMap((command) => {
    const [, , dataset = '', source = '', ...words] = wordsOf(command);
    const pattern = new RegExp(
      `^${source
        .split('*')
        .map((part) => RegExp.escape(part))
        .join('.*')}$`,
    );
    const file = page.blocks.map(({ name }) => name).find((name) => name !== '' && pattern.test(name));
    if (file === undefined) return [];
    const fields = fileDatasetNamed(dataset)?.file.fields ?? barFields;
    const flags: Record<string, unknown> = { dataset };
    const given: Record<string, string> = {};
    for (let at = 0; at < words.length; at += 2) {
      const [flag, value] = [words[at]!, words[at + 1]!];
      const field = Object.keys(fields).find((one) => fields[one]!.flag === flag);
      if (field === undefined) flags[others[flag as keyof typeof others]] = value;
      else given[field] = value;
    }
    return [{ dataset, file, flags: { ...flags, fields: given } }];
  });

type Bars = readonly [
  series: string,
  interval: string,
  prices: string | undefined,
  first: ServedBar,
  last?: ServedBar,
];

const [thursday, friday] = ['2025-02-27', '2025-02-28'];
const days: readonly [ServedBar, ServedBar] = [
  [thursday, 70.3, 70.8, 70.1, 70.45, 12345600, null],
  [friday, 70.5, 70.8, 70, 70.71, 19876500, null],
];
const minutes = (vwaps: readonly (number | null)[] = [null, null]): readonly [ServedBar, ServedBar] => [
  ['2025-04-16T13:30:00+00:00', 20.29, 20.63, 20.29, 20.5, 4930, vwaps[0]!],
  ['2025-04-16T13:31:00+00:00', 20.5, 20.61, 20.34, 20.6, 18, vwaps[1]!],
];
const coins = (second: string): readonly [ServedBar, ServedBar] => [
  ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 71.5, null],
  [`2024-01-01T${second}:00+00:00`, 11, 13, 10, 12, 0.25, null],
];
const pairs = (
  at: string,
  to: string,
  volumes: readonly [number, number],
): readonly [ServedBar, ServedBar] => [
  [`${at}:00+00:00`, 1.0941, 1.0942, 1.094, 1.0941, volumes[0], null],
  [`${to}:00+00:00`, 1.0941, 1.0943, 1.0941, 1.0943, volumes[1], null],
];
const dukascopy: readonly [ServedBar, ServedBar] = [
  ['2020-01-02T13:30:00+00:00', 1.11718, 1.11725, 1.11701, 1.11711, 93.5, null],
  ['2020-01-02T13:31:00+00:00', 1.11711, 1.1172, 1.1171, 1.11715, 41.2, null],
];
const bank: ServedBar = ['2024-01-01', 641.95, 643.5, 635.6, 640.9, 10345678, null];

const expected: Readonly<Record<string, Bars>> = {
  'minute_aggs_v1/2025-04-16.csv': ['stock/US:PXFLA', '1M', 'raw', ...minutes()],
  'aggregates.json': ['stock/US:PXAGG', '1M', 'split', ...minutes([20.4, 20.5])],
  'grouped.json': ['stock/US:PXGRB', 'DAY', 'split', ['2025-04-16', 20.5, 20.61, 20.34, 20.6, 18, 20.5]],
  'list_aggs.csv': ['stock/US:PXFRM', '1M', 'split', ...minutes([20.4, 20.5])],
  'PXBUSDT-1h-2024-01.csv': [
    ...(['crypto/GLOBAL:PXBUSDT', '60M', 'raw'] as const),
    ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 71.5, 11],
    ['2024-01-01T01:00:00+00:00', 11, 13, 10, 12, 2.5, 12],
  ],
  'databento.csv': ['stock/US:PXDBN', '1M', 'raw', ...minutes()],
  'stooq.csv': ['stock/US:PXSTQ', 'DAY', 'all', ...days],
  'pxstp_us_d.csv': ['stock/US:PXSTP', 'DAY', 'all', ...days],
  'PXYAH.csv': [
    ...(['stock/US:PXYAH', 'DAY', 'split'] as const),
    [thursday, 70.300003, 70.800003, 70.099998, 70.449997, 12345600, null],
    [friday, 70.5, 70.800003, 70, 70.709999, 19876500, null],
  ],
  'ko.csv': ['stock/US:KOYF', 'DAY', 'all', ...days],
  'download.csv': [
    ...(['stock/US:PXDLB', 'DAY', 'all'] as const),
    [thursday, 150, 151, 149.5, 150.1, 5000100, null],
    [friday, 150.5, 152, 150, 151.2, 5100100, null],
  ],
  'PXEOD.US.csv': ['stock/US:PXEOD', 'DAY', 'raw', ...days],
  'PXEOI.US.csv': ['stock/US:PXEOI', '1M', 'raw', ...minutes()],
  'DAT_ASCII_PXHUSD_M1_2012.csv': [
    ...(['forex/GLOBAL:PXHUSD', '1M', 'raw'] as const),
    ['2012-02-01T05:00:00+00:00', 1.3066, 1.3066, 1.30656, 1.30656, 0, null],
    ['2012-02-01T05:01:00+00:00', 1.30657, 1.30657, 1.30647, 1.30656, 0, null],
  ],
  'PXDUSD_Candlestick_1_M_BID_02.01.2020-02.01.2020.csv': [
    ...(['forex/GLOBAL:PXDUSD', '1M', 'raw'] as const),
    ...dukascopy,
  ],
  'pxnusd-m1-bid-2020-01-02-2020-01-03.csv': ['forex/GLOBAL:PXNUSD', '1M', 'raw', ...dukascopy],
  'BATS_PXTRV, 1D.csv': ['stock/US:PXTRV', 'DAY', 'split', ...days],
  'bars.json': ['stock/US:PXALP', '1M', 'raw', ...minutes([20.4, 20.5])],
  'alpaca-py.csv': [
    ...(['stock/US:PXAPA', 'DAY', 'raw'] as const),
    [...days[0].slice(0, 6), 70.4] as unknown as ServedBar,
    [...days[1].slice(0, 6), 70.6] as unknown as ServedBar,
  ],
  'PXMUSD_M1_202401030200_202401030201.csv': [
    ...(['forex/GLOBAL:PXMUSD', '1M', 'raw'] as const),
    ...pairs('2024-01-03T00:00', '2024-01-03T00:01', [40, 31]),
  ],
  'PXNUSD60.csv': [
    ...(['forex/GLOBAL:PXNUSD', '60M', 'raw'] as const),
    ...pairs('2024-01-03T00:00', '2024-01-03T01:00', [40, 31]),
  ],
  'tiingo.csv': ['stock/US:PXTII', 'DAY', 'raw', ...days],
  'daily_adjusted_PXALV.csv': ['stock/US:PXALV', 'DAY', 'raw', ...days],
  'PXKUSD_60.csv': ['crypto/GLOBAL:PXKUSD', '60M', 'raw', ...coins('01:00')],
  'Binance_PXCUSDT_1h.csv': [
    ...(['crypto/GLOBAL:PXCUSDT', '60M', 'raw'] as const),
    ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 1.5, null],
    ['2024-01-01T01:00:00+00:00', 11, 13, 10, 12, 2.5, null],
  ],
  'coinmarketcap.csv': [
    ...(['crypto/GLOBAL:PXEUSD', 'DAY', 'raw'] as const),
    ['2024-01-01', 10, 12, 9, 11, null, null],
    ['2024-01-02', 11, 13, 10, 12, null, null],
  ],
  'PXF_USDT-5m.json': ['crypto/GLOBAL:PXFUSDT', '5M', 'raw', ...coins('00:05')],
  'ccxt.json': ['crypto/GLOBAL:PXXUSDT', '5M', 'raw', ...coins('00:05')],
  'HistoricalData.csv': [
    ...(['stock/US:PXNDQ', 'DAY', 'split'] as const),
    [thursday, 970.3, 970.8, 970.1, 970.45, 12345600, null],
    [friday, 1070.5, 1070.8, 1070, 1070.71, 19876500, null],
  ],
  'sec_bhavdata_full_02022024.csv': [
    ...(['stock/IN:PXNSF', 'DAY', 'raw'] as const),
    ['2024-02-02', 165, 168.5, 162.1, 163.95, 146321, null],
  ],
  'cm01JAN2024bhav.csv': ['stock/IN:PXNSE', 'DAY', 'raw', bank],
  'BhavCopy_NSE_CM_0_0_0_20240708_F_0000.csv': [
    ...(['stock/IN:PXUDI', 'DAY', 'raw'] as const),
    bank.with(0, '2024-07-08') as unknown as ServedBar,
  ],
  'daily.csv': [
    ...(['stock/CN:000901.SZ', 'DAY', 'raw'] as const),
    ['2024-07-02', 10.1, 10.3, 10, 10.2, 100050, 10.2],
    ['2024-07-03', 10.2, 10.4, 10.1, 10.3, 200000, 10.25],
  ],
  'hist.csv': [
    ...(['stock/CN:000902', 'DAY', 'raw'] as const),
    ['2024-07-02', 10.1, 10.3, 10, 10.2, 100000, null],
    ['2024-07-03', 10.2, 10.4, 10.1, 10.3, 200000, null],
  ],
  'PXFIN_240103_240103.txt': [
    ...(['stock/RU:PXFIN', '60M', 'raw'] as const),
    ['2024-01-03T07:00:00+00:00', 271.9, 274.7, 271, 274.56, 2013, null],
    ['2024-01-03T08:00:00+00:00', 274.5, 275, 274, 274.1, 907, null],
  ],
  'time_series.json': [
    ...(['stock/US:PXTWD', '5M', 'raw'] as const),
    ['2025-02-27T14:30:00+00:00', 70.3, 70.8, 70.1, 70.45, 12345, null],
    ['2025-02-27T14:35:00+00:00', 70.5, 70.8, 70, 70.71, 19876, null],
  ],
  'candle.json': ['stock/US:PXFHD', 'DAY', 'split', ...days],
  'candle.csv': [
    ...(['stock/US:PXFHH', '60M', 'raw'] as const),
    ['2025-02-27T14:30:00+00:00', 70.3, 70.8, 70.1, 70.45, 123456, null],
    ['2025-02-27T15:30:00+00:00', 70.5, 70.8, 70, 70.71, 198765, null],
  ],
  'investing.csv': [
    ...(['stock/US:PXINV', 'DAY', undefined] as const),
    [thursday, 970.3, 970.8, 970.1, 970.45, 123460, null],
    [friday, 1070.5, 1070.8, 1070, 1070.71, 19880000, null],
  ],
  'pxbar_price-history.csv': ['stock/US:PXBAR', 'DAY', undefined, ...days],
  'pxfut_intraday-1min_historical-data-03-01-2025.csv': [
    ...(['stock/US:PXBMN', '1M', undefined] as const),
    ['2025-02-27T14:30:00+00:00', 70.3, 70.8, 70.1, 70.45, 12345, null],
    ['2025-02-27T14:31:00+00:00', 70.5, 70.8, 70, 70.71, 19876, null],
  ],
  'PXFRD_full_1min_adjsplit.txt': [
    ...(['stock/US:PXFRD', '1M', 'split'] as const),
    ['2025-02-27T14:30:00+00:00', 70.3, 70.8, 70.1, 70.45, 12345, null],
    ['2025-02-27T14:31:00+00:00', 70.5, 70.8, 70, 70.71, 19876, null],
  ],
  'PXKIB.txt': [
    ...(['stock/US:PXKIB', '1M', 'all'] as const),
    ['2025-02-27T14:30:00+00:00', 70.3, 70.8, 70.1, 70.45, 12345, null],
    ['2025-02-27T14:31:00+00:00', 70.5, 70.8, 70, 70.71, 19876, null],
  ],
  'equity/usa/minute/pxlea/20131007_trade.csv': [
    ...(['stock/US:PXLEA', '1M', 'raw'] as const),
    ['2013-10-07T13:30:00+00:00', 168.04, 168.08, 168.0301, 168.07, 152036, null],
    ['2013-10-07T13:31:00+00:00', 168.07, 168.09, 168.05, 168.06, 12036, null],
  ],
};

/** The preset of each example, as the imports find it. */
const found = new Set<string>();

for (const { dataset, file, flags } of examples)
  test(`the example ${file}`, async () => {
    const { text } = page.blocks.find(({ name }) => name === file)!;
    const report = await vendor.import(file, `${text}\n`, flags);
    assert.deepEqual([report.rowsRefused, report.refused], [0, []]);
    assert.ok(report.rowsNew > 0);
    assert.ok(report.preset !== null, 'no preset read it');
    found.add(report.preset.name);
    if (dataset !== 'bars') return;
    const [series, interval, prices, first, last = first] = expected[file]!;
    assert.equal(report.preset.says.prices, prices);
    const bars = await vendor.served(series, interval);
    assert.deepEqual([bars.at(0), bars.at(-1)], [first, last]);
  });

test('each preset has an example on the page', () => {
  assert.deepEqual(
    presets.map(({ name }) => name).filter((name) => !found.has(name)),
    [],
  );
});
