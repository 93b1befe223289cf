// Series of bars: one an instrument and interval. The bars themselves are blocks, not rows (docs/architecture.md).
import { boolean, dataset, instant, integer, text } from './dataset.ts';

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
