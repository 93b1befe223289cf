// Answers of reads that were looked up together, before they are asked for: each holds until a row that it
// may be about is written.
import type { Dataset } from '../../datasets/dataset.ts';
import type { Row } from '../checked-rows.ts';
import type { StoredCell } from '../row-check.ts';
import type { Expected, Read } from '../store.ts';
import { arrayOf, arrayType, postgresCompiler } from './dialect.ts';
import type { Parameter } from './session.ts';

/** The rows of a read as they are stored; null until they are known. */
type Answer = readonly StoredCell[][] | null;

/** Reads that differ in the values of these columns alone. */
type Reads = { readonly columns: readonly string[]; readonly answers: Map<string, Answer> };

const placeOf = (columns: readonly string[], row: Row): string =>
  JSON.stringify(columns.map((column) => row[column]));

const shapeOf = (columns: readonly string[], { range, order, limit }: Expected): string =>
  JSON.stringify([columns, range, order, limit]);

/** The answers that one write has. */
export class ExpectedReads {
  readonly #reads = new Map<Dataset, Map<string, Reads>>();

  /**
   * Begins to expect reads, in place of those of their shape before them: the function that it gives takes
   * their answers.
   */
  begin(
    dataset: Dataset,
    read: Expected,
    wheres: readonly Row[],
  ): (answers: readonly StoredCell[][][]) => void {
    const columns = Object.keys(wheres[0]!);
    const places = wheres.map((where) => placeOf(columns, where));
    const answers = new Map<string, Answer>(places.map((place) => [place, null]));
    const shapes = this.#reads.get(dataset) ?? new Map<string, Reads>();
    this.#reads.set(dataset, shapes.set(shapeOf(columns, read), { columns, answers }));
    return (found) => {
      // What was written meanwhile is not expected any more.
      for (const [at, place] of places.entries()) if (answers.has(place)) answers.set(place, found[at]!);
    };
  }

  /** The answer of a read; null where it is not known. */
  answer(dataset: Dataset, { where = {}, along, after, ...read }: Read): Answer {
    const shapes = this.#reads.get(dataset);
    if (shapes === undefined || along !== undefined || after !== undefined) return null;
    const reads = shapes.get(shapeOf(Object.keys(where), read));
    return reads?.answers.get(placeOf(reads.columns, where)) ?? null;
  }

  /** Forgets the answers that a row may be in. */
  forget(dataset: Dataset, row: Row): void {
    for (const { columns, answers } of this.#reads.get(dataset)?.values() ?? [])
      answers.delete(placeOf(columns, row));
  }

  clear(): void {
    this.#reads.clear();
  }
}

/**
 * One question for many reads: each row of its answer has the place of its read, from 1, and then its own
 * columns.
 */
export function questionOf(
  dataset: Dataset,
  read: Expected,
  wheres: readonly Row[],
): { readonly sql: string; readonly values: Parameter[] } {
  const columns = Object.keys(wheres[0]!);
  const kinds = columns.map((column) => dataset.columns[column]!.kind);
  const one = { ...read, where: wheres[0]! } as unknown as Read;
  const statement = postgresCompiler.read(dataset, one);
  // The values of `where` are the first ones of a read: here they are columns of arrays.
  const ofEach = statement.sql.replaceAll(/\$(\d+)/g, (mark, at) =>
    Number(at) <= columns.length ? `wanted.of${at}` : mark,
  );
  const arrays = kinds.map((kind, at) => `$${at + 1}::${arrayType(kind)}`);
  const names = columns.map((_, at) => `of${at + 1}`);
  const sql = `select wanted.place, found.* from unnest(${arrays.join()}) with ordinality as wanted(${names.join()}, place)
    cross join lateral (${ofEach}) as found`;
  const values = columns.map((column, at) =>
    arrayOf(
      kinds[at]!,
      wheres.map((where) => where[column] as string | number),
    ),
  );
  return { sql, values: [...values, ...(statement.values(one).slice(columns.length) as Parameter[])] };
}
