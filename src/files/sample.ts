// The beginning of a file and its name: what a preset is told by, and what it takes from them.

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

/** The whole lines of a sample that are not empty. */
export function linesOf({ text, isCut }: Sample): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  // The last one may go on behind the sample.
  if (isCut && lines.length > 1) lines.pop();
  return lines.filter((line) => line !== '');
}

/** Cells of a line by RFC 4180; null where it cannot be read. */
export function cellsOf(line: string, delimiter: string): string[] | null {
  const mark = delimiter.replace(/[|^$.*+?\\]/, '\\$&');
  const cell = new RegExp(`(?:^|${mark})(?:"((?:[^"]|"")*)"|([^"${mark}]*))(?=${mark}|$)`, 'g');
  const cells: string[] = [];
  for (const match of line.matchAll(cell)) {
    cells.push((match[1]?.replaceAll('""', '"') ?? match[2]!).trim());
  }
  const parts = line.replaceAll(/"(?:[^"]|"")*"/g, '').split(delimiter).length;
  return cells.length === parts ? cells : null;
}

/** The name without folders, packing and kind: `AAPL` of `data/AAPL.csv.gz`; of refused rows that of their file. */
export const stemOf = ({ name }: Sample): string =>
  name
    .replace(/^.*[/\\]/, '')
    .replace(/\.(gz|zst|zip)$/i, '')
    .replace(/(\.rejected(\.\d+)?)?\.(csv|tsv|txt|json|ndjson)$/i, '')
    .replace(/(\.csv)?\.rejected(\.\d+)?$/i, '');
