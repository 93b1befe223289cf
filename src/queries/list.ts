// A list whose rows stand in one dataset: a page of them, walked by keyset along an index (contract 4.1, 4.5).
import type { TObject } from 'typebox';
import type { Endpoint } from '../contract/endpoint.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import type { Direction, Read } from '../store/store.ts';
import type { Answer, QueryContext } from './query.ts';
import { addressOf } from './render/address.ts';
import { renderList } from './render/list.ts';
import { type WireRecord, writeCsvRecords, writeJsonRecords } from './render/records.ts';

/** One page of a list, as it is asked for. */
export type PageOf<D extends Dataset> = {
  readonly endpoint: Omit<Endpoint, 'record'> & { readonly record: TObject };
  /** The caller's parameters, `limit`, `next_page_key` and, where it has one, `format` among them. */
  readonly parameters: Readonly<Record<string, unknown>> & {
    readonly limit: number;
    readonly next_page_key?: string | undefined;
    readonly format?: 'json' | 'csv';
  };
  /** Endpoint, filters and sort: what a page key belongs to. */
  readonly fingerprint: string;
  readonly dataset: D;
  readonly where: Partial<RowOf<D>>;
  /** Bounds of the first column of the order. */
  readonly range?: NonNullable<Read<D>['range']>;
  /** The columns of an index in its order, the last ones a unique key: walked in one direction. */
  readonly order: readonly (keyof D['columns'] & string)[];
  readonly direction: Direction;
  readonly recordOf: (row: RowOf<D>) => WireRecord;
};

/** Answers one page. @throws Refusal `invalid_page_key` */
export async function answerPage<D extends Dataset>(context: QueryContext, page: PageOf<D>): Promise<Answer> {
  const { parameters, order, direction, fingerprint } = page;
  const { limit, next_page_key: pageKey } = parameters;
  const place = pageKey ? context.pageKeys.verify(fingerprint, pageKey) : null;
  const rows = await context.reader.rows(page.dataset, {
    where: page.where,
    ...(page.range === undefined ? {} : { range: page.range }),
    order: order.map((column) => [column, direction] as const),
    ...(place === null ? {} : { after: place.position }),
    limit: limit + 1,
  });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const key =
    rows.length <= limit || last === undefined
      ? null
      : context.pageKeys.sign(fingerprint, {
          position: order.map((column) => last[column] as string | number),
          pinned: [],
        });
  return renderRecords(context, page.endpoint, shown.map(page.recordOf), parameters.format ?? 'json', {
    key,
    address: key === null ? '' : addressOf(page.endpoint, parameters),
  });
}

/** Renders records of an endpoint; `paging` is null where the list is not paged. */
export function renderRecords(
  context: QueryContext,
  { record }: { readonly record: TObject },
  records: readonly WireRecord[],
  format: 'json' | 'csv',
  paging: { readonly key: string | null; readonly address: string } | null,
): Answer {
  return renderList({
    format,
    wrapCsv: context.request.wrapCsv,
    allocate: context.allocate,
    count: records.length,
    paging,
    writeJson: (sink) => writeJsonRecords(sink, record, records),
    writeCsv: (sink) => writeCsvRecords(sink, record, records),
  });
}
