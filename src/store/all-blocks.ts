// Reads any number of blocks of a series, in bounded reads one after the other, and opens single ones.
import { DamagedBlock } from '../bars/block.ts';
import { decodeBlock, wholeBlock } from '../bars/block-reader.ts';
import type { Bars } from '../bars/columns.ts';
import { blockDamage, DamagedData } from './damage.ts';
import type { BlockRead, Reader, StoredBlock } from './store.ts';

const BLOCKS_PER_READ = 64;

/** The bounds of all blocks. */
export const everyBucket = { fromBucket: Number.MIN_SAFE_INTEGER, toBucket: Number.MAX_SAFE_INTEGER };

/**
 * The blocks of a series from one bucket to another, both included, in either direction, `limit` at a time.
 */
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

/** A stored block with its bars. */
export type OpenedBlock = { readonly bucket: number; readonly runId: number; readonly bars: Bars };

/** Reads the bars of a block. @throws DamagedData */
export function openBlock(seriesId: number, block: StoredBlock): OpenedBlock {
  const { bucket, runId } = block;
  try {
    return { bucket, runId, bars: decodeBlock(block.bytes, wholeBlock) };
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
    throw new DamagedData(blockDamage({ seriesId, bucket, runId }, error.problem), error);
  }
}

/** The blocks of a series from one bucket to another, both included, ascending, without damaged ones. */
export async function* soundBlocks(
  reader: Pick<Reader, 'blocks'>,
  seriesId: number,
  fromBucket: number,
  toBucket: number,
): AsyncGenerator<OpenedBlock> {
  const read = { seriesId, toBucket, direction: 'asc', limit: BLOCKS_PER_READ } as const;
  for (let from = fromBucket; from <= toBucket; ) {
    let damaged: number | null = null;
    const passOver = (error: unknown): StoredBlock[] => {
      if (!(error instanceof DamagedData) || error.damage.block === undefined) throw error;
      damaged = error.damage.block.bucket;
      return [];
    };
    const found = await reader.blocks({ ...read, fromBucket: from }).catch(passOver);
    if (damaged !== null)
      found.push(...(await reader.blocks({ ...read, fromBucket: from, toBucket: damaged - 1 })));
    for (const block of found) {
      try {
        yield openBlock(seriesId, block);
      } catch (error) {
        if (!(error instanceof DamagedData)) throw error;
      }
    }
    if (damaged === null && found.length < BLOCKS_PER_READ) return;
    from = (damaged ?? found.at(-1)!.bucket) + 1;
  }
}

/** The block of a bucket; null where there is none. @throws DamagedData */
export async function blockAt(
  reader: Pick<Reader, 'blocks'>,
  seriesId: number,
  bucket: number,
): Promise<OpenedBlock | null> {
  const read = { seriesId, fromBucket: bucket, toBucket: bucket, direction: 'asc', limit: 1 } as const;
  const [block] = await reader.blocks(read);
  return block === undefined ? null : openBlock(seriesId, block);
}
