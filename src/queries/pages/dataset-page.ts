// One page of a list whose rows are stored in one dataset, read by keyset along an index (contract 4.1, 4.5).
import { unlessDamaged } from '../../store/damage.ts';
import { always, type Dataset, type RowOf, type Values } from '../../store/schema/dataset.ts';
import type { Direction, Read } from '../../store/store.ts';
import { queryLimits } from '../limits.ts';
import { type Answer, type Bounds, boundsOf, goodUntil, type QueryContext, TooDear } from '../query.ts';
import { renderRecords, type WireRecord } from '../render/records.ts';
import type { Place } from './page-key.ts';
import { openWalk, type Understood } from './page-walk.ts';

/** One requested page. */
type DatasetPage<P, D extends Dataset> = {
  readonly parameters: P & { readonly limit: number; readonly next_page_key?: string | undefined };
  readonly understood: Understood<P>;
  readonly dataset: D;
  readonly where: Partial<RowOf<D>>;
  readonly along?: NonNullable<Read<D>['along']>;
  /** Bounds on the first column of the order. */
  readonly range?: Bounds;
  /** The columns of an index, in its order; the last ones are a unique key. */
  readonly order: readonly (keyof D['columns'] & string)[];
  readonly direction: Direction;
  /** Which rows the answer has; all of them where it is absent. */
  readonly holds?: (row: RowOf<D>) => boolean;
  readonly recordOf: (row: RowOf<D>) => WireRecord | Promise<WireRecord>;
};

/**
 * Reads up to `read.limit` known rows that `holds`, and whether more follow; fewer where their texts are too
 * long for one answer, but at least one.
 * @throws TooDear where another lane must answer
 */
export async function takeRows<D extends Dataset>(
  { known, lane }: Pick<QueryContext, 'known' | 'lane'>,
  read: Read<D>,
  dataset: D,
  holds?: (row: RowOf<D>) => boolean,
): Promise<{ readonly rows: readonly RowOf<D>[]; readonly hasMore: boolean }> {
  const { limit } = read;
  const columns = read.order.map(([column]) => column);
  const rows: RowOf<D>[] = [];
  let after = read.after;
  let characters = 0;
  let passedOver = 0;
  for (;;) {
    // Once rows were passed over, nobody knows how many are needed.
    const left = passedOver === 0 ? limit + 1 - rows.length : queryLimits.rowsPerReadMax;
    const wanted = Math.min(left, queryLimits.rowsPerReadMax);
    const step = await known.rows(dataset, { ...read, ...(after && { after }), limit: wanted });
    for (const row of step) {
      if (holds?.(row) === false) {
        passedOver += charactersOf(row);
        continue;
      }
      characters += charactersOf(row);
      if (rows.length === limit || (rows.length > 0 && characters > queryLimits.answerCharactersMax))
        return { rows, hasMore: true };
      if (characters > lane.charactersMax) throw new TooDear();
      rows.push(row);
    }
    if (characters + passedOver > lane.charactersMax) throw new TooDear();
    if (step.length < wanted) return { rows, hasMore: false };
    after = positionOf(step.at(-1)!, columns);
  }
}

/**
 * Marks an answer as good until the first row of a read comes, by the first column of its order. Where that
 * row is damaged it is good for this request alone, which needs none of it; so is an answer of the past.
 */
export async function goodUntilRow<D extends Dataset>(
  { known, moment }: QueryContext,
  answer: Answer,
  dataset: D,
  read: Omit<Read<D>, 'limit'>,
): Promise<Answer> {
  if (moment !== always) return answer;
  const rows = await unlessDamaged(known.rows(dataset, { ...read, limit: 1 }));
  if (rows === null) return answer;
  const [column] = read.order[0]!;
  const nextMs = rows[0]?.[column] as number | undefined;
  return goodUntil(answer, nextMs ?? Number.POSITIVE_INFINITY);
}

function charactersOf(row: Values): number {
  let count = 0;
  for (const name in row) if (typeof row[name] === 'string') count += row[name].length;
  return count;
}

/** The order key of a row. */
const positionOf = (row: Values, order: readonly string[]): (string | number)[] =>
  order.map((column) => row[column] as string | number);

/** Answers with one page. @throws Refusal `invalid_page_key` */
export async function answerPage<P, D extends Dataset>(
  context: QueryContext,
  page: DatasetPage<P, D>,
): Promise<Answer> {
  const { parameters, order } = page;
  const walk = openWalk(context, parameters, page.understood);
  const { rows, hasMore } = await takeRows(context, readOf(page, walk.place), page.dataset, page.holds);
  const end = hasMore ? { position: positionOf(rows.at(-1)!, order), pinned: [] } : null;
  const records: WireRecord[] = [];
  for (const row of rows) records.push(await page.recordOf(row));
  return renderRecords(context, records, walk.paging(end));
}

/**
 * The read of a page. After a page key, drop the range bound on that side: an engine may seek by the wrong
 * one.
 */
function readOf<P, D extends Dataset>(page: DatasetPage<P, D>, place: Place | null): Read<D> {
  const { where, along = {}, range = {}, direction } = page;
  const { limit } = page.parameters;
  const order = page.order.map((column) => [column, direction] as const);
  if (place === null) return { where, along, range, order, limit };
  const rest = direction === 'asc' ? boundsOf(undefined, range.to) : boundsOf(range.from, undefined);
  return { where, along, range: rest, order, after: place.position, limit };
}
