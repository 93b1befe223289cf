// What lies where a file is wanted: a pipe would be waited for without end, and what is none is told in words.
import { type Stats, statSync } from 'node:fs';

/** What lies at a path and is no file, in words; null for a file, and where nothing is found. */
export function otherThanFile(path: string): string | null {
  const found = look(path);
  if (found === undefined || found.isFile()) return null;
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Who opens it is told why it cannot be reached.
    return undefined;
  }
}
