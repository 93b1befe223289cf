// The bars of an interval by session: how many, from when to when, and which stored series they come from
// (contract 9.9).
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { intervalMinutes } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import { bucketOf } from '../market/bars/block.ts';
import type { Session } from '../market/calendar/session.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import { blockChanges } from '../store/schema/internal.ts';
import type { Reader } from '../store/store.ts';
import { barParts } from './bar-stream.ts';
import { Completeness, type Moment } from './completeness.ts';
import { type StreamRange, servedBlocks } from './cursor.ts';
import { baseBarsFor, candidates, splitRange } from './plan.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import { type StreamContext, servedParts } from './stream.ts';

/** Changes of blocks read at a time: one that replaced a whole block has some kilobytes. */
const CHANGES_PER_READ = 64;

const BLOCKS_PER_READ = 64;

/** The bars in the regular hours of a session, in one interval. */
export type SessionBars = {
  readonly session: Session;
  /** The stored series that the session is served from. */
  readonly series: Series;
  readonly bars: number;
  readonly expected: number;
  /** Opens of the first and the last bar; null without one. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** The longest time in regular hours without a bar; null of DAY. */
  readonly longestGapMs: number | null;
};

const regularOf = ({ segments }: Session) => segments.filter(({ kind }) => kind === 'regular');

/** Counts the bars of an interval that the regular hours of a session have room for. */
function expectedBars({ interval }: Pick<StreamContext, 'interval'>, session: Session): number {
  const minutes = intervalMinutes(interval);
  if (minutes === null) return 1;
  return regularOf(session).reduce(
    (sum, { openMs, closeMs }) => sum + Math.ceil((closeMs - openMs) / (minutes * MINUTE_MS)),
    0,
  );
}

/** Counts the bars of one session, which come in order. */
class Tally {
  bars = 0;
  firstMs: number | null = null;
  lastMs: number | null = null;
  /** The coarsest of the series that its bars come from. */
  series: Series | null = null;
  #longestMs = 0;
  readonly #segments: ReturnType<typeof regularOf>;
  #at = 0;
  /** The end of the bars so far, in the present segment. */
  #endMs: number;

  constructor(session: Session) {
    this.#segments = regularOf(session);
    this.#endMs = this.#segments[0]!.openMs;
  }

  add(openMs: number, closeMs: number, series: Series): void {
    this.bars++;
    // A session may have cells of several series.
    if (this.series === null || coarseness(series) > coarseness(this.series)) this.series = series;
    this.firstMs ??= openMs;
    this.lastMs = openMs;
    while (this.#at < this.#segments.length - 1 && openMs >= this.#segments[this.#at]!.closeMs) this.#leave();
    this.#longestMs = Math.max(this.#longestMs, openMs - this.#endMs);
    this.#endMs = Math.max(this.#endMs, closeMs);
  }

  #leave(): void {
    this.#longestMs = Math.max(this.#longestMs, this.#segments[this.#at++]!.closeMs - this.#endMs);
    this.#endMs = this.#segments[this.#at]?.openMs ?? Number.POSITIVE_INFINITY;
  }

  /** The longest time without a bar; nothing is added after it. */
  longestGapMs(): number {
    while (this.#at < this.#segments.length) this.#leave();
    return this.#longestMs;
  }
}

/** The keys of the bars of neighbouring sessions. */
function keysOf({ interval }: StreamContext, first: Session, last: Session): StreamRange {
  const minutes = intervalMinutes(interval);
  if (minutes === null)
    return { fromMs: first.day * DAY_MS, toMs: (last.day + 1) * DAY_MS, descending: false };
  // A bar off the grid may open before the session that it overlaps.
  return { fromMs: first.openMs - (minutes - 1) * MINUTE_MS, toMs: last.closeMs, descending: false };
}

/**
 * About how many stored bars are read to count those of neighbouring sessions, of which there is at least
 * one.
 */
export function barsToCount(
  context: StreamContext,
  stored: StoredInstrument,
  sessions: readonly Session[],
): number {
  const count = sessions.reduce((sum, session) => sum + expectedBars(context, session), 0);
  const range = keysOf(context, sessions[0]!, sessions.at(-1)!);
  return count + baseBarsFor(context, stored, range, count);
}

/** Is given each bar: its open, its close, the label date of its session, and its series. */
type Visitor = (openMs: number, closeMs: number, day: number, series: Series) => void;

/** Visits bars as they are served. */
async function visitServed(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  moment: Moment,
  visitor: Visitor,
): Promise<void> {
  const parts = servedParts(context, barParts(context, stored, range), moment);
  for (let part = await parts.next(limits.barsPerStepMax); part !== null; ) {
    const { bars, openMs, closeMs, day } = part.timed;
    for (let at = 0; at < bars.count; at++) visitor(openMs[at]!, closeMs[at]!, day[at]!, part.series);
    part = await parts.next(limits.barsPerStepMax);
  }
}

/**
 * Visits the bars of a stored series of minutes on the grid. They are the same, block by block: a page may
 * have some 40,000.
 */
async function visitMinutes(
  { reader, calendar }: StreamContext,
  series: Series,
  range: StreamRange,
  { nowMs }: Moment,
  visitor: Visitor,
): Promise<void> {
  const stepMs = intervalMinutes(series.interval)! * MINUTE_MS;
  const { openMs, closeMs, day } = calendar.segments(range.fromMs, range.toMs, 'regular');
  const blocks = servedBlocks(reader, series, range);
  let segment = 0;
  for (;;) {
    const bars = await blocks.next(BLOCKS_PER_READ);
    if (bars === null) return;
    for (let at = 0; at < bars.count; at++) {
      const keyMs = bars.keyMs[at]!;
      while (segment < day.length && closeMs[segment]! <= keyMs) segment++;
      if (segment === day.length) return;
      const endMs = Math.min(keyMs + stepMs, closeMs[segment]!);
      if (keyMs >= openMs[segment]! && endMs <= nowMs) visitor(keyMs, endMs, day[segment]!, series);
    }
  }
}

/**
 * The series that a session without a served bar is first looked for in: that of the interval where it
 * reaches into it.
 */
function sourceOf(context: StreamContext, stored: StoredInstrument, range: StreamRange) {
  const { interval } = context;
  const all = candidates(stored, interval);
  const pieces = all[0]!.isOffGrid ? [{ series: all[0]!, range }] : splitRange(context, all, range);
  return (session: Session): Series => {
    const { fromMs, toMs } = keysOf(context, session, session);
    const parts = pieces.filter((piece) => piece.range.fromMs < toMs && piece.range.toMs > fromMs);
    return (parts.find(({ series }) => series.interval === interval) ?? parts.at(-1)!).series;
  };
}

/**
 * The bars of neighbouring sessions in ascending order, of an instrument that has a series for the interval,
 * as they are served.
 */
export async function sessionBars(
  context: StreamContext,
  stored: StoredInstrument,
  sessions: readonly Session[],
  nowMs: number,
): Promise<SessionBars[]> {
  const range = keysOf(context, sessions[0]!, sessions.at(-1)!);
  const moment = { nowMs, completeness: new Completeness(context.reader, stored, nowMs) };
  const tallies = new Map(sessions.map((session) => [session.day, new Tally(session)]));
  let [present, presentDay]: [Tally | undefined, number] = [undefined, Number.NaN];
  const visitor: Visitor = (openMs, closeMs, day, series) => {
    if (day !== presentDay) [present, presentDay] = [tallies.get(day), day];
    present?.add(openMs, closeMs, series);
  };
  const [best, ...finer] = candidates(stored, context.interval);
  const isPlain = intervalMinutes(best!.interval) !== null && !best!.isOffGrid && finer.length === 0;
  if (isPlain && best!.interval === context.interval)
    await visitMinutes(context, best!, range, moment, visitor);
  else await visitServed(context, stored, range, moment, visitor);
  const emptySource = sourceOf(context, stored, range);
  const isDay = intervalMinutes(context.interval) === null;
  return sessions.map((session) => {
    const tally = tallies.get(session.day)!;
    const { bars, firstMs, lastMs } = tally;
    const longestGapMs = isDay ? null : tally.longestGapMs();
    const expected = expectedBars(context, session);
    const series = tally.series ?? emptySource(session);
    return { session, series, bars, expected, firstMs, lastMs, longestGapMs };
  });
}

/** The buckets of the stored bars that the bars of a session come from, first and last included. */
function bucketsOf({ session, series, firstMs, lastMs }: SessionBars, minutes: number): [number, number] {
  const { interval } = series;
  if (intervalMinutes(interval) !== null)
    return [bucketOf(interval, firstMs!), bucketOf(interval, lastMs! + (minutes - 1) * MINUTE_MS)];
  // The row of the evening before may be part of the session.
  return [bucketOf(interval, (session.day - 1) * DAY_MS), bucketOf(interval, session.day * DAY_MS)];
}

/**
 * The run that last changed one of the blocks which the bars of each session come from, by label date; none
 * without bars. The journal has it, without the runs that were undone.
 */
export async function runsOfSessions(
  reader: Reader,
  interval: StreamContext['interval'],
  sessions: readonly SessionBars[],
): Promise<ReadonlyMap<number, number>> {
  const runs = new Map<number, number>();
  const filled = sessions.filter(({ bars }) => bars > 0);
  for (const [{ series_id }, some] of Map.groupBy(filled, ({ series }) => series)) {
    const places = some.map((one) => {
      // A DAY bar that is made of minutes reaches to the close of its session.
      const { closeMs } = one.session;
      const lastMs = intervalMinutes(interval) === null ? closeMs - MINUTE_MS : one.lastMs;
      return { day: one.session.day, buckets: bucketsOf({ ...one, lastMs }, intervalMinutes(interval) ?? 1) };
    });
    const blocks = new Map<number, number>();
    const range = {
      from: Math.min(...places.map(({ buckets }) => buckets[0])),
      to: Math.max(...places.map(({ buckets }) => buckets[1])) + 1,
    };
    const order = [['bucket', 'asc'] as const, ['run_id', 'asc'] as const];
    const read = { where: { series_id }, range, order, limit: CHANGES_PER_READ };
    for await (const { bucket, run_id } of rowsInOrder(reader, blockChanges, read))
      blocks.set(bucket, run_id);
    for (const { day, buckets } of places)
      for (let bucket = buckets[0]; bucket <= buckets[1]; bucket++) {
        const runId = blocks.get(bucket);
        if (runId !== undefined) runs.set(day, Math.max(runId, runs.get(day) ?? 0));
      }
  }
  return runs;
}
