// The beginning of a file that nobody described: where its header is, and the texts in its columns.
import { numberOf } from '../../base/decimal.ts';
import { contentProblem } from '../read/file-problem.ts';
import type { FirstCells, Layout } from '../read/format.ts';
import { ordersOf } from '../read/reshape.ts';
import { cellsOf, linesOf, NOT_UTF8, type Sample } from '../read/sample.ts';
import type { Beginning, Told } from './cell-forms.ts';
import { claimsOf, type FieldNames } from './column-mapping.ts';

/** The layout of a text as far as its beginning shows it. */
type FoundLayout = Pick<Layout, 'encoding' | 'delimiter' | 'skip' | 'header'>;

/** The lines of a text that are not rows. */
export type TextLayout = Pick<Told, 'delimiter'> & Pick<Layout, 'skip' | 'header'>;

const DELIMITERS = [',', ';', '\t', '|'];

/** Lines above a header are few. */
const TITLES_MAX = 20;

/** Texts for a missing value. */
const MISSING = /^(|-+|#?n\/?a|<na>|nan|nat|null|none)$/i;

/** Blanks that join words, or are narrow. */
const BLANKS = /[\u00a0\u2009\u202f]/g;

/** A number or a moment. */
const VALUE = /^[-+.:/TZ ]*\d[-+\d.:/TZ ]*$/;

/** The lines of a text, empty ones too. */
function allLines(sample: Sample): string[] {
  const lines = sample.text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  // The last one may be incomplete.
  return sample.isCut ? lines.slice(0, -1) : lines;
}

/** A function whose value is made once, when it is asked for. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The separator that a first line shows by itself. */
const usualDelimiter = (line: string): string => (line.includes('\t') && !line.includes(',') ? '\t' : ',');

/** The first rows of a text with this header and layout, or those that a reader gave. */
export function beginningOf(
  sample: Sample,
  header: readonly string[],
  { delimiter, skip = 0, header: given }: TextLayout,
  read: FirstCells | null,
): Beginning {
  // Most files have our own names: their rows need no look.
  const rows = lazily(() => {
    const [line = '', ...rest] = allLines(sample).slice(skip);
    const mark = delimiter ?? usualDelimiter(line);
    const below = given === undefined ? rest : [line, ...rest];
    return below.filter((one) => one !== '').map((one) => cellsOf(one, mark) ?? []);
  });
  const hasBlanks = lazily(() => read !== null || sample.text.search(BLANKS) >= 0);
  const known = new Map<string, readonly string[]>();
  const cellsIn = (column: string): readonly string[] => {
    const at = header.indexOf(column);
    return read === null ? rows().map((row) => row[at] ?? '') : (read.get(column)?.cells ?? []);
  };
  return {
    header,
    cellsIn,
    textsOf(column) {
      const clean = (text: string): string => (hasBlanks() ? text.replaceAll(BLANKS, ' ') : text).trim();
      const texts =
        known.get(column) ??
        cellsIn(column)
          .map(clean)
          .filter((text) => !MISSING.test(text));
      known.set(column, texts);
      return texts;
    },
    hasPoints: (column) => /^(?:DOUBLE|FLOAT|DECIMAL)/.test(read?.get(column)?.type ?? ''),
    isUnusual: read === null && delimiter !== undefined && !/[,\t]/.test(delimiter),
  };
}

/** Whether a row can be a header: different names, none of which begins as a number. */
const areNames = (row: readonly string[]): boolean =>
  row.length > 1 && new Set(row).size === row.length && !row.some((cell) => /^[-+.\d]/.test(cell));

/** The header is the first line that has as many cells as the line below it, and several. */
function placeOf(sample: Sample, told: Pick<Told, 'delimiter'>) {
  const lines = allLines(sample);
  const found = (told.delimiter === undefined ? DELIMITERS : [told.delimiter]).flatMap((delimiter) => {
    const cells = lines.map((line) => cellsOf(line, delimiter) ?? []);
    const skip = cells.findIndex((row, at) => areNames(row) && row.length === cells[at + 1]?.length);
    return skip < 0 || skip > TITLES_MAX ? [] : [{ delimiter, skip, header: cells[skip]! }];
  });
  // Of several characters the separator makes the most columns.
  return found.sort((a, b) => b.header.length - a.header.length)[0];
}

/**
 * The layout of a text that nobody described, where its first line does not name the columns that rows need:
 * another line or separator names more of them. Empty for any other. With `isAsked` for a mapping file: then
 * letters of Western Windows need not be certain. @throws FileProblem
 */
export function foundLayout(
  sample: Sample,
  fields: FieldNames,
  told: Told,
  { isAsked, hint }: { readonly isAsked: boolean; readonly hint?: string | undefined },
): FoundLayout {
  const { text, encoding } = sample;
  // Many letters in a row that are not ASCII are those of another alphabet.
  const isForeign = sample.isCertain === false && /[\x80-\uffff]{4}/.test(text);
  if (isAsked && told.encoding === undefined && isForeign) throw contentProblem(sample.name, NOT_UTF8);
  const said = isAsked && encoding !== undefined ? { encoding } : {};
  const [line = ''] = allLines(sample);
  const usual = told.delimiter ?? usualDelimiter(line);
  const header = cellsOf(line, usual) ?? [];
  if (fields.required.includes('open') && header.length > 1 && header.every((cell) => VALUE.test(cell)))
    return { ...said, ...headerOf(sample, usual, hint) };
  const needed = fields.required.filter((field) => fields.flags[field] === undefined);
  const claimedIn = (names: readonly string[]): number => {
    const claims = claimsOf(fields, names);
    return needed.filter((field) => claims.get(field)!.length > 0).length;
  };
  // Most files have our own names in their first line.
  const claimed = header.length > 1 ? claimedIn(header) : -1;
  const place = claimed === needed.length ? undefined : placeOf(sample, told);
  if (place === undefined || claimedIn(place.header) <= claimed) return said;
  const { delimiter, skip } = place;
  return { ...said, ...(delimiter !== ',' && { delimiter }), ...(skip > 0 && { skip }) };
}

/** The least rows that show a constant distance. */
const STEP_ROWS = 3;

/** An epoch in seconds or milliseconds. */
const EPOCH = /^\d{9,13}$/;
const EPOCH_MS_MIN = 1e11;

/**
 * The names of the columns of bars without a header, by one order of values alone: an epoch that grows by the
 * same minutes, and prices of which the high and the low hold. @throws FileProblem where they are not certain
 */
function headerOf(sample: Sample, delimiter: string, hint = ''): Pick<FoundLayout, 'header'> {
  const rows = linesOf(sample).map((line) => cellsOf(line, delimiter) ?? []);
  const [first = []] = rows;
  const orders = ordersOf(rows);
  const times = rows.map(([epoch = '']) => (EPOCH.test(epoch) ? Number(epoch) : Number.NaN));
  const step = (times[1] ?? 0) - times[0]!;
  const isSteady = times.every((time, row) => row === 0 || time - times[row - 1]! === step);
  const isSure =
    rows.every((row) => row.length === 6 && row.every((cell) => cell !== '' && numberOf(cell) !== null)) &&
    rows.length >= STEP_ROWS &&
    isSteady &&
    step > 0 &&
    step % (times[0]! < EPOCH_MS_MIN ? 60 : 60_000) === 0;
  if (orders.length === 1 && isSure && isContinued(orders[0]!, rows) && hint === '')
    return { header: orders[0]! };
  const [names = Array.from(first, () => '…')] = orders.length === 1 ? orders : [];
  const put = orders.length === 1 ? ', if its columns are these' : ', and a name in place of each …';
  throw contentProblem(
    sample.name,
    `its first line has only values, no column names. Add a header line, or name the columns by --map FILE with "header": ${JSON.stringify({ header: names })}${put}; the first row is ${first.join().slice(0, 100)}${hint && `. ${hint}`}`,
  );
}

/**
 * True if bars open nearer to the close before than they close to the open before: the values of other
 * programs may have the two in the other order.
 */
function isContinued(names: readonly string[], rows: readonly (readonly string[])[]): boolean {
  const [open, close] = ['open', 'close'].map((name) => rows.map((row) => Number(row[names.indexOf(name)])));
  const apart = (ones: readonly number[], others: readonly number[]): number =>
    ones.slice(1).reduce((sum, one, row) => sum + Math.abs(one - others[row]!), 0);
  return apart(open!, close!) <= apart(close!, open!);
}
