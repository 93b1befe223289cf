// News: the identifier of an item (contract 4.5, 8.3).
import { hash } from 'node:crypto';
import type { Values } from '../../store/schema/dataset.ts';
import type { RowProblem } from '../read/file-problem.ts';
import type { Particulars } from './particulars.ts';

/** The fields that link an item to an instrument: all or none. */
const ties = ['asset_name', 'country_iso_code', 'symbol'];

/** The link of an item to one instrument (spec 2.5). */
const SPECIFIC_ASSET = 'SPECIFIC_ASSET';

function problemOf(values: Values): RowProblem | null {
  const missing = ties.filter((field) => values[field] === undefined);
  if (missing.length === 0 || missing.length === ties.length) return null;
  return { column: missing[0]!, reason: `is missing: ${ties.join(', ')} belong together` };
}

/** 128 bits of SHA-256 of address, title and instrument. */
function idOf(values: Values): string {
  const parts = ['publisher_url', 'title', ...ties].map((field) => values[field] ?? null);
  return hash('sha256', JSON.stringify(parts), 'buffer').toString('base64url', 0, 16);
}

const FUTURE = 'dated after now, and among the latest news only once their time has come';

/** The particulars of news. */
export const newsItems: Particulars = {
  ties,
  problemOf,
  findingOf: ({ published_date }, _reader, startedMs) =>
    (published_date as number) > startedMs ? FUTURE : null,
  complete: (values) => ({
    link_type: values.symbol === undefined ? null : SPECIFIC_ASSET,
    ...values,
    news_id: idOf(values),
  }),
};
