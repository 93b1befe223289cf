// The hours of three markets in 2025, written down here: US stocks (NYSE), crypto and foreign exchange
// (contract 3.3, 3.4, 3.7).

export const MINUTE_MS = 60_000;
export const DAY_MS = 1_440 * MINUTE_MS;

/** The day number of a date. */
export const dayOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

type Segment = { readonly kind: 'pre' | 'regular' | 'post'; readonly fromMs: number; readonly toMs: number };

export type Session = {
  /** The label date, as a day number. */
  readonly day: number;
  readonly segments: readonly Segment[];
  /** All hours. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The regular ones. */
  readonly openMs: number;
  readonly closeMs: number;
};

export type Market = {
  readonly schema: 'stock' | 'crypto' | 'forex';
  readonly country: string;
  readonly exchange: string;
  /** Those of the year, and some days on both sides, in order. */
  readonly sessions: readonly Session[];
  readonly sessionOn: (day: number) => Session | undefined;
  /** The session that an instant lies in. */
  readonly sessionAt: (ms: number) => Session | undefined;
};

/** NYSE: https://www.nyse.com/markets/hours-calendars, and the day of mourning of 2025-01-09. */
const CLOSED = new Set(
  [
    ...['2024-12-25', '2025-01-01', '2025-01-09', '2025-01-20', '2025-02-17', '2025-04-18', '2025-05-26'],
    ...['2025-06-19', '2025-07-04', '2025-09-01', '2025-11-27', '2025-12-25', '2026-01-01', '2026-01-19'],
  ].map(dayOf),
);
const EARLY_CLOSES = new Set(['2024-12-24', '2025-07-03', '2025-11-28', '2025-12-24'].map(dayOf));

/** Daylight saving of New York in 2025, of times from 03:00 on. */
export const SUMMER = { fromDay: dayOf('2025-03-09'), toDay: dayOf('2025-11-02') };

/** An instant by a date and a time of day in New York, not of the night. */
export const newYork = (day: number, hour: number, minute = 0): number =>
  day * DAY_MS + (60 * hour + minute + (SUMMER.fromDay <= day && day < SUMMER.toDay ? 240 : 300)) * MINUTE_MS;

const weekdayOf = (day: number): number => new Date(day * DAY_MS).getUTCDay();

function sessionOf(day: number, segments: readonly Segment[]): Session {
  const regular = segments.find(({ kind }) => kind === 'regular')!;
  const [fromMs, toMs] = [segments[0]!.fromMs, segments.at(-1)!.toMs];
  return { day, segments, fromMs, toMs, openMs: regular.fromMs, closeMs: regular.toMs };
}

const hours = {
  stock(day: number): Segment[] {
    if ([0, 6].includes(weekdayOf(day)) || CLOSED.has(day)) return [];
    const [close, end] = EARLY_CLOSES.has(day) ? [13, 17] : [16, 20];
    return [
      { kind: 'pre', fromMs: newYork(day, 4), toMs: newYork(day, 9, 30) },
      { kind: 'regular', fromMs: newYork(day, 9, 30), toMs: newYork(day, close) },
      { kind: 'post', fromMs: newYork(day, close), toMs: newYork(day, end) },
    ];
  },
  crypto: (day: number): Segment[] => [{ kind: 'regular', fromMs: day * DAY_MS, toMs: (day + 1) * DAY_MS }],
  forex: (day: number): Segment[] =>
    [0, 6].includes(weekdayOf(day))
      ? []
      : [{ kind: 'regular', fromMs: newYork(day - 1, 17), toMs: newYork(day, 17) }],
};

function marketOf(schema: Market['schema'], country: string, exchange: string): Market {
  const sessions: Session[] = [];
  for (let day = dayOf('2024-12-16'); day < dayOf('2026-01-20'); day++) {
    const segments = hours[schema](day);
    if (segments.length > 0) sessions.push(sessionOf(day, segments));
  }
  const byDay = new Map(sessions.map((session) => [session.day, session]));
  const around = (ms: number): (Session | undefined)[] => {
    const day = Math.floor(ms / DAY_MS);
    return [day - 1, day, day + 1].map((one) => byDay.get(one));
  };
  return {
    ...{ schema, country, exchange, sessions, sessionOn: (day) => byDay.get(day) },
    sessionAt: (ms) => around(ms).find((one) => one !== undefined && one.fromMs <= ms && ms < one.toMs),
  };
}

export const markets: Readonly<Record<Market['schema'], Market>> = {
  stock: marketOf('stock', 'US', ''),
  crypto: marketOf('crypto', 'GLOBAL', 'GLOBAL'),
  forex: marketOf('forex', 'GLOBAL', 'GLOBAL'),
};

/** The first day of the week, Monday, or of the month of a day. */
export function periodOf(unit: 'WEEK' | 'MON', day: number): number {
  if (unit === 'WEEK') return day - ((weekdayOf(day) + 6) % 7);
  return dayOf(`${dateOf(day).slice(0, 7)}-01`);
}
