// The economic calendar: the event (spec 2.11), its lists (spec 4.12, contract 9.1), one event (spec 4.13),
// the codes (spec 4.14).
import {
  anotherTime,
  defaulted,
  endpoint,
  extension,
  formats,
  limit,
  nextPageKey,
  optional,
  path,
  sort,
} from './endpoint.ts';
import { dateTime, integer, nullable, number, oneOf, record, text } from './fields.ts';
import { codeMap } from './holidays.ts';
import * as kind from './kinds.ts';
import { limits, listLimits } from './limits.ts';

const { economicKeyCharactersMin: keyCharactersMin, sourceIdCharacters } = limits;

const value = (description: string) => nullable(number(description));

/** One economic event on the wire (spec 2.11, contract 8.7). */
export const economicEventRecord = record('EconomicEvent', {
  country_iso_code: [text('Country of the event'), 'US'],
  event_code: [text('Code of the kind of event'), 'EMPLOYMENT_NFP_HEADLINE'],
  event_name: [text('Name of the event'), 'Non-farm payrolls'],
  event_driven_type: [
    nullable(oneOf(['time_driven', 'data_driven'], '`time_driven` for events on a regular schedule')),
    'time_driven',
  ],
  importance: [nullable(integer('1 to 3, 3 the highest', { minimum: 1, maximum: 3 })), 3],
  impact: [nullable(oneOf(['low', 'medium', 'high'], '`importance` as a word')), 'high'],
  event_timestamp: [dateTime('Time of the event, UTC'), '2025-03-07T13:30:00Z'],
  actual_value: [value('Published value'), 151],
  previous_value: [value('Value of the previous period'), 125],
  forecast_value: [value('Expected value'), 160],
  change: [value('Actual value minus previous value'), 26],
  change_percent: [value('Change in percent of the previous value'), 20.8],
  period: [nullable(text('Month, quarter or year of the value')), 'Feb'],
  unit: [nullable(text('Unit of the values')), 'K'],
  source_id: [
    text(`Identifier of the event, ${sourceIdCharacters} characters`, {
      minLength: sourceIdCharacters,
      maxLength: sourceIdCharacters,
    }),
    '0123456789abcdef'.repeat(4),
  ],
});

const impact = extension(optional(kind.oneOf(['low', 'medium', 'high', 'all']), 'the impact of the events'));
const which = {
  country_iso_code: optional(kind.country, 'the country'),
  event_code: optional(kind.code('', 'EMPLOYMENT_NFP_HEADLINE'), 'the code of the event'),
};
const filters = {
  ...which,
  source_id: optional(
    kind.text('0'.repeat(sourceIdCharacters), { min: sourceIdCharacters, max: sourceIdCharacters }),
    'the identifier of one event',
  ),
  from_date: optional(kind.dateTime, 'the first time to return'),
  to_date: optional(kind.dateTime, 'the last time to return'),
  impact,
  ...anotherTime,
};

export const economicEvents = endpoint({
  path: '/api/v2/economic_calendar/event_list',
  tag: 'economic calendar',
  summary: 'Economic events in a range',
  parameters: {
    ...filters,
    sort: sort('asc', 'the order of the events by their time'),
    limit: limit(listLimits.economicEvents, 'events'),
    ...formats('csv'),
    next_page_key: nextPageKey,
  },
  record: economicEventRecord,
  shape: 'paged',
  keyCharactersMin,
});

export const economicEvent = endpoint({
  path: '/api/v2/economic_calendar/event',
  tag: 'economic calendar',
  summary: 'One economic event: the newest that matches, or one by its identifier',
  parameters: { ...filters, sort: sort('desc', '`desc` for the newest event, `asc` for the oldest') },
  record: economicEventRecord,
  shape: 'single',
  refusals: ['no_data'],
  keyCharactersMin,
});

export const economicEventCodes = endpoint({
  path: '/api/v2/economic_calendar/event_codes/{country_iso_code}',
  tag: 'economic calendar',
  summary: 'The event codes of a country',
  parameters: { country_iso_code: path(kind.country, 'the country'), ...anotherTime },
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
    date_type: defaulted(
      kind.oneOf(['upcoming', 'historical', 'all']),
      'all',
      'whether to return events to come, past events, or both',
    ),
    sort: sort('asc', 'the order of the events by their time'),
    limit: limit(listLimits.latestEconomicEvents, 'events'),
    ...formats('csv'),
    ...anotherTime,
  },
  record: economicEventRecord,
  shape: 'list',
  keyCharactersMin,
  extension: true,
});
