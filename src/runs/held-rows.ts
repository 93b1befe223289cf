// The rows that a run held unchanged: an undo of an earlier run leaves them to it (contract 10,
// docs/decisions/0009).
import { hash } from 'node:crypto';
import { firstWhere } from '../base/search.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { Dataset } from '../store/schema/dataset.ts';
import { heldRows } from '../store/schema/internal.ts';
import type { Reader, RowReader, Writer } from '../store/store.ts';

type Row = Readonly<Record<string, unknown>>;

/** Hashes in one stored row. */
const HASHES_PER_PART = 8_192;
const PARTS_PER_READ = 16;
/** The place after every part of a run. */
const LAST_PART = Number.MAX_SAFE_INTEGER;

/** Null values in the JSON of a row: a column that a later layout adds changes no hash. */
const NULLS = /"\w+":null,?/g;

/** A hash of a row and its values, of 64 bits, by its JSON. */
export const hashOfRow = (text: string): bigint =>
  hash('sha1', text.replace(NULLS, ''), 'buffer').readBigUInt64LE();

/** The rows that one run holds as they are stored. */
export class HeldRows {
  #hashes = new BigUint64Array(64);
  #count = 0;

  /** Adds a row by its JSON, whose columns are in the order of the dataset. */
  add(text: string): void {
    if (this.#count === this.#hashes.length) {
      const grown = new BigUint64Array(2 * this.#count);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
    this.#hashes[this.#count++] = hashOfRow(text);
  }

  /** Records them. */
  async write(writer: Writer, runId: number, { name: dataset }: Dataset): Promise<void> {
    const sorted = this.#hashes.subarray(0, this.#count).sort();
    for (let from = 0, part = 0; from < sorted.length; from += HASHES_PER_PART, part++) {
      const hashes = new Uint8Array(sorted.slice(from, from + HASHES_PER_PART).buffer);
      await writer.upsert(heldRows, [{ dataset, run_id: runId, part, hashes }]);
    }
  }
}

/**
 * Adds to some hashes of rows the runs after one that held them, but for those that `passesOver` is true for.
 */
export async function findHolders(
  reader: RowReader,
  { name: dataset }: Dataset,
  afterRun: number,
  wanted: ReadonlyMap<bigint, Set<number>>,
  passesOver: (runId: number) => Promise<boolean>,
): Promise<void> {
  const order = [['run_id', 'asc'] as const, ['part', 'asc'] as const];
  for (let after = [afterRun, LAST_PART]; ; ) {
    const read = { where: { dataset }, order, after, limit: PARTS_PER_READ };
    const parts = await reader.rows(heldRows, read);
    for (const { run_id, hashes } of parts) {
      if (await passesOver(run_id)) continue;
      const part = new BigUint64Array(Uint8Array.from(hashes).buffer);
      for (const [sought, runs] of wanted) if (holds(part, sought)) runs.add(run_id);
    }
    const last = parts.at(-1);
    if (last === undefined || parts.length < PARTS_PER_READ) return;
    after = [last.run_id, (await passesOver(last.run_id)) ? LAST_PART : last.part];
  }
}

/** Removes what is recorded under a name of the rows that a run held. */
export async function forgetHeldRows(writer: Writer, run_id: number, dataset: string): Promise<void> {
  for await (const part of rowsInOrder(writer, heldRows, {
    where: { dataset, run_id },
    order: [['part', 'asc']],
    limit: PARTS_PER_READ,
  }))
    await writer.remove(heldRows, [part]);
}

/** The runs after one that held rows of a dataset. */
export class LaterHolders {
  readonly #reader: Reader;
  readonly #runId: number;
  readonly #byDataset = new Map<string, ReadonlyMap<number, readonly BigUint64Array[]>>();

  constructor(reader: Reader, runId: number) {
    this.#reader = reader;
    this.#runId = runId;
  }

  /**
   * The first run that held a row with these values, before another run where one is given; null where none
   * did.
   */
  async of(dataset: Dataset, row: Row, beforeRun = Number.POSITIVE_INFINITY): Promise<number | null> {
    const runs = this.#byDataset.get(dataset.name) ?? (await this.#read(dataset.name));
    this.#byDataset.set(dataset.name, runs);
    if (runs.size === 0) return null;
    const sought = hashOfRow(JSON.stringify(row));
    for (const [runId, parts] of runs)
      if (runId < beforeRun && parts.some((part) => holds(part, sought))) return runId;
    return null;
  }

  async #read(dataset: string): Promise<ReadonlyMap<number, readonly BigUint64Array[]>> {
    const runs = new Map<number, BigUint64Array[]>();
    for await (const { run_id, hashes } of rowsInOrder(this.#reader, heldRows, {
      where: { dataset },
      range: { from: this.#runId + 1 },
      order: [
        ['run_id', 'asc'],
        ['part', 'asc'],
      ],
      limit: PARTS_PER_READ,
    })) {
      const parts = runs.get(run_id) ?? [];
      runs.set(run_id, parts);
      parts.push(new BigUint64Array(Uint8Array.from(hashes).buffer));
    }
    return runs;
  }
}

function holds(part: BigUint64Array, sought: bigint): boolean {
  const at = firstWhere(part.length, (index) => part[index]! >= sought);
  return part[at] === sought;
}
