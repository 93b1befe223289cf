// Tables, counts and names for a person.

const MARKS = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/**
 * A line for a terminal: line ends and control characters are escaped as in JSON strings, so that none has an
 * effect.
 */
export const printable = (line: string): string =>
  line.replace(MARKS, (mark) => {
    const written = JSON.stringify(mark).slice(1, -1);
    return written === mark ? `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}` : written;
  });

const NUMBER = /^-?[\d,.]*$/;

/**
 * Lines of a table whose first row is its head. Columns are as wide as their widest cell; numbers are aligned
 * right.
 */
export function formatTable(table: readonly (readonly string[])[]): string {
  const rows = table.map((row) => row.map(printable));
  const columns = (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? ''));
  const widths = columns.map((cells) => Math.max(...cells.map((cell) => cell.length)));
  const isNumeric = columns.map((cells) => cells.slice(1).every((cell) => NUMBER.test(cell)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** The cells of a row: numbers as counts, nothing as an empty cell. */
export const cells = (...values: readonly (string | number | null | undefined)[]): string[] =>
  values.map((value) => (typeof value === 'number' ? count(value) : (value ?? '')));

/** A whole number, or the nearest one: `1,200`. */
export const count = (value: number): string => Math.round(value).toLocaleString('en-US');

/** `1 bar`, `1,200 bars`. */
export const countOf = (value: number, what: string): string =>
  `${count(value)} ${what}${value === 1 ? '' : 's'}`;
