// What each endpoint must answer over the fuzzer's data, by the specification and the contract alone.
import type { AnyName } from '../answers.ts';
import { historicalBars, latestBars, latestOfMany } from './bars.ts';
import { bulkBars } from './bulk.ts';
import type { Oracle } from './common.ts';
import { corporateActions } from './corporate-actions.ts';
import { seriesCoverage, sessionCoverage } from './coverage.ts';
import { economicEvent, economicEventCodes, economicEvents, latestEconomicEvents } from './economic.ts';
import { findings } from './findings.ts';
import { holidayCodes, holidayList } from './holidays.ts';
import { latestNews, newsList } from './news.ts';
import { optionExpirations, optionSearch } from './options.ts';
import { instrumentReference, instrumentSearch } from './reference.ts';
import { addressInfo, runs } from './server.ts';

/** By endpoint. */
export const oracles: Readonly<Record<AnyName, Oracle>> = {
  instrumentReference,
  instrumentSearch,
  corporateActions,
  newsList,
  latestNews,
  optionSearch,
  optionExpirations,
  holidayList,
  holidayCodes,
  historicalBars,
  latestBars,
  latestOfMany,
  economicEvents,
  economicEvent,
  economicEventCodes,
  latestEconomicEvents,
  runs,
  addressInfo,
  seriesCoverage,
  sessionCoverage,
  findings,
  bulkBars,
};
