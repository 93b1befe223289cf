// OHLC bars: the record (spec 2.10) and its endpoints, historical (spec 4.10), latest (spec 4.11) and in
// bulk: those of many symbols in one answer that is sent as it is read (contract 9.11).
import {
  anotherTime,
  defaulted,
  endpoint,
  extension,
  fieldsOf,
  formats,
  instrument,
  limit,
  nextPageKey,
  optional,
  type Parameter,
  path,
  required,
  sort,
  unbound,
} from './endpoint.ts';
import { Refusal } from './errors.ts';
import {
  date,
  dateTime,
  list,
  nullable,
  number,
  optionalField,
  record,
  type Static,
  text,
} from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';

/**
 * One bar on the wire (spec 2.10). `session_date` is present only with `session_date=true` (contract 9.5).
 */
export const barRecord = record('Bar', {
  asset_schema: [text('Asset type in upper case'), 'STOCK'],
  interval: [text('Interval code in upper case'), '1M'],
  country_iso_code: [text('Country of the instrument'), 'US'],
  exchange: [nullable(text('MIC, null if unknown')), 'XNAS'],
  symbol: [text('Symbol of the instrument'), 'AAPL'],
  datetime: [dateTime('Open of the bar, UTC'), '2025-03-03T14:30:00+00:00'],
  close_datetime: [dateTime('Nominal end of the bar, UTC'), '2025-03-03T14:31:00+00:00'],
  session_date: [optionalField(date('Label date of the session; with session_date=true'))],
  open: [number('First price'), 241.79],
  high: [number('Highest price'), 242.4],
  low: [number('Lowest price'), 241.5],
  close: [number('Last price'), 242.1],
  volume: [nullable(number('Volume, null if unknown')), 1048576],
  vwap: [nullable(number('Volume weighted average price, when available')), 241.98],
});

/** The name of a bar's field. */
export type BarField = keyof Static<typeof barRecord>;

const series = { ...instrument, interval: path(kind.interval, 'the interval of the bars') };

/**
 * A second name of the parameter `name`, which clients of other services know; `toValue` gives that
 * parameter's value (contract 9.13).
 */
const alias = <T>(of: kind.Kind<T>, name: string, toValue: (value: T) => unknown, description: string) => ({
  ...extension(unbound(optional(of, description))),
  aliasFor: { name, toValue },
});

/** The parameters that choose which bars an answer has, and how they are adjusted. */
const barChoices = {
  is_eth: defaulted(
    kind.flag,
    false,
    'whether to include pre- and post-market, and closing auctions at intervals below DAY',
  ),
  session_date: extension(
    unbound(defaulted(kind.flag, false, 'whether to add the label date of the session')),
  ),
  adjust: extension(
    defaulted(
      kind.oneOf(['none', 'split', 'dividend', 'all']),
      'none',
      'which corporate actions earlier prices are adjusted for',
    ),
  ),
  adjustment: alias(
    kind.oneOf(['raw', 'split', 'dividend', 'all']),
    'adjust',
    (word) => (word === 'raw' ? 'none' : word),
    'another name for adjust; raw means none',
  ),
  adjust_as_of: extension(
    unbound(
      optional(kind.date, "the last ex-date to adjust for; by default today in the market's time zone"),
    ),
  ),
  ...anotherTime,
};

/** Refuses a parameter beside any other value of the parameter `name`; `usual` is that one's default. */
const onlyWith = <P extends Parameter>(parameter: P, name: string, value: string, usual?: string): P => ({
  ...parameter,
  parse: (raw, others) => {
    const parsed: unknown = parameter.parse(raw, others);
    if ((others?.get(name) ?? usual)?.toLowerCase() === value) return parsed;
    throw new Refusal('invalid_parameter', {
      message: `goes with ${name}=${value} alone`,
      allowed: `${name}=${value}`,
    });
  },
});

/**
 * The form of the bars of an answer (contract 9.16). Without defaults, addresses of pages are as before.
 */
const barForm = {
  columns: extension(
    unbound(
      optional(
        kind.columnList(fieldsOf(barRecord) as BarField[], 'datetime,close'),
        'the fields of each bar, in this order; by default all',
      ),
    ),
  ),
  timestamps: extension(
    unbound(
      optional(
        kind.oneOf(['iso', 'unix', 'unix_ms']),
        'the form of instants: text (`iso`, the default), or seconds or milliseconds since 1970',
      ),
    ),
  ),
  tz: extension(
    unbound(
      onlyWith(
        optional(kind.timeZone, 'the time zone in which instants are written; by default UTC'),
        'timestamps',
        'iso',
        'iso',
      ),
    ),
  ),
};

const shared = { ...formats('json'), limit: limit(listLimits.bars, 'bars'), ...barChoices, ...barForm };

export const historicalBars = endpoint({
  path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/from/{from_date}/to/{to_date}',
  tag: 'bars',
  summary: 'OHLC bars of one instrument that open in a range',
  parameters: {
    ...series,
    from_date: path(kind.dateTime, 'the first open to return'),
    to_date: path(kind.dateTime, 'the last open to return; a date alone covers that whole day'),
    ...shared,
    sort: sort('asc', 'the order of the bars by their open'),
    next_page_key: nextPageKey,
  },
  record: barRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
});

export const latestBars = endpoint({
  path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest',
  tag: 'bars',
  summary: 'The newest completed OHLC bars of one instrument, in ascending order',
  parameters: { ...series, ...shared },
  record: barRecord,
  shape: 'list',
  refusals: ['unknown_instrument'],
});

export const latestOfMany = endpoint({
  path: '/api/v2/{schema_asset}/bars/latest',
  tag: 'bars',
  summary: 'The newest completed OHLC bars of many instruments, in one answer',
  parameters: {
    schema_asset: instrument.schema_asset,
    symbols: required(
      kind.countrySymbolList,
      'the countries and symbols of the instruments, separated by commas, at most 1,000',
    ),
    interval: required(kind.interval, 'the interval of the bars'),
    limit: limit(listLimits.latestOfMany, 'bars of each instrument'),
    ...formats('json'),
    ...barChoices,
    ...barForm,
  },
  record: barRecord,
  shape: 'list',
  beside: { missing: list(text('A requested symbol that has no such bar')) },
  extension: true,
});

/** The media types of the formats that are not text. */
export const bulkTypes = {
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;

export const bulkBars = endpoint({
  path: '/api/v2/{schema_asset}/bulk/bars/{country_iso_code}/{interval}/from/{from_date}/to/{to_date}',
  tag: 'bars',
  summary: 'OHLC bars of many symbols, or of a whole market, in one answer',
  parameters: {
    schema_asset: instrument.schema_asset,
    country_iso_code: path(kind.country, 'the country'),
    interval: path(kind.interval, 'the interval of the bars'),
    from_date: path(kind.dateTime, 'the first open to return'),
    to_date: path(kind.dateTime, 'the last open to return; a date alone covers that whole day'),
    symbols: optional(
      kind.symbolList,
      'the symbols of the instruments, separated by commas; by default the whole market',
    ),
    format: required(kind.oneOf(['csv', 'arrow', 'parquet']), 'the format of the response'),
    ...barChoices,
    columns: onlyWith(barForm.columns, 'format', 'csv'),
    timestamps: onlyWith(barForm.timestamps, 'format', 'csv'),
    tz: onlyWith(barForm.tz, 'format', 'csv'),
  },
  record: barRecord,
  shape: 'list',
  refusals: ['unknown_instrument', 'range_not_satisfiable'],
  extension: true,
  isStreamed: true,
  binaryTypes: Object.values(bulkTypes),
});
