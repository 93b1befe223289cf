// The table that an export writes, and its rows as lines of text: CSV and TSV as the answers write them
// (contract 5.1), NDJSON.
import type { ParsedInstant } from '../../base/instant.ts';
import type { PriceBasis, VolumeBasis } from '../../contract/file-words.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import type { Interval } from '../../contract/interval.ts';

/** The value of a cell; an object is written as JSON. */
export type Cell = string | number | boolean | object | null;

/** A text format. A line is, for each column, its text of `before` and the cell, then `end`. */
export type TextStyle = {
  /** The header. */
  head(columns: readonly string[]): string;
  before(columns: readonly string[]): string[];
  cell(value: Cell): string;
  /** Encloses a text that needs no escaping. */
  readonly quote: string;
  readonly end: string;
};

/** A finite number that reads back as the same double; zero keeps its sign. */
export const numberText = (value: number): string =>
  value === 0 && Object.is(value, -0) ? '-0.0' : String(value);

/** Characters with a meaning of their own in CSV. */
const NEEDS_QUOTES = /["\p{Cc}]/u;

function csvCell(value: Cell, delimiter: string): string {
  if (value === null) return '';
  if (typeof value === 'number') return numberText(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const isPlain = text !== '' && !NEEDS_QUOTES.test(text) && !text.includes(delimiter);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}

function delimited(delimiter: ',' | '\t'): TextStyle {
  const end = '\r\n';
  return {
    head: (columns) => `${columns.join(delimiter)}${end}`,
    before: (columns) => columns.map((_, place) => (place === 0 ? '' : delimiter)),
    cell: (value) => csvCell(value, delimiter),
    quote: '',
    end,
  };
}

/** CSV (contract 5.1). */
export const csv: TextStyle = delimited(',');
/** TSV (contract 5.1). */
export const tsv: TextStyle = delimited('\t');

/** One JSON object a line. */
export const ndjson: TextStyle = {
  head: () => '',
  before: (columns) => columns.map((name, place) => `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`),
  cell: (value) => (typeof value === 'number' ? numberText(value) : JSON.stringify(value)),
  quote: '"',
  end: '}\n',
};

/** The selection of a dataset's rows; null selects everything. */
export type Selection = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string | null;
  /** Needs a country. */
  readonly symbol: string | null;
  readonly interval: Interval | null;
  readonly basis: PriceBasis | null;
  readonly volumes: VolumeBasis | null;
  /** Inclusive bounds (contract 2.2, 2.3). */
  readonly from: ParsedInstant | null;
  readonly to: ParsedInstant | null;
};

/** A column of a file, and the name of its DuckDB type, for formats that have types. */
export type ExportColumn = { readonly name: string; readonly type: string };

/** Some lines of a file. */
export type Lines = { readonly text: string; readonly rows: number };

/** The table that an export writes. */
export type ExportTable = {
  readonly columns: readonly ExportColumn[];
  /** About how many rows it has; null where that is unknown. */
  readonly rowsAbout: number | null;
  /** Whether a file is made where it has no row: one with the header alone. */
  readonly isMadeEmpty: boolean;
  /** The rows as lines of a text style, some at a time; can be read once. */
  lines(style: TextStyle): AsyncGenerator<Lines>;
  /** The flags that an import of the file needs. */
  readonly flags: readonly string[];
};

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
