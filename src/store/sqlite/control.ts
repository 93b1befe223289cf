// The control file of a SQLite store: keys and secrets, written in moments, whatever an import holds.
import { controlDatasets } from '../../datasets/index.ts';
import type { Mode, RowStore } from '../store.ts';
import { openRowStore } from './rows.ts';

/** "BRSC" */
const APPLICATION_ID = 0x4252_5343;

/** `data/bourse.db` -> `data/bourse.control.db` */
export function controlPathOf(path: string): string {
  return path.endsWith('.db') ? `${path.slice(0, -3)}.control.db` : `${path}.control.db`;
}

/** Opens the control file beside the store at `path`. */
export function openSqliteControl(path: string, mode: Mode): Promise<RowStore> {
  return openRowStore(controlPathOf(path), mode, APPLICATION_ID, controlDatasets);
}
