// One cell of a CSV.

/** A text as a cell: quoted where RFC 4180 asks for it, nothing for null, and the empty string as `""` (contract 5.1). */
export function csvCell(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** As `csvCell`, with an apostrophe before what a spreadsheet would take for a formula. */
const safeCsvCell: typeof csvCell = (value) =>
  csvCell(value !== null && /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value);

/** How texts become cells: as they are, or made safe for spreadsheets (contract 5.1). */
export const csvCellOf = (isSafe: boolean): typeof csvCell => (isSafe ? safeCsvCell : csvCell);
