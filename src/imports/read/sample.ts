// The beginning of a file and its name, by which presets recognize it; and lines of a CSV as cells (RFC
// 4180).
import { contentProblem } from './file-problem.ts';

/** The name and beginning of a file. */
export type Sample = {
  /** The path as the caller gave it; for a file of an archive, the archive's path, a slash and the name. */
  readonly name: string;
  /** The first bytes of a text; empty where the file is not text. */
  readonly text: string;
  /** Whether the file is longer than `text`. */
  readonly isCut: boolean;
  /** The encoding of a text that is not UTF-8, as far as its beginning shows. */
  readonly encoding?: Encoding;
};

/** Encodings other than UTF-8 that a mapping can name. Every sequence of bytes is a text in Windows-1252. */
export const encodings = ['windows-1252'] as const;
export type Encoding = (typeof encodings)[number];

/** The message for other encodings; most such files come from spreadsheets on Windows. */
export const NOT_UTF8 =
  'is not UTF-8. Save it as CSV UTF-8, or convert it, for example with iconv -f WINDOWS-1252 -t UTF-8; a mapping file may say "encoding": "windows-1252"';

/** The text of a file's bytes, or of its first ones. @throws FileProblem where they are not UTF-8 */
export function decodeText(name: string, bytes: Buffer, isCut: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    throw contentProblem(name, `${NOT_UTF8}`);
  }
}

/** Every preset looks at the same sample. */
const knownLines = new WeakMap<Sample, readonly string[]>();

/** The whole lines of a sample that are not empty. */
export function linesOf(sample: Sample): readonly string[] {
  const known = knownLines.get(sample);
  if (known !== undefined) return known;
  const lines = sample.text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  // The last one may be incomplete.
  if (sample.isCut && lines.length > 1) lines.pop();
  const whole = lines.filter((line) => line !== '');
  knownLines.set(sample, whole);
  return whole;
}

/**
 * The name without folders and endings: `AAPL` of `data/AAPL.csv.gz`; a file of refused rows has that of its
 * source.
 */
export const stemOf = ({ name }: Sample): string =>
  name
    .replace(/^.*[/\\]/, '')
    .replace(/\.(gz|zst|zip)$/i, '')
    .replace(/(\.rejected(\.\d+)?)?\.(csv|tsv|txt|json|ndjson)$/i, '')
    .replace(/(\.csv)?\.rejected(\.\d+)?$/i, '');

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
