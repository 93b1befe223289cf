// What a path leads to. Opening a pipe would wait for ever, so callers ask here first and refuse it in words.
import { type Stats, statSync } from 'node:fs';

/** What is at a path and is not a file, in words; null for a file, and where nothing is found. */
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
    // Opening the path reports why it cannot be reached.
    return undefined;
  }
}
