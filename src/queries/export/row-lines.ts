// Rows as lines of an exported file.
import type { ExportColumn, Lines } from './export-table.ts';
import type { Cell, TextStyle } from './text-style.ts';

/** A column, and what a row has in it. */
export type Column<T> = ExportColumn & { readonly value: (row: T) => Cell };

/** Characters of lines that are written at a time. */
const PIECE_LENGTH = 256 * 1024;

/** Rows as lines of a text style, some at a time. */
export async function* rowLines<T>(
  rows: AsyncIterable<T>,
  columns: readonly Column<T>[],
  style: TextStyle,
): AsyncGenerator<Lines> {
  const before = style.before(columns.map(({ name }) => name));
  let piece = { text: '', rows: 0 };
  for await (const row of rows) {
    for (const [place, { value }] of columns.entries()) piece.text += before[place]! + style.cell(value(row));
    piece.text += style.end;
    piece.rows++;
    if (piece.text.length < PIECE_LENGTH) continue;
    yield piece;
    piece = { text: '', rows: 0 };
  }
  if (piece.rows > 0) yield piece;
}
