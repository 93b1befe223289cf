// Files of what a panel shows: CSV of all its pages, and bars of a range as CSV or Parquet.
import { address } from '../client/address.ts';
import { type Connection, serviceUrl } from './connection.ts';
import type { AskedRequest } from './request-text.ts';

/** Gives a file to the browser to save. */
function save(parts: readonly BlobPart[], name: string): void {
  const url = URL.createObjectURL(new Blob([...parts]));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Rows in a page of a download: the most that every list gives. */
const PAGE_ROWS = 1_000;

async function csvPages({ name, values }: AskedRequest, key: string): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined; ; ) {
    const path = address(name, { ...values, format: 'csv', limit: PAGE_ROWS, next_page_key: next });
    const answer = await fetch(serviceUrl + path, {
      headers: { Authorization: `Bearer ${key}` },
      credentials: 'omit',
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error((JSON.parse(text) as { message: string }).message);
    // Each page has the header row.
    pages.push(pages.length === 0 ? text : text.slice(text.indexOf('\n') + 1));
    next = answer.headers.get('X-Next-Page-Key') ?? undefined;
    if (next === undefined) return pages;
  }
}

/** Saves all pages of a list as one CSV file. @throws Error with the service's message */
export async function downloadList(asked: AskedRequest, file: string, { key }: Connection): Promise<void> {
  save(await csvPages(asked, key), `${file}.csv`);
}

/** The parameters of bars in bulk that a panel of bars has. */
export type BulkRequest = {
  readonly schema_asset: string;
  readonly country_iso_code: string;
  readonly symbol: string;
  readonly interval: string;
  readonly from: string;
  readonly to: string;
  readonly is_eth: boolean | undefined;
  readonly adjust: string | undefined;
  readonly as_of: string | undefined;
};

/** Saves the bars of a range. @throws BourseError */
export async function downloadBars(
  { schema_asset, country_iso_code, symbol, interval, ...range }: BulkRequest,
  format: 'csv' | 'parquet',
  { bourse }: Connection,
): Promise<void> {
  const stream = await bourse.bulk(schema_asset as 'stock', country_iso_code, interval as 'DAY', {
    ...(range as object as { from: string; to: string }),
    symbols: [symbol],
    format,
    session_date: true,
  });
  const bytes = await new Response(stream).arrayBuffer();
  save([bytes], `${country_iso_code}-${symbol}-${interval}.${format}`);
}
