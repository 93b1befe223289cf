// Which stored bars of a series are not finished: they close after the start of each run that holds them
// (contract 3.9 (5)).
import { DAY_MS } from '../base/instant.ts';
import { bucketOf } from '../market/bars/block.ts';
import { closesAfter } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { allBlocks, everyBucket, type OpenedBlock, openBlock } from '../store/all-blocks.ts';
import { blockDamage, type Damage, refuseDamage } from '../store/damage.ts';
import { lostEntry } from '../store/journal-entries.ts';
import { blockChanges } from '../store/schema/internal.ts';
import type { Reader } from '../store/store.ts';
import { broughtBy, changesBar, changesBars, hasBar } from './brought.ts';
import { servedBars } from './cursor.ts';
import { type BegunRun, begunRuns, lateFrom, type RunSpan } from './run-spans.ts';
import { isUnfinished, type Series, type Stretch } from './series.ts';

type Looked = Pick<Series, 'series_id' | 'interval' | 'isOffGrid' | 'last_ms'>;

/** Neighbouring buckets, both included. */
type Buckets = { readonly from: number; to: number };

/** The buckets in which bars of some runs may be unfinished, ascending and apart. */
function lateBuckets(calendar: Calendar, series: Looked, files: readonly BegunRun[]): Buckets[] {
  const { interval, last_ms, isOffGrid } = series;
  const found: Buckets[] = [];
  const late = files.flatMap((one) => {
    const fromMs = lateFrom(one, calendar, isOffGrid);
    if (fromMs === null || fromMs > last_ms) return [];
    return [
      { from: bucketOf(interval, fromMs), to: bucketOf(interval, Math.min(last_ms, lastKey(one.run))) },
    ];
  });
  for (const { from, to } of late.sort((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

const lastKey = ({ last_keys }: RunSpan): number =>
  (last_keys as readonly number[]).at(-1) ?? Number.NEGATIVE_INFINITY;

/** Judges the bars of one series by the files that hold it. */
function judgeOf(reader: Reader, calendar: Calendar, series: Looked, files: readonly BegunRun[]) {
  const { series_id } = series;
  const begun = new Map(files.map(({ run, begunMs }) => [run.run_id, begunMs]));
  const isLate = (key: number, runId: number): boolean =>
    closesAfter(calendar, series, key, begun.get(runId) ?? Number.POSITIVE_INFINITY);
  return {
    earliestMs: Math.min(...begun.values()),
    /** Those of some bars of a block that are not finished. */
    async unfinished({ bucket, runId }: OpenedBlock, keys: readonly number[]): Promise<Set<number>> {
      const found = new Set<number>();
      let open = [...keys];
      let isNamed = !begun.has(runId);
      if (open.length > 0)
        for await (const brought of broughtBy(reader, { series_id, bucket }, 'desc')) {
          // The run that the block names has changed it. Undos leave later runs bars that these only held.
          isNamed ||= brought.runId === runId && changesBars(brought.change);
          if (!isNamed && brought.runId < runId)
            refuseDamage(lostEntry(blockChanges, series_id, bucket, runId));
          open = open.filter((key) => {
            // A run before the last one that changed it held another bar.
            const changes = changesBar(brought.change, key);
            if (!changes && !hasBar(brought.held, key)) return true;
            if (!isLate(key, brought.runId)) return false;
            if (changes) found.add(key);
            return !changes;
          });
          if (open.length === 0) break;
        }
      // The run that made the block has brought all that no other has.
      if (open.length > 0) refuseDamage(lostEntry(blockChanges, series_id, bucket));
      return found;
    },
  };
}

/** The damage of a series whose last bar is in no block that an index finds. */
const lostBlock = (seriesId: number, bucket: number): Damage =>
  blockDamage({ seriesId, bucket, runId: null }, 'it is lost');

const keysOf = ({ bars }: OpenedBlock): number[] => [...bars.keyMs.subarray(0, bars.count)];

/**
 * A series without its bars that are not finished; null where no other is left. `files` are those that hold
 * it.
 */
export async function finishedSeries(
  reader: Reader,
  calendar: Calendar,
  series: Series,
  files: readonly BegunRun[],
): Promise<Series | null> {
  const buckets = lateBuckets(calendar, series, files);
  if (buckets.length === 0) return series;
  const { series_id: seriesId } = series;
  const judge = judgeOf(reader, calendar, series, files);
  const isLate = (key: number): boolean =>
    key + DAY_MS * LONGEST_DAYS > judge.earliestMs && closesAfter(calendar, series, key, judge.earliestMs);
  const stretches: Stretch[] = [];
  const lastBucket = bucketOf(series.interval, series.last_ms);
  let count = 0;
  for (const { from, to } of buckets) {
    const read = { seriesId, fromBucket: from, toBucket: to, direction: 'asc' } as const;
    let hasLast = to < lastBucket;
    for await (const stored of allBlocks(reader, read)) {
      hasLast ||= stored.bucket === lastBucket;
      const block = openBlock(seriesId, stored);
      const keys = keysOf(block);
      const unfinished = await judge.unfinished(block, keys.filter(isLate));
      count += unfinished.size;
      let before = false;
      for (const key of keys) {
        const is = unfinished.has(key);
        if (is && before) stretches[stretches.length - 1] = { ...stretches.at(-1)!, last_ms: key };
        else if (is) stretches.push({ first_ms: key, last_ms: key });
        before = is;
      }
    }
    if (!hasLast) refuseDamage(lostBlock(seriesId, lastBucket));
  }
  return withoutEnds(reader, { ...series, unfinished: stretches, bar_count: series.bar_count - count });
}

/** A series from its first to its last finished bar; null where it has none. */
async function withoutEnds(reader: Reader, series: Series): Promise<Series | null> {
  const { first_ms, last_ms } = series;
  const end = async (keyMs: number, descending: boolean): Promise<number | undefined> => {
    if (!isUnfinished(series, keyMs)) return keyMs;
    const bars = await servedBars(reader, series, { fromMs: first_ms, toMs: last_ms + 1, descending }).next(
      1,
    );
    return bars?.keyMs[descending ? bars.count - 1 : 0];
  };
  const [first, last] = [await end(first_ms, false), await end(last_ms, true)];
  return first === undefined || last === undefined ? null : { ...series, first_ms: first, last_ms: last };
}

/**
 * The key of the last finished bar of a series; null where it has none. `runs` are those that hold it or have
 * deleted bars of it.
 */
export async function lastFinished(
  reader: Reader,
  calendar: Calendar,
  series: Looked,
  runs: readonly RunSpan[],
): Promise<number | null> {
  const { series_id: seriesId, interval, last_ms } = series;
  const isLate = (run: RunSpan): boolean =>
    lastKey(run) >= last_ms && closesAfter(calendar, series, last_ms, run.started_ms);
  if (!runs.some(isLate)) return last_ms;
  const judge = judgeOf(reader, calendar, series, begunRuns(runs));
  const { fromBucket } = everyBucket;
  const read = { seriesId, fromBucket, toBucket: bucketOf(interval, last_ms), direction: 'desc' } as const;
  let isFirst = true;
  for await (const stored of allBlocks(reader, { ...read, limit: 1 })) {
    if (isFirst && stored.bucket !== read.toBucket) break;
    isFirst = false;
    const block = openBlock(seriesId, stored);
    const keys = keysOf(block).filter((key) => key <= last_ms);
    for (let to = keys.length; to > 0; to -= KEYS_AT_A_TIME) {
      const some = keys.slice(Math.max(0, to - KEYS_AT_A_TIME), to);
      const unfinished = await judge.unfinished(block, some);
      const last = some.findLast((key) => !unfinished.has(key));
      if (last !== undefined) return last;
    }
  }
  if (isFirst) refuseDamage(lostBlock(seriesId, read.toBucket));
  return null;
}

/** Seldom more bars at the end of a series are unfinished. */
const KEYS_AT_A_TIME = 4;

/** A bar closes within so many days of its key: a month, and the end of its last session. */
const LONGEST_DAYS = 34;
