// The economic calendar: its events, and what their codes mean where a file says so (contract 11).
import { dataset, instant, integer, orNull, real, text } from './dataset.ts';

export const events = dataset({
  name: 'economic_events',
  columns: {
    /** 64 hexadecimal digits in lower case (contract 8.7). */
    source_id: text,
    country_iso_code: text,
    event_code: text,
    event_name: text,
    event_driven_type: orNull(text),
    /** 0 high, 1 medium, 2 low, 3 not known: of events at one time the weightier stands first (contract 8.8). */
    rank: integer,
    /** Whole seconds. */
    event_timestamp: instant,
    actual_value: orNull(real),
    previous_value: orNull(real),
    forecast_value: orNull(real),
    /** As the file gave them; where it did not they are worked out when read. */
    change: orNull(real),
    change_percent: orNull(real),
    period: orNull(text),
    unit: orNull(text),
  },
  key: ['source_id'],
  // One for each set of filters; beside a country or a code the rank is compared along the walk, in the index (`queries/economic.ts`).
  // Of indexes that its estimates do not tell apart SQLite takes the first: the most particular ones stand first.
  indexes: [
    ['country_iso_code', 'event_code', 'event_timestamp', 'rank', 'source_id'],
    ['event_code', 'event_timestamp', 'rank', 'source_id'],
    ['country_iso_code', 'event_timestamp', 'rank', 'event_code', 'source_id'],
    ['rank', 'event_timestamp', 'event_code', 'source_id'],
    ['event_timestamp', 'rank', 'event_code', 'source_id'],
  ],
  keptAsTheyCome: true,
});

/** What files say of codes, over what ships (`economic-event-codes.json`). */
export const eventCodes = dataset({
  name: 'economic_event_codes',
  columns: { country_iso_code: text, event_code: text, description: text },
  key: ['country_iso_code', 'event_code'],
});
