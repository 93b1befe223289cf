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
  /** Whether that encoding is certain. */
  readonly isCertain?: boolean;
};

/**
 * Encodings other than UTF-8 that a mapping can name, and in each the names of columns by which it is certain:
 * two of them are no text in another one. Every sequence of bytes is a text in Windows-1252.
 */
const encodingWords = {
  'windows-1252': /$^/g,
  'utf-16le': /$^/g,
  'utf-16be': /$^/g,
  gb18030: /日期|时间|時間|代码|开盘|開盤|收盘|收盤|最高|最低|成交/g,
  shift_jis: /日付|日時|銘柄|始値|高値|安値|終値|出来高/g,
  'euc-kr': /날짜|일자|시간|종목|시가|고가|저가|종가|거래량/g,
} as const;
export type Encoding = keyof typeof encodingWords;
export const encodings = Object.keys(encodingWords) as Encoding[];

/** The encoding of a name such as `GBK` or `Shift-JIS`; null for any other. */
export function encodingNamed(name: string): Encoding | null {
  try {
    const found = new TextDecoder(name).encoding.replace(/^gbk$/, 'gb18030');
    return encodings.find((one) => one === found) ?? null;
  } catch {
    return null;
  }
}

/** The message for a text in an encoding that is not certain; most such files come from Windows. */
export const NOT_UTF8 = `is not UTF-8, and no other encoding is certain. Name it: --encoding windows-1252 (Western Windows), ${encodings.slice(3).join(', ')}; or save the file as CSV UTF-8`;

/** The text of some bytes; null where they are none in an encoding. The last character may be `isCut`. */
const textIn = (encoding: string, bytes: Buffer, isCut = true): string | null => {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
};

/** UTF-16 by its mark, or by the NUL bytes in each of its ASCII characters. */
function utf16Of(bytes: Buffer): Encoding | null {
  const mark = bytes.toString('hex', 0, 2);
  if (mark === 'fffe') return 'utf-16le';
  if (mark === 'feff') return 'utf-16be';
  const zeros = [0, 0];
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) zeros[at % 2]!++;
  const [even, odd] = zeros as [number, number];
  // Letters of other alphabets have a NUL byte now and then, on either side.
  if (Math.min(even, odd) * 10 > Math.max(even, odd) || (even + odd) * 4 < bytes.length) return null;
  return even < odd ? 'utf-16le' : 'utf-16be';
}

/**
 * The beginning of a text, in UTF-8, or in the encoding that a mapping names or that is certain, else in
 * Windows-1252. @throws FileProblem where it is no text in the encoding that is named
 */
export function decodeSample(name: string, bytes: Buffer, named?: Encoding): Omit<Sample, 'isCut'> {
  const encoding = utf16Of(bytes) ?? named;
  const text = textIn(encoding ?? 'utf-8', bytes);
  if (text !== null) return { name, text, ...(encoding !== undefined && { encoding, isCertain: true }) };
  if (encoding !== undefined) throw contentProblem(name, `is not text in ${encoding}`);
  const found = encodings.filter((one) => {
    const words = textIn(one, bytes)?.match(encodingWords[one]) ?? [];
    return new Set(words).size > 1;
  });
  const [one = 'windows-1252'] = found;
  return { name, text: new TextDecoder(one).decode(bytes), encoding: one, isCertain: found.length === 1 };
}

/** The text of a file's bytes. @throws FileProblem where they are not UTF-8 */
export function decodeText(name: string, bytes: Buffer): string {
  const text = textIn('utf-8', bytes, false);
  if (text === null) throw contentProblem(name, NOT_UTF8);
  return text;
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
    .replace(/(?:\.(?:gz|zst|zip|bz2|xz|tar)|\.tgz)+$/i, '')
    .replace(/(\.rejected(\.\d+)?)?\.(csv|tsv|txt|json|ndjson|parquet|feather|arrow)$/i, '')
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
