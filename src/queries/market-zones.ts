// The markets whose calendars are built in, for pages that show their times.

import type { AssetSchema } from '../contract/identifiers.ts';
import { markets } from '../market/calendar/markets/index.ts';
import { clockMinutes } from '../market/calendar/session.ts';

/** A market, such as `stock:US`, and its zone of the tz database. */
type MarketZone = {
  readonly market: `${AssetSchema}:${string}`;
  readonly zone: string;
  /**
   * Hours before the midnight of their label date at which sessions open, where they open on the evening
   * before (contract 3.7); else 0.
   */
  readonly eveningHours: number;
};

/** One a market; further venues of the same asset type and country have none. */
export const marketZones: readonly MarketZone[] = markets
  .filter(({ onlyByKey }) => onlyByKey !== true)
  .map(({ assetSchema, country, zone, hours }) => ({
    market: `${assetSchema}:${country}`,
    zone,
    eveningHours: -Math.min(0, ...hours.map(({ segments }) => clockMinutes(segments[0]![1]) / 60)),
  }));
