// Every row of a dataset, a bounded read after the other.
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import type { RowReader } from './store.ts';

const ROWS_PER_READ = 2_000;

/** The rows in the order of the key; those alone whose columns equal `where`, which names the key's first ones. */
export async function* allRows<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  where: Partial<RowOf<D>> = {},
): AsyncGenerator<RowOf<D>> {
  const order = dataset.key
    .filter((column) => !Object.hasOwn(where, column))
    .map((column) => [column, 'asc'] as const);
  let after: (string | number)[] | undefined;
  for (;;) {
    const rows = await reader.rows(dataset, { where, order, limit: ROWS_PER_READ, ...(after && { after }) });
    yield* rows;
    const last = rows.at(-1) as Record<string, string | number> | undefined;
    if (last === undefined) return;
    after = order.map(([column]) => last[column]!);
  }
}
