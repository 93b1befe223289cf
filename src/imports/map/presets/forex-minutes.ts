// Minutes of currencies.
import { linesOf, stemOf } from '../../read/sample.ts';
import type { Cell } from '../cell.ts';
import { begins, contains, forex, given, isMended, known, type Preset, rowsBelow, titled } from './preset.ts';

// HistData.com, Generic ASCII, bars of a minute: no header, Eastern Standard Time the whole year.

const columns = ['datetime', 'open', 'high', 'low', 'close', 'volume'];
const ROW = /^\d{8} \d{4}00;(?:\d+(?:\.\d*)?;){4}\d+$/;

/** `DAT_ASCII_EURUSD_M1_201202`. */
const HISTDATA_NAME = /^DAT_ASCII_([A-Z]{6})_M1_\d{4,6}$/;

export const histdata: Preset = {
  name: 'histdata',
  says: 'HistData.com Generic ASCII, bars of a minute; their clock is EST the whole year',
  dataset: 'bars',
  example: ['20120201 000000;1.306600;1.306600;1.306560;1.306560;0'],
  fits(sample) {
    const rows = linesOf(sample);
    if (isMended(sample, columns)) return 'surely';
    if (!ROW.test(rows[0] ?? '')) return 'no';
    // Rows with volumes are those of other programs, such as NinjaTrader, whose clock is another.
    return HISTDATA_NAME.test(stemOf(sample)) || rows.every((row) => row.endsWith(';0'))
      ? 'surely'
      : 'perhaps';
  },
  mappingOf: (sample) => ({
    header: columns,
    delimiter: ';',
    columns: { datetime: { column: 'datetime', format: '%Y%m%d %H%M%S' } },
    values: known({ ...forex, interval: '1M', symbol: HISTDATA_NAME.exec(stemOf(sample))?.[1] }),
    zone: 'Etc/GMT+5',
    prices: 'raw',
  }),
};

// Dukascopy: the download of its page (JForex), and the files of dukascopy-node.

/** `EURUSD_Candlestick_1_M_BID_01.01.2020-31.01.2020`. */
const DUKASCOPY_NAME = /^([A-Z0-9.]+)_Candlestick_(\d+)_(M|Min|Hour|D|W|Month)_(?:BID|ASK)_/i;

const minutes: Readonly<Record<string, number>> = { m: 1, min: 1, hour: 60 };

function intervalNamed(count: string, unit: string): string | null {
  const each = minutes[unit.toLowerCase()];
  if (each !== undefined) return `${Number(count) * each}M`;
  return count === '1' ? ({ d: 'DAY', w: 'WEEK', month: 'MON' }[unit.toLowerCase()] ?? null) : null;
}

export const dukascopy: Preset = {
  name: 'dukascopy',
  says: 'Dukascopy historical data, "Gmt time" in the form DD.MM.YYYY',
  dataset: 'bars',
  example: [
    'Gmt time,Open,High,Low,Close,Volume',
    '02.01.2020 13:30:00.000,1.11718,1.11725,1.11701,1.11711,93.5',
  ],
  fits: contains('Gmt time', 'Open', 'High', 'Low', 'Close'),
  mappingOf(sample) {
    const [, symbol, count = '', unit = ''] = DUKASCOPY_NAME.exec(stemOf(sample)) ?? [];
    const interval = intervalNamed(count, unit);
    const isDate = ['DAY', 'WEEK', 'MON'].includes(interval ?? '');
    const datetime: Cell = isDate
      ? { column: 'Gmt time', remove: ' 00:00:00\\.000$', format: '%d.%m.%Y' }
      : { column: 'Gmt time', format: '%d.%m.%Y %H:%M:%S.%g', offset: 'Z' };
    return {
      columns: { ...titled, datetime },
      values: known({ ...forex, symbol, interval }),
      prices: 'raw',
    };
  },
};

/** `eurusd-m1-bid-2020-01-01-2020-01-31`. */
const NODE_NAME = /^([a-z0-9]+)-(m1|m5|m15|m30|h1|h4|d1|mn1)-(?:bid|ask)-/;

const codes: Readonly<Record<string, string>> = {
  ...{ m1: '1M', m5: '5M', m15: '15M', m30: '30M' },
  ...{ h1: '60M', h4: '240M', d1: 'DAY', mn1: 'MON' },
};

export const dukascopyNode: Preset = {
  name: 'dukascopy-node',
  says: 'dukascopy-node CSV, timestamp in milliseconds',
  dataset: 'bars',
  isOpenEnded: true,
  example: ['timestamp,open,high,low,close,volume', '1577971800000,1.11718,1.11725,1.11701,1.11711,93.5'],
  fits(sample) {
    if (begins('timestamp,open,high,low,close')(sample) === 'no') return 'no';
    if (!/^\d{12,13}$/.test(rowsBelow(sample)[0]?.[0] ?? '')) return 'no';
    return NODE_NAME.test(stemOf(sample)) ? 'surely' : 'perhaps';
  },
  mappingOf(sample) {
    const [, symbol, code] = NODE_NAME.exec(stemOf(sample)) ?? [];
    const interval = codes[code ?? ''];
    const isDate = ['DAY', 'MON'].includes(interval ?? '');
    const day = "strftime(make_timestamp(cast(#{timestamp} * 1000 as bigint)), '%Y-%m-%d')";
    return {
      columns: {
        ...given(sample, { volume: 'volume' }),
        datetime: isDate ? { sql: day, isStrict: true } : { column: 'timestamp', epoch: 'ms' },
      },
      values: known({ ...forex, symbol: symbol?.toUpperCase(), interval }),
      prices: 'raw',
    };
  },
};
