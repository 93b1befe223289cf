// Series of bars: one an instrument and interval. The bars themselves are blocks, not rows (docs/architecture.md).
import { intervalsAllowed, parseInterval } from '../contract/interval.ts';
import { boolean, bytes, dataset, instant, integer, orNull, text } from './dataset.ts';
import {
  anyNumber,
  assetSchemaField,
  countryField,
  type Fields,
  optional,
  parsedBy,
  required,
  symbolField,
  textThat,
} from './field.ts';

/** The fields that name a series, and the fields of its values, in the order of the arrays of an import. */
export const seriesFields = ['asset_schema', 'country_iso_code', 'symbol', 'interval', 'exchange'] as const;
export const valueFields = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

/** The most characters of an exchange in a row. */
export const EXCHANGE_LENGTH_MAX = 20;

/** The fields of a bars file (contract 11). */
export const barFields: Fields = {
  datetime: required({ unit: 'minute' }),
  open: required(anyNumber),
  high: required(anyNumber),
  low: required(anyNumber),
  close: required(anyNumber),
  asset_schema: assetSchemaField,
  country_iso_code: countryField,
  symbol: symbolField,
  interval: required(parsedBy(parseInterval, `must be one of ${intervalsAllowed}`), { flag: '--interval' }),
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
    /** The adjustment of the prices before the import: raw, split, all (contract 9.4). */
    prices: text,
    /** The adjustment of the volumes before the import, where it is not that of the prices: raw, split (contract 9.4). */
    volumes: orNull(text),
    /** Keys of the first and the last stored bar; 0 without bars. */
    first_ms: instant,
    last_ms: instant,
    /** 0 where all bars are gone but runs that can be undone still name them: such a series is hidden. */
    bar_count: integer,
    /** Whether a stored bar opened off the session grid: such a series is never used to derive (contract 3.10). */
    off_grid: boolean,
    /** The instant through which live runs make it complete, and the run that did (contract 3.9). Null where no live run holds it. */
    complete_ms: orNull(instant),
    complete_run_id: orNull(integer),
  },
  key: ['instrument_id', 'interval'],
  indexes: [['series_id']],
  group: ['instrument_id'],
  keepsFormer: { by: 'instrument_id' },
  parts: [{ kind: 'instrument', of: ['instrument_id'] }],
});

/** The series that an import holds in one market at one interval, and through which instant it makes them complete (contract 3.9). */
export const runCoverage = dataset({
  name: 'run_coverage',
  columns: {
    run_id: integer,
    /** `stock/US_STOCK`: asset type, and the market's key, or the country where no market is known. */
    market: text,
    interval: text,
    complete_ms: instant,
    series_count: integer,
    /** Their `series_id`, as `base/id-list.ts` writes them. */
    series: bytes,
    /** The key of the last of their bars, and its series: its session decides. Null where the caller vouched, and of older runs. */
    last_ms: orNull(instant),
    last_series_id: orNull(integer),
    /** The key of the first of their bars. Null of a run of layout 10 or older. */
    first_ms: orNull(instant),
    /** True if `held_bars` has the bars of it that the run held unchanged. Null for a run of layout 12 or older. */
    tells_held: orNull(boolean),
  },
  key: ['run_id', 'market', 'interval'],
  indexes: [['market', 'interval', 'complete_ms', 'run_id']],
  group: ['run_id'],
  keepsFormer: { by: null },
  parts: [
    { kind: 'coverage', of: ['market', 'interval'] },
    { kind: 'run', of: ['run_id'] },
  ],
});

/**
 * Stored bars that closed after the start of the last run that holds them: not served, and never used to derive, until a later run
 * holds them (contract 3.9). A row has that run, and the first and the last key of neighbours in one block.
 */
export const unfinishedBars = dataset({
  name: 'unfinished_bars',
  columns: { series_id: integer, run_id: integer, first_ms: instant, last_ms: instant },
  key: ['series_id', 'run_id', 'first_ms'],
  indexes: [['run_id', 'series_id', 'first_ms']],
  group: ['series_id'],
  keepsFormer: { by: 'series_id' },
  parts: [{ kind: 'series', of: ['series_id'] }],
});
