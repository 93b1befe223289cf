// Whole series of DAY and above in memory, and the runs of bars.
import { END_MS, FIRST_MS } from '../../base/instant.ts';
import { bucketOf } from '../../market/bars/block.ts';
import { type Bars, concatBars } from '../../market/bars/columns.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import type { BarSource, StreamRange } from '../../series/cursor.ts';
import type { Series } from '../../series/series.ts';
import { rowsOf } from '../../series/stream.ts';
import { blockChanges } from '../../store/schema/internal.ts';
import type { Reader } from '../../store/store.ts';
import { findingLimits } from './limits.ts';

/** Every key. */
export const always: StreamRange = { fromMs: FIRST_MS, toMs: END_MS, descending: false };

/** The rest of a source, piece by piece. */
export async function* piecesOf(source: BarSource): AsyncGenerator<Bars> {
  for (;;) {
    const step = await source.next(findingLimits.barsPerRead);
    if (step === null) return;
    yield step;
  }
}

/** All bars of a series of DAY and above; those of DAY one a session (contract 3.10). */
export async function periodBars(
  context: { readonly reader: Reader; readonly calendar: Calendar },
  series: Series,
): Promise<Bars> {
  const pieces: Bars[] = [];
  for await (const piece of piecesOf(rowsOf(context, series, always))) pieces.push(piece);
  return concatBars(pieces);
}

/**
 * The run that last changed the block of a bar, without those that were undone: the journal has it. Null
 * where no run did.
 */
async function runOf(
  reader: Reader,
  { series_id, interval }: Pick<Series, 'series_id' | 'interval'>,
  keyMs: number,
): Promise<number | null> {
  const [newest] = await reader.rows(blockChanges, {
    where: { series_id, bucket: bucketOf(interval, keyMs) },
    order: [['run_id', 'desc']],
    limit: 1,
  });
  return newest?.run_id ?? null;
}

/** As `runOf`, for many bars of one series: each block is looked up once. */
export function runsOf(reader: Reader, series: Series): (keyMs: number) => Promise<number | null> {
  const known = new Map<number, Promise<number | null>>();
  return (keyMs) => {
    const bucket = bucketOf(series.interval, keyMs);
    const run = known.get(bucket) ?? runOf(reader, series, keyMs);
    known.set(bucket, run);
    return run;
  };
}
