// Reads any number of blocks of a series, in bounded reads one after the other, and opens single ones.
import { DamagedBlock, decodeBlock, wholeBlock } from '../market/bars/block.ts';
import type { Bars } from '../market/bars/columns.ts';
import { blockDamage, DamagedData, refuseDamage, unlessDamaged } from './damage.ts';
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

/** Refuses a series that has lost blocks. @throws DamagedData */
export async function refuseLostBlocks(reader: Pick<Reader, 'structure'>, seriesId: number): Promise<void> {
  for (const damage of await reader.structure(seriesId)) refuseDamage(damage);
}

/** A stored block with its bars. */
export type OpenedBlock = { readonly bucket: number; readonly runId: number; readonly bars: Bars };

/** Gives what is wanted of the bytes of a block. @throws DamagedData where they are damaged */
export function ofBytes<T>(seriesId: number, block: StoredBlock, wanted: (bytes: Uint8Array) => T): T {
  try {
    return wanted(block.bytes);
  } catch (error) {
    if (!(error instanceof DamagedBlock)) throw error;
    const { bucket, runId } = block;
    throw new DamagedData(blockDamage({ seriesId, bucket, runId }, error.problem), error);
  }
}

/** Reads the bars of a block. @throws DamagedData */
export const openBlock = (seriesId: number, block: StoredBlock): OpenedBlock => ({
  bucket: block.bucket,
  runId: block.runId,
  bars: ofBytes(seriesId, block, (bytes) => decodeBlock(bytes, wholeBlock)),
});

/**
 * The blocks of a series from one bucket to another, both included, ascending, with their bars; damaged ones
 * go to `onDamaged`.
 */
export async function* soundBlocks(
  reader: Pick<Reader, 'blocks'>,
  read: Pick<BlockRead, 'seriesId' | 'fromBucket' | 'toBucket'>,
  onDamaged: (block: StoredBlock) => void = () => undefined,
): AsyncGenerator<OpenedBlock> {
  for await (const block of allBlocks(reader, { ...read, direction: 'asc' })) {
    const opened = await unlessDamaged(Promise.try(openBlock, read.seriesId, block));
    if (opened === null) onDamaged(block);
    else yield opened;
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
