// What the other runs of a market tell of a series: that a file of it began in the middle of a session, or
// that it did not trade in one (contract 3.9 (1), (3)).
import { compareIds, decodeIds } from '../base/ascending.ts';
import { DAY_MS, END_MS, FIRST_MS, formatDay, MINUTE_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { keysInSession } from '../market/calendar/bar-end.ts';
import { hoursOf, isPeriod } from '../market/calendar/period.ts';
import type { Session } from '../market/calendar/session.ts';
import { rowsAmong, rowsInOrder } from '../store/all-rows.ts';
import { runSpans, series as seriesDataset } from '../store/schema/bars.ts';
import { type Instrument, instruments } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';
import { keysOfRun } from './brought.ts';
import { KeptValues } from './calendars.ts';
import { deletedTimes } from './covered-times.ts';
import { SeriesCursor } from './cursor.ts';
import {
  type BegunRun,
  begunRuns,
  type FileSpan,
  fileSpan,
  LATE_MS,
  type OwnRuns,
  type RunSpan,
} from './run-spans.ts';
import { lacking, type Series, type Span, type StoredInstrument } from './series.ts';

/** Runs read at a time. */
const RUNS_PER_READ = 64;

/** A label date is at most so far from the times of its session. */
const LABEL_SLACK_MS = 3 * DAY_MS;

/** Fewest series of a file that proves of another series that it did not trade. */
const PROVING_SERIES_MIN = 2;

/**
 * Two runs that are about the same market have so many series in common for each that one of them has alone:
 * two thirds of its own.
 */
const COMMON_PER_OTHER = 2;

/** Listings read at a time. */
const LISTINGS_PER_READ = 64;

/**
 * Bars that show that a file began in the middle of a session: at least so many, in such a share of the
 * intervals that they span.
 */
const DENSE_BARS_MIN = 3;

/** The longest pause of a market between two sessions is shorter. */
const NEXT_MS = 7 * DAY_MS;
const DENSE_SHARE = 0.8;

/** Bounds and checks on the reading of other runs. */
export type Judging = {
  /** Receives the number of series of each run that is read. */
  readonly onSeries?: (count: number) => void;
  /** Makes sure that no run is lost, before the answer is that none proves it. */
  readonly checkRuns?: () => Promise<void>;
};

/** A series, and when its instrument was listed. */
type Listing = Pick<Instrument, 'listing_date' | 'delisting_date'> & { readonly series_id: number };

/** The runs of the market of one instrument. */
export class MarketRuns {
  readonly #reader: Reader;
  readonly #stored: StoredInstrument;
  readonly #judging: Judging;
  /** The runs of an interval that reach an instant. */
  readonly #runs = new Map<Interval, { readonly fromMs: number; readonly runs: readonly RunSpan[] }>();
  /** The instruments of series, by when they were listed; null without one. */
  readonly #listings = new Map<number, Listing | null>();
  /** Computes an answer once a request. */
  readonly #once = new KeptValues().keep;

  constructor(reader: Reader, stored: StoredInstrument, judging: Judging) {
    this.#reader = reader;
    this.#stored = stored;
    this.#judging = judging;
  }

  /** The files that may cover a session of the market, or have bars in it, in the order of the journal. */
  #around(interval: Interval, session: Session): Promise<BegunRun[]> {
    return this.#once(`files around ${interval} ${session.day}`, () => this.#findAround(interval, session));
  }

  async #findAround(interval: Interval, session: Session): Promise<BegunRun[]> {
    const { openMs, closeMs } = hoursOf(session, true);
    const reachedMs = openMs - (isPeriod(interval) ? LABEL_SLACK_MS : 0);
    const found = (await this.#reaching(interval, reachedMs)).filter(
      ({ kind, reach_ms, from_ms, first_ms }) =>
        kind === 'import' &&
        reach_ms >= reachedMs &&
        Math.min(from_ms ?? END_MS, first_ms ?? END_MS) < closeMs + LABEL_SLACK_MS,
    );
    return begunRuns(found.toSorted((a, b) => a.run_id - b.run_id));
  }

  /**
   * The runs of the market that reach an instant, and those that earlier calls read: each is read once a
   * request.
   */
  async #reaching(interval: Interval, fromMs: number): Promise<readonly RunSpan[]> {
    const known = this.#runs.get(interval) ?? { fromMs: Number.POSITIVE_INFINITY, runs: [] };
    if (known.fromMs <= fromMs) return known.runs;
    const earlier: RunSpan[] = [];
    for await (const row of rowsInOrder(this.#reader, runSpans, {
      where: { market: this.#stored.market, interval },
      range: { from: fromMs, ...(Number.isFinite(known.fromMs) && { to: known.fromMs }) },
      order: [
        ['reach_ms', 'asc'],
        ['run_id', 'asc'],
      ],
      limit: RUNS_PER_READ,
    })) {
      this.#judging.onSeries?.(row.series_count);
      earlier.push({ ...row, interval });
    }
    const runs = [...earlier, ...known.runs];
    this.#runs.set(interval, { fromMs, runs });
    return runs;
  }

  /** Whether some bar of a file has a key in a range, finished or not. */
  #hasBars(file: BegunRun, range: Span): Promise<boolean> {
    const { fromMs, toMs } = range;
    return this.#once(`bars of ${nameOf(file)} ${fromMs} ${toMs}`, () => this.#findBars(file, range));
  }

  async #findBars({ run }: BegunRun, { fromMs, toMs }: Span): Promise<boolean> {
    const { first_ms } = run;
    const keys = run.last_keys as readonly number[];
    if (first_ms === null || first_ms >= toMs || keys.at(-1)! < fromMs) return false;
    const isIn = (key: number): boolean => fromMs <= key && key < toMs;
    if (isIn(first_ms) || keys.some(isIn)) return true;
    for (const id of decodeIds(run.series))
      if ((await keysOfRun(this.#reader, run, id, { fromMs, toMs })).length > 0) return true;
    return false;
  }

  async #haveBars(files: readonly BegunRun[], range: Span): Promise<boolean> {
    for (const file of files) if (await this.#hasBars(file, range)) return true;
    return false;
  }

  /**
   * Whether a file began in the middle of the session of its first bar, so that it does not cover what is
   * before that bar.
   */
  beginsLate(file: BegunRun, late: NonNullable<FileSpan['late']>): Promise<boolean> {
    return this.#once(`late ${nameOf(file)}`, () => this.#findLate(file, late));
  }

  async #findLate({ run }: BegunRun, late: NonNullable<FileSpan['late']>): Promise<boolean> {
    const shows =
      (await this.#hasDense(run, late.session)) ||
      (await this.#hasEarlier(run, late)) ||
      (await this.#commandBeginsLate(run, late.session));
    return shows && !(await this.#areListedOn(run, late.session.day));
  }

  /**
   * Whether a run of another command has an earlier bar of the session: the files of one command are about
   * one state of the market.
   */
  async #hasEarlier(
    { command, interval }: RunSpan,
    { session, surelyMs }: NonNullable<FileSpan['late']>,
  ): Promise<boolean> {
    const range = { fromMs: hoursOf(session, true).openMs, toMs: surelyMs };
    for (const other of await this.#around(interval, session))
      if (other.run.command !== command && (await this.#hasBars(other, range))) return true;
    return false;
  }

  /** True if the files of a command, which count as one run, began together in the middle of a session. */
  #commandBeginsLate({ command, interval }: RunSpan, session: Session): Promise<boolean> {
    const question = `late command ${command} ${interval} ${session.day}`;
    return this.#once(question, () => this.#findLateCommand(command, interval, session));
  }

  async #findLateCommand(command: number, interval: Interval, session: Session): Promise<boolean> {
    const { openMs: fromMs, closeMs: toMs } = hoursOf(session, true);
    const files = (await this.#around(interval, session)).filter(({ run }) => run.command === command);
    const firstMs = (file: BegunRun): number => file.run.first_ms ?? Number.POSITIVE_INFINITY;
    const begun = files.filter((file) => firstMs(file) >= fromMs && firstMs(file) < toMs);
    if (begun.length < 2 || begun.some((file) => firstMs(file) <= session.openMs + LATE_MS)) return false;
    for (const { run } of begun) {
      if (!(await this.#hasDense(run, session))) continue;
      // One that began in an earlier session has this one from its beginning.
      const before = files.filter((file) => firstMs(file) < fromMs);
      return !(await this.#haveBars(before, { fromMs, toMs }));
    }
    return false;
  }

  /**
   * Whether a series of a run has bars in nearly all intervals from its first to its last bar in a session.
   */
  async #hasDense(run: RunSpan, session: Session): Promise<boolean> {
    const { openMs: fromMs, closeMs: toMs } = hoursOf(session, true);
    for (const id of decodeIds(run.series)) {
      const keys = await keysOfRun(this.#reader, run, id, { fromMs, toMs });
      if (keys.length < DENSE_BARS_MIN) continue;
      const room = this.#intervalsFrom(run.interval, keys[0]!, keys.at(-1)!);
      if (keys.length >= DENSE_SHARE * room && !(await this.#beginsAsNext(run, id, session, keys[0]!)))
        return true;
    }
    return false;
  }

  /**
   * True if a market without a calendar opens later than midnight: the next session that a series of the run
   * has begins no earlier on its day than this one.
   */
  async #beginsAsNext(run: RunSpan, id: number, session: Session, firstMs: number): Promise<boolean> {
    const { calendar } = this.#stored;
    if (calendar.market.key !== '') return false;
    const { day, closeMs: fromMs } = session;
    const [next] = await keysOfRun(this.#reader, run, id, { fromMs, toMs: fromMs + NEXT_MS });
    if (next === undefined) return false;
    const { openMs } = calendar.sessionOn(calendar.labelAt(next) ?? day)!;
    return next - openMs >= firstMs - session.openMs - LATE_MS;
  }

  /** How many bars of minutes there is room for from one bar to another, both included. */
  #intervalsFrom(interval: Interval, firstMs: number, lastMs: number): number {
    const stepMs = intervalMinutes(interval)! * MINUTE_MS;
    const { openMs, closeMs } = this.#stored.calendar.segments(firstMs, lastMs + 1, 'all');
    return Array.from(openMs, (open, at) => {
      const [fromMs, toMs] = [Math.max(open, firstMs), Math.min(closeMs[at]!, lastMs + stepMs)];
      return Math.ceil((toMs - fromMs) / stepMs);
    }).reduce((sum, count) => sum + count, 0);
  }

  /** Whether a day is the listing date of all instruments that a run holds. */
  async #areListedOn(run: RunSpan, day: number): Promise<boolean> {
    const listed = await this.#listingOf(decodeIds(run.series));
    return listed.every(({ listing_date }) => listing_date === formatDay(day));
  }

  /** The instruments of some series, by when they were listed. */
  async #listingOf(ids: readonly number[]): Promise<Listing[]> {
    const unknown = ids.filter((id) => !this.#listings.has(id));
    if (unknown.length > 0) {
      this.#judging.onSeries?.(unknown.length);
      const rows = await rowsAmong(this.#reader, seriesDataset, {}, 'series_id', unknown);
      const found = await rowsAmong(this.#reader, instruments, {}, 'instrument_id', [
        ...new Set(rows.map(({ instrument_id }) => instrument_id)),
      ]);
      const byId = new Map(found.map((row) => [row.instrument_id, row]));
      for (const id of unknown) this.#listings.set(id, null);
      for (const { series_id, instrument_id } of rows) {
        // The group of an instrument that an index has lost is a fault.
        const row = byId.get(instrument_id) ?? (await this.#reader.group(instruments, { instrument_id }))[0];
        if (row === undefined) continue;
        const { listing_date, delisting_date } = row;
        this.#listings.set(series_id, { series_id, listing_date, delisting_date });
      }
    }
    return ids.flatMap((id) => this.#listings.get(id) ?? []);
  }

  /**
   * The run that proves that a series did not trade in some times of a session, the last of several; null if
   * some time is without proof.
   */
  async noTradeProof(
    series: Series,
    own: OwnRuns,
    session: Session,
    times: readonly Span[],
  ): Promise<number | null> {
    const { calendar } = this.#stored;
    const lastMs = await this.#lastIn(series, session);
    const files = await this.#around(series.interval, session);
    let left = [...times];
    for (const some of await this.#together(files, series.interval, session)) {
      const spans = some.flatMap((file) => {
        const span = fileSpan(file, calendar);
        return span !== null && left.some((time) => overlap(time, span)) ? [{ file, span }] : [];
      });
      if (spans.length === 0) continue;
      if (!(await this.#provesNoTrade(series, own, some, session, lastMs))) continue;
      for (const { file, span } of spans) {
        const { late, toMs } = span;
        const isLate = late !== null && (await this.beginsLate(file, late));
        left = lacking(left, [{ fromMs: isLate ? late.surelyMs : span.fromMs, toMs }]);
        if (left.length === 0) return file.run.run_id;
      }
    }
    await this.#judging.checkRuns?.();
    return null;
  }

  /** The key of the last bar of a series in a session, finished or not; -Infinity without one. */
  async #lastIn(series: Series, session: Session): Promise<number> {
    const { fromMs, toMs } = keysInSession(this.#stored.calendar, series.interval, session);
    // Its first and last key are those of finished bars.
    const whole = { ...series, first_ms: FIRST_MS, last_ms: END_MS };
    const found = await new SeriesCursor(this.#reader, whole, { fromMs, toMs, descending: true }).next(1);
    return found === null ? Number.NEGATIVE_INFINITY : found.keyMs[found.count - 1]!;
  }

  /** Files as the runs that they count as in a session: those of one command that have bars in it are one. */
  async #together(files: readonly BegunRun[], interval: Interval, session: Session): Promise<BegunRun[][]> {
    const range = keysInSession(this.#stored.calendar, interval, session);
    const found: BegunRun[][] = [];
    for (const some of Map.groupBy(files, ({ run }) => run.command).values()) {
      const one: BegunRun[] = [];
      for (const file of some)
        if (some.length === 1 || (await this.#hasBars(file, range))) one.push(file);
        else found.push([file]);
      if (one.length > 0) found.push(one);
    }
    return found;
  }

  /** True if a run proves that a series did not trade in a session (contract 3.9 (3b)). */
  async #provesNoTrade(
    series: Series,
    { runs, files }: OwnRuns,
    group: readonly BegunRun[],
    session: Session,
    lastMs: number,
  ): Promise<boolean> {
    const { series_id, interval } = series;
    const others = group.map(({ run }) => run);
    const ids = idsOf(others);
    const held = ids.filter((id) => id !== series_id);
    if (ids.length < PROVING_SERIES_MIN) return false;
    const { calendar } = this.#stored;
    const range = keysInSession(calendar, interval, session);
    // A run that lacks a bar which is stored says nothing of this series: only one whose bars of the session
    // are all later does.
    if (lastMs > Number.NEGATIVE_INFINITY) {
      const upTo = { fromMs: range.fromMs, toMs: lastMs + 1 };
      if (await this.#haveBars(group, upTo)) return false;
      if (!(await this.#haveBars(group, range))) return false;
    }
    const { openMs, closeMs } = hoursOf(session, true);
    const firstMs = Math.max(openMs, Math.min(...others.map(({ first_ms }) => first_ms ?? openMs)));
    const first = isPeriod(interval) ? openMs : firstMs;
    const firstRun = Math.min(...others.map(({ run_id }) => run_id));
    const isDeleted = runs.some((run) => {
      if (run.kind !== 'delete' || run.run_id < firstRun) return false;
      const { fromMs, toMs } = deletedTimes(calendar, run);
      return fromMs < closeMs && toMs > first;
    });
    if (isDeleted) return false;
    // Several files of one command are one group in a session: the command names it.
    const name = group.length === 1 ? nameOf(group[0]!) : others[0]!.command;
    for (const file of files.toReversed()) {
      const question = `alike ${name}, ${nameOf(file)}, ${series_id} on ${session.day}`;
      if (await this.#once(question, () => this.#isAlike(held, session.day, series_id, file.run)))
        return true;
    }
    return false;
  }

  /**
   * Whether the series that some run holds on a day, and those that a run of the series holds, are two thirds
   * the same.
   */
  async #isAlike(held: readonly number[], day: number, seriesId: number, run: RunSpan): Promise<boolean> {
    const { interval, command } = run;
    const alone = decodeIds(run.series).filter((id) => id !== seriesId);
    const day0 = this.#dayOf(run);
    if (await this.#areAlike(held, day, alone, day0)) return true;
    const together = await this.#once(`series of ${interval} ${command}`, () => this.#seriesOf(run));
    if (together === null) return false;
    return this.#areAlike(
      held,
      day,
      together.filter((id) => id !== seriesId),
      day0,
    );
  }

  /** The series of all files of a run's command; null where there is no other file. */
  async #seriesOf({ market, interval, command }: RunSpan): Promise<readonly number[] | null> {
    const rows: RunSpan[] = [];
    for await (const row of rowsInOrder(this.#reader, runSpans, {
      where: { market, interval, command },
      order: [['run_id', 'asc']],
      limit: RUNS_PER_READ,
    })) {
      this.#judging.onSeries?.(row.series_count);
      rows.push({ ...row, interval });
    }
    return rows.length < 2 ? null : idsOf(rows);
  }

  #dayOf({ interval, last_keys }: RunSpan): number {
    const { calendar } = this.#stored;
    const keyMs = (last_keys as readonly number[]).at(-1) ?? 0;
    return isPeriod(interval) ? keyMs / DAY_MS : (calendar.labelAt(keyMs) ?? calendar.zone.dayAt(keyMs));
  }

  async #areAlike(
    one: readonly number[],
    oneDay: number,
    other: readonly number[],
    otherDay: number,
  ): Promise<boolean> {
    const days = [oneDay, otherDay].map(formatDay);
    // Only those count that were listed at both times.
    const { common, onlyOne, onlyOther } = compareIds(one, other);
    if (common.length === 0) return false;
    const others = await Promise.all([onlyOne, onlyOther].map((ids) => this.#listedOn(ids, days)));
    // Some of the common ones tell it most often.
    let needed = Math.max(1, COMMON_PER_OTHER * Math.max(...others.map(({ length }) => length)));
    for (let at = 0; needed > 0; ) {
      if (common.length - at < needed) return false;
      const some = common.slice(at, at + Math.max(needed, LISTINGS_PER_READ));
      needed -= (await this.#listedOn(some, days)).length;
      at += some.length;
    }
    return true;
  }

  /** Those of some series whose instruments were listed on some days. */
  async #listedOn(ids: readonly number[], days: readonly string[]): Promise<number[]> {
    return (await this.#listingOf(ids))
      .filter(({ listing_date, delisting_date }) =>
        days.every(
          (day) =>
            (listing_date === null || listing_date <= day) &&
            (delisting_date === null || day <= delisting_date),
        ),
      )
      .map(({ series_id }) => series_id);
  }
}

/** A run may hold series of several intervals. */
const nameOf = ({ run }: BegunRun): string => `${run.run_id} ${run.interval}`;

const overlap = (one: Span, other: Span): boolean => one.fromMs < other.toMs && one.toMs > other.fromMs;

/** The series of some runs, ascending. */
const idsOf = (runs: readonly RunSpan[]): number[] =>
  runs.length === 1
    ? decodeIds(runs[0]!.series)
    : [...new Set(runs.flatMap(({ series }) => decodeIds(series)))].sort((a, b) => a - b);
