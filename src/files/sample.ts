// The beginning of a file and its name: what a preset is told by, and what it takes from them.

import { FileProblem } from './file-problem.ts';

/** What is known of a file before its columns are. */
export type Sample = {
  /** As it was named, with its folders; a file of an archive behind the archive's name. */
  readonly name: string;
  /** The first bytes of a text; empty where the file is none. */
  readonly text: string;
  /** Whether the file goes on behind it. */
  readonly isCut: boolean;
};

/** Bytes of a sample. */
export const SAMPLE_BYTES = 64 * 1024;

/** Said of text in other bytes: mostly spreadsheets of Windows. */
export const NOT_UTF8 =
  'is not UTF-8: save it as CSV UTF-8, or convert it, such as by iconv -f WINDOWS-1252 -t UTF-8';

/** The text of a file's bytes, or of its first ones. @throws FileProblem where they are not UTF-8 */
export function decodeText(name: string, bytes: Buffer, isCut: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    throw new FileProblem('content', `${name}: ${NOT_UTF8}`);
  }
}

/** The whole lines of a sample that are not empty. */
export function linesOf({ text, isCut }: Sample): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  // The last one may go on behind the sample.
  if (isCut && lines.length > 1) lines.pop();
  return lines.filter((line) => line !== '');
}

/** The name without folders, packing and kind: `AAPL` of `data/AAPL.csv.gz`; of refused rows that of their file. */
export const stemOf = ({ name }: Sample): string =>
  name
    .replace(/^.*[/\\]/, '')
    .replace(/\.(gz|zst|zip)$/i, '')
    .replace(/(\.rejected(\.\d+)?)?\.(csv|tsv|txt|json|ndjson)$/i, '')
    .replace(/(\.csv)?\.rejected(\.\d+)?$/i, '');
