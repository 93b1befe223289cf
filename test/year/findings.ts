// A plain reading of the findings (contract 9.10) that the year can have, by the definitions of
// docs/using/findings.md. What the service finds beyond these kinds is a difference.
import { MINUTE_MS, type Session } from './calendar.ts';
import { stepOf } from './facts.ts';
import type { Reading, Series, Span, StoredBar } from './plain.ts';

export type Finding = Span & {
  readonly kind: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly value: number;
  readonly expected: number;
};

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Up to `size` items around a place: as many on one side as on the other, where there are so many. */
function around<T>(items: readonly T[], at: number, size: number): T[] {
  const from = Math.max(0, Math.min(at - Math.floor(size / 2), items.length - size));
  return items.slice(from, from + size);
}

/** Bars to which two imports gave different values. */
function conflicts(
  { conflicts: all }: Series,
  openOf: (bar: { keyMs: number; day: number }) => number,
): Finding[] {
  return all.map(({ pairs }) => {
    const sorted = pairs.toSorted((a, b) => a.bar.keyMs - b.bar.keyMs);
    let most = { share: -1, value: 0, expected: 0 };
    let priceShare = 0;
    for (const { bar, before } of sorted)
      for (const [at, value] of bar.values.entries()) {
        const expected = before[at]!;
        const share = value === expected ? -1 : Math.abs(value / expected - 1);
        if (share > most.share) most = { share, value, expected };
        if (at < 4) priceShare = Math.max(priceShare, share);
      }
    return {
      ...{ kind: 'conflicting_imports', severity: priceShare > 0.5 ? 'error' : 'info' },
      ...{ fromMs: openOf(sorted[0]!.bar), toMs: sorted.at(-1)!.bar.closeMs },
      ...{ value: most.value, expected: most.expected },
    };
  });
}

/** The regular hours of a session of minutes. */
type Regular = {
  readonly session: Session;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly coveredMs: number;
  readonly holes: readonly Span[];
  readonly longestMs: number;
};

function regularOf({ instrument, byDay }: Series): Regular[] {
  return [...byDay].flatMap(([day, bars]) => {
    const session = instrument.market.sessionOn(day)!;
    const own = bars.filter(({ keyMs }) => session.openMs <= keyMs && keyMs < session.closeMs);
    if (own.length === 0) return [];
    const holes = own
      .slice(1)
      .map(({ keyMs }, at) => ({ fromMs: own[at]!.closeMs, toMs: keyMs }))
      .filter(({ fromMs, toMs }) => fromMs < toMs);
    return [
      {
        ...{ session, firstMs: own[0]!.keyMs, lastMs: own.at(-1)!.closeMs, holes },
        coveredMs: own.reduce((sum, { keyMs, closeMs }) => sum + closeMs - keyMs, 0),
        longestMs: Math.max(0, ...holes.map(({ fromMs, toMs }) => toMs - fromMs)),
      },
    ];
  });
}

/** `short_session` and `gap`. */
function ofMinutes(reading: Reading, series: Series): Finding[] {
  const all = regularOf(series);
  const others = reading.membersOf(series).filter((one) => one !== series);
  return all.flatMap((one, at) => {
    const { session, firstMs, lastMs } = one;
    const isOver =
      session.closeMs <= reading.nowMs &&
      series.covered.some(({ fromMs, toMs }) => fromMs <= firstMs && session.closeMs <= toMs);
    if (!isOver) return [];
    const near = around(all, at, 21).filter((other) => other !== one);
    const [has, whole] = [
      near.reduce((sum, { coveredMs }) => sum + coveredMs, 0),
      near.reduce((sum, { session: { openMs, closeMs } }) => sum + closeMs - openMs, 0),
    ];
    const isDense = near.length >= 5 && has >= 0.8 * whole;
    const edges = [
      { fromMs: session.openMs, toMs: firstMs, isEnd: false },
      { fromMs: lastMs, toMs: session.closeMs, isEnd: true },
    ];
    const short = edges.flatMap(({ fromMs, toMs, isEnd }): Finding[] => {
      if (toMs - fromMs <= 15 * MINUTE_MS) return [];
      const stops =
        isEnd &&
        lastMs - firstMs >= 60 * MINUTE_MS &&
        one.coveredMs >= 0.8 * (lastMs - firstMs) &&
        others.some(({ byDay }) =>
          byDay.get(session.day)?.some(({ keyMs }) => fromMs <= keyMs && keyMs < toMs),
        );
      if (!isDense && !stops) return [];
      const value = (toMs - fromMs) / MINUTE_MS;
      return [{ kind: 'short_session', severity: 'warning', fromMs, toMs, value, expected: 15 }];
    });
    if (!isDense) return short;
    const usual = median(near.map(({ longestMs }) => longestMs));
    const gaps = one.holes
      .filter(({ fromMs, toMs }) => toMs - fromMs > 10 * usual)
      .map(({ fromMs, toMs }): Finding => {
        const value = (toMs - fromMs) / MINUTE_MS;
        return { kind: 'gap', severity: 'info', fromMs, toMs, value, expected: usual / MINUTE_MS };
      });
    return [...short, ...gaps];
  });
}

/** `identity_break`, `missing_session` and `behind`. */
function ofSessions(reading: Reading, series: Series): Finding[] {
  const { instrument, byDay } = series;
  const days = [...byDay.keys()];
  if (days.length === 0) return [];
  const { market } = instrument;
  const sessions = market.sessions.filter(({ day }) => days[0]! <= day && day <= days.at(-1)!);
  const others = reading.membersOf(series).filter((one) => one !== series);
  const of = (kind: string, severity: Finding['severity'], hole: readonly Session[]): Finding => ({
    ...{ kind, severity, fromMs: hole[0]!.openMs, toMs: hole.at(-1)!.closeMs },
    ...{ value: hole.length, expected: 0 },
  });
  const isMissed = ({ day, openMs, closeMs }: Session): boolean =>
    others.some((other) =>
      other.byDay
        .get(day)
        ?.some(({ keyMs }) => instrument.interval === 'DAY' || (openMs <= keyMs && keyMs < closeMs)),
    );
  /** Neighbouring sessions that are alike. */
  const runsOf = (some: readonly Session[], holds: (session: Session) => boolean): Session[][] => {
    const found: Session[][] = [[]];
    for (const session of some) {
      if (holds(session)) found.at(-1)!.push(session);
      else found.push([]);
    }
    return found.filter(({ length }) => length > 0);
  };
  const found = runsOf(sessions, ({ day }) => !byDay.has(day)).flatMap((hole) => {
    if (hole.length > 60) return [of('identity_break', 'info', hole)];
    const rest = sessions.filter((session) => !hole.includes(session));
    const near = around(rest, sessions.indexOf(hole[0]!), 20);
    if (near.filter(({ day }) => byDay.has(day)).length < 0.8 * near.length) return [];
    return runsOf(hole, isMissed).map((run) => of('missing_session', 'warning', run));
  });
  const reached = reading.reached(series);
  const behind = market.sessions.filter(({ day }) => days.at(-1)! < day && day <= reached);
  if (reading.isActive(instrument) && behind.length > 0) found.push(of('behind', 'warning', behind));
  return found;
}

/** New to old shares of usual splits. */
const RATIOS = [2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 50, 3 / 2, 4 / 3, 5 / 4];

/** `unrecorded_split` and `action_without_jump` in the days as they are served. */
function ofSplits(reading: Reading, series: Series): Finding[] {
  const { instrument } = series;
  const { market, symbol } = instrument;
  if (market.schema !== 'stock') return [];
  const days = reading.days(series);
  const recorded = reading.splits.filter((split) => split.symbol === symbol);
  const jumps = days.map(({ values }, at) => (at === 0 ? Number.NaN : values[0] / days[at - 1]!.values[3]));
  const most = (part: number): number => Math.min(0.2, Math.abs(Math.log(part)) / 2);
  const found: Finding[] = [];
  for (const [at, { values, day }] of days.entries()) {
    const jump = jumps[at]!;
    const ratio = RATIOS.find((one) => [one, 1 / one].some((part) => Math.abs(jump / part - 1) <= 0.01));
    if (ratio === undefined) continue;
    const part = jump > 1 ? ratio : 1 / ratio;
    const before = days[at - 1]!;
    if (Math.abs(Math.log(values[3] / before.values[3] / part)) > most(part)) continue;
    const logs = around(jumps, at, 63).map(Math.log).filter(Number.isFinite);
    if (logs.length < 21) continue;
    const middle = median(logs);
    const deviation = median(logs.map((log) => Math.abs(log - middle)));
    if (Math.abs(Math.log(jump) - middle) <= 8 * deviation) continue;
    if (market.sessions.filter((one) => before.day < one.day && one.day < day).length > 60) continue;
    const next = market.sessions.find((one) => one.day > day)!.day;
    const isKnown = recorded.some(
      (split) =>
        before.day <= split.day &&
        split.day <= next &&
        Math.abs(Math.log((jump * split.to) / split.from)) <= most(part),
    );
    if (isKnown) continue;
    const { openMs: fromMs, closeMs: toMs } = market.sessionOn(day)!;
    const severity = ratio < 2 ? 'warning' : 'error';
    found.push({
      ...{ kind: 'unrecorded_split', severity, fromMs, toMs, value: values[0], expected: before.values[3] },
    });
  }
  return found;
}

/** All findings in a series. */
export function findingsOf(reading: Reading, series: Series): Finding[] {
  const { instrument } = series;
  const openOf = ({ keyMs, day }: Pick<StoredBar, 'keyMs' | 'day'>): number =>
    instrument.interval === 'DAY' ? instrument.market.sessionOn(day)!.openMs : keyMs;
  return [
    ...conflicts(series, openOf),
    ...(instrument.interval === 'DAY' || stepOf(instrument.interval) === 0 ? [] : ofMinutes(reading, series)),
    ...ofSessions(reading, series),
    ...ofSplits(reading, series),
  ];
}
