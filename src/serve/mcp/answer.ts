// Answers a call of a tool: asks the service as any program does, and writes a compact table that fits: a
// header and a line for each record, columns that say nothing new named once above it.
import { nearest } from '../../base/words.ts';
import { type Endpoint, parseParameters } from '../../contract/endpoint.ts';
import { type ErrorFacts, type ErrorWord, errors, Refusal, warnings } from '../../contract/errors.ts';
import { contract, type ErrorEnvelope } from '../../contract/index.ts';
import { mcpLimits } from './limits.ts';
import { extraParameters, parametersOf, type Tool } from './tools.ts';

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
const visible = (text: string): string =>
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
type Row = Readonly<Record<string, unknown>>;

/** A table as text, and how many of the records have a line in it. */
type Written = { readonly text: string; readonly rows: number; readonly hasCutText: boolean };

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
function writeTable(rows: readonly Row[], tokensMax: number, textTokens: number): Written {
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

/** A whole answer of the service: its envelope as text. */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

/** Asks the service for a path with its query. It rejects where there is no answer. */
export type Ask = (target: string, signal: AbortSignal) => Promise<Reply>;

/** The answer to an assistant: a text, which may be an error's. */
type ToolAnswer = { readonly text: string; readonly isError: boolean };

/** Arguments as an assistant sends them. */
type Arguments = Readonly<Record<string, unknown>>;

/** What a call asks for beside the parameters of the endpoint. */
type Form = { readonly tokensMax: number; readonly fullTexts: boolean };

/** The records of an answer, and the key of the next page. */
type Records = { readonly rows: readonly Row[]; readonly nextKey: string | null };

const wrong = (param: string, message: string): Refusal =>
  new Refusal('invalid_parameter', { message, param });

/**
 * Arguments as the texts of a request. @throws Refusal for a name that the tool does not have, and for a
 * value that is no text
 */
function textsOf(args: Arguments, known: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(args)) {
    if (!known.includes(name)) {
      const meant = nearest(name, known);
      const likely = meant === undefined ? '' : ` Did you mean ${meant}?`;
      throw wrong(visible(name), `This tool has no parameter ${visible(name)}.${likely}`);
    }
    if (value === null || value === undefined) continue;
    if (typeof value === 'object') throw wrong(name, `${name} must be a text, a number, true or false.`);
    texts.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return texts;
}

/** Takes what is the tool's own out of the texts. @throws Refusal */
function formOf(texts: Map<string, string>): Form {
  const { tokensDefault, tokensMax } = mcpLimits;
  const tokens = texts.get('max_tokens') ?? String(tokensDefault);
  if (!/^\d{1,6}$/.test(tokens) || Number(tokens) < tokensDefault || Number(tokens) > tokensMax)
    throw wrong('max_tokens', `max_tokens must be a whole number from ${tokensDefault} to ${tokensMax}.`);
  const fullTexts = texts.get('full_texts') ?? 'false';
  if (fullTexts !== 'true' && fullTexts !== 'false')
    throw wrong('full_texts', 'full_texts must be true or false.');
  texts.delete('max_tokens');
  texts.delete('full_texts');
  return { tokensMax: Number(tokens), fullTexts: fullTexts === 'true' };
}

/** The path and query of a request. */
function targetOf({ path, parameters }: Endpoint, texts: ReadonlyMap<string, string>): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, text] of texts) {
    if (parameters[name]!.in === 'path') filled = filled.replace(`{${name}}`, () => encodeURIComponent(text));
    else query.append(name, text);
  }
  return `${filled}?${query.toString()}`;
}

/** The records of a result, whatever its shape. */
function recordsOf({ shape }: Endpoint, result: unknown): Records {
  if (shape === 'single') return { rows: [result as Row], nextKey: null };
  if (shape === 'array') return { rows: result as Row[], nextKey: null };
  if (shape === 'map') {
    const rows = Object.entries(result as Row).map(([code, meaning]) => ({ code, meaning }));
    return { rows, nextKey: null };
  }
  const { data, next_page_key: nextKey = null } = result as {
    readonly data: Row[] | Record<string, Row[]>;
    readonly next_page_key?: string | null;
  };
  return { rows: Array.isArray(data) ? data : Object.values(data).flat(), nextKey };
}

function errorText(word: ErrorWord, facts: ErrorFacts): string {
  const entry: { readonly status: number; readonly hint?: string } = errors[word];
  const hint = facts.hint ?? entry.hint;
  return visible([`${entry.status} ${word}: ${facts.message}`, hint].filter(Boolean).join(' '));
}

/** The service's own words for an error. */
function errorOf({ status, text }: Reply): ToolAnswer {
  const { message, detail } = JSON.parse(text) as ErrorEnvelope;
  const words = `${status} ${detail.error}: ${message}`;
  return { text: visible([words, detail.hint].filter(Boolean).join(' ')), isError: true };
}

/** What headers tell of an answer. */
const told = [['X-As-Of', 'As of'] as const, ...warnings];

const notesOf = ({ headers }: Reply): string[] =>
  told.flatMap(([name, words]) =>
    headers[name] === undefined ? [] : [`${words}: ${visible(headers[name])}`],
  );

/**
 * How many rows there are, what was left out, and how to ask for it. `isFewer`: not as many as were asked
 * for. `limit`: the most rows of a list without pages; undefined if the answer has all.
 */
function countLine(
  { rows, nextKey }: Records,
  written: Written,
  { tokensMax }: Form,
  isFewer: boolean,
  limit: number | undefined,
): string {
  const { rows: shown } = written;
  const room = tokensMax < mcpLimits.tokensMax ? ` (max_tokens may be ${mcpLimits.tokensMax})` : '';
  if (shown < rows.length)
    return `Rows: the first ${shown} of ${rows.length}. The rest did not fit${room}: use fewer symbols, a narrower range or a filter.`;
  const fit = isFewer ? `, as many as fit${room}` : '';
  if (nextKey !== null)
    return `Rows: ${shown}${fit}. There are more: repeat the call with next_page_key=${nextKey}`;
  if (isFewer) return `Rows: ${shown}${fit}. For the rest, use a range or a filter.`;
  return `Rows: ${shown}, ${limit !== undefined && shown >= limit ? `the limit of ${limit}` : 'all'}.`;
}

/** Tokens of the longest text that a row shows. */
const textTokensOf = ({ fullTexts, tokensMax }: Form): number =>
  fullTexts ? tokensMax - mcpLimits.headTokens - 10 * mcpLimits.textTokens : mcpLimits.textTokens;

/**
 * Asks, and again with fewer rows where not all fit: the key of the next page is then that of the first row
 * left out.
 */
async function answer(tool: Tool, args: Arguments, ask: Ask, signal: AbortSignal): Promise<ToolAnswer> {
  const endpoint: Endpoint = contract[tool.endpoint];
  const known = parametersOf(tool).map(([name]) => name);
  const texts = textsOf(args, [...known, ...Object.keys(extraParameters(tool))]);
  const form = formOf(texts);
  parseParameters(endpoint, texts);
  if (tool.limit !== undefined && !texts.has('limit')) texts.set('limit', String(tool.limit));
  for (const [name, text] of Object.entries(tool.fixed ?? {})) texts.set(name, text);
  if ('format' in endpoint.parameters) texts.set('format', 'json');
  const tokensMax = form.tokensMax - mcpLimits.headTokens;
  // The limit of several symbols counts the rows of each.
  const countsAll = known.includes('limit') && !known.includes('symbols');
  const { default: usual } = endpoint.parameters.limit ?? {};
  const limit = countsAll && endpoint.shape === 'list' ? Number(texts.get('limit') ?? usual) : undefined;
  for (let asked = 1; ; asked++) {
    const reply = await ask(targetOf(endpoint, texts), signal);
    if (reply.status !== 200) return errorOf(reply);
    const { result } = JSON.parse(reply.text) as { readonly result: unknown };
    const records = recordsOf(endpoint, result);
    const written = writeTable(records.rows, tokensMax, textTokensOf(form));
    const isCut = written.rows < records.rows.length;
    if (isCut && countsAll && asked < mcpLimits.requestsMax) {
      texts.set('limit', String(written.rows));
      continue;
    }
    const counted = countLine(records, written, form, asked > 1, limit);
    const cutTexts = written.hasCutText && tool.hasTexts && !form.fullTexts;
    const texted = cutTexts ? ['Long texts are cut: full_texts=true gives more of them.'] : [];
    return { text: [counted, ...texted, ...notesOf(reply), written.text].join('\n'), isError: false };
  }
}

/**
 * Answers a call. A mistake is an answer, too: an assistant reads it and asks better.
 * @throws where the service gives no answer
 */
export async function answerTool(
  tool: Tool,
  args: Arguments,
  ask: Ask,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  try {
    return await answer(tool, args, ask, signal);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { text: errorText(error.word, error.facts), isError: true };
  }
}
