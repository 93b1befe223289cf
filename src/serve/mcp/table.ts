// Records as a compact table: a header and a line for each, columns that say nothing new named once above it.
import { shortened } from './plain-text.ts';
import { tokensOf } from './tokens.ts';

/** One record of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/** A table as text, and how many of the records have a line in it. */
export type Written = { readonly text: string; readonly rows: number; readonly hasCutText: boolean };

/** An instant with seconds, in UTC: shorter without the seconds where they are zero. */
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?(?:\+00:00|Z)$/;

function cellOf(value: unknown, tokensMax: number): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return shortened(JSON.stringify(value), tokensMax);
  const [, minute, seconds] = INSTANT.exec(value) ?? [];
  if (minute === undefined) return shortened(value, tokensMax);
  return `${minute}${seconds === ':00' ? '' : (seconds ?? '')}Z`;
}

/** A cell of CSV (RFC 4180). */
const quoted = (cell: string): string => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Which columns have one value in all records, so that a line above the table is enough. */
function constantColumns(rows: readonly Row[], columns: readonly string[]): ReadonlySet<string> {
  const isConstant = (column: string): boolean =>
    rows.every((row) => JSON.stringify(row[column]) === JSON.stringify(rows[0]![column]));
  return new Set(rows.length > 1 ? columns.filter(isConstant) : []);
}

/**
 * The table of the first records, as many as have at most so many tokens.
 * @param textTokens tokens of a text, above which it is cut
 */
export function writeTable(rows: readonly Row[], tokensMax: number, textTokens: number): Written {
  if (rows.length === 0) return { text: '', rows: 0, hasCutText: false };
  if (rows.length === 1) return writeRecord(rows[0]!, textTokens);
  const columns = Object.keys(rows[0]!);
  const constant = constantColumns(rows, columns);
  const [first] = rows as [Row];
  const named = columns
    .filter((column) => constant.has(column) && first[column] !== null)
    .map((column) => `${column}=${quoted(cellOf(first[column], textTokens))}`);
  const empty = columns.filter((column) => constant.has(column) && first[column] === null);
  const shown = columns.filter((column) => !constant.has(column));
  const lines = [
    ...(named.length > 0 ? [`In every row: ${named.join(', ')}`] : []),
    ...(empty.length > 0 ? [`Null in every row: ${empty.join(', ')}`] : []),
    '',
    shown.join(','),
  ];
  let tokens = tokensOf(lines.join('\n'));
  let count = 0;
  let hasCutText = false;
  for (const row of rows) {
    const cells = shown.map((column) => cellOf(row[column], textTokens));
    const line = cells.map(quoted).join(',');
    tokens += tokensOf(line) + 1;
    if (tokens > tokensMax && count > 0) break;
    hasCutText ||= cells.some(isCut);
    lines.push(line);
    count++;
  }
  return { text: lines.join('\n'), rows: count, hasCutText };
}

const isCut = (cell: string): boolean => /… \[\d+ characters more\]$/.test(cell);

/** One record: a line for each field that has a value. */
function writeRecord(row: Row, textTokens: number): Written {
  const cells = Object.entries(row).map(([name, value]) => [name, cellOf(value, textTokens)] as const);
  const empty = cells.filter(([, cell]) => cell === '').map(([name]) => name);
  const lines = cells.filter(([, cell]) => cell !== '').map(([name, cell]) => `${name}: ${cell}`);
  const ending = empty.length > 0 ? [`Null: ${empty.join(', ')}`] : [];
  return {
    text: ['', ...lines, ...ending].join('\n'),
    rows: 1,
    hasCutText: cells.some(([, cell]) => isCut(cell)),
  };
}
