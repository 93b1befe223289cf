// One line of a CSV: read into cells, and written from them (RFC 4180).

/** Cells of a line without the spaces around them; null where it cannot be read. */
export function cellsOf(line: string, delimiter: string): string[] | null {
  const mark = delimiter.replace(/[|^$.*+?\\]/, '\\$&');
  const cell = new RegExp(`(?:^|${mark})(?:"((?:[^"]|"")*)"|([^"${mark}]*))(?=${mark}|$)`, 'g');
  const cells: string[] = [];
  for (const match of line.matchAll(cell)) {
    cells.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim());
  }
  const parts = line.replaceAll(/"(?:[^"]|"")*"/g, '').split(delimiter).length;
  return cells.length === parts ? cells : null;
}

const cellText = (cell: string | null): string =>
  cell !== null && /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : (cell ?? '');

/** Cells as a line with its end; a missing cell is empty. */
export const lineOf = (cells: readonly (string | null)[]): string => `${cells.map(cellText).join()}\r\n`;
