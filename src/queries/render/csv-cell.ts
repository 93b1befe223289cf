// One cell of a CSV.

/** A text as a cell: quoted where RFC 4180 demands it, empty for null, `""` for the empty string (contract 5.1). */
export function csvCell(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** As `csvCell`, with an apostrophe before text that a spreadsheet would run as a formula. */
const safeCsvCell: typeof csvCell = (value) =>
  csvCell(value !== null && /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value);

/** How texts become cells: as they are, or made safe for spreadsheets (contract 5.1). */
export const csvCellOf = (isSafe: boolean): typeof csvCell => (isSafe ? safeCsvCell : csvCell);
