// One write of a store in PostgreSQL: rows in a transaction, blocks of the next versions beside it.

import { raiseVersion, readVersion, versionIn } from '../changes.ts';
import type { Row } from '../checked-rows.ts';
import { KeptFormerRows, leapVersion } from '../former-rows.ts';
import type { Dataset, RowOf } from '../schema/dataset.ts';
import { rowChanges } from '../schema/internal.ts';
import type { BlockAt, BlockRead, PutBlock, StoredBlock, Writer } from '../store.ts';
import { BlockWriter } from './blocks.ts';
import type { Origin, Versions } from './publish.ts';
import { PostgresRows } from './rows.ts';
import type { Session } from './session.ts';

/** The connections of a write, both to one server. */
type WriteSessions = { readonly rows: Session; readonly blocks: Session };

/** Writes rows and blocks. Nothing of it can be seen by others until its transaction publishes it. */
export class PostgresWriter extends PostgresRows implements Writer {
  /** Names the data that it changes. */
  readonly id: string;
  readonly #session: Session;
  readonly #blocks: BlockWriter;
  #former: KeptFormerRows | null;
  /** The last change of each dataset that keeps what its rows were. */
  readonly #turns = new Map<Dataset, Promise<void>>();

  /** `sessions`: in a transaction; `former`: null for a copy, which has what rows were before as rows. */
  constructor(id: string, sessions: WriteSessions, published: Versions, former: KeptFormerRows | null) {
    super(async () => sessions.rows);
    this.id = id;
    this.#session = sessions.rows;
    this.#blocks = new BlockWriter(sessions.blocks, published);
    this.#former = former;
  }

  /** Goes on from the write before; with a version that no store had where somebody has restored the data. */
  async start({ goesOn, nowMs }: Origin): Promise<void> {
    if (goesOn || (await versionIn(this)) === 0) return;
    const { to } = await leapVersion(this, { nowMs });
    this.#former = new KeptFormerRows(to);
  }

  override upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    return this.#keeping(dataset, rows, () => super.upsert(dataset, rows));
  }

  override remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    return this.#keeping(dataset, keys, () => super.remove(dataset, keys));
  }

  /**
   * Makes a change of some rows once what they were is kept, where that is to be: those of one dataset in the
   * order of their calls.
   */
  async #keeping(dataset: Dataset, rows: readonly Row[], change: () => Promise<void>): Promise<void> {
    const former = this.#former;
    const turns = this.#turns;
    if (former === null || (dataset.keepsFormer === undefined && dataset !== rowChanges)) return change();
    if (dataset === rowChanges) {
      former.nameRuns(rows as never);
      return change();
    }
    const done = (turns.get(dataset) ?? Promise.resolve()).then(async () => {
      await former.keep(this, dataset, rows);
      await change();
    });
    turns.set(
      dataset,
      done.catch(() => undefined),
    );
    await done;
  }

  /**
   * Sends what waits, raises the version of the data where anything was changed, and gives the versions to
   * publish.
   */
  async end(): Promise<Versions> {
    // What rows were before is looked at when they are sent.
    await this.sendAll();
    const { written } = this.changes;
    if (!written.isEmpty) await raiseVersion(this, written);
    await this.#former?.end(this);
    await this.sendAll();
    await this.#blocks.flush();
    await this.#blocks.noteReplaced(this.#session);
    return this.#blocks.published;
  }

  /** Sends what waits: for a copy, whose versions are rows like others. */
  async flush(): Promise<void> {
    await this.sendAll();
    await this.#blocks.flush();
  }

  /**
   * Removes the blocks of a write that failed. Gives its last version where none is left, or on its way; else
   * null.
   */
  async undo(): Promise<number | null> {
    try {
      await this.#blocks.undo();
      return this.#blocks.published.version;
    } catch {
      return null;
    }
  }

  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const [session, blocks, former] = [this.#session, this.#blocks, this.#former];
    const kept = former?.count ?? 0;
    await this.sendAll();
    await blocks.beginPart();
    await session.ask('savepoint part');
    try {
      const result = await work();
      await this.sendAll();
      await session.ask('release savepoint part');
      return result;
    } catch (error) {
      await this.changes.undo();
      await blocks.undoPart();
      await session.ask('rollback to savepoint part');
      await session.ask('release savepoint part');
      former?.undoTo(kept);
      throw error;
    }
  }

  blocks(read: BlockRead): Promise<StoredBlock[]> {
    return this.#blocks.read(read);
  }

  version(): Promise<number | null> {
    return readVersion(this);
  }

  blocksAt(places: readonly BlockAt[]): Promise<(StoredBlock | null)[]> {
    return this.#blocks.at(places);
  }

  putBlock(seriesId: number, { bucket, runId = 0, bytes }: PutBlock): Promise<void> {
    this.changes.written.addBlock(seriesId);
    // The caller uses its buffer again.
    return this.#blocks.put({ seriesId, bucket, runId, bytes: bytes?.slice() ?? null });
  }
}
