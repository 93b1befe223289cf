// The economic calendar: lists of events (spec 4.12, contract 9.1), one event (spec 4.13), the event codes
// (spec 4.14).
import { exactDifference, exactPercentChange } from '../base/decimal.ts';
import { formatInstantZ } from '../base/instant.ts';
import {
  type economicEvent,
  type economicEventCodes,
  economicEventRecord,
  type economicEvents,
  type latestEconomicEvents,
} from '../contract/economic.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { rowDamage } from '../store/checked-rows.ts';
import { DamagedData } from '../store/damage.ts';
import { rowsKnown } from '../store/past/known-reader.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { eventCodes, events, shippedEventCodes } from '../store/schema/economic.ts';
import type { Direction, Read, Reader } from '../store/store.ts';
import { queryLimits } from './limits.ts';
import { answerPage, goodUntilRow } from './pages/dataset-page.ts';
import {
  type Answer,
  type Bounds,
  barsCounted,
  goodUntil,
  instantBounds,
  type Query,
  type QueryContext,
} from './query.ts';
import { renderResult } from './render/list.ts';
import { inWireOrder, renderRecords, type WireRecord } from './render/records.ts';

type Event = RowOf<typeof events>;

/** Nothing tells when what was expected of an event became known. */
const UNDATED = 'forecasts';

type Filters = Partial<Event>;

/** The impact of each rank; null if unknown (contract 8.7). */
const impacts = ['high', 'medium', 'low', null] as const;
const IMPORTANCE_MAX = 3;
const PERCENT_DECIMALS = 4;

/** An event on the wire. Changes that the file lacks are computed (contract 8.7). */
function recordOf(event: Event): WireRecord {
  const { rank, actual_value: actual, previous_value: previous } = event;
  const computed = (compute: (previous: number, actual: number) => number): number | null => {
    const value = actual === null || previous === null ? Number.NaN : compute(previous, actual);
    return Number.isFinite(value) ? value : null;
  };
  return {
    ...event,
    importance: rank === IMPORTANCE_MAX ? null : IMPORTANCE_MAX - rank,
    impact: impacts[rank],
    event_timestamp: formatInstantZ(event.event_timestamp),
    change: event.change ?? computed(exactDifference),
    change_percent:
      event.change_percent ?? computed((...sides) => exactPercentChange(...sides, PERCENT_DECIMALS)),
  };
}

type Asked = Partial<ParametersOf<typeof economicEvents>>;

/** The columns of the requested events that must have one value. */
function filtersOf({ country_iso_code: country, event_code: code, source_id: id, impact }: Asked): Filters {
  return {
    ...(country !== undefined && { country_iso_code: country }),
    ...(code !== undefined && { event_code: code }),
    ...(impact !== undefined && impact !== 'all' && { rank: impacts.indexOf(impact) }),
    ...(id !== undefined && { source_id: id.toLowerCase() }),
  };
}

const columns = ['event_timestamp', 'rank', 'event_code', 'source_id'] as const;

/**
 * How one index answers the filters. With a country or a code, the rank is compared along the index: that
 * reads few more entries. The order is by time, then the more important first, then by code, without the
 * columns that the index begins with.
 */
function indexReadOf(filters: Filters) {
  const { rank, ...named } = filters;
  const isAlong = rank !== undefined && Object.keys(named).length > 0;
  const where = isAlong ? named : filters;
  const order = columns.filter((column) => !Object.hasOwn(where, column));
  return { where, along: isAlong ? { rank } : {}, order };
}

/** `GET …/economic_calendar/event_list` */
const answerEconomicEvents: Query<typeof economicEvents> = async (parameters, context) => {
  const filters = filtersOf(parameters);
  const range = instantBounds(parameters.from_date, parameters.to_date);
  context.undated.add(UNDATED);
  return answerPage(context, {
    parameters,
    understood: {
      impact: filters.rank,
      source_id: filters.source_id,
      from_date: range.from,
      to_date: range.to,
    },
    dataset: events,
    ...indexReadOf(filters),
    range,
    direction: parameters.sort,
    recordOf,
  });
};

function readOf(filters: Filters, range: Bounds, direction: Direction, limit: number): Read<typeof events> {
  const { where, along, order: ordered } = indexReadOf(filters);
  const order = ordered.map((column) => [column, direction] as const);
  return { where, along, range, order, limit };
}

/** The first events of a range, ascending. */
const soonest = ({ known }: QueryContext, filters: Filters, range: Bounds, limit: number) =>
  known.rows(events, readOf(filters, range, 'asc', limit));

/** Marks an answer as good until the next event after now, of those from a moment on. */
function goodUntilNext(context: QueryContext, answer: Answer, filters: Filters, fromMs = 0): Promise<Answer> {
  const from = Math.max(fromMs, context.request.nowMs + 1);
  return goodUntilRow(context, answer, events, readOf(filters, { from }, 'asc', 1));
}

/** The last events of a range, newest first; at equal times the more important first (contract 8.8). */
async function newest(
  context: QueryContext,
  filters: Filters,
  range: Bounds,
  limit: number,
): Promise<readonly Event[]> {
  const found = await context.known.rows(events, readOf(filters, range, 'desc', limit));
  const last = found.at(-1)?.event_timestamp;
  if (last === undefined) return [];
  const later = found.filter((event) => event.event_timestamp > last);
  const tied = await soonest(context, filters, { from: last, to: last + 1 }, limit - later.length);
  return [...later, ...tied];
}

/** `GET …/economic_calendar/event` */
const answerEconomicEvent: Query<typeof economicEvent> = async (parameters, context) => {
  const where = filtersOf(parameters);
  const bounds = instantBounds(parameters.from_date, parameters.to_date);
  // Contract 8.8: an identifier selects its event at any time; otherwise, without to_date, only events up to
  // now count.
  const isAnyTime = parameters.source_id !== undefined;
  const range = isAnyTime ? {} : { ...bounds, to: bounds.to ?? context.request.nowMs + 1 };
  const find = parameters.sort === 'asc' ? soonest : newest;
  const [event] = await find(context, where, range, 1);
  if (event === undefined) {
    throw new Refusal('no_data', {
      message: 'No economic event matches the filters.',
      hint: 'Use fewer filters. Without to_date only events up to now count.',
    });
  }
  context.undated.add(UNDATED);
  const answer = renderResult(inWireOrder(economicEventRecord, recordOf(event)), context.allocate);
  const isLasting = isAnyTime || bounds.to !== undefined || find === soonest;
  if (isLasting) return goodUntil(answer, Number.POSITIVE_INFINITY);
  return goodUntilNext(context, answer, where, bounds.from);
};

/** Compares by the order of events in a list (contract 4.5). */
function compare(a: Event, b: Event): number {
  for (const column of columns) {
    if (a[column] < b[column]) return -1;
    if (a[column] > b[column]) return 1;
  }
  return 0;
}

/** `GET …/economic_calendar/latest_event_list` */
const answerLatestEconomicEvents: Query<typeof latestEconomicEvents> = async (parameters, context) => {
  const { date_type: dateType, limit, sort } = parameters;
  const { nowMs } = context.request;
  const where = filtersOf(parameters);
  const past = dateType === 'upcoming' ? [] : await newest(context, where, { to: nowMs + 1 }, limit);
  const coming = dateType === 'historical' ? [] : await soonest(context, where, { from: nowMs + 1 }, limit);
  const distance = (event: Event): number => Math.abs(event.event_timestamp - nowMs);
  const nearest = [...past, ...coming]
    .sort((a, b) => distance(a) - distance(b) || compare(a, b))
    .slice(0, limit);
  nearest.sort(sort === 'asc' ? compare : (a, b) => compare(b, a));
  context.undated.add(UNDATED);
  const answer = renderRecords(context, nearest.map(recordOf), null);
  // With `all` the distances change with each moment, and nothing tells when their order does.
  return dateType === 'all' ? answer : goodUntilNext(context, answer, where);
};

/** Sorts before every character of a code: the read continues after the code. */
const AFTER = '!';

/** The codes of a country's stored events, one read of the index for each, however many events it has. */
async function* storedCodes(reader: Reader, country: string): AsyncGenerator<string> {
  for (let from = ''; ; ) {
    const [event] = await reader.rows(events, {
      where: { country_iso_code: country },
      range: { from },
      order: [['event_code', 'asc']],
      limit: 1,
    });
    if (event === undefined) return;
    yield event.event_code;
    from = event.event_code + AFTER;
  }
}

/**
 * The name of the newest event of a code; null where the request may see none. @throws DamagedData where
 * another index has a newer one
 */
async function nameOf(context: QueryContext, country: string, code: string): Promise<string | null> {
  const { reader, moment } = context;
  const onPassed = barsCounted(context);
  const newestOf = (filters: Filters, range: Bounds, limit: number) =>
    rowsKnown(reader, events, readOf(filters, range, 'desc', limit), moment, onPassed);
  const [event] = await newestOf({ country_iso_code: country, event_code: code }, {}, 1);
  if (event === undefined) return null;
  const { event_name: name, event_timestamp: from, source_id } = event;
  const newer = await newestOf({ event_code: code }, { from }, queryLimits.newerEventsMax);
  const other = newer.find((one) => one.country_iso_code === country) ?? event;
  if (other.source_id === source_id) return name;
  throw new DamagedData(rowDamage(events, other, 'an index has lost it'));
}

/**
 * `GET …/economic_calendar/event_codes/{country_iso_code}`: the shipped codes, those of files, then those
 * that stored events alone have.
 */
const answerEconomicEventCodes: Query<typeof economicEventCodes> = async (parameters, context) => {
  const { country_iso_code: country } = parameters;
  const { reader, allocate } = context;
  const codes = shippedEventCodes(country);
  for (const row of await reader.group(eventCodes, { country_iso_code: country }))
    codes[row.event_code] = row.description;
  for await (const code of storedCodes(reader, country)) {
    const name = Object.hasOwn(codes, code) ? null : await nameOf(context, country, code);
    if (name !== null) codes[code] = name;
  }
  return renderResult(codes, allocate);
};

/** The queries of these endpoints. */
export const economicQueries = {
  economicEvents: answerEconomicEvents,
  economicEvent: answerEconomicEvent,
  latestEconomicEvents: answerLatestEconomicEvents,
  economicEventCodes: answerEconomicEventCodes,
};
