// Building the sessions of a market: 30 years, by the calendar and by asking the platform for every instant's
// offset.
import { dayOf } from '../../src/base/instant.ts';
import { Calendar } from '../../src/market/calendar/calendar.ts';
import { markets } from '../../src/market/calendar/markets/index.ts';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { median } from '../statistics.ts';
import { tell } from '../workshop.ts';

const [FIRST, END] = [dayOf(2000, 1, 1), dayOf(2030, 1, 1)];

/** Milliseconds of the slowest market. */
type Measured = { readonly first: number; readonly compiled: number; readonly platform: number };

const lines: readonly Line<Measured>[] = [
  {
    name: '30 years of the slowest market, as a process begins',
    unit: 'ms',
    target: { atMost: 50 },
    measure: ({ first }) => ({ measured: first }),
  },
  {
    name: 'the same, compiled',
    warmUp: 'once',
    unit: 'ms',
    comparedWith: 'the platform’s clock at each bound',
    target: { atMost: 0.5 },
    measure: ({ compiled, platform }) => ({ measured: compiled, ratio: compiled / platform }),
  },
];

const timed = (work: () => void): number => {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
};

/** The clock at each bound of a market's segments, by the platform. */
function askPlatform(calendar: Calendar): void {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: calendar.market.zone, timeStyle: 'short' });
  for (const { segments } of calendar.sessions(FIRST, END)) {
    for (const { openMs, closeMs } of segments) {
      format.format(openMs);
      format.format(closeMs);
    }
  }
}

/**
 * The lines of `calendar`. It is measured before the other groups: the first market that is built is the
 * slowest, as nothing is compiled yet.
 */
export const calendar = group('calendar', 'none', lines, ({ scale: { rounds } }): Promise<Measured> => {
  const build = (): number =>
    Math.max(...markets.map((market) => timed(() => void new Calendar(market).sessions(FIRST, END))));
  const slowestByPlatform = (): number =>
    Math.max(
      ...markets.map((market) => {
        const built = new Calendar(market);
        built.sessions(FIRST, END);
        return timed(() => askPlatform(built));
      }),
    );
  const first = build();
  tell(`calendar, first: ${first.toFixed(1)} ms`);
  const compiled = median(Array.from({ length: rounds }, build));
  const platform = median(Array.from({ length: rounds }, slowestByPlatform));
  return Promise.resolve({ first, compiled, platform });
});
