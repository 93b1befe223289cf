// The usual hours of a market, for estimates of how many bars there are.
import type { Market } from './market.ts';
import { clockMinutes, type SegmentScope, scopeKinds } from './session.ts';

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
