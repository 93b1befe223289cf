// What a path leads to. Opening a pipe would wait for ever, so callers ask here first and refuse a pipe with
// a message.
import { statSync } from 'node:fs';

/** The kind of a path that does not lead to a file, in words; null for a file, and where nothing is found. */
export function otherThanFile(path: string): string | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) return null;
    if (found.isDirectory()) return 'a folder';
    if (found.isFIFO()) return 'a pipe';
    return found.isSocket() ? 'a socket' : 'a device';
  } catch {
    // Opening the path reports why it cannot be reached.
    return null;
  }
}
