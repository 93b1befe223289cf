// One cell of a CSV.

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * A text as a cell: quoted where RFC 4180 demands it, empty for null, `""` for the empty string (contract
 * 5.1).
 */
export function csvCell(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? quoted(value) : value;
}

/**
 * What a spreadsheet runs: a sign of a formula, plain or full-width, after anything that is not seen; and
 * what may become that, because some programs drop the first character (OWASP, CSV Injection).
 */
const FORMULA = /^(?:[\t\r\n\0]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;

/**
 * As `csvCell`, with an apostrophe before text that a spreadsheet would run, and quoted where it holds what
 * other programs separate by.
 */
function safeCsvCell(value: string | null): string {
  if (value === null) return '';
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[;\t]/.test(text) ? quoted(text) : csvCell(text);
}

/** Gives the function that turns texts into cells: as they are, or safe for spreadsheets (contract 5.1). */
export const csvCellOf = (isSafe: boolean): typeof csvCell => (isSafe ? safeCsvCell : csvCell);
