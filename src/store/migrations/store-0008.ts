// Layout 8 of a store: how many rows each group of some tables has, and how many blocks each series.
import type { Step } from './step.ts';

export const store0008: Step = {
  groups: {
    instruments: ['instrument_id'],
    series: ['instrument_id'],
    run_coverage: ['run_id'],
    unfinished_bars: ['series_id'],
    corporate_actions: ['country_iso_code', 'symbol'],
    holidays: ['country_iso_code', 'asset_name'],
    economic_event_codes: ['country_iso_code'],
    counters: ['name'],
  },
};
