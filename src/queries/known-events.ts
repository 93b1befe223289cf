// Which economic events were known at a moment, and what of those that were still to come (contract 9.8).
import type { RowOf } from '../store/schema/dataset.ts';
import { events } from '../store/schema/economic.ts';
import type { Holds } from './dataset-page.ts';
import type { QueryContext } from './query.ts';

type Event = RowOf<typeof events>;

/**
 * Which events a request may see: what the data themselves bring about is not known before. Undefined where
 * it has no moment.
 */
export function knownEvents({ asOf }: Pick<QueryContext, 'asOf'>): Holds<typeof events> | undefined {
  if (asOf === null) return undefined;
  return ({ event_timestamp, event_driven_type }) =>
    event_timestamp <= asOf.ms || event_driven_type !== 'data_driven';
}

const unpublished = { actual_value: null, change: null, change_percent: null };

/**
 * Gives events as a request sees them: of one that is still to come there is no result; where another of its
 * code comes before it, neither what was measured last nor what is expected is known either.
 */
export function eventsAsKnown({
  reader,
  lookup,
  asOf,
}: QueryContext): (event: Event) => Promise<Event> | Event {
  if (asOf === null) return (event) => event;
  asOf.limits.add('forecasts');
  /**
   * When the events of a code are: all of them, because a lost one would bring forward what is known of the
   * next.
   */
  const timesOf = ({ country_iso_code, event_code }: Event): Promise<number[]> =>
    lookup.ofName(reader, `events|${country_iso_code}:${event_code}`, async () =>
      (await reader.group(events, { country_iso_code, event_code })).map((event) => event.event_timestamp),
    );
  return async (event) => {
    if (event.event_timestamp <= asOf.ms) return event;
    const times = await timesOf(event);
    const isNext = !times.some((ms) => ms > asOf.ms && ms < event.event_timestamp);
    if (isNext) return { ...event, ...unpublished };
    return { ...event, ...unpublished, previous_value: null, forecast_value: null };
  };
}
