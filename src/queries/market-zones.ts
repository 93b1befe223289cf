// The markets whose calendars are built in, for pages that show their times.

import { markets } from '../calendar/markets/index.ts';
import type { AssetSchema } from '../contract/identifiers.ts';

/** A market, such as `stock:US`, and its zone of the tz database. */
export type MarketZone = { readonly market: `${AssetSchema}:${string}`; readonly zone: string };

/** One a market; further venues of the same asset type and country have none. */
export const marketZones: readonly MarketZone[] = markets
  .filter(({ onlyByKey }) => onlyByKey !== true)
  .map(({ assetSchema, country, zone }) => ({ market: `${assetSchema}:${country}`, zone }));
