// Which stored bars of a series are not finished: they close after the start of each run that holds them (contract 3.9 (5)).
import { bucketOf } from '../bars/bucket.ts';
import { DAY_MS } from '../base/instant.ts';
import { closesAfter } from '../calendar/bar-end.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { allBlocks, type OpenedBlock, openBlock } from '../store/all-blocks.ts';
import type { Reader } from '../store/store.ts';
import { broughtBy, hasBar } from './brought.ts';
import { lateFrom } from './file-span.ts';
import type { BegunRun } from './run-spans.ts';
import type { Series, Stretch } from './series.ts';

type Looked = Pick<Series, 'series_id' | 'interval' | 'isOffGrid' | 'last_ms'>;

/** Neighbouring buckets, both included. */
type Buckets = { readonly from: number; to: number };

/** The buckets in which bars of some runs may be unfinished, ascending and apart. */
function lateBuckets(calendar: Calendar, series: Looked, runs: readonly BegunRun[]): Buckets[] {
  const { interval, last_ms, isOffGrid } = series;
  const found: Buckets[] = [];
  const late = runs.flatMap((one) => {
    const fromMs = lateFrom(one, calendar, isOffGrid);
    if (fromMs === null || fromMs > last_ms) return [];
    const toMs = Math.min(last_ms, (one.run.last_keys as readonly number[]).at(-1)!);
    return [{ from: bucketOf(interval, fromMs), to: bucketOf(interval, toMs) }];
  });
  for (const { from, to } of late.sort((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

/** The runs that hold some bars of a block as they are stored, by key. */
async function holdersIn(
  reader: Reader,
  series_id: number,
  { bucket, runId }: OpenedBlock,
  keys: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  // Where the journal is damaged, the block itself names a run.
  const holders = new Map(keys.map((key) => [key, [runId]]));
  for await (const brought of broughtBy(reader, { series_id, bucket }, 'asc')) {
    const { added, before } = brought.change;
    for (const key of keys)
      if (added === null || hasBar(added, key) || hasBar(before, key)) holders.set(key, [brought.runId]);
      else if (hasBar(brought.held, key)) holders.get(key)!.push(brought.runId);
  }
  return holders;
}

/** The stored bars of a series that are not finished, as neighbours in one block, ascending. */
export async function unfinishedBars(
  reader: Reader,
  calendar: Calendar,
  series: Looked,
  runs: readonly BegunRun[],
): Promise<Stretch[]> {
  const { series_id: seriesId, interval, isOffGrid } = series;
  const found: Stretch[] = [];
  const buckets = lateBuckets(calendar, series, runs);
  if (buckets.length === 0) return found;
  const begun = new Map(runs.map(({ run, begunMs }) => [run.run_id, begunMs]));
  const earliestMs = Math.min(...begun.values());
  const isLateFor = (key: number, ms: number): boolean =>
    closesAfter(calendar, { interval, isOffGrid }, key, ms);
  for (const { from, to } of buckets) {
    const read = { seriesId, fromBucket: from, toBucket: to, direction: 'asc' } as const;
    for await (const stored of allBlocks(reader, read)) {
      const block = openBlock(seriesId, stored);
      const keys = [...block.bars.keyMs.subarray(0, block.bars.count)];
      const maybe = keys.filter(
        (key) => key + DAY_MS * LONGEST_DAYS > earliestMs && isLateFor(key, earliestMs),
      );
      if (maybe.length === 0) continue;
      const holders = await holdersIn(reader, seriesId, block, maybe);
      const isUnfinished = (key: number): boolean =>
        holders.get(key)?.every((run) => isLateFor(key, begun.get(run) ?? Number.POSITIVE_INFINITY)) === true;
      let before = false;
      for (const key of keys) {
        const is = isUnfinished(key);
        if (is && before) found[found.length - 1] = { ...found.at(-1)!, last_ms: key };
        else if (is) found.push({ first_ms: key, last_ms: key });
        before = is;
      }
    }
  }
  return found;
}

/** A bar closes within so many days of its key: a month, and the end of its last session. */
const LONGEST_DAYS = 34;
