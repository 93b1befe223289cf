// Words for a person: sizes, words of a command line that can be copied, and what someone may have meant.
import { distance } from 'fastest-levenshtein';

/** The nearest of some names, where one is near: at most `most` letters differ. */
export function nearest(
  name: string,
  among: readonly string[],
  most = Math.max(2, name.length / 3),
): string | undefined {
  const distanceTo = (word: string): number => distance(word.toLowerCase(), name.toLowerCase());
  const [best] = among.toSorted((a, b) => distanceTo(a) - distanceTo(b));
  return best !== undefined && distanceTo(best) <= most ? best : undefined;
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** A size in powers of 1000, with one decimal from 1 kB on: `12.3 MB`. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let power = 0;
  for (; power < units.length - 1 && Number(size.toFixed(1)) >= 1000; power++) size /= 1000;
  return `${size.toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** A word as a shell needs it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
