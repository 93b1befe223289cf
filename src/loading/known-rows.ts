// The stored rows of keys that come next in a file, looked up together: on another machine each look-up alone
// waits for its answer.
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import type { Values } from '../datasets/field.ts';
import { expectRows, rowWith } from '../store/all-rows.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';

/** The stored rows of one dataset, as an import finds them. */
export class KnownRows {
  readonly #writer: Writer;
  readonly #dataset: Dataset;
  /** By key, for the first use of each, because the import may change it. */
  readonly #expected = new Map<string, RowOf<Dataset> | null>();

  constructor(writer: Writer, dataset: Dataset) {
    this.#writer = writer;
    this.#dataset = dataset;
  }

  /**
   * Looks up the keys of rows that come next, in place of those before them. It gives the rows whose key no
   * stored row has.
   */
  async expect<V extends Values>(rows: readonly V[]): Promise<V[]> {
    this.#expected.clear();
    await expectRows(
      this.#writer,
      this.#dataset,
      rows.map((row) => this.#keyOf(row)),
    );
    const unknown: V[] = [];
    for (const row of rows) {
      const found = await this.#find(row);
      this.#expected.set(rowKeyOf(this.#dataset, row), found);
      if (found === null) unknown.push(row);
    }
    return unknown;
  }

  /** The stored row with the key of some values; null where there is none. */
  async of(values: Values): Promise<RowOf<Dataset> | null> {
    const name = rowKeyOf(this.#dataset, values);
    const found = this.#expected.get(name);
    this.#expected.delete(name);
    return found === undefined ? this.#find(values) : found;
  }

  #find(values: Values): Promise<RowOf<Dataset> | null> {
    return rowWith(this.#writer, this.#dataset, this.#keyOf(values));
  }

  readonly #keyOf = (values: Values): Partial<RowOf<Dataset>> =>
    Object.fromEntries(this.#dataset.key.map((column) => [column, values[column]]));
}
