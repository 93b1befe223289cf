// Bounds what the rows of a JSON file come to: each row of a list repeats the values beside it.
import { statSync } from 'node:fs';
import type { ReadPlan } from './chunk.ts';
import type { DuckChunk } from './duckdb.ts';
import { contentProblem } from './file-problem.ts';
import type { ReadableFile } from './scan.ts';
import { unpackedMax } from './unpack.ts';

/** The bytes of all rows of one file, column by column. */
export class Expansion {
  readonly #name: string;
  readonly #max: number;
  readonly #columns: readonly string[];
  readonly #bytes: number[];

  constructor({ name, path, format }: ReadableFile, { texts, derived = [] }: ReadPlan) {
    this.#name = name;
    this.#max =
      format.kind === 'json' && format.records !== undefined ? unpackedMax(statSync(path).size) : Infinity;
    this.#columns = texts.map((name) => derived.find((made) => made.name === name)?.reported[0] ?? name);
    this.#bytes = this.#columns.map(() => 0);
  }

  /** @throws FileProblem where the rows have more bytes than a packed file may unpack to */
  add({ texts, count }: DuckChunk): void {
    if (this.#max === Infinity) return;
    for (const [index, column] of texts.entries())
      for (let row = 0; row < count; row++) this.#bytes[index]! += column.lengthOf(row);
    if (this.#bytes.reduce((sum, bytes) => sum + bytes, 0) <= this.#max) return;
    const most = this.#columns[this.#bytes.indexOf(Math.max(...this.#bytes))];
    throw contentProblem(
      this.#name,
      `its lists repeat ${most} in each of their rows, which have more than ${this.#max} bytes. Nothing was imported.`,
    );
  }
}
