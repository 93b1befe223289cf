// Which table or index each page of a SQLite file belongs to, and what of a page a byte is.
import { rowsOfFile } from '../sqlite/files.ts';

/** A page: the table or index that it belongs to, and where its bytes are in the file. */
export type Page = {
  readonly owner: string;
  readonly kind: string;
  readonly start: number;
  readonly size: number;
};

/** The header of the file: the first bytes of its first page (sqlite.org/fileformat2.html#the_database_header). */
const FILE_HEADER_BYTES = 100;

/** The pages in the order of the file. The file's header is one of its own; pages that nothing uses are `(free)`. */
export function pagesOf(path: string, bytes: Uint8Array): Page[] {
  const size = Number(rowsOfFile(path, 'pragma page_size')[0]!.page_size);
  const used = new Map(
    // Its column `pgoffset` is stale on some pages.
    rowsOfFile(path, 'select name, pagetype, pageno from dbstat').map(({ name, pagetype, pageno }) => [
      (Number(pageno) - 1) * size,
      { owner: String(name), kind: String(pagetype) },
    ]),
  );
  const header = { owner: '(header)', kind: 'header', start: 0, size: FILE_HEADER_BYTES };
  const pages: Page[] = [header];
  for (let start = 0; start < bytes.length; start += size) {
    const page = used.get(start) ?? { owner: '(free)', kind: 'free' };
    const from = start === 0 ? FILE_HEADER_BYTES : start;
    pages.push({ ...page, start: from, size: start + size - from });
  }
  return pages;
}

/** The page that a byte of the file is in. */
export const pageAt = (pages: readonly Page[], offset: number): Page =>
  pages.findLast(({ start }) => start <= offset)!;

/** Bytes of the header of a page of a b-tree, and of each pointer to a cell (sqlite.org/fileformat2.html#b_tree_pages). */
const LEAF_HEADER_BYTES = 8;
const INTERNAL_HEADER_BYTES = 12;
const POINTER_BYTES = 2;

/** What of its page a byte is. */
export function partOf({ kind, start }: Page, bytes: Uint8Array, offset: number): string {
  if (kind !== 'leaf' && kind !== 'internal') return kind;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const pointers = start + (kind === 'leaf' ? LEAF_HEADER_BYTES : INTERNAL_HEADER_BYTES);
  if (offset < pointers) return `${kind} header`;
  if (offset < pointers + POINTER_BYTES * view.getUint16(start + 3)) return `${kind} pointers`;
  const pageStart = start === FILE_HEADER_BYTES ? 0 : start;
  return offset < pageStart + view.getUint16(start + 5) ? `${kind} unused` : `${kind} cells`;
}
