// A market's hours: as clock times, for the reference record (contract 8.1), and how long they usually are.
import type { Market } from './market.ts';
import { hoursOn } from './rules.ts';
import { clockMinutes, type SegmentScope, scopeKinds } from './session.ts';

const DAY_MINUTES = 1440;

/** The end of a day on the wire, which has no 24:00. */
const DAY_END = '23:59:59';

/**
 * Ranges of clock times, `HH:MM:SS-HH:MM:SS`; a range that ends at or before its start ends on the next day.
 * Auctions are left out (contract 3.13).
 */
export type TradingHours = Readonly<Record<'pre' | 'regular' | 'post', readonly string[]>>;

function clockText(minutes: number): string {
  const ofDay = ((minutes % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;
  const parts = [Math.floor(ofDay / 60), ofDay % 60, 0];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** The hours of a market on a date, without holidays. */
export function tradingHours(market: Market, day: number): TradingHours {
  const found: Record<keyof TradingHours, string[]> = { pre: [], regular: [], post: [] };
  for (const [kind, open, close] of hoursOn(market, day).segments) {
    if (kind === 'auction') continue;
    const end = clockMinutes(close);
    found[kind].push(`${clockText(clockMinutes(open))}-${end === DAY_MINUTES ? DAY_END : clockText(end)}`);
  }
  return found;
}

/** The sum of the minutes of ranges of clock times. */
export const minutesOf = (ranges: readonly string[]): number =>
  ranges.reduce((sum, range) => sum + minutesOfRange(range), 0);

function minutesOfRange(range: string): number {
  const [open, close] = range.split('-').map((clock) => {
    const [hours, minutes, seconds] = (clock === DAY_END ? '24:00:00' : clock).split(':').map(Number);
    return hours! * 60 + minutes! + seconds! / 60;
  });
  return Math.round(close! > open! ? close! - open! : close! - open! + DAY_MINUTES);
}

const DAYS_OF_A_WEEK = 7;

type Usual = {
  /** The share of days that have a session. */
  readonly sessionShare: number;
  /** The minutes of the longest session, by scope. */
  readonly minutes: Readonly<Record<SegmentScope, number>>;
};

const known = new WeakMap<Market, Usual>();

export function usualOf(market: Market): Usual {
  const found = known.get(market) ?? findUsual(market);
  known.set(market, found);
  return found;
}

function findUsual({ hours }: Market): Usual {
  const minutesOf = (scope: SegmentScope): number =>
    Math.max(
      ...hours.map(({ segments }) =>
        segments
          .filter(([kind]) => scopeKinds[scope].includes(kind))
          .reduce((sum, [, open, close]) => sum + clockMinutes(close) - clockMinutes(open), 0),
      ),
    );
  return {
    sessionShare: Math.max(...hours.map(({ weekdays }) => weekdays.length)) / DAYS_OF_A_WEEK,
    minutes: { regular: minutesOf('regular'), day: minutesOf('day'), all: minutesOf('all') },
  };
}
