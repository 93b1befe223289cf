// One line of a CSV: read into cells, and written from them (RFC 4180).

/** Cells of a line without the spaces around them; null where it cannot be read. */
export function cellsOf(line: string, delimiter: string): string[] | null {
  if (!line.includes('"')) return line.split(delimiter).map((cell) => cell.trim());
  const mark = RegExp.escape(delimiter);
  const cell = new RegExp(`(?<=^|${mark})(?:"((?:[^"]|"")*)"|([^"${mark}][^${mark}]*|))(?=${mark}|$)`, 'g');
  const cells = Array.from(line.matchAll(cell), ([, quoted, plain]) =>
    (quoted?.replaceAll('""', '"') ?? plain!).trim(),
  );
  const unquoted = line.replaceAll(/"(?:[^"]|"")*"/g, '');
  return !unquoted.includes('"') && cells.length === unquoted.split(delimiter).length ? cells : null;
}

const cellText = (cell: string | null): string =>
  cell !== null && /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : (cell ?? '');

/** Cells as a line with its end; a missing cell is empty. */
export const lineOf = (cells: readonly (string | null)[]): string => `${cells.map(cellText).join()}\r\n`;
