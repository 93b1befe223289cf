// The markets whose calendars are built in, which the page brings.
import { clockOf, type MarketClock } from './market-clock.ts';

const told = document.querySelector<HTMLMetaElement>('meta[name=bourse-markets]')?.content ?? '';
const zones = new Map(told.split(' ').map((one) => one.split('=') as [market: string, zone: string]));

/** Their names, such as `stock:US`. */
export const markets: readonly string[] = [...zones.keys()];

/** The clock of a market; UTC for one that is not built in. */
export const marketClock = (market: string): MarketClock => clockOf(zones.get(market) ?? 'UTC');
