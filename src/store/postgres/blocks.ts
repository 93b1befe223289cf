// Blocks of bars by version: a read takes the newest of each bucket up to the published version
// (docs/decisions/0029). Those that were read before are kept in the thread until a commit touches their
// series (docs/decisions/0033).
import { SizedCache } from '../../base/sized-cache.ts';
import { blockCount, DamagedBlock } from '../../market/bars/block.ts';
import { blockCheck, CheckedBlock } from '../checked-rows.ts';
import { barsOf, KnownChanges } from '../known-changes.ts';
import { storeLimits } from '../limits.ts';
import {
  type BlockAt,
  type BlockRead,
  type DataState,
  type StoredBlock,
  StoreUnavailable,
  type Versioned,
} from '../store.ts';
import { keyColumns, numbersOf, rangesText, removeBlocks, type Versions } from './publish.ts';
import { SentArray, type Session } from './session.ts';

/**
 * Versions of blocks beside the newest ones that a read has room for: they are few, and gone after a minute.
 */
const OLDER_VERSIONS = 8;

const readText = (direction: 'asc' | 'desc'): string =>
  `select bucket, run_id, bytes, row_check from bar_blocks where series_id = $1 and bucket >= $2 and bucket <= $3 and version <= $4
    and not version <@ $6::int8multirange order by bucket ${direction}, version desc limit $5`;
const readTexts = { asc: readText('asc'), desc: readText('desc') } as const;

type Cells = [bucket: number, runId: number, bytes: Uint8Array | null, storedCheck: number | null];

/** The block of some cells; null for one that was removed. */
const blockIn = (seriesId: number, [bucket, runId, bytes, storedCheck]: Cells): StoredBlock | null =>
  bytes === null ? null : new CheckedBlock(seriesId, { bucket, runId, bytes, storedCheck });

const placeOf = ({ seriesId, bucket }: BlockAt): string => `${seriesId} ${bucket}`;

/** The newest published block of each bucket of a read. A block that is damaged tells when it is used. */
export async function readBlocks(
  session: Session,
  read: BlockRead,
  published: Versions,
): Promise<StoredBlock[]> {
  const { seriesId, direction, limit } = read;
  let { fromBucket, toBucket } = read;
  const blocks: StoredBlock[] = [];
  for (;;) {
    const most = limit - blocks.length + OLDER_VERSIONS;
    const abandoned = rangesText(published.abandoned);
    const values = [seriesId, fromBucket, toBucket, published.version, most, abandoned];
    const found = (await session.ask(readTexts[direction], values)) as Cells[];
    let last: number | null = null;
    for (const cells of found) {
      const [bucket] = cells;
      // The first of a bucket is its newest.
      if (bucket === last) continue;
      last = bucket;
      const block = blockIn(seriesId, cells);
      if (block !== null) blocks.push(block);
      if (blocks.length === limit) return blocks;
    }
    if (found.length < most || last === null) return blocks;
    if (direction === 'asc') fromBucket = last + 1;
    else toBucket = last - 1;
  }
}

const writeText = `insert into bar_blocks (series_id, bucket, version, run_id, bytes, row_check)
  select a, b, $6, c, d, e from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::int[]) as u(a, b, c, d, e)
  on conflict (series_id, bucket, version) do update set run_id = excluded.run_id, bytes = excluded.bytes, row_check = excluded.row_check`;

// `any` tells Citus the shards: it asks no other ones.
const blocksAtText = `select b.series_id, b.bucket, b.run_id, b.bytes, b.row_check from unnest($1::bigint[], $2::bigint[]) as u(a, b)
  join bar_blocks b on b.series_id = u.a and b.bucket = u.b and b.series_id = any($1::bigint[])
    and b.version <= $3 and not b.version <@ $4::int8multirange
  order by b.series_id, b.bucket, b.version desc`;

const replacedText = `select b.series_id, b.bucket, b.version from unnest($1::bigint[], $2::bigint[]) as u(a, b)
  join bar_blocks b on b.series_id = u.a and b.bucket = u.b and b.version < $3 and b.series_id = any($1::bigint[])`;

/** A block of a write: null bytes remove it. */
type Put = {
  readonly seriesId: number;
  readonly bucket: number;
  readonly runId: number;
  readonly bytes: Uint8Array | null;
};

/** Bytes of blocks that are sent together. */
const BATCH_BYTES = 4 * 2 ** 20;
const PUT_BYTES = 64;

/**
 * Says that blocks of the version after another of the same write follow. @throws StoreUnavailable where
 * another write has begun
 */
async function extendPending(session: Session, version: number): Promise<void> {
  const extended = await session.ask('update store_state set pending = $1 where pending = $2 returning 1', [
    version + 1,
    version,
  ]);
  if (extended.length === 0) throw new StoreUnavailable('another process writes to the store by now');
}

/**
 * The blocks of one write: sent in batches beside the transaction of its rows, as the next version, or as
 * further ones for its parts.
 */
export class BlockWriter {
  readonly #session: Session;
  #published: Versions;
  /** Series, bucket and version of blocks that this write replaces; those of its present part come last. */
  readonly #replaced: number[][] = [];
  #replacedBefore = 0;
  /** The same of blocks that this write has sent. */
  readonly #sent: number[][] = [];
  #sentBefore = 0;
  /** Those that wait, by series and bucket. */
  #puts = new Map<number, Map<number, Put>>();
  #bytes = 0;
  #sending: Promise<void> = Promise.resolve();
  /** Why blocks may still appear that were not stored when they were sent: they cannot be removed now. */
  #inDoubt: StoreUnavailable | null = null;

  /** `published`: what the write reads, and the version that its blocks get. */
  constructor(session: Session, published: Versions) {
    this.#session = session;
    this.#published = published;
  }

  /** The versions that this write reads, its own included. */
  get published(): Versions {
    return this.#published;
  }

  /** Reads what was put, too: what is sent comes before the question on the same connection. */
  async read(read: BlockRead): Promise<StoredBlock[]> {
    if (this.#isWaiting(read)) await this.flush();
    return readBlocks(this.#session, read, this.#published);
  }

  /** As `Writer.blocksAt`. */
  async at(places: readonly BlockAt[]): Promise<(StoredBlock | null)[]> {
    if (places.length === 0) return [];
    await this.flush();
    const { version, abandoned } = this.#published;
    const columns = [numbersOf(places, 'seriesId'), numbersOf(places, 'bucket')];
    const values = [...columns, version, rangesText(abandoned)];
    const blocks = new Map<string, StoredBlock | null>();
    for (const [id, ...rest] of await this.#session.ask(blocksAtText, values)) {
      const [seriesId, cells] = [id as number, rest as Cells];
      const place = placeOf({ seriesId, bucket: cells[0] });
      // The first of a place is its newest.
      if (!blocks.has(place)) blocks.set(place, blockIn(seriesId, cells));
    }
    return places.map((place) => blocks.get(placeOf(place)) ?? null);
  }

  #isWaiting({ seriesId, fromBucket, toBucket }: BlockRead): boolean {
    const buckets = this.#puts.get(seriesId);
    return buckets?.keys().some((bucket) => fromBucket <= bucket && bucket <= toBucket) ?? false;
  }

  /** Begins a part of the write: its blocks have a version of their own. */
  async beginPart(): Promise<void> {
    await this.flush();
    this.#replacedBefore = this.#replaced.length;
    this.#sentBefore = this.#sent.length;
    const { version } = this.#published;
    await extendPending(this.#session, version);
    this.#published = { ...this.#published, version: version + 1 };
  }

  /** Removes the blocks of a part that failed. Where that fails too, so does the write. */
  async undoPart(): Promise<void> {
    this.#replaced.length = this.#replacedBefore;
    this.#sending = this.#removeSent(this.#sentBefore);
    await this.#sending;
  }

  /** Removes all blocks of a write that failed. */
  undo(): Promise<void> {
    return this.#removeSent(0);
  }

  async #removeSent(from: number): Promise<void> {
    this.#puts = new Map();
    this.#bytes = 0;
    // What is on its way arrives before it is removed.
    await this.#sending.catch(() => undefined);
    if (this.#inDoubt !== null) throw this.#inDoubt;
    const sent = this.#sent.slice(from);
    if (sent.length > 0) await removeBlocks(this.#session, sent);
    this.#sent.length = from;
  }

  async put(one: Put): Promise<void> {
    const buckets = this.#puts.get(one.seriesId) ?? new Map<number, Put>();
    this.#puts.set(one.seriesId, buckets.set(one.bucket, one));
    this.#bytes += (one.bytes?.length ?? 0) + PUT_BYTES;
    if (this.#bytes < BATCH_BYTES) return;
    await this.#sending;
    this.#send();
  }

  #send(): void {
    const puts = [...this.#puts.values()].flatMap((buckets) => [...buckets.values()]);
    this.#puts = new Map();
    this.#bytes = 0;
    if (puts.length === 0) return;
    this.#sending = this.#write(puts).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) this.#inDoubt = error;
      throw error;
    });
    // Its error is met where it is waited for.
    this.#sending.catch(() => undefined);
  }

  async #write(puts: readonly Put[]): Promise<void> {
    const { version } = this.#published;
    for (const { seriesId, bucket } of puts) this.#sent.push([seriesId, bucket, version]);
    const checks = puts.map((put) =>
      put.bytes === null ? null : blockCheck(put.seriesId, put as Put & { bytes: Uint8Array }),
    );
    const places = [numbersOf(puts, 'seriesId'), numbersOf(puts, 'bucket')];
    const bytes = new SentArray(
      'bytea',
      puts.map((put) => put.bytes),
    );
    const written = [...places, numbersOf(puts, 'runId'), bytes, new SentArray('int4', checks)];
    const [replaced] = await Promise.all([
      this.#session.ask(replacedText, [...places, version]),
      this.#session.ask(writeText, [...written, version]),
    ]);
    for (const row of replaced) this.#replaced.push(row as number[]);
  }

  /** Waits until all blocks are stored. */
  async flush(): Promise<void> {
    await this.#sending;
    this.#send();
    await this.#sending;
  }

  /** Notes the versions that this write replaces, in the transaction that publishes it. */
  async noteReplaced(session: Session): Promise<void> {
    if (this.#replaced.length === 0) return;
    await session.ask(
      'insert into replaced_blocks select distinct $4::bigint, a, b, c from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as u(a, b, c)',
      [...keyColumns(this.#replaced), this.#published.version],
    );
  }
}

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
