// Reads any number of blocks of a series, in bounded reads one after the other.
import type { BlockRead, Reader, StoredBlock } from './store.ts';

const BLOCKS_PER_READ = 64;

/** The bounds of all blocks. */
export const everyBucket = { fromBucket: Number.MIN_SAFE_INTEGER, toBucket: Number.MAX_SAFE_INTEGER };

/** The blocks of a series from one bucket to another, both included, in either direction, `limit` at a time. */
export async function* allBlocks(
  reader: Pick<Reader, 'blocks'>,
  { limit = BLOCKS_PER_READ, ...read }: Omit<BlockRead, 'limit'> & { readonly limit?: number },
): AsyncGenerator<StoredBlock> {
  let { fromBucket, toBucket } = read;
  for (;;) {
    const found = await reader.blocks({ ...read, fromBucket, toBucket, limit });
    yield* found;
    if (found.length < limit) return;
    const { bucket } = found.at(-1)!;
    if (read.direction === 'asc') fromBucket = bucket + 1;
    else toBucket = bucket - 1;
  }
}
