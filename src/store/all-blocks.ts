// Walks any number of blocks of a series, in bounded reads one after the other.
import type { BlockRead, Reader, StoredBlock } from './store.ts';

const BLOCKS_PER_READ = 64;

/** The bounds of all of them. */
export const everyBucket = {
  fromBucket: Number.MIN_SAFE_INTEGER,
  toBucket: Number.MAX_SAFE_INTEGER,
} as const;

/** The blocks of a series from one bucket to another, both included, in either direction, `limit` at a time. */
export async function* allBlocks(
  reader: Pick<Reader, 'blocks'>,
  { limit = BLOCKS_PER_READ, ...read }: Omit<BlockRead, 'limit'> & { readonly limit?: number },
): AsyncGenerator<StoredBlock> {
  let bounds: Pick<BlockRead, 'fromBucket' | 'toBucket'> = read;
  for (;;) {
    const found = await reader.blocks({ ...read, ...bounds, limit });
    yield* found;
    const last = found.at(-1);
    if (last === undefined) return;
    const { fromBucket, toBucket } = bounds;
    bounds =
      read.direction === 'asc'
        ? { fromBucket: last.bucket + 1, toBucket }
        : { fromBucket, toBucket: last.bucket - 1 };
  }
}
