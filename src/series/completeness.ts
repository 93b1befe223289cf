// Whether a derived bar is complete: the time that it is made of is covered for its series (contract 3.9).
import { DAY_MS } from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { hoursOf, isPeriod, periodEnd, segmentScope } from '../market/calendar/period.ts';
import type { Session } from '../market/calendar/session.ts';
import type { Reader } from '../store/store.ts';
import { deletedTimes } from './covered-times.ts';
import { type Judging, MarketRuns } from './market-runs.ts';
import { type BegunRun, type FileSpan, fileSpan, type OwnRuns, ownRuns } from './run-spans.ts';
import { lacking, type Series, type Span, type StoredInstrument } from './series.ts';

/** A bar that is derived, by its key; `extended` says whether it has the extended hours. */
type DerivedBar = {
  readonly interval: Interval;
  readonly extended: boolean;
  readonly keyMs: number;
  readonly closeMs: number;
};

/** The moment of a request, and what is covered at it. */
export type Moment = { readonly nowMs: number; readonly completeness: Completeness };

/**
 * The proof that the time of a session is covered: a run, or null where the instrument was not traded;
 * undefined where it is not covered.
 */
type CoveredBy = { readonly runId: number | null } | undefined;

/**
 * A file that may have begun in the middle of a session: from `fromMs` on it covers what is before its first
 * bar if it did not.
 */
type LateFile = {
  readonly file: BegunRun;
  readonly fromMs: number;
  readonly late: NonNullable<FileSpan['late']>;
};

/** Which times of the series of one instrument are covered. */
export class Completeness {
  readonly #reader: Reader;
  readonly #stored: StoredInstrument;
  readonly #nowMs: number;
  readonly #market: MarketRuns;
  readonly #own = new Map<Series, Promise<OwnRuns>>();
  readonly #late = new Map<Series, Promise<readonly LateFile[]>>();

  constructor(reader: Reader, stored: StoredInstrument, nowMs: number, judging: Judging = {}) {
    this.#reader = reader;
    this.#stored = stored;
    this.#nowMs = nowMs;
    this.#market = new MarketRuns(reader, stored, judging);
  }

  /** Whether a time is over, and covered by facts of the series alone. No other run is looked at. */
  covers({ covered }: Series, fromMs: number, toMs: number): boolean {
    return toMs <= this.#nowMs && covered.some((span) => span.fromMs <= fromMs && toMs <= span.toMs);
  }

  /** Whether a bar that is derived from a series is complete: it has closed, and its time is covered. */
  async isComplete(series: Series, bar: DerivedBar): Promise<boolean> {
    return bar.closeMs <= this.#nowMs && (await this.coveredBy(series, bar)) !== undefined;
  }

  /** What covers all of the time that a bar is made of. */
  async coveredBy(series: Series, bar: DerivedBar): Promise<CoveredBy> {
    const times = timesOf(this.#stored.calendar, bar);
    let left = lacking(times, series.covered);
    if (left.length === 0) return { runId: await this.#runOf(series, times) };
    left = await this.#withoutLate(series, left);
    if (left.length === 0) return { runId: await this.#runOf(series, times) };
    const { calendar } = this.#stored;
    const own = await this.#ownOf(series);
    let runId: number | null = null;
    for (const session of sessionsOf(calendar, bar)) {
      const { openMs, closeMs } = hoursOf(session, true);
      const inside = lacking(left, [
        { fromMs: Number.NEGATIVE_INFINITY, toMs: openMs },
        { fromMs: closeMs, toMs: Number.POSITIVE_INFINITY },
      ]);
      if (inside.length === 0) continue;
      const proof = await this.#market.noTradeProof(series, own, session, inside);
      if (proof === null) return undefined;
      runId = proof;
      left = lacking(left, [{ fromMs: openMs, toMs: closeMs }]);
    }
    return left.length === 0 ? { runId } : undefined;
  }

  /** What is left of some times once those are taken away that files cover up to their first bars. */
  async #withoutLate(series: Series, times: Span[]): Promise<Span[]> {
    let left = times;
    const { runs } = await this.#ownOf(series);
    for (const { file, fromMs, late } of await this.#lateOf(series)) {
      const early = { fromMs, toMs: late.surelyMs };
      if (!left.some((time) => time.fromMs < early.toMs && time.toMs > early.fromMs)) continue;
      if (await this.#market.beginsLate(file, late)) continue;
      const gone = runs
        .filter(({ kind, run_id }) => kind === 'delete' && run_id > file.run.run_id)
        .map((run) => deletedTimes(this.#stored.calendar, run));
      left = lacking(left, lacking([early], gone));
      if (left.length === 0) return left;
    }
    return left;
  }

  /** The newest of the series' own runs that covers some of the times; null without one. */
  async #runOf(series: Series, times: readonly Span[]): Promise<number | null> {
    const { files } = await this.#ownOf(series);
    for (const file of files.toReversed()) {
      const span = fileSpan(file, this.#stored.calendar);
      if (span !== null && times.some(({ fromMs, toMs }) => fromMs < span.toMs && toMs > span.fromMs))
        return file.run.run_id;
    }
    return null;
  }

  /** The series' own files that may have begun in the middle of a session, and what they cover. */
  #lateOf(series: Series): Promise<readonly LateFile[]> {
    const known = this.#late.get(series) ?? this.#findLate(series);
    this.#late.set(series, known);
    return known;
  }

  async #findLate(series: Series): Promise<readonly LateFile[]> {
    const { files } = await this.#ownOf(series);
    return files.flatMap((file) => {
      const span = fileSpan(file, this.#stored.calendar);
      return span === null || span.late === null ? [] : [{ file, fromMs: span.fromMs, late: span.late }];
    });
  }

  #ownOf(series: Series): Promise<OwnRuns> {
    const known = this.#own.get(series) ?? ownRuns(this.#reader, series);
    this.#own.set(series, known);
    return known;
  }
}

/** The sessions that a bar lies in; none where it is outside every session. */
function sessionsOf(calendar: Calendar, { interval, keyMs, closeMs }: DerivedBar): Session[] {
  if (isPeriod(interval)) return calendar.sessions(keyMs / DAY_MS, periodEnd(interval, keyMs / DAY_MS));
  const labels = [calendar.labelAt(keyMs), calendar.labelAt(closeMs - 1)];
  return [...new Set(labels)].flatMap((label) => (label === null ? [] : (calendar.sessionOn(label) ?? [])));
}

/** The times that a bar is made of: its own, or the hours of its sessions (contract 3.9). */
function timesOf(calendar: Calendar, bar: DerivedBar): Span[] {
  const { interval, extended, keyMs, closeMs } = bar;
  const sessions = isPeriod(interval) ? sessionsOf(calendar, bar) : [];
  if (sessions.length === 0) return [{ fromMs: keyMs, toMs: closeMs }];
  const [fromMs, toMs] = [
    hoursOf(sessions[0]!, extended).openMs,
    hoursOf(sessions.at(-1)!, extended).closeMs,
  ];
  const segments = calendar.segments(fromMs, toMs, segmentScope(interval, extended));
  return Array.from(segments.openMs, (openMs, at) => ({ fromMs: openMs, toMs: segments.closeMs[at]! }));
}
