// A file that a service keeps open. If another file takes its place (rm and a new import, rsync), that one is
// opened instead.
import { removeTemporary } from '../../base/temporary.ts';
import { storeLimits } from '../limits.ts';
import { noStoreAt, StoreUnavailable, StoreUnusable, type Tell } from '../store.ts';
import type { Database } from './connection.ts';
import { fileAt } from './files.ts';

const logOf = ({ path }: Database): string => `${path}-wal`;

/** An open file that follows its name. The file before is closed once no transaction uses it. */
export class Followed<O> {
  readonly #open: () => Promise<Database>;
  readonly #accessTo: (database: Database) => O;
  readonly #tell: Tell;
  readonly #timer: NodeJS.Timeout;
  #database: Database;
  #opened: O;
  /** True if the name led to the open file at the last look. */
  #isThere = true;
  /** Device and inode of its log at the last look. */
  #log: string | null = null;
  /** The last message since the name led to the open file. */
  #told = '';
  #reopening: Promise<O> | null = null;
  #isClosed = false;

  private constructor(
    open: () => Promise<Database>,
    accessTo: (database: Database) => O,
    tell: Tell,
    database: Database,
  ) {
    this.#open = open;
    this.#accessTo = accessTo;
    this.#tell = tell;
    this.#database = database;
    this.#opened = accessTo(database);
    this.#look();
    this.#timer = setInterval(() => this.#look(), storeLimits.replacedCheckMs);
    this.#timer.unref();
  }

  /**
   * Opens a file by `open`, which is called again for each one that takes its place; `tell` is called then,
   * and when it is removed.
   */
  static async begin<O>(
    open: () => Promise<Database>,
    accessTo: (database: Database) => O,
    tell: Tell,
  ): Promise<Followed<O>> {
    return new Followed(open, accessTo, tell, await open());
  }

  /** The file that was open at the last look. */
  get opened(): O {
    return this.#opened;
  }

  /** The file that has the name now. @throws StoreUnavailable while that cannot be opened */
  async now(): Promise<O> {
    if (this.#isThere) return this.#opened;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null;
    });
    return this.#reopening;
  }

  #look(): void {
    this.#isThere = !this.#database.isReplaced;
    if (this.#isThere) {
      this.#log = fileAt(logOf(this.#database));
      this.#told = '';
      // A request that comes meanwhile gets the error.
    } else this.now().catch(() => undefined);
  }

  async #reopen(): Promise<O> {
    const before = this.#database;
    const { path } = before;
    const file = fileAt(path);
    // The same file may have come back since the last look.
    if (file === before.file) {
      this.#isThere = true;
      return this.#opened;
    }
    if (file === null) {
      this.#tellOnce(
        `${path} was removed, or cannot be reached: requests are refused until it is there again`,
      );
      throw new StoreUnavailable(noStoreAt(path));
    }
    // SQLite would take the log of the file before for that of the next one (sqlite.org/howtocorrupt.html,
    // 2.4). It stays while the name leads nowhere: the same file may come back, and needs it.
    if (this.#log !== null && this.#log === fileAt(logOf(before)))
      for (const name of [logOf(before), `${path}-shm`]) removeTemporary(name);
    this.#tellOnce(`another file, ${file}, has taken the place of ${path}: it is opened`);
    let database: Database;
    try {
      database = await this.#open();
    } catch (error) {
      // It may still be written.
      throw error instanceof StoreUnusable ? new StoreUnavailable(error.message, { cause: error }) : error;
    }
    if (this.#isClosed) {
      database.close();
      throw new StoreUnavailable(`${path} was closed`);
    }
    this.#database = database;
    before.closeSoon();
    this.#opened = this.#accessTo(this.#database);
    this.#isThere = true;
    return this.#opened;
  }

  #tellOnce(words: string): void {
    if (words !== this.#told) this.#tell(words);
    this.#told = words;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#database.close();
  }
}
