// Lists that are tables of names: dividends, splits, economic calendars and option contracts of one vendor
// each.
import { type Sample, stemOf } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import type { Cell } from '../cell.ts';
import { contains, firstCells, hasColumns, known, type Preset, thoseOf } from './preset.ts';

const isList = ({ text }: Sample): boolean => /^[\s\ufeff]*\[/.test(text);

/**
 * Recognizes a list of objects by some of their keys, and its file of refused rows by columns of these names.
 */
const fitsList =
  (...keys: readonly string[]) =>
  (sample: Sample) =>
    isList(sample)
      ? keys.every((key) => sample.text.includes(`"${key}"`))
        ? ('surely' as const)
        : ('no' as const)
      : contains(...keys, 'rejected_row')(sample);

/** The columns of which a file has the keys. */
const given = (sample: Sample, columns: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(columns).filter(
      ([, key]) => hasColumns(sample, [key]) || (isList(sample) && sample.text.includes(`"${key}"`)),
    ),
  );

/** `AAPL.US` is AAPL of the US. */
const usSymbol = (sample: Sample): Record<string, string> => {
  const symbol = /^([A-Z0-9][A-Z0-9-]*)\.US$/.exec(stemOf(sample))?.[1];
  return known({ symbol, country_iso_code: symbol === undefined ? null : 'US' });
};

/** A name in capitals, whose words are joined: the code of an event. */
const codeOf = (text: string): string =>
  `upper(trim(regexp_replace(${text}, '[^A-Za-z0-9]+', '_', 'g'), '_'))`;

/**
 * Source: github.com/EodHistoricalData/EODHD-openapi, paths/div_ticker.yaml: `unadjustedValue` is what was
 * paid.
 */
const eodhdDividends: Preset = {
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
    values: { action_type: 'dividend', ...usSymbol(sample) },
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/** Source: the same, paths/splits_ticker.yaml: new shares, a slash, old shares. */
const eodhdSplits: Preset = {
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
    values: { action_type: 'split', ...usSymbol(sample) },
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/**
 * Source: the same, paths/economic-events.yaml. Its clock is not certain: the vendor's pages say UTC, and
 * their examples have the payrolls of 12:30 at 16:30.
 */
const eodhdEvents: Preset = {
  name: 'eodhd-events',
  says: 'EODHD economic events, JSON of /api/economic-events (these need --zone)',
  dataset: 'economic-events',
  example: [
    '[{"type":"CPI","comparison":"yoy","period":"May","country":"US","date":"2025-06-12 12:30:00","actual":3.2,"previous":3.4,"estimate":3.3,"change":-0.2,"change_percentage":-5.88}]',
  ],
  fits: fitsList('type', 'comparison', 'period', 'country', 'date', 'actual', 'estimate'),
  mappingOf: () => ({
    columns: {
      country_iso_code: 'country',
      event_code: { sql: codeOf("{type} || coalesce('_' || {comparison}, '')"), isStrict: true },
      event_name: 'type',
      event_timestamp: 'date',
      period: 'period',
      actual_value: 'actual',
      previous_value: 'previous',
      forecast_value: 'estimate',
    },
    values: {},
  }),
};

/**
 * Source: site.financialmodelingprep.com/developer/docs/stable/dividends-calendar: `dividend` is what was
 * paid.
 */
const fmpDividends: Preset = {
  name: 'fmp-dividends',
  says: 'Financial Modeling Prep dividends, JSON of one stock or of the calendar: those of the US',
  dataset: 'corporate-actions',
  example: [
    '[{"symbol":"AAPL","date":"2025-02-10","recordDate":"2025-02-10","paymentDate":"2025-02-13","declarationDate":"2025-01-30","adjDividend":0.25,"dividend":0.25}]',
  ],
  fits: fitsList('symbol', 'date', 'adjDividend', 'dividend', 'paymentDate'),
  mappingOf: (sample) => ({
    columns: {
      symbol: {
        sql: `case when not contains({symbol}, '.') then {symbol} end`,
        isStrict: true,
        reason: 'is of another market than the US: its country and currency are not in the file',
      },
      ...{ ex_date: 'date', cash_amount: 'dividend' },
      ...given(sample, {
        declaration_date: 'declarationDate',
        record_date: 'recordDate',
        pay_date: 'paymentDate',
      }),
    },
    values: { action_type: 'dividend', country_iso_code: 'US' },
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/** English names of countries by Trading Economics that others write in another way. */
const otherNames = {
  'Euro Area': 'EU',
  'Czech Republic': 'CZ',
  Turkey: 'TR',
  'Hong Kong': 'HK',
  Macau: 'MO',
};

/** The country of an English name. */
function countryOf(column: string): Cell {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  const codes = letters
    .flatMap((first) => letters.map((second) => `${first}${second}`))
    // A country that is no more has the name of the one that came after it.
    .filter((code) => new Intl.Locale(`und-${code}`).region === code && names.of(code) !== undefined);
  const all = [...codes.map((code) => [names.of(code)!, code] as const), ...Object.entries(otherNames)];
  const cases = all.map(([name, code]) => `when ${quoted(name)} then ${quoted(code)}`);
  return {
    sql: `case {${column}} ${cases.join(' ')} end`,
    isStrict: true,
    reason: 'is no name of a country',
  };
}

/** A number with the sign of a currency, or %, K, M, B or T behind it; another text is left out. */
const valued = (column: string): Cell => ({ column, thousands: ',', scale: 'suffix', odd: 'missing' });

/**
 * Source: docs.tradingeconomics.com/economic_calendar/schema: dates in UTC, importance 1 to 3, values as
 * text with their units.
 */
const tradingEconomics: Preset = {
  name: 'trading-economics',
  says: 'Trading Economics calendar, JSON or CSV of /calendar',
  dataset: 'economic-events',
  example: [
    '[{"CalendarId":"87220","Date":"2016-12-02T13:30:00","Country":"United States","Category":"Non Farm Payrolls","Event":"Non Farm Payrolls","Reference":"Nov","Actual":"178K","Previous":"142K","Forecast":"175K","Importance":3}]',
  ],
  fits(sample) {
    const keys = ['Date', 'Country', 'Category', 'Event', 'Actual', 'Previous', 'Forecast', 'Importance'];
    return isList(sample) ? fitsList(...keys)(sample) : contains(...keys)(sample);
  },
  mappingOf: (sample) => ({
    columns: {
      country_iso_code: countryOf('Country'),
      event_code: { sql: codeOf('{Event}'), isStrict: true },
      event_name: 'Event',
      event_timestamp: { column: 'Date', offset: 'Z' },
      importance: 'Importance',
      ...given(sample, { period: 'Reference' }),
      ...{
        actual_value: valued('Actual'),
        previous_value: valued('Previous'),
        forecast_value: valued('Forecast'),
      },
      unit: { sql: `case when ends_with({Previous}, '%') then '%' end` },
    },
    values: {},
  }),
};

const cboeColumns = ['underlying_symbol', 'quote_date', 'root', 'expiration', 'strike', 'option_type'];

/** The quotes of a day's end; the file also has those of 15:45, with volatility and greeks. */
const cboeQuotes = {
  ...{ bid: 'bid_eod', ask: 'ask_eod', volume: 'trade_volume', open_interest: 'open_interest' },
};

/**
 * Source: datashop.cboe.com/option-eod-summary and its specification of
 * UnderlyingOptionsEODCalcs_YYYY-MM-DD: an index has a caret, the type is C or P, a close of 0 is no trade.
 */
const cboe: Preset = {
  name: 'cboe',
  says: 'Cboe DataShop, end-of-day option quotes: the contracts and their quotes',
  dataset: 'option-contracts',
  example: [
    `${cboeColumns.join()},open,high,low,close,trade_volume,bid_1545,ask_1545,bid_eod,ask_eod,vwap,open_interest`,
    '^SPX,2024-01-03,SPXW,2024-01-19,4700.000,C,30.1,35.2,28.4,31.7,1250,31.5,31.9,31.4,31.8,31.9,8133',
  ],
  fits: (sample) => (cboeColumns.every((name) => firstCells(sample).includes(name)) ? 'surely' : 'no'),
  mappingOf: (sample) => ({
    columns: {
      symbol: {
        sql: `{root} || strftime(strptime({expiration}, '%Y-%m-%d'), '%y%m%d') || {option_type} || lpad(cast(cast(round(cast({strike} as double) * 1000) as bigint) as varchar), 8, '0')`,
        isStrict: true,
        reason: 'makes no symbol of a contract with its expiration, type and strike',
      },
      underlying_name: { column: 'underlying_symbol', remove: '^\\^' },
      ...{ expiration_date: 'expiration', option_type: 'option_type', strike_price: 'strike' },
      ...thoseOf(sample, cboeQuotes),
      // Known at the end of the day, New York's midnight.
      quote_datetime: {
        sql: `strftime(strptime({quote_date}, '%Y-%m-%d') + interval 1 day, '%Y-%m-%dT%H:%M:%S')`,
        isStrict: true,
        reason: 'is not a date YYYY-MM-DD',
      },
      ...(hasColumns(sample, ['close']) && {
        last: { sql: 'case when try_cast({close} as double) <> 0 then {close} end' },
      }),
    },
    values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    zone: 'America/New_York',
  }),
};

export const lists: readonly Preset[] = [
  eodhdDividends,
  eodhdSplits,
  eodhdEvents,
  fmpDividends,
  tradingEconomics,
  cboe,
];
