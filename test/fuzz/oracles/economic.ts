// The economic calendar (contract 8.7, 8.8, 9.1).
import type { Texts } from '../answers.ts';
import * as data from '../data.ts';
import type { Came, Expected } from '../expect.ts';
import { countryOf, lowerAscii } from '../grammar.ts';
import {
  arranged,
  codes,
  FAR_YEAR,
  instantRangeFaults,
  isDescending,
  isWithin,
  lastOf,
  type Oracle,
  opposite,
  unless,
} from './common.ts';

const timeOf = (row: Came): number => Date.parse(String(row.event_timestamp));

function eventsOf({ country_iso_code, event_code, impact, source_id }: Texts): Came[] {
  const weight = lowerAscii(impact ?? 'all');
  return data.events
    .map(([, worked]) => worked)
    .filter((row) => country_iso_code === undefined || row.country_iso_code === countryOf(country_iso_code))
    .filter((row) => event_code === undefined || row.event_code === event_code.toUpperCase())
    .filter((row) => weight === 'all' || row.impact === weight)
    .filter((row) => source_id === undefined || row.source_id === source_id);
}

const byTime = (rows: readonly Came[], descending: boolean): Expected[] =>
  arranged(
    rows.map((fields) => ({ fields, place: String(fields.event_timestamp) })),
    descending,
  );

/** `GET …/economic_calendar/event_list` */
export const economicEvents: Oracle = (texts) => ({
  mistakes: instantRangeFaults(texts),
  faults: [],
  list: byTime(
    eventsOf(texts).filter((row) => isWithin(timeOf(row), texts)),
    isDescending(texts),
  ),
});

/** Every instant that the fuzzer asks at lies between the events of the past and those to come. */
const hasBeen = (row: Came): boolean => String(row.event_timestamp) < FAR_YEAR;

/** `GET …/economic_calendar/event` */
export const economicEvent: Oracle = (texts) => {
  const { source_id } = texts;
  const isNamed = source_id !== undefined;
  const matching = eventsOf(texts);
  // Whether the other filters count beside an identifier is not said.
  const found = isNamed
    ? eventsOf({ source_id })
    : matching.filter((row) => isWithin(timeOf(row), texts) && (texts.to_date !== undefined || hasBeen(row)));
  const isNewest = isDescending(texts, 'desc');
  const list = found.map((fields) => {
    const time = String(fields.event_timestamp);
    const weight = 9 - Number(fields.importance ?? 0);
    return { fields, place: [isNewest ? opposite(time) : time, weight, fields.event_code].join(' ') };
  });
  return {
    mistakes: instantRangeFaults(texts),
    faults: unless(list.length > 0 && matching.length > 0, 'no_data'),
    mayBeGood: isNamed && list.length > 0,
    list: arranged(list, false),
  };
};

/** `GET …/economic_calendar/latest_event_list` */
export const latestEconomicEvents: Oracle = (texts) => {
  const side = lowerAscii(texts.date_type ?? 'all');
  const limit = Number(texts.limit ?? 5);
  const all = eventsOf(texts);
  const past = side === 'upcoming' ? [] : all.filter(hasBeen);
  const coming = side === 'historical' ? [] : all.filter((row) => !hasBeen(row));
  // The past is nearer than what is to come, whenever the fuzzer asks.
  const start = lastOf(past.length, limit);
  const list = byTime([...past, ...coming], isDescending(texts));
  const count = Math.min(limit, list.length);
  return { faults: [], list, start: isDescending(texts) ? list.length - start - count : start };
};

/** `GET …/economic_calendar/event_codes/…` */
export const economicEventCodes = codes(data.eventCodes, 'event_code', 'description');
