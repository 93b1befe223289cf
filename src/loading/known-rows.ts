// The stored rows of keys that come next in a file, looked up together: on another machine each look-up alone waits for its answer.
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import type { Values } from '../datasets/field.ts';
import { rowKeyOf } from '../history/journal.ts';
import { type FoundRow, soundRowWith } from '../store/all-rows.ts';
import { DamagedData } from '../store/damage.ts';
import type { Writer } from '../store/store.ts';

/** Keys that differ in their last column are looked up together where there are so many. */
const TOGETHER_MIN = 8;

/** The stored rows of one dataset, as an import finds them. */
export class KnownRows {
  readonly #writer: Writer;
  readonly #dataset: Dataset;
  /** By key, for the first use of each, because the import may change it; null where there is none. */
  readonly #expected = new Map<string, RowOf<Dataset> | null>();

  constructor(writer: Writer, dataset: Dataset) {
    this.#writer = writer;
    this.#dataset = dataset;
  }

  /** Looks up the keys of rows that come next, in place of those before them. */
  async expect(rows: readonly Values[]): Promise<void> {
    this.#expected.clear();
    const columns = this.#dataset.key.slice(0, -1);
    const groups = Map.groupBy(rows, (row) => JSON.stringify(columns.map((column) => row[column])));
    for (const group of groups.values()) if (group.length >= TOGETHER_MIN) await this.#lookUp(group);
  }

  /** Looks up rows whose keys differ in their last column. Where one is damaged, each is looked up alone when it is used. */
  async #lookUp(rows: readonly Values[]): Promise<void> {
    const { key } = this.#dataset;
    const last = key.at(-1)!;
    const where = Object.fromEntries(key.slice(0, -1).map((column) => [column, rows[0]![column]]));
    const values = [...new Set(rows.map((row) => row[last] as string | number))];
    try {
      const found = await this.#writer.among(this.#dataset, where, last, values);
      for (const row of rows) this.#expected.set(rowKeyOf(this.#dataset, row), null);
      for (const row of found) this.#expected.set(rowKeyOf(this.#dataset, row), row);
    } catch (error) {
      if (!(error instanceof DamagedData)) throw error;
    }
  }

  /** The stored row with the key of some values. */
  async of(values: Values): Promise<FoundRow<Dataset>> {
    const name = rowKeyOf(this.#dataset, values);
    const row = this.#expected.get(name);
    this.#expected.delete(name);
    if (row !== undefined) return { row, remains: null };
    const key = Object.fromEntries(this.#dataset.key.map((column) => [column, values[column]]));
    return soundRowWith(this.#writer, this.#dataset, key);
  }
}
