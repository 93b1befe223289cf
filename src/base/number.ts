// Parses the number in a cell.

const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** A cell's number; null when the text is not a number. Empty and missing cells are NaN. */
export function numberOf(text: string | null): number | null {
  if (text === null || text === '') return Number.NaN;
  return NUMBER.test(text) ? Number(text) : null;
}
