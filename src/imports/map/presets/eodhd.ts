// EODHD (EOD Historical Data): end of day and intraday, as CSV; dividends and splits, as JSON.
import { type Sample, stemOf } from '../../read/sample.ts';
import {
  begins,
  fitsAnswer,
  fitsList,
  given,
  intervalOfDates,
  intervalOfDays,
  isList,
  known,
  lower,
  minutesOf,
  type Preset,
  rowsBelow,
  titled,
} from './preset.ts';

const daily = 'Date,Open,High,Low,Close,Adjusted_close,Volume';
const intraday = 'Timestamp,Gmtoffset,Datetime,Open,High,Low,Close,Volume';

/** `AAPL.US` is AAPL of the US. */
function named(sample: Sample): { symbol?: string; country_iso_code?: string } {
  const [, symbol, exchange] = /^([A-Z0-9][A-Z0-9-]*)\.(US|CC|FOREX)$/.exec(stemOf(sample)) ?? [];
  if (symbol === undefined) return {};
  return { symbol, country_iso_code: exchange === 'US' ? 'US' : 'GLOBAL' };
}

/** The stock of the US that a file's name has. */
const usStock = (sample: Sample): ReturnType<typeof named> =>
  named(sample).country_iso_code === 'US' ? named(sample) : {};

/** As JSON the columns have the same names in small letters, here and intraday. */
export const eodhdDaily: Preset = {
  name: 'eodhd',
  says: 'EODHD end of day prices: days, weeks, months',
  dataset: 'bars',
  example: [daily, '2020-08-28,504.05,505.77,498.31,499.23,121.0234,187630000'],
  fits: (sample) =>
    begins(daily)(sample) === 'surely' ? 'surely' : fitsList(...daily.toLowerCase().split(','))(sample),
  mappingOf(sample) {
    const isCsv = begins(daily)(sample) === 'surely';
    const interval = isList(sample)
      ? intervalOfDays(Array.from(sample.text.matchAll(/"date":\s*"([-\d]+)/g), ([, at]) => at!))
      : intervalOfDates(sample);
    return {
      columns: isCsv ? { ...titled, datetime: 'Date' } : { ...lower, datetime: 'date' },
      values: known({ ...named(sample), interval }),
      prices: 'raw',
      volumes: 'split',
      symbols: 'now',
      notation: 'yahoo',
    };
  },
};

const isOfIntraday = (sample: Sample): boolean => begins(intraday)(sample) === 'surely';

export const eodhdIntraday: Preset = {
  name: 'eodhd-intraday',
  says: 'EODHD intraday prices: minutes, five minutes, hours',
  dataset: 'bars',
  example: [intraday, '1744810200,0,2025-04-16 13:30:00,198.36,198.9,197.8,198.11,3120410'],
  fits: (sample) =>
    isOfIntraday(sample) ? 'surely' : fitsList('timestamp', 'gmtoffset', 'datetime', 'open')(sample),
  mappingOf(sample) {
    const isCsv = isOfIntraday(sample);
    const times = isList(sample)
      ? Array.from(sample.text.matchAll(/"timestamp":\s*(\d+)/g), ([, at]) => at)
      : rowsBelow(sample).map(([at]) => at);
    return {
      columns: {
        ...(isCsv ? titled : lower),
        datetime: { column: isCsv ? 'Timestamp' : 'timestamp', epoch: 's' },
      },
      values: known({ ...named(sample), interval: minutesOf(times.map(Number)) }),
      prices: 'raw',
      symbols: 'now',
      notation: 'yahoo',
    };
  },
};

/**
 * Source: github.com/EodHistoricalData/EODHD-openapi, paths/div_ticker.yaml: `unadjustedValue` is what was
 * paid.
 */
export const eodhdDividends: Preset = {
  name: 'eodhd-dividends',
  says: 'EODHD dividends of one stock, JSON of /api/div: AAPL.US.json',
  dataset: 'corporate-actions',
  example: [
    '[{"date":"2012-08-09","declarationDate":"2012-07-24","recordDate":"2012-08-13","paymentDate":"2012-08-16","period":"Quarterly","value":0.0946,"unadjustedValue":2.6488,"currency":"USD"}]',
  ],
  fits: fitsList('date', 'value', 'unadjustedValue', 'currency'),
  mappingOf: (sample) => ({
    columns: {
      ...{ ex_date: 'date', cash_amount: 'unadjustedValue', currency: 'currency' },
      ...given(sample, {
        declaration_date: 'declarationDate',
        record_date: 'recordDate',
        pay_date: 'paymentDate',
      }),
    },
    values: { action_type: 'dividend', ...usStock(sample) },
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/** Source: the same, paths/splits_ticker.yaml: new shares, a slash, old shares. */
export const eodhdSplits: Preset = {
  name: 'eodhd-splits',
  says: 'EODHD splits of one stock, JSON of /api/splits: AAPL.US.json',
  dataset: 'corporate-actions',
  example: ['[{"date":"2020-08-31","split":"4.000000/1.000000"}]'],
  fits: (sample) =>
    isList(sample) && !/"split"\s*:\s*"[\d.]+\\?\/[\d.]+"/.test(sample.text)
      ? 'no'
      : fitsList('date', 'split')(sample),
  mappingOf: (sample) => ({
    columns: {
      ex_date: 'date',
      split_ratio: {
        sql: `cast(split_part({split}, '/', 1) as double) / nullif(cast(split_part({split}, '/', 2) as double), 0)`,
        isStrict: true,
        reason: 'is not new shares / old shares',
      },
    },
    values: { action_type: 'split', ...usStock(sample) },
    symbols: 'now',
    notation: 'yahoo',
  }),
};

const calendarColumns = ['code', 'split_date', 'old_shares', 'new_shares'].map((key) => `splits[].${key}`);

/**
 * Source: the same, paths/calendar_splits.yaml. Its calendar of dividends (calendar_dividends.yaml) has no
 * amounts.
 */
export const eodhdCalendar: Preset = {
  name: 'eodhd-calendar',
  says: 'EODHD calendar of splits, JSON of /api/calendar/splits: those of the US',
  dataset: 'corporate-actions',
  example: [
    '{"type":"Splits","from":"2018-12-02","to":"2018-12-06","splits":[{"code":"AINV.US","split_date":"2018-12-03","optionable":"N","old_shares":3,"new_shares":1}]}',
  ],
  fits: fitsAnswer('splits', ['split_date', 'old_shares', 'new_shares'], calendarColumns),
  mappingOf: () => ({
    columns: {
      symbol: {
        sql: `case when ends_with({splits[].code}, '.US') then left({splits[].code}, -3) end`,
        isStrict: true,
        reason: 'is of another market than the US: the file does not say its country',
      },
      ...{
        ex_date: 'splits[].split_date',
        split_from: 'splits[].old_shares',
        split_to: 'splits[].new_shares',
      },
    },
    values: { action_type: 'split', country_iso_code: 'US' },
    symbols: 'now',
    notation: 'yahoo',
  }),
};
