// Calendar overrides: closings, shortened days and cancellations that an operator imported (contract 8.6, 11).
import { dataset, day, instant, integer, orNull, text } from './dataset.ts';

export const holidays = dataset({
  name: 'holidays',
  columns: {
    country_iso_code: text,
    /** Asset type in lower case. */
    asset_name: text,
    /** `*`: every instrument of the asset type and country. */
    symbol: text,
    calendar_date: day,
    priority: integer,
    name: text,
    holiday_code: text,
    /** `CLOSED`, `EARLY_CLOSE`, `LATE_OPEN` or `REGULAR`. */
    session_template: text,
    open_timestamp: orNull(instant),
    close_timestamp: orNull(instant),
  },
  key: ['country_iso_code', 'asset_name', 'symbol', 'calendar_date', 'priority'],
});
