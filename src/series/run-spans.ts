// The bars that live runs hold and have deleted, and the times that their files cover: the facts that
// completeness is decided from (contract 3.9).
import { decodeIds } from '../base/ascending.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';
import { barEnd, closesAfter } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { hoursOf, isPeriod, periodEnd } from '../market/calendar/period.ts';
import type { Session } from '../market/calendar/session.ts';
import { zoneOf } from '../market/calendar/zone.ts';
import { rowsAmong, rowWith } from '../store/all-rows.ts';
import { DamagedData } from '../store/damage.ts';
import { runSpans, series } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import type { Reader } from '../store/store.ts';
import type { Span } from './series.ts';

/**
 * A first bar that opens at most so long after the regular hours does not show that its file began in the
 * middle of a session.
 */
export const LATE_MS = 15 * MINUTE_MS;

/** A session of so many hours contains a midnight, at which files are cut. */
const LONG_MS = 20 * HOUR_MS;

/** The span that a file covers. */
export type FileSpan = Span & {
  /**
   * Up to its first bar it covers `[fromMs, surelyMs)` only where nothing shows that it began in the middle
   * of the session; null where that makes no difference.
   */
  readonly late: { readonly session: Session; readonly surelyMs: number } | null;
};

/** The first or the last session of a bar's time, by its key; null for a bar outside every session. */
function sessionOf(calendar: Calendar, interval: Interval, keyMs: number, isFirst: boolean): Session | null {
  if (!isPeriod(interval)) {
    const label = calendar.labelAt(keyMs);
    return label === null ? null : calendar.sessionOn(label);
  }
  const day = keyMs / DAY_MS;
  if (interval === 'DAY') return calendar.sessionOn(calendar.labelOfRow(day));
  return isFirst ? calendar.sessionOnOrAfter(day) : calendar.sessionOnOrBefore(periodEnd(interval, day) - 1);
}

/** The close of a bar. */
const closeOf = (calendar: Calendar, interval: Interval, keyMs: number): number =>
  barEnd(calendar, interval, keyMs).closeMs;

/** The keys of the last bars of a run that may have closed after it began. */
const lastKeysOf = ({ last_keys }: RunSpan): readonly number[] => last_keys as readonly number[];

/**
 * The key of a run's last bar that had closed when it began; null without one. A bar that closes later counts
 * for nothing.
 */
function lastClosed({ run, begunMs }: BegunRun, calendar: Calendar): number | null {
  const { interval } = run;
  return lastKeysOf(run).findLast((keyMs) => closeOf(calendar, interval, keyMs) <= begunMs) ?? null;
}

/** The end of the session of that bar, extended hours included; null without one. */
export function sessionEnd(begun: BegunRun, calendar: Calendar): number | null {
  const keyMs = lastClosed(begun, calendar);
  const session = keyMs === null ? null : sessionOf(calendar, begun.run.interval, keyMs, false);
  if (session === null) return null;
  return isPeriod(begun.run.interval) ? session.dayCloseMs : hoursOf(session, true).closeMs;
}

/**
 * The midnights of UTC and of a file's zone around an instant: the last one that is not after it, and the
 * first one that is not before.
 */
function midnights(zone: string | null, ms: number, isAfter: boolean): number[] {
  const zones = ['UTC', ...(zone === null ? [] : [zone])].map(zoneOf);
  return zones.map((one) => one.instantOf(isAfter ? one.dayAt(ms - 1) + 1 : one.dayAt(ms), 0));
}

/** True if a bar so far from a midnight inside a session shows that the file was cut there. */
function isCut(session: Session, midnightMs: number, distanceMs: number, isOfSeveral: boolean): boolean {
  const { openMs, closeMs } = hoursOf(session, true);
  if (midnightMs <= openMs || midnightMs >= closeMs) return false;
  return closeMs - openMs >= LONG_MS ? distanceMs <= HOUR_MS : distanceMs === 0 && isOfSeveral;
}

/** The times that a run covers by its bars alone; null where none had closed. */
function spanOfBars(begun: BegunRun, calendar: Calendar): FileSpan | null {
  const { run, begunMs } = begun;
  const { interval, first_ms: firstMs, zone, series_count } = run;
  const lastMs = lastClosed(begun, calendar);
  if (firstMs === null || lastMs === null) return null;
  const [first, last] = [
    sessionOf(calendar, interval, firstMs, true),
    sessionOf(calendar, interval, lastMs, false),
  ];
  const closeMs = closeOf(calendar, interval, lastMs);
  const startMs = first === null ? firstMs : hoursOf(first, true).openMs;
  const endMs = last === null ? closeMs : Math.max(closeMs, hoursOf(last, true).closeMs);
  const wholeMs = begunMs < endMs ? closeMs : endMs;
  if (isPeriod(interval)) return { fromMs: startMs, toMs: Math.min(wholeMs, begunMs), late: null };
  const isOfSeveral = series_count > 1 || first?.day !== last?.day;
  let fromMs = startMs;
  if (first !== null)
    for (const midnight of midnights(zone, firstMs, false))
      if (isCut(first, midnight, firstMs - midnight, isOfSeveral)) fromMs = Math.max(fromMs, midnight);
  const cuts =
    last === null
      ? []
      : midnights(zone, closeMs, true)
          .filter((midnight) => midnight <= begunMs && isCut(last, midnight, midnight - closeMs, isOfSeveral))
          .sort((a, b) => a - b);
  const toMs = cuts[0] ?? wholeMs;
  // A file that was cut at a midnight did not begin with its first bar.
  const isLate = first !== null && firstMs > first.openMs + LATE_MS && fromMs === startMs;
  return {
    fromMs,
    toMs: Math.min(toMs, begunMs),
    late: isLate ? { session: first, surelyMs: firstMs } : null,
  };
}

/** The span that a run covers; null where that is nothing. */
export function fileSpan(begun: BegunRun, calendar: Calendar): FileSpan | null {
  const { started_ms, from_ms, through_ms } = begun.run;
  const own = spanOfBars(begun, calendar);
  const fromMs = from_ms ?? own?.fromMs;
  const toMs = through_ms === null ? own?.toMs : Math.min(through_ms, started_ms);
  if (fromMs === undefined || toMs === undefined || fromMs >= toMs) return null;
  return { fromMs, toMs, late: from_ms === null ? own!.late : null };
}

/**
 * The first bar of a run by the grid of a calendar, once it is known: the series of a market have their runs
 * in common.
 */
const foundLate = new WeakMap<RunSpan, { readonly calendar: Calendar; readonly fromMs: number | null }>();

/**
 * The key from which on bars of a run close after it began; null where all had closed. `isOffGrid` is that of
 * the series (contract 3.10).
 */
export function lateFrom(begun: BegunRun, calendar: Calendar, isOffGrid: boolean): number | null {
  if (isOffGrid) return findLateFrom(begun, calendar, true);
  const known = foundLate.get(begun.run);
  if (known?.calendar === calendar) return known.fromMs;
  const fromMs = findLateFrom(begun, calendar, false);
  foundLate.set(begun.run, { calendar, fromMs });
  return fromMs;
}

function findLateFrom({ run, begunMs }: BegunRun, calendar: Calendar, isOffGrid: boolean): number | null {
  const { interval, first_ms } = run;
  const keys = lastKeysOf(run);
  const at = keys.findIndex((keyMs) => closesAfter(calendar, { interval, isOffGrid }, keyMs, begunMs));
  if (at === -1) return null;
  return at === 0 ? first_ms : keys[at - 1]! + 1;
}

/** A span that a run holds, or has deleted, of one market at one interval. */
export type RunSpan = Omit<RowOf<typeof runSpans>, 'interval'> & { readonly interval: Interval };

/** A run with the moment when its bytes were first read. */
export type BegunRun = { readonly run: RunSpan; readonly begunMs: number };

/** A series by what its row says of its runs. */
type RunsOfSeries = { readonly series_id: number; readonly interval: string; readonly runs: Uint8Array };

/** True if a run holds a series, or has deleted bars of it. */
const concerns = (run: Pick<RunSpan, 'series'>, seriesId: number): boolean =>
  decodeIds(run.series).includes(seriesId);

/** The runs of any number of series, each read once. */
export class SeriesRuns {
  readonly #reader: Reader;
  readonly #spans = new Map<number, RunSpan[]>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Reads the runs of some series that are not known yet. */
  async read(some: readonly RunsOfSeries[]): Promise<void> {
    const unknown = some.flatMap(({ runs }) => decodeIds(runs).filter((id) => !this.#spans.has(id)));
    const ids = [...new Set(unknown)];
    for (const id of ids) this.#spans.set(id, []);
    for (const row of await rowsAmong(this.#reader, runSpans, {}, 'run_id', ids))
      this.#spans.get(row.run_id)!.push({ ...row, interval: row.interval as Interval });
  }

  /**
   * The runs that hold a series or have deleted bars of it, in the order of the journal; they were read.
   * @throws DamagedData where one is lost
   */
  of({ series_id, interval, runs }: RunsOfSeries): readonly RunSpan[] {
    return decodeIds(runs).map((run_id) => {
      const rows = this.#spans.get(run_id)!.filter((row) => row.interval === interval);
      // A run may have held series of several markets at one interval.
      const found = rows.length === 1 ? rows[0] : rows.find((row) => concerns(row, series_id));
      if (found === undefined)
        throw new DamagedData({
          dataset: runSpans.name,
          place: `row run_id ${run_id}, interval "${interval}"`,
          problem: 'the row is lost',
        });
      return found;
    });
  }
}

/**
 * The runs that hold a series or have deleted bars of it, in the order of the journal. @throws DamagedData
 * where one is lost
 */
export async function runsOf(reader: Reader, row: RunsOfSeries): Promise<readonly RunSpan[]> {
  const runs = new SeriesRuns(reader);
  await runs.read([row]);
  return runs.of(row);
}

/**
 * The files among some runs of one series, each with the moment when its bytes were first read: rows that a
 * run brought before count as begun then (contract 3.9 (1)).
 */
export function begunRuns(runs: readonly RunSpan[]): BegunRun[] {
  const first = new Map<string, RunSpan>();
  return runs.flatMap((run) => {
    if (run.kind !== 'import') return [];
    const before = first.get(run.sha256) ?? run;
    first.set(run.sha256, before);
    // The keys of the last bars are those that had closed when the bytes were first read.
    const begun = before === run ? run : { ...run, last_keys: before.last_keys };
    return [{ run: begun, begunMs: before.started_ms }];
  });
}

/** The runs of a series: those that hold it or have deleted bars of it, and the files among them. */
export type OwnRuns = { readonly runs: readonly RunSpan[]; readonly files: readonly BegunRun[] };

/**
 * Reads the runs of a stored series by its number. @throws DamagedData where its row or one of them is lost
 */
export async function ownRuns(
  reader: Reader,
  { series_id }: { readonly series_id: number },
): Promise<OwnRuns> {
  const row = await rowWith(reader, series, { series_id });
  if (row === null)
    throw new DamagedData({
      dataset: series.name,
      place: `row series_id ${series_id}`,
      problem: 'an index has lost it',
    });
  const runs = await runsOf(reader, row);
  return { runs, files: begunRuns(runs) };
}
