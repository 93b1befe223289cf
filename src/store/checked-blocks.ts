// A block that was read, with the check that it is of its series and bucket and was written by its run.
import { DamagedBlock } from '../market/bars/block.ts';
import { blockCount } from '../market/bars/block-reader.ts';
import { ofBytes } from './all-blocks.ts';
import { type Damage, DamagedData } from './damage.ts';
import { blockCheck } from './row-check.ts';
import type { BlockRead, StoredBlock } from './store.ts';

/** A block as an engine finds it, with its stored checksum. */
export type FoundBlock = StoredBlock & { readonly storedCheck: number | null };

/**
 * Its bytes are given once their place is checked: reads take blocks beyond the ones that an answer needs.
 */
export class CheckedBlock implements StoredBlock {
  readonly bucket: number;
  readonly runId: number;
  readonly #seriesId: number;
  readonly #found: FoundBlock;

  constructor(seriesId: number, found: FoundBlock) {
    this.#seriesId = seriesId;
    this.#found = found;
    this.bucket = found.bucket;
    this.runId = found.runId;
  }

  /** @throws DamagedBlock */
  get bytes(): Uint8Array {
    const found = this.#found;
    // A flipped bit can make bytes a text.
    if (!(found.bytes instanceof Uint8Array) || found.storedCheck !== blockCheck(this.#seriesId, found))
      throw new DamagedBlock('the checksum of its place does not match');
    return found.bytes;
  }
}

/** The damage of a block of a series, as it was found; empty where it is sound. */
export function damageOf(seriesId: number, found: FoundBlock): Damage[] {
  try {
    ofBytes(seriesId, new CheckedBlock(seriesId, found), blockCount);
    return [];
  } catch (error) {
    if (error instanceof DamagedData) return [error.damage];
    throw error;
  }
}

/** True if a block cannot be of a read, or not after the block before it. */
export function isMisplaced(
  read: BlockRead,
  { bucket }: StoredBlock,
  before: StoredBlock | undefined,
): boolean {
  if (bucket < read.fromBucket || bucket > read.toBucket) return true;
  if (before === undefined) return false;
  return read.direction === 'asc' ? bucket <= before.bucket : bucket >= before.bucket;
}
