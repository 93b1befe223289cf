// Market holidays: the record (spec 2.8), the list (spec 4.8) and the codes (spec 2.9, 4.9).
import {
  anotherTime,
  endpoint,
  formats,
  limit,
  nextPageKey,
  optional,
  path,
  required,
  sort,
} from './endpoint.ts';
import { date, dateTime, integer, nullable, record, text, textMap } from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';

/** `REGULAR`: an ordinary trading day. */
export const sessionTemplates = ['CLOSED', 'EARLY_CLOSE', 'LATE_OPEN', 'REGULAR'] as const;

/** One closed or shortened day on the wire (spec 2.8, contract 8.6). */
const holidayRecord = record('Holiday', {
  name: [text('Name of the holiday'), 'Christmas'],
  holiday_code: [text('Code of the holiday', { pattern: '^HOLIDAY_' }), 'HOLIDAY_CHRISTMAS'],
  calendar_date: [date('Date in the time zone of the market'), '2025-12-25'],
  asset_name: [text('Asset type of the market'), 'stock'],
  country_iso_code: [text('Country of the market'), 'US'],
  symbol: [text('`*` for the whole market, or the symbol of one instrument'), '*'],
  priority: [integer('If a date has several rows, the highest counts'), 1],
  session_template: [text('`CLOSED`, or the name of a shortened session such as `EARLY_CLOSE`'), 'CLOSED'],
  open_timestamp: [nullable(dateTime('Open of a shortened session, UTC; null if closed')), null],
  close_timestamp: [nullable(dateTime('Close of a shortened session, UTC; null if closed')), null],
});

/** Code to description (spec 2.9). */
export const codeMap = textMap({
  title: 'Codes',
  description: 'Code to description',
  examples: [{ HOLIDAY_CHRISTMAS: 'Christmas Day' }],
});

export const holidayList = endpoint({
  path: '/api/v2/holiday/list',
  tag: 'holidays',
  summary: 'Closed and shortened days of a market',
  parameters: {
    full_symbol: required(kind.fullSymbol, 'one instrument, or a market with the symbol *'),
    holiday_code: optional(kind.code('HOLIDAY_', 'HOLIDAY_CHRISTMAS'), 'the code of the holiday'),
    from_date: optional(kind.date, 'the first date to return'),
    to_date: optional(kind.date, 'the last date to return'),
    sort: sort('asc', 'the order of the days'),
    limit: limit(listLimits.holidays, 'days'),
    ...formats('csv'),
    ...anotherTime,
    next_page_key: nextPageKey,
  },
  record: holidayRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
});

export const holidayCodes = endpoint({
  path: '/api/v2/holiday/holiday_codes/{country_iso_code}',
  tag: 'holidays',
  summary: 'The holiday codes of a country',
  parameters: { country_iso_code: path(kind.country, 'the country'), ...anotherTime },
  record: codeMap,
  shape: 'map',
});
