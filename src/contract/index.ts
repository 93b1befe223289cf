// The endpoints by name, in specification order, then the extensions; and what a client reads them with:
// `bourse/contract`.
import { bulkBars, historicalBars, latestBars, latestOfMany } from './bars.ts';
import { corporateActions } from './corporate-actions.ts';
import { seriesCoverage, sessionCoverage } from './coverage.ts';
import { economicEvent, economicEventCodes, economicEvents, latestEconomicEvents } from './economic.ts';
import type { Endpoint } from './endpoint.ts';
import { findings } from './findings.ts';
import { holidayCodes, holidayList } from './holidays.ts';
import { latestNews, newsList } from './news.ts';
import { optionExpirations, optionSearch } from './options.ts';
import { instrumentReference, instrumentSearch } from './reference.ts';
import { addressInfo, operateStatus, runs } from './server.ts';

/** Every endpoint that answers in one piece: a record, a list or a page. */
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
  runs,
  addressInfo,
  seriesCoverage,
  sessionCoverage,
  findings,
  latestOfMany,
} as const satisfies Record<string, Endpoint>;

/** The endpoints whose answers are sent as they are read. */
const streamed = { bulkBars } as const satisfies Record<string, Endpoint>;

/** Every endpoint of data. */
export const dataEndpoints = { ...contract, ...streamed } as const;

/** Every endpoint that callers may know of: those for keys of the scope `operate` too. */
export const allEndpoints = { ...dataEndpoints, operateStatus } as const;

export type { Endpoint, ParametersOf, RecordOf } from './endpoint.ts';
export { type ErrorEnvelope, type ErrorWord, errorEnvelope, errors } from './errors.ts';
export { type AssetSchema, assetSchemas } from './identifiers.ts';
export { type Interval, type IntervalCode, namedIntervals, parseInterval } from './interval.ts';
export type { SentOf } from './kinds.ts';
export { listLimits } from './limits.ts';

export type Contract = typeof contract;
export type DataEndpoints = typeof dataEndpoints;
export type AllEndpoints = typeof allEndpoints;
export type EndpointName = keyof Contract;
export type StreamedName = keyof typeof streamed;
