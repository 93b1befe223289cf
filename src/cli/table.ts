// Tables and counts for a person.

const NUMBER = /^-?[\d,.]*$/;

/** Lines of a table whose first row is its head, columns as wide as their widest cell; columns of numbers stand to the right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
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

/** `1 bar`, `1,200 bars`. */
export const countOf = (value: number, what: string): string =>
  `${value.toLocaleString('en-US')} ${what}${value === 1 ? '' : 's'}`;
