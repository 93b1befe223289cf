// What a store was at an earlier version: the rows that later writes changed, from the journal and from
// former rows (docs/decisions/0041).
import { heapBytes, type SizedCache } from '../../base/sized-cache.ts';
import { rowsInOrder } from '../all-rows.ts';
import { oldestVersion } from '../changes.ts';
import { type Damage, refuseDamage } from '../damage.ts';
import { formerPart, type Leap, leapsAfter } from '../former-rows.ts';
import { termsOf } from '../instrument-terms.ts';
import { rowBefore, rowKeyOf } from '../journal-entries.ts';
import type { Dataset, RowOf, Values } from '../schema/dataset.ts';
import { formerRows, importRuns, rowChanges } from '../schema/internal.ts';
import { instruments, instrumentTerms } from '../schema/reference.ts';
import type { Reader } from '../store.ts';

type FormerRow = RowOf<typeof formerRows>;

/** Entries read at a time: some hold long texts. */
const ENTRIES_PER_READ = 256;

/** Rows that are read in the time of one question to the store. */
const ROWS_PER_QUESTION = 8;

/** Rows as they were, by their key: null where there was none. Rows of other keys are as they were. */
type FormerByKey = ReadonlyMap<string, Values | null>;

/**
 * The rows of a read that are others than they were: present ones that count no more, and those in their
 * place.
 */
export type Former = {
  isOther(row: Values): boolean;
  readonly rows: () => Iterable<Values>;
  /** The row of a whole key: undefined where it is as it was. */
  at(key: Values): Values | null | undefined;
};

/** Why a store cannot be read as it was at a version. */
export type Unreadable =
  | { readonly why: 'later' | 'earlier'; readonly version: number }
  /** The store never had it: after the version before it went on with another, as after a restore. */
  | ({ readonly why: 'leapt' } & Leap)
  /** A run that it had was undone since: the versions from its own to that of its undoing are gone. */
  | { readonly why: 'undone'; readonly run: number; readonly from: number | null; readonly to: number }
  /** So much of a dataset was changed since that looking through it would take too long. */
  | { readonly why: 'far'; readonly dataset: string };

/** A version that cannot be read. */
export class UnreadableVersion extends Error {
  override readonly name = 'UnreadableVersion';
  readonly reason: Unreadable;

  constructor(reason: Unreadable) {
    super(`the store cannot be read as it was: ${reason.why}`);
    this.reason = reason;
  }
}

/**
 * The finds of earlier requests: rows, the last run of a state, or that it takes more than they look
 * through.
 */
export type FoundFormer = FormerByKey | number | 'far';

/**
 * The finds of earlier requests; and the most entries and bytes of changed rows of one dataset that all of
 * them look through.
 */
type PastBounds = {
  readonly found: SizedCache<FoundFormer>;
  readonly entriesMax: number;
  readonly bytesMax: number;
};

/** Counts what is looked through. */
class Looked {
  #entries = 0;
  #bytes = 0;
  readonly #bounds: PastBounds;

  constructor(bounds: PastBounds) {
    this.#bounds = bounds;
  }

  /** Counts an entry, with the row that is kept of it. Whether that is too much. */
  isTooMuch(row: unknown = null): boolean {
    this.#entries++;
    this.#bytes += row === null ? 0 : heapBytes(row);
    return this.#entries > this.#bounds.entriesMax || this.#bytes > this.#bounds.bytesMax;
  }
}

const lostFormer = (dataset: string, version: number, counted: number, read: number): Damage => ({
  dataset: formerRows.name,
  place: `the rows of ${dataset} after version ${version}`,
  problem: `${read} are there, and its index counts ${counted}`,
});

const lostEntries = (run: number, { name }: Dataset, stored: number, read: number): Damage => ({
  dataset: rowChanges.name,
  place: `the entries of run ${run} about ${name}`,
  problem: `${read} are there, and ${stored} were stored`,
});

/** The newest run that a state has, where later ones are stored. */
const EVERY_RUN = Number.POSITIVE_INFINITY;

/** One earlier state of a store, seen from one present state. */
export class PastState {
  readonly version: number;
  /** The last run whose changes it has. */
  lastRun = EVERY_RUN;
  /** A run that it has and that was undone since: its journal is gone. */
  #undone: Unreadable | null = null;
  readonly #reader: Reader;
  readonly #bounds: PastBounds;
  readonly #place: string;

  private constructor(reader: Reader, present: number, version: number, bounds: PastBounds) {
    this.#reader = reader;
    this.version = version;
    this.#bounds = bounds;
    this.#place = `${reader.id} ${present} ${version}`;
  }

  /**
   * The state of a version, seen from a reader whose version is `present`. @throws UnreadableVersion;
   * DamagedData
   */
  static async open(
    reader: Reader,
    present: number,
    version: number,
    bounds: PastBounds,
  ): Promise<PastState> {
    if (version > present) throw new UnreadableVersion({ why: 'later', version: present });
    const oldest = await oldestVersion(reader);
    if (version < oldest) throw new UnreadableVersion({ why: 'earlier', version: oldest });
    const state = new PastState(reader, present, version, bounds);
    await state.#findRuns();
    return state;
  }

  /**
   * Refuses a state with a run that was undone later: only the records of runs can be read of it. @throws
   * UnreadableVersion
   */
  requireJournal(): void {
    if (this.#undone !== null) throw new UnreadableVersion(this.#undone);
  }

  /** Finds the last run of the state, and whether a run that it has was changed since: then it was undone. */
  async #findRuns(): Promise<void> {
    const name = `${this.#place} last run`;
    const known = this.#bounds.found.get(name);
    if (known === 'far') throw this.#far(importRuns);
    if (typeof known === 'number') {
      this.lastRun = known;
      return;
    }
    for await (const leap of leapsAfter(this.#reader, this.version)) {
      if (this.version > leap.from) throw new UnreadableVersion({ why: 'leapt', ...leap });
      break;
    }
    const looked = new Looked(this.#bounds);
    for await (const entry of this.#allEntries(importRuns.name)) {
      if (looked.isTooMuch()) {
        this.#bounds.found.set(name, 'far');
        throw this.#far(importRuns);
      }
      const [run] = JSON.parse(entry.row_key) as [number];
      if (entry.before === null) this.lastRun = Math.min(this.lastRun, run - 1);
      else if (run <= this.lastRun) {
        const { data_version: from } = entry.before as RowOf<typeof importRuns>;
        this.#undone ??= { why: 'undone', run, from, to: entry.version };
      }
    }
    if (this.#undone === null) this.#bounds.found.set(name, this.lastRun);
  }

  #far({ name }: Dataset): UnreadableVersion {
    return new UnreadableVersion({ why: 'far', dataset: name });
  }

  /** What of a dataset was otherwise; null where nothing was, as far as `where` tells. */
  async former(dataset: Dataset, where: Values): Promise<Former | null> {
    if (dataset === instrumentTerms) return this.#formerTerms();
    const part = dataset.keepsFormer === undefined ? null : formerPart(dataset, where);
    const byKey = await this.#byKey(dataset, part);
    if (byKey.size === 0) return null;
    return {
      isOther: (row) => byKey.has(rowKeyOf(dataset, row)),
      rows: () => byKey.values().filter((row) => row !== null),
      at: (key) => byKey.get(rowKeyOf(dataset, key)),
    };
  }

  /** Terms follow from the rows of instruments. */
  async #formerTerms(): Promise<Former | null> {
    const byKey = await this.#byKey(instruments, null);
    if (byKey.size === 0) return null;
    return {
      isOther: (term) => byKey.has(rowKeyOf(instruments, term)),
      rows: () => byKey.values().flatMap((row) => termsOf(row as RowOf<typeof instruments> | null)),
      at: () => undefined,
    };
  }

  async #byKey(dataset: Dataset, part: number | null): Promise<FormerByKey> {
    const { found } = this.#bounds;
    const name = `${this.#place} ${dataset.name} ${part}`;
    let byKey = found.get(name);
    if (byKey === undefined) {
      const read =
        dataset.keepsFormer === undefined ? this.#fromJournal(dataset) : this.#fromFormerRows(dataset, part);
      byKey = await read;
      found.set(name, byKey);
    }
    if (typeof byKey !== 'object') throw this.#far(dataset);
    return byKey;
  }

  /** The first change after the version found what its state has. */
  async #fromFormerRows(dataset: Dataset, part: number | null): Promise<FormerByKey | 'far'> {
    const byKey = new Map<string, Values | null>();
    const looked = new Looked(this.#bounds);
    for await (const { row_key, before } of this.#entries(dataset.name, part)) {
      const row = byKey.has(row_key) ? null : rowBefore(dataset, { before });
      if (looked.isTooMuch(row)) return 'far';
      if (!byKey.has(row_key)) byKey.set(row_key, row);
    }
    return byKey;
  }

  /** The first later run that changed a row found what the state has. */
  async #fromJournal(dataset: Dataset): Promise<FormerByKey | 'far'> {
    /** How many entries each run has; null where an older program wrote them. */
    const runs = new Map<number, number | null>();
    const looked = new Looked(this.#bounds);
    for await (const { row_key, before } of this.#allEntries(dataset.name)) {
      // To ask for the rows of a run takes as long as some rows.
      for (let row = 0; row < ROWS_PER_QUESTION; row++) if (looked.isTooMuch()) return 'far';
      runs.set(Number(row_key), (before as { readonly entries: number } | null)?.entries ?? null);
    }
    const byKey = new Map<string, Values | null>();
    for (const [run_id, entries] of [...runs].sort(([a], [b]) => a - b)) {
      if (run_id <= this.lastRun) continue;
      let read = 0;
      const question = {
        where: { run_id, dataset: dataset.name },
        order: [['row_key', 'asc'] as const],
        limit: ENTRIES_PER_READ,
      };
      for await (const entry of rowsInOrder(this.#reader, rowChanges, question)) {
        read++;
        const row = byKey.has(entry.row_key) ? null : rowBefore(dataset, entry);
        if (looked.isTooMuch(row)) return 'far';
        if (!byKey.has(entry.row_key)) byKey.set(entry.row_key, row);
      }
      if (entries !== null && read !== entries) refuseDamage(lostEntries(run_id, dataset, entries, read));
    }
    return byKey;
  }

  /** Former rows of a dataset that were kept by writes after this version, part by part, in their order. */
  #entries(dataset: string, part: number | null): AsyncGenerator<FormerRow> {
    const range = { from: this.version + 1 };
    const version = ['version', 'asc'] as const;
    const key = ['row_key', 'asc'] as const;
    const read =
      part === null
        ? { where: { dataset }, order: [version, ['part', 'asc'] as const, key] }
        : { where: { dataset, part }, order: [version, key] };
    return rowsInOrder(this.#reader, formerRows, { ...read, range, limit: ENTRIES_PER_READ });
  }

  /**
   * The same of a dataset that is kept as a whole: the rows are found by their key, and the index beside it
   * counts them, because each may have lost some.
   */
  async *#allEntries(dataset: string): AsyncGenerator<FormerRow> {
    let read = 0;
    for await (const entry of this.#entries(dataset, 0)) {
      read++;
      yield entry;
    }
    const counted = await this.#reader.count(formerRows, { dataset }, { version: this.version + 1 });
    if (read !== counted) refuseDamage(lostFormer(dataset, this.version, counted, read));
  }
}
