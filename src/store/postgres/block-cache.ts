// Blocks that were read before, kept in the thread until a commit touches their series (docs/decisions/0033).

import { SizedCache } from '../../base/sized-cache.ts';
import { DamagedBlock } from '../../market/bars/block.ts';
import { blockCount } from '../../market/bars/block-reader.ts';
import { KnownChanges } from '../known-changes.ts';
import { storeLimits } from '../limits.ts';
import { barsOf } from '../parts.ts';
import type { BlockRead, DataState, StoredBlock, Versioned } from '../store.ts';

/** A block, or that there is none up to a bucket; and the state that it was read from. */
type Kept = DataState & ({ readonly block: StoredBlock } | { readonly nextBucket: number });

/** The bucket at which a read begins, its last one, and the way from one to the next. */
const walkOf = ({ direction, fromBucket, toBucket }: BlockRead) =>
  direction === 'asc'
    ? { first: fromBucket, last: toBucket, step: 1 }
    : { first: toBucket, last: fromBucket, step: -1 };

const blockName = (seriesId: number, bucket: number): string => `${seriesId} ${bucket}`;

/** A gap has one bucket at which it begins, in each direction. */
const gapName = (seriesId: number, step: number, bucket: number): string => `${seriesId} ${bucket} ${step}`;

/** The rest of a read, from a bucket on. */
const restOf = (read: BlockRead, bucket: number, limit: number): BlockRead =>
  read.direction === 'asc' ? { ...read, fromBucket: bucket, limit } : { ...read, toBucket: bucket, limit };

function isSound(block: StoredBlock): boolean {
  try {
    blockCount(block.bytes);
    return true;
  } catch (error) {
    if (error instanceof DamagedBlock) return false;
    throw error;
  }
}

/**
 * The blocks of one thread. What its series has in a bucket stays the same until a commit touches the series.
 */
export class BlockCache {
  readonly #kept: SizedCache<Kept>;
  readonly #changes = new KnownChanges();

  constructor(bytesMax: number = storeLimits.cachedBlockBytesMax) {
    this.#kept = new SizedCache(bytesMax);
  }

  /** Bytes that it holds. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  /**
   * The blocks of a read of a state: kept ones, and from the first that is not kept on those that `fetch`
   * reads.
   */
  async read(
    reader: Versioned,
    read: BlockRead,
    fetch: (rest: BlockRead) => Promise<StoredBlock[]>,
  ): Promise<StoredBlock[]> {
    const version = await this.#changes.follow(reader);
    if (version === null) return fetch(read);
    const state = { id: reader.id, version };
    const { seriesId, limit } = read;
    const { first, last, step } = walkOf(read);
    const parts = [barsOf(seriesId)];
    const find = (name: string): Kept | undefined => {
      const kept = this.#kept.get(name);
      return kept !== undefined && this.#changes.isSame(parts, kept, state) ? kept : undefined;
    };
    const blocks: StoredBlock[] = [];
    for (let at = first; blocks.length < limit && (last - at) * step >= 0; ) {
      const kept = find(blockName(seriesId, at)) ?? find(gapName(seriesId, step, at));
      if (kept === undefined) {
        const rest = restOf(read, at, limit - blocks.length);
        const found = await fetch(rest);
        this.#keep(rest, found, state);
        return [...blocks, ...found];
      }
      if ('block' in kept) blocks.push(kept.block);
      at = 'block' in kept ? at + step : kept.nextBucket;
    }
    return blocks;
  }

  #keep(read: BlockRead, found: readonly StoredBlock[], state: DataState): void {
    const { seriesId, limit } = read;
    const { first, last, step } = walkOf(read);
    let at = first;
    const keepGap = (nextBucket: number): void => {
      if (nextBucket !== at) this.#set(gapName(seriesId, step, at), { ...state, nextBucket });
    };
    for (const block of found) {
      // A damaged one is read again each time: it may be mended in place.
      if (!isSound(block)) return;
      const { bucket, runId, bytes } = block;
      keepGap(bucket);
      this.#set(blockName(seriesId, bucket), { ...state, block: { bucket, runId, bytes } });
      at = bucket + step;
    }
    if (found.length < limit && (last - at) * step >= 0) keepGap(last + step);
  }

  /** A read of an older state may end after one of a newer. */
  #set(name: string, kept: Kept): void {
    const present = this.#kept.get(name);
    if (present?.id !== kept.id || present.version <= kept.version) this.#kept.set(name, kept);
  }
}
