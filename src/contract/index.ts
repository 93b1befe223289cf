// The endpoints by name, in specification order, then the extensions.
import { historicalBars, latestBars } from './bars.ts';
import { corporateActions } from './corporate-actions.ts';
import { economicEvent, economicEventCodes, economicEvents, latestEconomicEvents } from './economic.ts';
import type { Endpoint } from './endpoint.ts';
import { holidayCodes, holidayList } from './holidays.ts';
import { latestNews, newsList } from './news.ts';
import { optionExpirations, optionSearch } from './options.ts';
import { instrumentReference, instrumentSearch } from './reference.ts';

/** Every endpoint that callers may know of. */
export const contract = {
  instrumentReference,
  corporateActions,
  newsList,
  latestNews,
  optionSearch,
  optionExpirations,
  holidayList,
  holidayCodes,
  historicalBars,
  latestBars,
  economicEvents,
  economicEvent,
  economicEventCodes,
  instrumentSearch,
  latestEconomicEvents,
} as const satisfies Record<string, Endpoint>;

export type Contract = typeof contract;
export type EndpointName = keyof Contract;
