// The economic calendar: the event (spec 2.11), its lists (spec 4.12, contract 9.1), one event (spec 4.13), the codes (spec 4.14).
import {
  Enum,
  Integer,
  Number as NumberSchema,
  Object as ObjectSchema,
  String as StringSchema,
} from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { codeMap } from './holidays.ts';
import { limits, listLimits } from './limits.ts';
import {
  code,
  country,
  dateTime,
  defaulted,
  extension,
  formats,
  limit,
  oneOf,
  optional,
  pageKey,
  path,
  text,
} from './parameter.ts';

const number = nullable(NumberSchema());

/** One economic event on the wire (spec 2.11, contract 8.7). */
export const economicEventRecord = ObjectSchema({
  country_iso_code: StringSchema(),
  event_code: StringSchema(),
  event_name: StringSchema(),
  event_driven_type: nullable(Enum(['time_driven', 'data_driven'])),
  importance: nullable(Integer({ minimum: 1, maximum: 3 })),
  impact: nullable(Enum(['low', 'medium', 'high'])),
  event_timestamp: StringSchema({ format: 'date-time' }),
  actual_value: number,
  previous_value: number,
  forecast_value: number,
  change: number,
  change_percent: number,
  period: nullable(StringSchema()),
  unit: nullable(StringSchema()),
  source_id: StringSchema({ minLength: 64, maxLength: 64 }),
});

const keyCharactersMin = limits.economicKeyCharactersMin;
const impact = extension(optional(oneOf(['low', 'medium', 'high', 'all']), 'the impact of the events'));
const which = {
  country_iso_code: optional(country, 'the country'),
  event_code: optional(code('', 'EMPLOYMENT_NFP_HEADLINE'), 'the code of the event'),
};
const filters = {
  ...which,
  source_id: optional(text('0'.repeat(64), { min: 64, max: 64 }), 'the identifier of one event'),
  from_date: optional(dateTime, 'the first time to give'),
  to_date: optional(dateTime, 'the last time to give'),
};

export const economicEvents = endpoint({
  path: '/api/v2/economic_calendar/event_list',
  tag: 'economic calendar',
  summary: 'Economic events in a range',
  parameters: {
    ...filters,
    impact,
    sort: defaulted(oneOf(['asc', 'desc']), 'asc', 'the order of the events by their time'),
    limit: defaulted(
      limit(listLimits.economicEvents),
      listLimits.economicEvents.default,
      'how many events to give',
    ),
    ...formats('csv'),
    next_page_key: optional(pageKey, 'the key of the next page'),
  },
  record: economicEventRecord,
  shape: 'paged',
  keyCharactersMin,
});

export const economicEvent = endpoint({
  path: '/api/v2/economic_calendar/event',
  tag: 'economic calendar',
  summary: 'One economic event: the newest that matches, or one by its identifier',
  parameters: {
    ...filters,
    impact,
    sort: defaulted(oneOf(['asc', 'desc']), 'desc', 'whether the newest or the oldest'),
  },
  record: economicEventRecord,
  shape: 'single',
  keyCharactersMin,
});

export const economicEventCodes = endpoint({
  path: '/api/v2/economic_calendar/event_codes/{country_iso_code}',
  tag: 'economic calendar',
  summary: 'The event codes of a country',
  parameters: { country_iso_code: path(country, 'the country') },
  record: codeMap,
  shape: 'map',
  keyCharactersMin,
});

export const latestEconomicEvents = endpoint({
  path: '/api/v2/economic_calendar/latest_event_list',
  tag: 'economic calendar',
  summary: 'The economic events nearest to now',
  parameters: {
    ...which,
    impact,
    date_type: defaulted(oneOf(['upcoming', 'historical', 'all']), 'all', 'the side of now'),
    sort: defaulted(oneOf(['asc', 'desc']), 'asc', 'the order of the events by their time'),
    limit: defaulted(
      limit(listLimits.latestEconomicEvents),
      listLimits.latestEconomicEvents.default,
      'how many events to give',
    ),
    ...formats('csv'),
  },
  record: economicEventRecord,
  shape: 'list',
  keyCharactersMin,
  extension: true,
});
