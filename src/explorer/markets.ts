// The markets whose calendars are built in, which the page brings.
import { clockOf, type MarketClock } from './market-clock.ts';

const HOUR_MS = 3_600_000;

const told = document.querySelector<HTMLMetaElement>('meta[name=bourse-markets]')?.content ?? '';

/**
 * By name, such as `stock:US`: the zone, and how many hours before midnight of their date its sessions open.
 */
const known = new Map(
  told.split(' ').map((one) => {
    const [market = '', zone = '', hours = '0'] = one.split(/[=,]/);
    return [market, { zone, eveningMs: Number(hours) * HOUR_MS }];
  }),
);

/** Their names. */
export const markets: readonly string[] = [...known.keys()];

/** The clock of a market; UTC for one that is not built in. */
export const marketClock = (market: string): MarketClock => clockOf(known.get(market)?.zone ?? 'UTC');

/**
 * The date of the session that has an instant, as UTC has it: one that opens in the evening has the date of
 * the next day.
 */
export const sessionDateMs = (market: string, ms: number): number =>
  marketClock(market).localMs(ms) + (known.get(market)?.eveningMs ?? 0);
