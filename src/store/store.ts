// The store port: rows of declared datasets and blocks of bars. No module above it knows an engine.

import type { Damage } from './damage.ts';
import type { ColumnOf, Dataset, RowOf } from './schema/dataset.ts';

export type Direction = 'asc' | 'desc';

/** A bounded read of one dataset in the order of one of its keys or indexes. */
export type Read<D extends Dataset = Dataset> = {
  /** Columns that must be equal; null is a value. */
  readonly where?: Partial<RowOf<D>>;
  /** Numbers that must be equal too. They are compared in the index, but do not choose it. */
  readonly along?: Partial<RowOf<D>>;
  /** Bounds of the first column of the order: `from` included, `to` excluded. */
  readonly range?: { readonly from?: string | number; readonly to?: string | number };
  /** Null precedes every value: it is first in an ascending order, last in a descending one. */
  readonly order: readonly (readonly [column: ColumnOf<D>, direction: Direction])[];
  /** The order columns' values of the last row already seen: the read continues after it. */
  readonly after?: readonly (string | number | null)[];
  readonly limit: number;
};

/** A read without the columns that must be equal. */
export type KeyRead<D extends Dataset = Dataset> = Pick<Read<D>, 'range' | 'order' | 'limit'>;

/** Texts from one, and below another, by their code points. */
export type TextSpan = { readonly from: string; readonly below: string };

/**
 * A bounded read in an order that no index has: the engine sorts the rows of some groups. A group is a place
 * in an index. The index must have every named column, so that only rows of the answer are read.
 */
export type RankedRead<D extends Dataset = Dataset> = {
  /** Columns that must be equal: the index begins with them. */
  readonly where: Partial<RowOf<D>>;
  /** The index's next columns. */
  readonly groupBy: readonly ColumnOf<D>[];
  /** A further column of text: of its values, a group has those from its `from`, and below its `below`. */
  readonly within?: ColumnOf<D>;
  /**
   * The values of `groupBy` in each group, null included, and the group's rank in the order; no row is in two
   * groups.
   */
  readonly groups: readonly ({
    readonly at: readonly (string | number | null)[];
    readonly rank: number;
  } & Partial<TextSpan>)[];
  /** Bounds of one further column, both excluded. */
  readonly between?: { readonly column: ColumnOf<D>; readonly above?: number; readonly below?: number };
  /** The columns of the answer: a unique key is among them. */
  readonly order: readonly (readonly [column: ColumnOf<D> | 'rank', direction: Direction])[];
  /** The order columns' values of the last row already seen. */
  readonly after?: readonly (string | number | null)[];
  readonly limit: number;
};

/**
 * A block of bars as stored: bytes of `market/bars/block.ts`. A block that was read throws a `DamagedBlock`
 * for bytes of another place.
 */
export type StoredBlock = { readonly bucket: number; readonly runId: number; readonly bytes: Uint8Array };

/** A block to store; without bytes one to remove. */
export type PutBlock =
  | StoredBlock
  | { readonly bucket: number; readonly runId?: number; readonly bytes: null };

/** A bounded read of one series' blocks: buckets `fromBucket` and `toBucket` included. */
export type BlockRead = {
  readonly seriesId: number;
  readonly fromBucket: number;
  readonly toBucket: number;
  readonly direction: Direction;
  readonly limit: number;
};

/** The place of a block. */
export type BlockAt = { readonly seriesId: number; readonly bucket: number };

/** Reads rows of one state of the store. What it reads is checked; a damaged row is a `DamagedData`. */
export interface RowReader {
  rows<D extends Dataset>(dataset: D, read: Read<D>): Promise<RowOf<D>[]>;
  /**
   * All rows of a group (`Dataset.group`), in the order of the key where the group is part of it. A row that
   * was written and is not there is damage too.
   */
  group<D extends Dataset>(dataset: D, where: Partial<RowOf<D>>): Promise<RowOf<D>[]>;
  /**
   * The rows of each of some keys, asked for together: on another machine each question alone waits for its
   * answer. The keys have values of the same columns, and no null. `read` orders and bounds the rows of each
   * key: without it these are all, in no order, and where the columns are those of a group, a row that is not
   * there is damage as well.
   */
  rowsByKey<D extends Dataset>(
    dataset: D,
    keys: readonly Partial<RowOf<D>>[],
    read?: KeyRead<D>,
  ): Promise<RowOf<D>[][]>;
  /** The order columns' values of each row. */
  ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]>;
  /**
   * The exact number of rows: of all, or of those whose columns equal `where` and have at least the values of
   * `least`: the first columns of the key or of an index, which is read alone.
   */
  count<D extends Dataset>(dataset: D, where?: Partial<RowOf<D>>, least?: Partial<RowOf<D>>): Promise<number>;
  /**
   * The number of all rows, and the span of a column of numbers. Both are found in two ways: a lost row is
   * damage. Reads a whole index or more.
   */
  extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent>;
}

/** A number of rows, and the least and the greatest number in a column of them; null without one. */
export type Extent = { readonly rows: number; readonly first: number | null; readonly last: number | null };

/** One state of some data. Versions of one `id` alone compare. */
export type DataState = { readonly id: string; readonly version: number };

/** A part of the data in one text: a dataset's name, or kind and number such as `instrument 100001`. */
export type Part = string;

/** A part and the version of a write that changed it. */
export type Change = { readonly part: Part; readonly version: number };

/** A state of a store among its other states (docs/decisions/0029). */
export interface Versioned {
  /**
   * Names the data whose version was asked last: a store that takes the place of another at the same address,
   * such as a restored one, has another, and so has a server that lacks commits of the one before it.
   */
  readonly id: string;
  /**
   * The version of the state: every write that changes anything raises it, whoever writes. 0 before the
   * first; null where damage hides it, and then nothing that was read can be kept.
   */
  version(): Promise<number | null>;
  /**
   * The changes after a version, at most `max`; null where there are more or not all are known: then anything
   * may have changed.
   */
  changesAfter(version: number, max: number): Promise<readonly Change[] | null>;
}

/** Reads rows and blocks of one state of the store. */
export interface Reader extends RowReader, Versioned {
  /** The stored blocks of a series, in order of bucket. The bytes are valid until the snapshot ends. */
  blocks(read: BlockRead): Promise<StoredBlock[]>;
  /**
   * The damage of a dataset's table beside its indexes: reads all of both, for rare work that a lost row
   * would make wrong. Of a series, by its number, the damage of lost blocks: reads their index.
   */
  structure(of: Dataset | number): Promise<readonly Damage[]>;
}

/** Reads lists of rows, of all that is stored or of what was known (`past/known-reader.ts`). */
export type RowLists = Pick<RowReader, 'rows' | 'rowsByKey'>;

/** Writes rows. All changes of one `write` become visible at once, or none. */
export interface RowWriter extends RowReader {
  /** Inserts rows, or replaces those of equal key. */
  upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void>;
  /** Removes rows by their whole key. */
  remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void>;
}

export interface Writer extends Reader, RowWriter {
  /** The blocks at some places, asked for together; null where there is none. */
  blocksAt(places: readonly BlockAt[]): Promise<(StoredBlock | null)[]>;
  /**
   * Inserts or replaces a block, whose bytes are copied before this returns its promise; without bytes
   * removes it, if it is there.
   */
  putBlock(seriesId: number, block: PutBlock): Promise<void>;
  /**
   * Runs `work` as one part of this write: an error undoes this part alone. Parts are not nested.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
}

interface Transactions<R, W> {
  /** Runs `work` on one consistent view. @throws StoreUnavailable */
  snapshot<T>(work: (reader: R) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one transaction; an error undoes everything. Waits for another writer. @throws DiskFull,
   * StoreUnavailable
   */
  write<T>(work: (writer: W) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Called once when another process is writing, with its number where that is known. */
export type OnWait = (writerPid: number | null) => void;

/** Rows alone: the control file (`control.ts`). */
export interface RowStore extends Transactions<RowReader, RowWriter> {}

/** A whole store. Its version is that of the present moment, or of the snapshot that is open. */
export interface Store extends Transactions<Reader, Writer>, Versioned {
  /** Its name in messages: scheme and path, no password. */
  readonly name: string;
  /** The folder that it grows in; null on another machine. */
  readonly folder: string | null;
  /** Snapshots that it runs at the same time; more wait for these. */
  readonly concurrency: number;
  /** As above. Waits for another writer without a time limit, and without holding up this process. */
  write<T>(work: (writer: Writer) => Promise<T>, onWait?: OnWait): Promise<T>;
}

/** A server that has a store. */
export type ServerFacts = {
  /** Its program and version. */
  readonly version: string;
  readonly place: string;
  /** Of the whole database: other schemas too. */
  readonly databaseBytes: number;
  /** Null for a primary; `behindSeconds` is null where nothing was committed yet. */
  readonly standby: { readonly isReceiving: boolean; readonly behindSeconds: number | null } | null;
  /** The standbys that follow it; null where this user may not see how far they are behind. */
  readonly followers: readonly { readonly name: string; readonly behindBytes: number | null }[];
};

/** Facts about a store as a whole. */
export type StoreFacts = {
  /** The version of its layout. */
  readonly layout: number;
  /** The server that has it; null for files of this machine. */
  readonly server: ServerFacts | null;
  /**
   * Its files and their sizes; what is on another machine has no path, and no size where that does not
   * answer.
   */
  readonly parts: readonly {
    readonly what: string;
    readonly path: string | null;
    readonly bytes: number | null;
  }[];
};

/** Bytes of a store, and of what is free where it is; null where that cannot be known. */
export type StoreSpace = { readonly storeBytes: number | null; readonly freeBytes: number | null };

/** Is called with what is being done, in words. */
export type Tell = (doing: string) => void;

/** The options of making or restoring a copy. */
export type CopyOptions = {
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
  readonly tell: Tell;
  readonly nowMs: () => number;
};

/** A copy that was made or restored, and verified. */
export type Copied = {
  readonly file: string;
  readonly bytes: number;
  /** The hash of every row of the data. */
  readonly sha256: string;
  /** The number of keys, revoked ones included. */
  readonly keys: number;
  readonly madeMs: number;
};

/**
 * A store that was restored, the version with which it goes on, and the paths of the files that it replaced.
 */
export type Restored = Copied & { readonly version: number; readonly kept: readonly string[] };

/**
 * The ways to open a store: `write` creates missing files and migrates older layouts; `read` does neither.
 * `serve` is a `read` for many short reads that callers wait for: a store that does not answer soon is
 * unavailable. `inspect` is a short `read` that leaves no trace, not even a file beside the store's.
 */
export type Mode = 'read' | 'serve' | 'write' | 'inspect';

/**
 * The store cannot be used as it is: missing, not ours, too new, out of reach. The message says what to do.
 */
export class StoreUnusable extends Error {
  override readonly name: string = 'StoreUnusable';
}

/**
 * The store cannot be reached now, such as while it is locked or its disk is away. This may pass: who waits
 * asks again.
 */
export class StoreUnavailable extends StoreUnusable {
  override readonly name: string = 'StoreUnavailable';
}

/** The disk of the store's server is full. Nothing of the write is stored. */
export class StoreFull extends StoreUnavailable {
  override readonly name = 'StoreFull';
}

/** The store as a whole is damaged: it cannot be opened until it is restored. */
export class StoreDamaged extends StoreUnusable {
  override readonly name = 'StoreDamaged';
}

/**
 * True if a store that was open before may be reached again later: whatever keeps it from being opened now
 * is so, but damage.
 */
export const isAway = (error: unknown): boolean =>
  error instanceof StoreUnavailable || (error instanceof StoreUnusable && !(error instanceof StoreDamaged));

/** A file of the store has the layout of an older Bourse: it is migrated when it is opened for writing. */
export class OlderLayout extends StoreUnusable {
  override readonly name = 'OlderLayout';
}

/** An address without the password after the user's name: from the colon there to the last `@`. */
function withoutUserPassword(text: string): string {
  const scheme = text.indexOf('://');
  const colon = scheme < 0 ? -1 : text.indexOf(':', scheme + '://'.length);
  const at = text.lastIndexOf('@');
  return colon < 0 || at < colon ? text : `${text.slice(0, colon)}:***${text.slice(at)}`;
}

/** A text without the passwords that addresses carry: after the user's name, or as `password=`. */
export const withoutPassword = (text: string): string =>
  withoutUserPassword(text).replace(/\b(password\s*=\s*)(?:'[^']*'|[^&\s]*)/gi, '$1***');

/** The message where there is no store. */
export const noStoreAt = (place: string): string =>
  `there is no store at ${place}: bourse import or bourse serve makes one`;

/** The text is not the address of a store: the caller's mistake. */
export class UnknownStoreAddress extends StoreUnusable {
  override readonly name = 'UnknownStoreAddress';
}

/** A file would be replaced without permission: the caller decides. */
export class WouldReplace extends StoreUnusable {
  override readonly name = 'WouldReplace';
}

/** A path leads to something of the wrong kind, such as a folder: the caller's mistake. */
export class UnfitPlace extends StoreUnusable {
  override readonly name = 'UnfitPlace';
}
