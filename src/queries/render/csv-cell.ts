// One cell of a CSV.

/** A text as a cell: quoted where RFC 4180 asks for it, nothing for null, and the empty string as `""` (contract 5.1). */
export function csvCell(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
