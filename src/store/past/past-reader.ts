// Reads a store as it was at an earlier version (contract 9.12): a snapshot of the present, less what later
// writes changed in what is read (docs/decisions/0041).
import { encodeBlock } from '../../market/bars/block-writer.ts';
import { collectRows, restOf } from '../all-rows.ts';
import { compareCells, compareRows, keyOrder, misplacedIn, type Order } from '../checked-rows.ts';
import type { Damage } from '../damage.ts';
import { pastBlocks } from '../journal-entries.ts';
import { sharedBy } from '../known-changes.ts';
import { runSpans } from '../schema/bars.ts';
import type { ColumnOf, Dataset, RowOf, Values } from '../schema/dataset.ts';
import { blockChanges, heldBars, rowChanges } from '../schema/internal.ts';
import type { BlockRead, Change, Extent, KeyRead, RankedRead, Read, Reader, StoredBlock } from '../store.ts';
import type { Former, PastState } from './past-state.ts';

/** Whether a row is one that a read gives, whatever its limit. */
function isRead(dataset: Dataset, read: Read): (row: Values) => boolean {
  const misplaced = misplacedIn(dataset, read);
  const { order, after } = read;
  const place = after && Object.fromEntries(order.map(([column], at) => [column, after[at]]));
  return (row) =>
    misplaced(row, null) === null && (place === undefined || compareRows(order, place, row) < 0);
}

/** Rows that are read at once to find some that count still. */
export const ROWS_PER_READ_MAX = 2_000;

/** Values of the columns of an order. */
type Cells = readonly (string | number | null)[];

/** A present read, and whether its order has each row in a place of its own. */
type PresentRead = {
  readonly max: number;
  readonly order: Order;
  readonly isTotal: boolean;
  readonly readPresent: (limit: number, after: Cells | undefined) => Promise<Values[]>;
};

/** Whether the order of a read has each row in a place of its own: by the columns of the whole key. */
const isTotal = ({ key }: Dataset, { where = {}, order }: Read): boolean =>
  key.every((column) => where[column] !== undefined || order.some(([ordered]) => ordered === column));

const hasWholeKey = ({ key }: Dataset, where: Values): boolean =>
  key.every((column) => where[column] !== undefined);

/** Whether the columns of a row equal those of `where`. */
const hasValues = (where: Values, row: Values): boolean =>
  Object.entries(where).every(([column, value]) => row[column] === value);

/** The records that runs have made: an earlier state has those of its runs. */
const ofRuns: ReadonlySet<Dataset> = new Set<Dataset>([blockChanges, heldBars, rowChanges, runSpans]);

/** Reads one earlier state. */
export class PastReader implements Reader {
  readonly #present: Reader;
  readonly #state: PastState;

  constructor(present: Reader, state: PastState) {
    this.#present = present;
    this.#state = state;
  }

  get id(): string {
    return `${this.#present.id} ${this.#state.version}`;
  }

  async version(): Promise<number> {
    return this.#state.version;
  }

  /** It stays as it is. */
  async changesAfter(): Promise<readonly Change[]> {
    return [];
  }

  /** What is another in the rows with some values; null where all are as they were. */
  async #former(dataset: Dataset, where: Values): Promise<Former | null> {
    if (!ofRuns.has(dataset)) return this.#state.former(dataset, where);
    const { lastRun } = this.#state;
    if (((where.run_id as number | undefined) ?? Number.POSITIVE_INFINITY) <= lastRun) return null;
    return { isOther: ({ run_id }) => (run_id as number) > lastRun, rows: () => [], at: () => undefined };
  }

  async rows<D extends Dataset>(dataset: D, given: Read<D>): Promise<RowOf<D>[]> {
    const read = given as unknown as Read;
    const where = (read.where ?? {}) as Values;
    const former = await this.#former(dataset, where);
    if (former === null) return this.#present.rows(dataset, given);
    const known = hasWholeKey(dataset, where) ? former.at(where) : undefined;
    const isOfRead = isRead(dataset, read);
    if (known !== undefined) return (known !== null && isOfRead(known) ? [known] : []) as RowOf<D>[];
    const order = read.order as unknown as Order;
    const wholeOrder = [...order, ...keyOrder(dataset)];
    const readPresent = async (limit: number, after: Cells | undefined): Promise<Values[]> => {
      const rest = after === undefined ? given : { ...given, range: restOf(given), after };
      return (await this.#present.rows(dataset, { ...rest, limit })) as Values[];
    };
    return this.#merged(
      former,
      { max: read.limit, order, isTotal: isTotal(dataset, read), readPresent },
      {
        rows: [...former.rows()].filter(isOfRead),
        compare: (a, b) => compareRows(wholeOrder, a, b),
      },
    ) as Promise<RowOf<D>[]>;
  }

  /**
   * Up to `max` rows: those of a present read that count still, and former ones. Where too many count no
   * more, the read goes on after the last one, for twice as many; in an order that has some rows beside each
   * other it begins again.
   */
  async #merged(
    former: Former,
    { max, order, isTotal: goesOn, readPresent }: PresentRead,
    {
      rows,
      compare,
    }: { readonly rows: readonly Values[]; readonly compare: (a: Values, b: Values) => number },
  ): Promise<Values[]> {
    let stay: Values[] = [];
    let after: Cells | undefined;
    for (let limit = max; ; ) {
      const found = await readPresent(limit, after);
      if (!goesOn) stay = [];
      for (const row of found) if (!former.isOther(row)) stay.push(row);
      if (stay.length >= max || found.length < limit) break;
      if (goesOn) after = order.map(([column]) => found.at(-1)![column] as Cells[number]);
      limit = goesOn ? Math.max(max, Math.min(2 * limit, ROWS_PER_READ_MAX)) : 2 * limit;
    }
    const all = rows.length === 0 ? stay : [...stay, ...rows].sort(compare);
    return all.slice(0, max);
  }

  async group<D extends Dataset>(dataset: D, where: Partial<RowOf<D>>): Promise<RowOf<D>[]> {
    const former = await this.#former(dataset, where as Values);
    const found = await this.#present.group(dataset, where);
    if (former === null) return found;
    const stay = found.filter((row) => !former.isOther(row)) as Values[];
    const back = [...former.rows()].filter((row) => hasValues(where as Values, row));
    const order = keyOrder(dataset);
    return [...stay, ...back].sort((a, b) => compareRows(order, a, b)) as RowOf<D>[];
  }

  async rowsByKey<D extends Dataset>(
    dataset: D,
    keys: readonly Partial<RowOf<D>>[],
    read?: KeyRead<D>,
  ): Promise<RowOf<D>[][]> {
    if (keys.length === 0) return [];
    if (read !== undefined) return Promise.all(keys.map((where) => this.rows(dataset, { where, ...read })));
    const former = await this.#former(dataset, sharedBy(keys));
    const found = await this.#present.rowsByKey(dataset, keys);
    if (former === null) return found;
    const columns = Object.keys(keys[0] ?? {});
    const keyOf = (row: Values): string => JSON.stringify(columns.map((column) => row[column]));
    const back = Map.groupBy(former.rows() as Iterable<RowOf<D>>, keyOf);
    return found.map((rows, at) => [
      ...rows.filter((row) => !former.isOther(row)),
      ...(back.get(keyOf(keys[at]!)) ?? []),
    ]);
  }

  async ranked<D extends Dataset>(dataset: D, read: RankedRead<D>): Promise<(string | number)[][]> {
    const former = await this.#former(dataset, read.where as Values);
    if (former === null) return this.#present.ranked(dataset, read);
    const columns = read.order.map(([column]) => column as string);
    const order = read.order as unknown as Order;
    // A unique key is among the columns of the answer and those that must be equal.
    const rowOf = (cells: readonly (string | number)[]): Values => ({
      ...(read.where as Values),
      ...Object.fromEntries(columns.map((column, at) => [column, cells[at]])),
    });
    const readPresent = async (limit: number, after: Cells | undefined): Promise<Values[]> =>
      (
        await this.#present.ranked(
          dataset,
          after ? { ...read, limit, after: after as (string | number)[] } : { ...read, limit },
        )
      ).map(rowOf);
    const found = await this.#merged(
      former,
      { max: read.limit, order, isTotal: true, readPresent },
      {
        rows: [...former.rows()].flatMap((row) => rankedOf(read as unknown as RankedRead, row)),
        compare: (a, b) => compareRows(order, a, b),
      },
    );
    return found.map((row) => columns.map((column) => row[column] as string | number));
  }

  async count<D extends Dataset>(
    dataset: D,
    where: Partial<RowOf<D>> = {},
    least: Partial<RowOf<D>> = {},
  ): Promise<number> {
    if ((await this.#former(dataset, where as Values)) === null)
      return this.#present.count(dataset, where, least);
    const isOver = (row: Values): boolean =>
      Object.entries(least).every(([column, value]) => compareCells(row[column], value) >= 0);
    return (await collectRows(this, dataset, where)).filter(isOver).length;
  }

  /** The present rows are looked at too: a lost one is damage. */
  async extent<D extends Dataset>(dataset: D, column?: ColumnOf<D>): Promise<Extent> {
    const present = await this.#present.extent(dataset, column);
    if ((await this.#former(dataset, {})) === null) return present;
    const rows = (await collectRows(this, dataset, {})) as Values[];
    const values = column === undefined ? [] : rows.map((row) => row[column] as number | null);
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    return { rows: rows.length, first: known[0] ?? null, last: known.at(-1) ?? null };
  }

  structure(of: Dataset | number): Promise<readonly Damage[]> {
    return this.#present.structure(of);
  }

  async blocks(read: BlockRead): Promise<StoredBlock[]> {
    const blocks = await pastBlocks(this.#present, read, this.#state.lastRun);
    return blocks.map((block) => {
      if (!('bars' in block)) return block;
      return { bucket: block.bucket, runId: block.runId, bytes: encodeBlock(block.bars) };
    });
  }
}

/** A former row as a ranked read gives it; nothing where it is of no group, or out of bounds. */
function rankedOf(
  { where, groupBy, within, groups, between, order, after }: RankedRead,
  row: Values,
): Values[] {
  const group = groups.find(
    ({ at, from = '', below = '' }) =>
      groupBy.every((column, place) => row[column] === at[place]) &&
      (within === undefined || (from <= (row[within] as string) && (row[within] as string) < below)),
  );
  if (group === undefined || !hasValues(where as Values, row)) return [];
  const value = between && (row[between.column] as number);
  const { above = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY } = between ?? {};
  if (value !== undefined && !(value > above && value < below)) return [];
  const ranked: Values = { ...row, rank: group.rank };
  const place = after && Object.fromEntries(order.map(([column], at) => [column, after[at]]));
  return place === undefined || compareRows(order, place, ranked) < 0 ? [ranked] : [];
}
