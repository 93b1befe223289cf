// Building the sessions of a market: 30 years, by the calendar and by asking the platform for every instant's offset.
import { dayOf } from '../src/base/instant.ts';
import { Calendar } from '../src/calendar/calendar.ts';
import { markets } from '../src/calendar/markets/index.ts';
import { judged, type Line, median } from './line.ts';
import { type Options, tell } from './workshop.ts';

const [FIRST, END] = [dayOf(2000, 1, 1), dayOf(2030, 1, 1)];

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

/** The lines of `calendar`. The first market that is built is slowest: nothing is compiled yet. */
export function benchCalendar({ rounds }: Options): Promise<Line[]> {
  const build = (): number =>
    Math.max(...markets.map((market) => timed(() => void new Calendar(market).sessions(FIRST, END))));
  const first = build();
  tell(`calendar, first: ${first.toFixed(1)} ms`);
  const slowest = median(Array.from({ length: rounds }, build));
  const platform = median(
    Array.from({ length: rounds }, () =>
      Math.max(
        ...markets.map((market) => {
          const calendar = new Calendar(market);
          calendar.sessions(FIRST, END);
          return timed(() => askPlatform(calendar));
        }),
      ),
    ),
  );
  return Promise.resolve([
    judged({
      line: 'calendar: 30 years of the slowest market, as a process begins',
      measured: first,
      unit: 'ms',
      ratio: null,
      budget: { atMost: 50 },
    }),
    judged({
      line: 'calendar: the same, compiled',
      measured: slowest,
      unit: 'ms',
      ratio: { value: slowest / platform, to: 'the platform’s clock at each bound' },
      budget: { atMost: 0.5 },
    }),
  ]);
}
