// The store port: rows of declared datasets and blocks of bars. Everything above it knows no engine.
import type { Dataset, RowOf } from '../datasets/dataset.ts';

export type Direction = 'asc' | 'desc';

/** A bounded read of one dataset in an order that one of its keys or indexes has. */
export type Read<D extends Dataset = Dataset> = {
  /** Columns that must be equal. */
  readonly where?: Partial<RowOf<D>>;
  /** Numbers that must be equal too, compared along the walk: of columns that the walked index holds and is not chosen by. */
  readonly along?: Partial<RowOf<D>>;
  /** Bounds of the first column of the order: `from` included, `to` not. */
  readonly range?: { readonly from?: string | number; readonly to?: string | number };
  readonly order: readonly (readonly [column: keyof D['columns'] & string, direction: Direction])[];
  /** The order columns' values of the last row already seen: the read continues after it. */
  readonly after?: readonly (string | number)[];
  readonly limit: number;
};

/**
 * A bounded read in an order that no index has: the engine sorts the rows of some groups. A group is a place in an index,
 * which must have every column that is named, so that no row is read that is not given.
 */
export type RankedRead<D extends Dataset = Dataset> = {
  /** Columns that must be equal: the index begins with them. */
  readonly where: Partial<RowOf<D>>;
  /** The index's next columns: what each group has in them, null included, and its rank in the order. */
  readonly groupBy: readonly (keyof D['columns'] & string)[];
  readonly groups: readonly { readonly at: readonly (string | number | null)[]; readonly rank: number }[];
  /** Bounds of one further column, both excluded. */
  readonly between?: {
    readonly column: keyof D['columns'] & string;
    readonly above?: number;
    readonly below?: number;
  };
  /** The columns that are given: a unique key is among them. */
  readonly order: readonly (readonly [
    column: (keyof D['columns'] & string) | 'rank',
    direction: Direction,
  ])[];
  /** The order columns' values of the last row already seen. */
  readonly after?: readonly (string | number)[];
  readonly limit: number;
};

/** A block of bars as stored: bytes of `bars/block.ts`. */
export type StoredBlock = { readonly bucket: number; readonly runId: number; readonly bytes: Uint8Array };

/** A bounded read of one series' blocks: buckets `fromBucket` and `toBucket` included. */
export type BlockRead = {
  readonly seriesId: number;
  readonly fromBucket: number;
  readonly toBucket: number;
  readonly direction: Direction;
  readonly limit: number;
};

/** Reads rows at one moment. */
export interface RowReader {
  rows<D extends Dataset>(dataset: D, read: Read<D>): Promise<RowOf<D>[]>;
  /** As `rows`, but only some columns: read from the index alone where it has them. */
  pick<D extends Dataset, C extends keyof D['columns'] & string>(
    dataset: D,
    columns: readonly C[],
    read: Read<D>,
  ): Promise<Pick<RowOf<D>, C>[]>;
  /** The rows whose columns equal `where` and that have one of some values, each named once, in `column`; in no order. */
  among<D extends Dataset>(
    dataset: D,
    where: Partial<RowOf<D>>,
    column: keyof D['columns'] & string,
    values: readonly (string | number)[],
  ): Promise<RowOf<D>[]>;
  /** Of each row the order columns' values. */
  ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]>;
  /** How many rows there are, exactly: all of them, or those whose columns equal `where`, which names a key's or an index's first ones. */
  count<D extends Dataset>(dataset: D, where?: Partial<RowOf<D>>): Promise<number>;
  /** The least and the greatest number in a column, null where there is no row: at once where an index begins with it, else every row is read. */
  ends<D extends Dataset>(dataset: D, column: keyof D['columns'] & string): Promise<Ends | null>;
}

/** The least and the greatest of some numbers. */
export type Ends = { readonly first: number; readonly last: number };

/** Reads at one moment: everything a reader gives belongs to the same state of the store. */
export interface Reader extends RowReader {
  /** The store's blocks of a series, in order of bucket; the bytes are the caller's until the snapshot ends. */
  blocks(read: BlockRead): Promise<StoredBlock[]>;
  /** Changes whenever anything was committed since; comparable on one connection only. */
  changeToken(): Promise<number>;
}

/** Writes rows; all of one `write` becomes visible at once, or nothing of it. */
export interface RowWriter extends RowReader {
  /** Inserts rows, or replaces those of equal key. */
  upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void>;
  /** Removes rows by their whole key. */
  remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void>;
}

export interface Writer extends Reader, RowWriter {
  putBlock(seriesId: number, block: StoredBlock): Promise<void>;
  /** Removes a block; one that is not there changes nothing. */
  removeBlock(seriesId: number, bucket: number): Promise<void>;
  /** What this write must remember of a block for its own length: replaced by key, gone at the end (`loading/bar-load.ts`). */
  keepNote(seriesId: number, bucket: number, note: Uint8Array): Promise<void>;
  note(seriesId: number, bucket: number): Promise<Uint8Array | null>;
}

interface Transactions<R, W> {
  /** Runs `work` on one consistent view. */
  snapshot<T>(work: (reader: R) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction: what it throws undoes everything. Waits for another writer. @throws DiskFull */
  write<T>(work: (writer: W) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Called once when another process is writing, with its number where that is known. */
export type OnWait = (writerPid: number | null) => void;

/** Rows alone: what the control file is (`control.ts`). */
export interface RowStore extends Transactions<RowReader, RowWriter> {}

/** A whole store. */
export interface Store extends Transactions<Reader, Writer> {
  /** What a person calls it: scheme and path, no password. */
  readonly name: string;
  /** The folder whose disk it grows on; null where that is another machine's. */
  readonly folder: string | null;
  /** Changes whenever anything was committed by others since; comparable on one store that is open, outside its snapshots. */
  changeToken(): Promise<number>;
  /** As above; waits for another writer as long as that takes, in turn with everything else that this process does. */
  write<T>(work: (writer: Writer) => Promise<T>, onWait?: OnWait): Promise<T>;
}

/** Facts about a store as a whole. */
export type StoreFacts = {
  /** The version of its layout. */
  readonly layout: number;
  /** Its files and their sizes. */
  readonly parts: readonly { readonly what: string; readonly path: string; readonly bytes: number }[];
};

/** Hears what is being done, in words. */
export type Tell = (doing: string) => void;

/** How a copy is made or restored. */
export type CopyOptions = {
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
  readonly tell: Tell;
};

/** A copy that was made or restored, and verified. */
export type Copied = {
  readonly file: string;
  readonly bytes: number;
  /** Of every row of the data. */
  readonly sha256: string;
  /** How many keys it holds, those revoked included. */
  readonly keys: number;
  readonly madeMs: number;
};

/** A store that was restored, and where the files that it replaced are kept. */
export type Restored = Copied & { readonly kept: readonly string[] };

/**
 * How a store is opened: `write` creates what is missing and brings older layouts up to date; `read` does neither.
 * `inspect` is `read` for a moment that leaves no trace, not even a file beside the store's.
 */
export type Mode = 'read' | 'write' | 'inspect';

/** The store cannot be used as it is: not there, not ours, too new, out of reach. The message says what to do. */
export class StoreUnusable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnusable';
  }
}

/** The message where there is no store. */
export const noStoreAt = (place: string): string =>
  `there is no store at ${place}: bourse import or bourse serve makes one`;

/** This is not the address of a store: the caller's mistake, not the store's. */
export class UnknownStoreAddress extends StoreUnusable {
  constructor(message: string) {
    super(message);
    this.name = 'UnknownStoreAddress';
  }
}

/** Something would be replaced without permission: the caller decides. */
export class WouldReplace extends StoreUnusable {
  constructor(message: string) {
    super(message);
    this.name = 'WouldReplace';
  }
}

/** A path leads to something of the wrong kind, such as a folder: the caller's mistake, not the store's. */
export class UnfitPlace extends StoreUnusable {
  constructor(message: string) {
    super(message);
    this.name = 'UnfitPlace';
  }
}
