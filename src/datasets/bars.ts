// Series of bars: one an instrument and interval. The bars themselves are blocks, not rows (docs/architecture.md).
import { intervalsAllowed, parseInterval } from '../contract/interval.ts';
import { boolean, dataset, instant, integer, text } from './dataset.ts';
import {
  anyNumber,
  assetSchemaRule,
  countryRule,
  type Fields,
  optional,
  required,
  symbolRule,
  textThat,
} from './field.ts';

/** The fields that name a series, and those that are its values: the order of both is that of the arrays of an import. */
export const seriesFields = ['asset_schema', 'country_iso_code', 'symbol', 'interval', 'exchange'] as const;
export const valueFields = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

/** Characters of an exchange that a row may name. */
export const EXCHANGE_LENGTH_MAX = 20;

/** The fields of a bars file (contract 11). */
export const barFields: Fields = {
  datetime: required({ unit: 'minute' }),
  open: required(anyNumber),
  high: required(anyNumber),
  low: required(anyNumber),
  close: required(anyNumber),
  asset_schema: required(assetSchemaRule, { flag: '--schema' }),
  country_iso_code: required(countryRule, { flag: '--country' }),
  symbol: required(symbolRule, { flag: '--symbol' }),
  interval: required(
    { parse: (text) => parseInterval(text) ?? undefined, reason: `must be one of ${intervalsAllowed}` },
    { flag: '--interval' },
  ),
  volume: optional(anyNumber),
  vwap: optional(anyNumber),
  exchange: optional(
    textThat(
      (text) => text.length <= EXCHANGE_LENGTH_MAX,
      `must be a MIC of up to ${EXCHANGE_LENGTH_MAX} characters`,
    ),
    { flag: '--exchange' },
  ),
};

export const series = dataset({
  name: 'series',
  columns: {
    instrument_id: integer,
    interval: text,
    series_id: integer,
    /** What was done to the prices before they came here: raw, split, all (contract 9.4). */
    prices: text,
    /** Keys of the first and the last stored bar; 0 where there is none. */
    first_ms: instant,
    last_ms: instant,
    /** 0 where all bars are gone and runs that can be taken back still name them: then nobody is to see the series. */
    bar_count: integer,
    /** Whether a stored bar opened off the session grid: such a series is never used to derive (contract 3.10). */
    off_grid: boolean,
  },
  key: ['instrument_id', 'interval'],
  indexes: [['series_id']],
});

/**
 * When the newest import into a market at an interval was finished (contract 3.9). A venue beside the default market of its asset
 * type and country has rows of its own: its `asset_schema` is `future/US_FUTURE_CBOT_GRAIN`.
 */
export const barCoverage = dataset({
  name: 'bar_coverage',
  columns: { asset_schema: text, country_iso_code: text, interval: text, finished_ms: instant },
  key: ['asset_schema', 'country_iso_code', 'interval'],
});
