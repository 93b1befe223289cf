// Whole series of DAY and above in memory, and the runs of bars.
import { END_MS, FIRST_MS } from '../../base/instant.ts';
import { type Bars, concatBars } from '../../market/bars/columns.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import type { BarSource, StreamRange } from '../../series/cursor.ts';
import type { Series } from '../../series/series.ts';
import { rowsOf } from '../../series/stream.ts';
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
