// Rows as lines of text: CSV and TSV as the answers write them (contract 5.1), NDJSON.

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
