// Which table or index each byte of a SQLite file belongs to, and what of its page it is.
import { rowsOfFile } from '../sqlite/files.ts';

/** Neighbouring bytes of one page. */
export type Region = {
  /** The table or index of the page. */
  readonly owner: string;
  /** What of the page the bytes are, such as `leaf cells`. */
  readonly part: string;
  readonly start: number;
  readonly size: number;
};

/**
 * The header of the file: the first bytes of its first page
 * (sqlite.org/fileformat2.html#the_database_header).
 */
const FILE_HEADER_BYTES = 100;

/**
 * Bytes of the header of a page of a b-tree, and of each pointer to a cell
 * (sqlite.org/fileformat2.html#b_tree_pages).
 */
const LEAF_HEADER_BYTES = 8;
const INTERNAL_HEADER_BYTES = 12;
const POINTER_BYTES = 2;

/** Where the parts of a page of a b-tree end, from the start of the page; its own header begins at `from`. */
function endsOf(page: DataView, kind: string, from: number): [part: string, end: number][] {
  const pointers = from + (kind === 'leaf' ? LEAF_HEADER_BYTES : INTERNAL_HEADER_BYTES);
  const unused = pointers + POINTER_BYTES * page.getUint16(from + 3);
  return [
    [`${kind} header`, pointers],
    [`${kind} pointers`, unused],
    [`${kind} unused`, page.getUint16(from + 5)],
    [`${kind} cells`, page.byteLength],
  ];
}

/** The regions of a file in the order of their bytes. Pages that nothing uses belong to `(free)`. */
export function regionsOf(path: string, bytes: Uint8Array): Region[] {
  const size = Number(rowsOfFile(path, 'pragma page_size')[0]!.page_size);
  // The column `pgoffset` is stale on some pages.
  const pages = rowsOfFile(path, 'select name, pagetype, pageno from dbstat');
  const used = new Map(pages.map((page) => [(Number(page.pageno) - 1) * size, page]));
  const header = { owner: '(header)', part: 'header', start: 0, size: FILE_HEADER_BYTES };
  const regions: Region[] = [header];
  for (let start = 0; start < bytes.length; start += size) {
    const { name = '(free)', pagetype = 'free' } = used.get(start) ?? {};
    const [owner, kind] = [String(name), String(pagetype)];
    let from = start === 0 ? FILE_HEADER_BYTES : 0;
    const page = new DataView(bytes.buffer, bytes.byteOffset + start, size);
    const isTree = kind === 'leaf' || kind === 'internal';
    for (const [part, end] of isTree ? endsOf(page, kind, from) : [[kind, size] as const]) {
      if (end > from) regions.push({ owner, part, start: start + from, size: end - from });
      from = end;
    }
  }
  return regions;
}

/** The region that a byte of the file is in. */
export const regionAt = (regions: readonly Region[], offset: number): Region =>
  regions.findLast(({ start }) => start <= offset)!;
