// Sessions without a bar: which run says that the series did not trade (contract 3.9, 9.9).

import { decodeBlock, wholeBlock } from '../bars/block-reader.ts';
import { bucketOf } from '../bars/bucket.ts';
import { type Bars, lowerBound } from '../bars/columns.ts';
import { countCommon, decodeIds } from '../base/id-list.ts';
import { DAY_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod } from '../calendar/period.ts';
import type { Session } from '../calendar/session.ts';
import { runCoverage } from '../datasets/bars.ts';
import { blockChanges } from '../datasets/internal.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';
import { type Coverage, completingRun, SHARED_MIN } from './completeness.ts';
import type { Series, StoredInstrument } from './series.ts';

/** Runs read at a time: each has up to some kilobytes of series. */
const RUNS_PER_READ = 8;

/** Keys in `[fromMs, toMs)`. */
type Keys = { readonly fromMs: number; readonly toMs: number };

/** The keys that bars of a session may have in a stored series: extended hours included. */
function keysOf(calendar: Calendar, { interval }: Series, session: Session): Keys {
  if (!isPeriod(interval))
    return { fromMs: session.segments[0]!.openMs, toMs: session.segments.at(-1)!.closeMs };
  const evening = calendar.labelOfRow(session.day - 1) === session.day ? 1 : 0;
  return { fromMs: (session.day - evening) * DAY_MS, toMs: (session.day + 1) * DAY_MS };
}

/** The bars that runs replaced or took away, by the bucket of their block. */
class FormerBars {
  readonly #reader: Reader;
  readonly #series: Series;
  readonly #known = new Map<number, { readonly runId: number; readonly bars: Bars }[]>();

  constructor(reader: Reader, series: Series) {
    this.#reader = reader;
    this.#series = series;
  }

  /** The newest run that replaced or took away bars with some keys; 0 where none did. */
  async newestRun({ fromMs, toMs }: Keys): Promise<number> {
    const { interval } = this.#series;
    let newest = 0;
    for (let bucket = bucketOf(interval, fromMs); bucket <= bucketOf(interval, toMs - 1); bucket++)
      for (const { runId, bars } of await this.#of(bucket))
        if (lowerBound(bars, fromMs) < lowerBound(bars, toMs)) newest = Math.max(newest, runId);
    return newest;
  }

  async #of(bucket: number) {
    const known = this.#known.get(bucket);
    if (known !== undefined) return known;
    const found: { runId: number; bars: Bars }[] = [];
    for await (const { run_id: runId, before } of rowsInOrder(this.#reader, blockChanges, {
      where: { series_id: this.#series.series_id, bucket },
      order: [['run_id', 'asc']],
      limit: RUNS_PER_READ,
    }))
      if (before !== null) found.push({ runId, bars: decodeBlock(before, wholeBlock) });
    this.#known.set(bucket, found);
    return found;
  }
}

/** Whether a run holds a session: its bars begin in or before it, as far as that is known. */
function reachesBack(
  { first_ms, last_ms }: Coverage,
  { fromMs, toMs }: Keys,
  isAfterSeries: boolean,
): boolean {
  if (first_ms !== null) return first_ms < toMs;
  // A run of an older Bourse: it holds the session of its last bar, and those after bars of the series that it holds.
  return isAfterSeries || (last_ms !== null && fromMs <= last_ms && last_ms < toMs);
}

/**
 * The run that vouches for each of some sessions without a bar, ascending, by label date: a live run of the market and interval that
 * holds the session, and the series, or at least half of the series of the run which completed that. After an instant through which the
 * series is complete only later runs of the second kind count. `onSeries` is told how many series each run holds; `checkRuns` makes sure
 * that no run is lost, before none is said to vouch.
 */
export async function vouchingRuns(
  reader: Reader,
  { calendar, market }: StoredInstrument,
  series: Series,
  sessions: readonly Session[],
  onSeries: (count: number) => void,
  checkRuns: () => Promise<void>,
): Promise<ReadonlyMap<number, number>> {
  const vouching = new Map<number, number>();
  const { interval, series_id, complete_ms } = series;
  const former = new FormerBars(reader, series);
  let left: { readonly session: Session; readonly keys: Keys; readonly deletedBy: number }[] = [];
  for (const session of sessions) {
    const keys = keysOf(calendar, series, session);
    // Of bars that were taken away no earlier run says that there were none.
    left.push({ session, keys, deletedBy: await former.newestRun(keys) });
  }
  if (left.length === 0) return vouching;
  const own = await completingRun(reader, series);
  const ownIds = own === null || own.market !== market ? [] : decodeIds(own.series);
  const least = Math.max(SHARED_MIN, ownIds.length / 2);
  for await (const run of rowsInOrder(reader, runCoverage, {
    where: { market, interval },
    range: { from: left[0]!.session.dayCloseMs },
    order: [
      ['complete_ms', 'asc'],
      ['run_id', 'asc'],
    ],
    limit: RUNS_PER_READ,
  })) {
    onSeries(run.series_count);
    const ids = decodeIds(run.series);
    const isOwn = ids.includes(series_id);
    if (!isOwn && (ids.length < least || countCommon(ids, ownIds) < least)) continue;
    left = left.filter(({ session: { day, dayCloseMs }, keys, deletedBy }) => {
      const isLater = (complete_ms !== null && dayCloseMs <= complete_ms) || run.run_id > own!.run_id;
      const holds =
        dayCloseMs <= run.complete_ms &&
        run.run_id >= deletedBy &&
        (isOwn || isLater) &&
        reachesBack(run, keys, isOwn && keys.fromMs > series.last_ms);
      if (holds) vouching.set(day, run.run_id);
      return !holds;
    });
    if (left.length === 0) return vouching;
  }
  await checkRuns();
  return vouching;
}
