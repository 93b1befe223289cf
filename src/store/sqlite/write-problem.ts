// Whether a file that its user may write can be written: a flipped bit of its header can forbid that, and
// reads do not show it.
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { openConnection } from './opening.ts';

const SQLITE_READONLY = 8;

function mayWrite(path: string): boolean {
  try {
    for (const one of [path, dirname(path)]) accessSync(one, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Begins a write and takes it back. Gives the damage in words; null where there is none, or another process
 * is writing.
 */
export function writeProblem(path: string): string | null {
  if (!mayWrite(path)) return null;
  const connection = openConnection(path, 'write');
  try {
    connection.exec('pragma busy_timeout = 0; begin immediate; rollback');
    return null;
  } catch (error) {
    const { errcode = 0 } = error as { errcode?: number };
    return (errcode & 0xff) === SQLITE_READONLY ? 'its header says that it cannot be written' : null;
  } finally {
    connection.close();
  }
}
