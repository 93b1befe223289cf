// Frames of the chunks that DuckDB gives: the texts are copied out of its memory.
import type { DuckChunk } from './duckdb.ts';
import type { ChunkHead, Frame } from './frames.ts';
import type { TextColumn } from './text-column.ts';

/** Bytes of texts in a frame, unless one row has more. */
const TEXTS_MAX = 16 * 1024 * 1024;

/** The rows of a chunk, in one frame where their texts are not long. */
export function* chunkFrames(chunk: DuckChunk): Generator<Frame<ChunkHead>> {
  const { count, surplus } = chunk;
  const texts = surplus === null ? chunk.texts : [...chunk.texts, surplus];
  for (let from = 0; from < count; ) {
    const to = endOfFrame(texts, from, count);
    yield frameOf(chunk, texts, from, to);
    from = to;
  }
}

function endOfFrame(texts: readonly TextColumn[], from: number, count: number): number {
  let bytes = 0;
  for (let row = from; row < count; row++) {
    for (const column of texts) bytes += column.lengthOf(row);
    if (bytes > TEXTS_MAX) return Math.max(row, from + 1);
  }
  return count;
}

function frameOf(chunk: DuckChunk, texts: readonly TextColumn[], from: number, to: number): Frame<ChunkHead> {
  const count = to - from;
  for (const column of texts) column.gather(from, to);
  const nulls = texts.map((column) => column.nulls(from, to));
  const bytes = texts.map((column) => column.bytes.subarray(0, column.starts[count]));
  return {
    head: {
      kind: 'chunk',
      count,
      firstRow: chunk.firstRow + from,
      texts: bytes.map(({ length }) => length),
      hasNulls: nulls.map((one) => one !== null),
      numbers: chunk.numbers.length,
      hasSurplus: chunk.surplus !== null,
    },
    parts: [
      ...chunk.numbers.map((column) => column.subarray(from, to)),
      ...texts.map(({ starts }) => starts.subarray(0, count + 1)),
      ...bytes.flatMap((all, index) => (nulls[index] === null ? [all] : [nulls[index]!, all])),
    ],
  };
}
