// Market holidays: the record (spec 2.8), the list (spec 4.8) and the codes (spec 2.9, 4.9).
import { Integer, Object as ObjectSchema, Record as RecordSchema, String as StringSchema } from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { listLimits } from './limits.ts';
import {
  code,
  country,
  date,
  defaulted,
  formats,
  fullSymbol,
  limit,
  oneOf,
  optional,
  pageKey,
  path,
  required,
} from './parameter.ts';

/** One closed or shortened day on the wire (spec 2.8, contract 8.6). */
export const holidayRecord = ObjectSchema({
  name: StringSchema(),
  holiday_code: StringSchema({ pattern: '^HOLIDAY_' }),
  calendar_date: StringSchema({ format: 'date' }),
  asset_name: StringSchema(),
  country_iso_code: StringSchema(),
  symbol: StringSchema(),
  priority: Integer(),
  session_template: StringSchema(),
  open_timestamp: nullable(StringSchema({ format: 'date-time' })),
  close_timestamp: nullable(StringSchema({ format: 'date-time' })),
});

/** Code to description (spec 2.9). */
export const codeMap = RecordSchema(StringSchema(), StringSchema());

export const holidayList = endpoint({
  path: '/api/v2/holiday/list',
  tag: 'holidays',
  summary: 'Closed and shortened days of a market',
  parameters: {
    full_symbol: required(fullSymbol, 'one instrument, or a market with the symbol *'),
    holiday_code: optional(code('HOLIDAY_', 'HOLIDAY_CHRISTMAS'), 'the code of the holiday'),
    from_date: optional(date, 'the first date to give'),
    to_date: optional(date, 'the last date to give'),
    sort: defaulted(oneOf(['asc', 'desc']), 'asc', 'the order of the days'),
    limit: defaulted(limit(listLimits.holidays), listLimits.holidays.default, 'how many days to give'),
    ...formats('csv'),
    next_page_key: optional(pageKey, 'the key of the next page'),
  },
  record: holidayRecord,
  shape: 'paged',
});

export const holidayCodes = endpoint({
  path: '/api/v2/holiday/holiday_codes/{country_iso_code}',
  tag: 'holidays',
  summary: 'The holiday codes of a country',
  parameters: { country_iso_code: path(country, 'the country') },
  record: codeMap,
  shape: 'map',
});
