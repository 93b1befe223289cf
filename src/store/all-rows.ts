// Reads any number of rows of a dataset, in bounded reads one after the other.
import type { ColumnOf, Dataset, RowOf } from '../datasets/dataset.ts';
import { type Damage, DamagedData, type RawRow, unlessDamaged } from './damage.ts';
import type { Expected, Read, RowReader, RowWriter } from './store.ts';

const ROWS_PER_READ = 2_000;

/** The read of the rows in the order of the key whose columns equal those of a where. */
const allOf = <D extends Dataset>(dataset: D, where: Partial<RowOf<D>>): Expected<D> => ({
  order: dataset.key
    .filter((column) => !Object.hasOwn(where, column))
    .map((column) => [column, 'asc'] as const),
  limit: ROWS_PER_READ,
});

/**
 * The rows in the order of the key whose columns equal `where`: some of the key's first columns, not all of
 * it.
 */
export async function* allRows<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  where: Partial<RowOf<D>> = {},
): AsyncGenerator<RowOf<D>> {
  yield* rowsInOrder(reader, dataset, { where, ...allOf(dataset, where) });
}

/**
 * The range of a read after a row: without the bound on its side, because an engine may seek by it and pass
 * every row read so far.
 */
export function restOf<D extends Dataset>({
  range,
  order,
}: Pick<Read<D>, 'range' | 'order'>): NonNullable<Read<D>['range']> {
  const { from, to } = range ?? {};
  if (order[0]![1] === 'asc') return to === undefined ? {} : { to };
  return from === undefined ? {} : { from };
}

/** Every row of a read, `limit` at a time. Its order must end in a unique key. */
export async function* rowsInOrder<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  read: Omit<Read<D>, 'after'>,
): AsyncGenerator<RowOf<D>> {
  let after: (string | number | null)[] | undefined;
  for (;;) {
    const rows = await reader.rows(
      dataset,
      after === undefined ? read : { ...read, range: restOf(read), after },
    );
    yield* rows;
    if (rows.length < read.limit) return;
    const last = rows.at(-1) as Record<string, string | number | null>;
    after = read.order.map(([column]) => last[column]!);
  }
}

/** The same rows at once: for few of them. */
export async function collectRows<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  where: Partial<RowOf<D>>,
): Promise<RowOf<D>[]> {
  const rows: RowOf<D>[] = [];
  for await (const row of allRows(reader, dataset, where)) rows.push(row);
  return rows;
}

/** The read of a row by these columns. */
const oneRow = <D extends Dataset>(where: Partial<RowOf<D>>): Expected<D> => ({
  order: [[Object.keys(where)[0] as ColumnOf<D>, 'asc']],
  limit: 1,
});

/** Says that `rowWith` comes next for each of these (`RowWriter.expect`). */
export async function expectRows<D extends Dataset>(
  writer: RowWriter,
  dataset: D,
  wheres: readonly Partial<RowOf<D>>[],
): Promise<void> {
  if (wheres.length > 0) await writer.expect(dataset, oneRow(wheres[0]!), wheres);
}

/** The row whose columns have these values, which belong to one row at most; null where there is none. */
export async function rowWith<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  where: Partial<RowOf<D>>,
): Promise<RowOf<D> | null> {
  const [row = null] = await reader.rows(dataset, { where, ...oneRow(where) });
  return row;
}

/**
 * The rows of a read that are not damaged; each other one is given to `onDamage`. For few rows, of a key's
 * order: beside a damaged one they are read one by one.
 */
export async function soundRows<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  read: Omit<Read<D>, 'after' | 'range'>,
  onDamage: (damage: Damage) => void = () => undefined,
): Promise<RowOf<D>[]> {
  const whole = await unlessDamaged(reader.rows(dataset, read));
  if (whole !== null) return whole;
  const found: RowOf<D>[] = [];
  const passed = new Set<string>();
  const placeOf = (row: RawRow) => read.order.map(([column]) => row[column] as string | number | null);
  for (let after: (string | number | null)[] | undefined; found.length < read.limit; ) {
    const next = reader.rows(dataset, { ...read, limit: 1, ...(after && { after }) });
    const [row = null] = await next.catch((error: unknown) => [error]);
    if (row instanceof Error && !(row instanceof DamagedData)) throw row;
    if (row instanceof DamagedData) onDamage(row.damage);
    const stored = row instanceof DamagedData ? row.row : (row as RawRow | null);
    if (stored === null) break;
    after = placeOf(stored);
    // A damaged place may lead back.
    if (passed.has(after.join())) break;
    passed.add(after.join());
    if (stored === row) found.push(row as RowOf<D>);
  }
  return found;
}
