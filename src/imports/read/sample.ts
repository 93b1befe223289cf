// The beginning of a file and its name, by which presets recognize it.
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

/** The size of a sample. */
export const SAMPLE_BYTES = 64 * 1024;

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

/** The beginning of a text, in Windows-1252 where it is not UTF-8. */
export function decodeSample(name: string, bytes: Buffer): Omit<Sample, 'isCut'> {
  try {
    return { name, text: decodeText(name, bytes, true) };
  } catch {
    const [encoding] = encodings;
    return { name, text: new TextDecoder(encoding).decode(bytes), encoding };
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
