// Reads any number of rows of a dataset, in bounded reads one after the other.
import { type Damage, DamagedData, unlessDamaged } from './damage.ts';
import type { ColumnOf, Dataset, RowOf, Values } from './schema/dataset.ts';
import type { KeyRead, Read, RowLists } from './store.ts';

const ROWS_PER_READ = 2_000;

/**
 * The rows in the order of the key whose columns equal `where`: some of the key's first columns, not all of
 * it.
 */
export async function* allRows<D extends Dataset>(
  reader: RowLists,
  dataset: D,
  where: Partial<RowOf<D>> = {},
): AsyncGenerator<RowOf<D>> {
  const rest = dataset.key.filter((column) => !Object.hasOwn(where, column));
  const order = rest.map((column) => [column, 'asc'] as const);
  yield* rowsInOrder(reader, dataset, { where, order, limit: ROWS_PER_READ });
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

/**
 * Every row of a read, `limit` at a time; `known` are the first ones where they were read already. Its order
 * must end in a unique key.
 */
export async function* rowsInOrder<D extends Dataset>(
  reader: RowLists,
  dataset: D,
  read: Omit<Read<D>, 'after'>,
  known?: readonly RowOf<D>[],
): AsyncGenerator<RowOf<D>> {
  for (let rows = known ?? (await reader.rows(dataset, read)); ; ) {
    yield* rows;
    if (rows.length < read.limit) return;
    const last = rows.at(-1) as Record<string, string | number | null>;
    const after = read.order.map(([column]) => last[column]!);
    rows = await reader.rows(dataset, { ...read, range: restOf(read), after });
  }
}

/** The same rows at once: for few of them. */
export const collectRows = <D extends Dataset>(
  reader: RowLists,
  dataset: D,
  where: Partial<RowOf<D>>,
): Promise<RowOf<D>[]> => Array.fromAsync(allRows(reader, dataset, where));

/** The row whose columns have these values, which belong to one row at most; null where there is none. */
export async function rowWith<D extends Dataset>(
  reader: RowLists,
  dataset: D,
  where: Partial<RowOf<D>>,
): Promise<RowOf<D> | null> {
  const order = [[Object.keys(where)[0] as ColumnOf<D>, 'asc'] as const];
  const [row = null] = await reader.rows(dataset, { where, order, limit: 1 });
  return row;
}

/** The same for each of some values, asked for together. */
export async function rowsWith<D extends Dataset>(
  reader: RowLists,
  dataset: D,
  wheres: readonly Partial<RowOf<D>>[],
): Promise<(RowOf<D> | null)[]> {
  return (await reader.rowsByKey(dataset, wheres)).map(([row = null]) => row);
}

/**
 * The rows whose columns equal `where`, and whose `column` has one of some distinct values, in the order of
 * these.
 */
export async function rowsAmong<D extends Dataset>(
  reader: RowLists,
  dataset: D,
  where: Partial<RowOf<D>>,
  column: ColumnOf<D>,
  values: readonly (string | number)[],
): Promise<RowOf<D>[]> {
  const keys = values.map((value) => ({ ...where, [column]: value }) as Partial<RowOf<D>>);
  return (await reader.rowsByKey(dataset, keys)).flat();
}

/**
 * The rows of a read that are not damaged; each other one is given to `onDamage`. For few rows, of a key's
 * order: beside a damaged one they are read one by one.
 */
export async function soundRows<D extends Dataset>(
  reader: RowLists,
  dataset: D,
  read: Omit<Read<D>, 'after' | 'range'>,
  onDamage: (damage: Damage) => void = () => undefined,
): Promise<RowOf<D>[]> {
  const whole = await unlessDamaged(reader.rows(dataset, read));
  if (whole !== null) return whole;
  const found: RowOf<D>[] = [];
  const passed = new Set<string>();
  const placeOf = (row: Values) => read.order.map(([column]) => row[column] as string | number | null);
  for (let after: (string | number | null)[] | undefined; found.length < read.limit; ) {
    const next = reader.rows(dataset, { ...read, limit: 1, ...(after && { after }) });
    const [row = null] = await next.catch((error: unknown) => [error]);
    if (row instanceof Error && !(row instanceof DamagedData)) throw row;
    if (row instanceof DamagedData) onDamage(row.damage);
    const stored = row instanceof DamagedData ? row.row : (row as Values | null);
    if (stored === null) break;
    after = placeOf(stored);
    // A damaged place may lead back.
    if (passed.has(after.join())) break;
    passed.add(after.join());
    if (stored === row) found.push(row as RowOf<D>);
  }
  return found;
}

/** The rows of each of some keys (`RowReader.rowsByKey`); null for a key that has a damaged one. */
export async function soundRowsByKey<D extends Dataset>(
  reader: RowLists,
  dataset: D,
  keys: readonly Partial<RowOf<D>>[],
  read?: KeyRead<D>,
): Promise<(readonly RowOf<D>[] | null)[]> {
  const all = await unlessDamaged(reader.rowsByKey(dataset, keys, read));
  if (all !== null) return all;
  const found: (readonly RowOf<D>[] | null)[] = [];
  for (const key of keys)
    found.push((await unlessDamaged(reader.rowsByKey(dataset, [key], read)))?.[0] ?? null);
  return found;
}
