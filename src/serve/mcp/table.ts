// Records as a compact table: a header and a line for each, columns that say nothing new named once above it.

/**
 * Tokens of the characters of ASCII, by class: prose has half as many, tables of numbers nearly as many
 * (docs/decisions/0038).
 */
function weightOf(code: number): number {
  if (code === 0x20) return 0.25;
  const isLetterOrDigit =
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isLetterOrDigit ? 0.5 : 1;
}

/** Bytes in UTF-8: no tokenizer makes more tokens of other characters. */
const bytesOf = (code: number): number => (code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);

const tokensOfCharacter = (character: string): number => {
  const code = character.codePointAt(0)!;
  return code < 0x80 ? weightOf(code) : bytesOf(code);
};

/** The tokens of a text, estimated high. */
function tokensOf(text: string): number {
  let tokens = 0;
  for (const character of text) tokens += tokensOfCharacter(character);
  return Math.ceil(tokens);
}

/** The beginning of a text with at most so many tokens. */
function cutToTokens(text: string, tokensMax: number): string {
  let tokens = 0;
  let length = 0;
  for (const character of text) {
    tokens += tokensOfCharacter(character);
    if (tokens > tokensMax) return text.slice(0, length);
    length += character.length;
  }
  return text;
}

/**
 * A text without control characters and without those that show nothing (bidirectional overrides, zero-width
 * and tag characters): with them a text can hide instructions from the person who reads along. Every white
 * space is a space.
 */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cf}/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** A visible text, cut where it has more tokens; it then ends by saying how many characters follow. */
function shortened(text: string, tokensMax: number): string {
  const whole = visible(text);
  const shown = cutToTokens(whole, tokensMax);
  return shown.length === whole.length ? whole : `${shown}… [${whole.length - shown.length} characters more]`;
}

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
