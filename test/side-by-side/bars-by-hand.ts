// Bars as a careful person works them out: minutes and days into every interval, with sessions as literal
// instants (contract 3.3 to 3.13). It shares nothing with src: no calendar, no grid, no sums.

/** Prices, volume and vwap of a bar; null where its file has none. */
export type Values = {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number | null;
  readonly vwap: number | null;
};

/** A bar of a minute, or of an hour, by its open. */
export type Timed = Values & { readonly atMs: number };

/** A bar with its hours in milliseconds and the date of its session, or of its period's first session. */
export type Expected = Values & { readonly openMs: number; readonly closeMs: number; readonly date: string };

type Segment = { readonly kind: string; readonly openMs: number; readonly closeMs: number };
export type Session = { readonly date: string; readonly segments: readonly Segment[] };

/**
 * A week or a month: its first and last session, and the first open and the last close; none where it is not
 * finished.
 */
export type Period = {
  readonly interval: string;
  readonly first: string;
  readonly last: string;
  readonly regular?: readonly [openMs: number, closeMs: number];
  readonly extended?: readonly [openMs: number, closeMs: number];
};

/** What is known of one instrument. */
export type Known = {
  readonly sessions: readonly Session[];
  readonly periods: readonly Period[];
  readonly minutes: readonly Timed[];
  /** Hours off the session grid. */
  readonly hours?: readonly Timed[];
  /**
   * Hours on the session grid, from the first minute to the last: what they divide is made of them, and not
   * of minutes (contract 3.8).
   */
  readonly gridHours?: readonly Timed[];
  /** The rows of each session's day, in order: those of its own date, before them that of a Sunday. */
  readonly days?: ReadonlyMap<string, readonly Values[]>;
};

const MINUTE_MS = 60_000;

export const nextDate = (date: string): string =>
  new Date(Date.parse(date) + 1440 * MINUTE_MS).toISOString().slice(0, 10);

const linesOf = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

/** An instant in UTC, `11-29T14:30`, of the year of a date. */
const instantOf = (date: string, text: string): number => Date.parse(`${date.slice(0, 4)}-${text}Z`);

/**
 * Sessions, one a line: the date, then each segment's kind and open in UTC; a segment ends where the next
 * begins, `break` and `end` are none. `2024-11-29 pre 11-29T09:00 regular 11-29T14:30 post 11-29T18:00 end
 * 11-29T22:00`.
 */
export const sessionsOf = (text: string): Session[] =>
  linesOf(text).map(([date = '', ...borders]) => {
    const segments: Segment[] = [];
    for (let at = 0; at + 3 < borders.length; at += 2) {
      const [kind = '', open = '', , close = ''] = borders.slice(at);
      if (kind === 'break') continue;
      segments.push({ kind, openMs: instantOf(date, open), closeMs: instantOf(date, close) });
    }
    return { date, segments };
  });

/**
 * Weeks and months, one a line: the interval, first and last session, first open and last close in UTC, then
 * those of extended hours where they differ. `WEEK 2024-11-25 2024-11-29 11-25T14:30 11-29T18:00 11-25T09:00
 * 11-29T22:00`; without hours it is not finished, with `unfinished` after those of regular hours not with
 * extended ones.
 */
export const periodsOf = (text: string): Period[] =>
  linesOf(text).map(([interval = '', first = '', last = '', ...hours]) => {
    const [open, close, early = open, late = close] = hours
      .filter((one) => one !== 'unfinished')
      .map((one) => instantOf(first, one));
    if (open === undefined || close === undefined) return { interval, first, last };
    const regular = [open, close] as const;
    if (hours.at(-1) === 'unfinished') return { interval, first, last, regular };
    return { interval, first, last, regular, extended: [early!, late!] };
  });

/** A sum of decimals with at most ten places, without rounding between. */
function exactSum(values: readonly number[]): number {
  const units = values.reduce((sum, value) => sum + BigInt(value.toFixed(10).replace('.', '')), 0n);
  const digits = String(units).padStart(11, '0');
  return Number(`${digits.slice(0, -10)}.${digits.slice(-10)}`);
}

/**
 * One bar of bars in order: without volume where one has none, without vwap where one with volume has none
 * (contract 3.8).
 */
function folded(bars: readonly Values[]): Values {
  const volumes = bars.map(({ volume }) => volume);
  const volume = volumes.every((one) => one !== null) ? exactSum(volumes) : null;
  const traded = bars.filter((bar) => bar.volume !== 0);
  const isWeighed = volume !== null && volume > 0 && traded.every(({ vwap }) => vwap !== null);
  return {
    open: bars[0]!.open,
    high: Math.max(...bars.map(({ high }) => high)),
    low: Math.min(...bars.map(({ low }) => low)),
    close: bars.at(-1)!.close,
    volume,
    vwap: isWeighed ? traded.reduce((sum, bar) => sum + bar.vwap! * bar.volume!, 0) / volume : null,
  };
}

const within = (bars: readonly Timed[], openMs: number, closeMs: number): Timed[] =>
  bars.filter(({ atMs }) => openMs <= atMs && atMs < closeMs);
const bounds = (segments: readonly Segment[]): [openMs: number, closeMs: number] => [
  segments[0]!.openMs,
  segments.at(-1)!.closeMs,
];
const coarsest = ({ gridHours, minutes }: Known): readonly Timed[] => gridHours ?? minutes;
const isRegular = ({ kind }: Segment): boolean => kind === 'regular';

/** Bars of so many minutes: each segment from its open on, cut at its end (contract 3.3). */
function cut(known: Known, { date, segments }: Session, count: number, extended: boolean): Expected[] {
  const lengthMs = count * MINUTE_MS;
  const base = count % 60 === 0 ? coarsest(known) : known.minutes;
  return segments
    .filter((one) => extended || isRegular(one))
    .flatMap((segment) => {
      const rows = within(base, segment.openMs, segment.closeMs);
      const cells = Map.groupBy(rows, ({ atMs }) => Math.floor((atMs - segment.openMs) / lengthMs));
      return [...cells].map(([cell, bars]) => {
        const openMs = segment.openMs + cell * lengthMs;
        return { ...folded(bars), openMs, closeMs: Math.min(openMs + lengthMs, segment.closeMs), date };
      });
    });
}

/**
 * Hours off the grid as imported: those that overlap the regular session, or with extended hours open in any
 * segment (contract 3.10).
 */
function asImported({ hours = [] }: Known, { date, segments }: Session, extended: boolean): Expected[] {
  const [openMs, closeMs] = bounds(segments.filter(isRegular));
  const [firstMs, lastMs] = bounds(segments);
  return hours
    .map((hour) => ({ ...hour, openMs: hour.atMs, closeMs: hour.atMs + 60 * MINUTE_MS, date }))
    .filter(
      (hour) =>
        (hour.closeMs > openMs && hour.openMs < closeMs) ||
        (extended && firstMs <= hour.openMs && hour.openMs < lastMs),
    );
}

const isBeyondDay = ({ kind }: Segment): boolean => kind === 'pre' || kind === 'post';

/**
 * The bar of a session's day: the stored one, and with extended hours the session's minutes where it has some
 * (contract 3.6), unless its market has no pre- or post-market (contract 3.5).
 */
function dayOf(known: Known, session: Session, wantsExtended: boolean): Expected[] {
  const { date, segments } = session;
  const extended = wantsExtended && segments.some(isBeyondDay);
  const stored = known.days?.get(date) ?? [];
  const traded = within(coarsest(known), ...bounds(segments));
  const isDerived = traded.length > 0 && (extended || known.days === undefined);
  const counted = isDerived && extended ? segments : segments.filter((one) => !isBeyondDay(one));
  const rows = isDerived ? counted.flatMap((one) => within(traded, one.openMs, one.closeMs)) : stored;
  const [openMs, closeMs] = bounds(counted);
  return rows.length === 0 ? [] : [{ ...folded(rows), openMs, closeMs, date }];
}

/** The bar of a finished week or month: of the days in it, each as it is for itself. */
function periodBar(known: Known, period: Period, extended: boolean): Expected[] {
  const { first, last } = period;
  const hours = extended ? period.extended : period.regular;
  if (hours === undefined) return [];
  const bySession = new Map(known.sessions.map((one) => [one.date, dayOf(known, one, extended)]));
  const dates = [...new Set([...(known.days?.keys() ?? []), ...bySession.keys()])]
    .filter((date) => first <= date && date <= last)
    .sort();
  const bars = dates.flatMap((date) => bySession.get(date) ?? [folded(known.days!.get(date)!)]);
  return [{ ...folded(bars), openMs: hours[0], closeMs: hours[1], date: first }];
}

/** Every bar of an interval that is to be served of the sessions, or of the periods, that are known. */
export function byHand(known: Known, interval: string, extended: boolean): Expected[] {
  const { sessions, periods } = known;
  if (interval === 'DAY') return sessions.flatMap((one) => dayOf(known, one, extended));
  if (interval === 'WEEK' || interval === 'MON')
    return periods
      .filter((one) => one.interval === interval)
      .flatMap((one) => periodBar(known, one, extended));
  return sessions.flatMap((one) =>
    interval === '60M' && within(known.minutes, ...bounds(one.segments)).length === 0
      ? asImported(known, one, extended)
      : cut(known, one, Number(interval.slice(0, -1)), extended),
  );
}

export const withoutVwap = (minutes: readonly Timed[]): Timed[] =>
  minutes.map((one) => ({ ...one, vwap: null }));

/**
 * Days of foreign exchange by session: a Sunday's row counts to Monday, before Monday's own. Quotes have no
 * volume.
 */
export function forexDays(days: readonly (readonly [date: string, values: Values])[]): Map<string, Values[]> {
  const sessions = new Map<string, Values[]>();
  for (const [date, values] of days) {
    const session = new Date(date).getUTCDay() === 0 ? nextDate(date) : date;
    sessions.set(session, [...(sessions.get(session) ?? []), { ...values, volume: null, vwap: null }]);
  }
  return sessions;
}
