// Series of bars: one an instrument and interval. The bars themselves are blocks, not rows
// (docs/architecture.md).
import { intervalsAllowed, parseInterval } from '../../contract/interval.ts';
import {
  anyNumber,
  assetSchemaField,
  countryField,
  dataset,
  type Fields,
  optional,
  parsedBy,
  required,
  symbolField,
  textThat,
} from './dataset.ts';

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
    instrument_id: 'integer',
    interval: 'text',
    series_id: 'integer',
    /** The adjustment of the prices before the import: raw, split, all (contract 9.4). */
    prices: 'text',
    /**
     * The adjustment of the volumes before the import, where it is not that of the prices: raw, split
     * (contract 9.4).
     */
    volumes: 'text null',
    /** Keys of the first and the last stored bar; 0 without bars. */
    first_ms: 'instant',
    last_ms: 'instant',
    /** 0 where all bars are gone but runs that can be undone still name them: such a series is hidden. */
    bar_count: 'integer',
    /**
     * The live runs that hold it or have deleted bars of it: their `run_id`, as `base/ascending.ts` writes
     * them.
     */
    runs: 'bytes',
  },
  key: ['instrument_id', 'interval'],
  indexes: [['series_id']],
  group: ['instrument_id'],
  keepsFormer: { by: 'instrument_id' },
  parts: [{ kind: 'instrument', of: ['instrument_id'] }],
});

/**
 * The spans of one market at one interval that a live run holds or has deleted: from these facts it follows
 * which times are covered (contract 3.9).
 */
export const runSpans = dataset({
  name: 'run_spans',
  columns: {
    run_id: 'integer',
    /** `stock/US_STOCK`: asset type, and the market's key, or the country where no market is known. */
    market: 'text',
    interval: 'text',
    /** `import` or `delete`. */
    kind: 'text',
    /** When its file was opened. */
    started_ms: 'instant',
    /** The hash of the file; empty for a deletion. */
    sha256: 'text',
    /** The first run of its command, or of the files that a watch took up in one look. */
    command: 'integer',
    /** The time zone that its times were read in; null where they have offsets, and of a deletion. */
    zone: 'text null',
    /** The key of its first bar; null without bars, and of a deletion. */
    first_ms: 'instant null',
    /**
     * Keys, ascending: of the last bar that had closed for certain when it began, of all after it that may
     * have, and of its last bar. Empty without bars, and of a deletion.
     */
    last_keys: 'json',
    /**
     * From when to when it says that it has every bar, where its caller said so; of a deletion its range of
     * keys.
     */
    from_ms: 'instant null',
    through_ms: 'instant null',
    /**
     * The later one of its last bar's key and of `through_ms`: no time after it and its session is covered.
     */
    reach_ms: 'instant',
    series_count: 'integer',
    /** The `series_id` of its series, as `base/ascending.ts` writes them. */
    series: 'bytes',
  },
  key: ['run_id', 'market', 'interval'],
  indexes: [
    ['market', 'interval', 'reach_ms', 'run_id'],
    ['market', 'interval', 'command', 'run_id'],
  ],
  group: ['run_id'],
  neverChanges: true,
  parts: [
    { kind: 'coverage', of: ['market', 'interval'] },
    { kind: 'run', of: ['run_id'] },
  ],
});
