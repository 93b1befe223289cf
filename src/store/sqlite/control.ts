// The control file of a SQLite store: keys, what they have used, and secrets, written in moments, whatever an import holds.
import { controlDatasets } from '../../datasets/index.ts';
import type { Mode, RowStore } from '../store.ts';
import { type Migration, openRowStore, tablesOf } from './rows.ts';

/** From nothing to the layout that this Bourse knows, step by step. */
export const controlMigrations: readonly Migration[] = controlDatasets.map(tablesOf);

/** `data/bourse.db` -> `data/bourse.control.db` */
export function controlPathOf(path: string): string {
  return path.endsWith('.db') ? `${path.slice(0, -3)}.control.db` : `${path}.control.db`;
}

/** Opens the control file beside the store at `path`. */
export function openSqliteControl(path: string, mode: Mode): Promise<RowStore> {
  return openRowStore(controlPathOf(path), mode, 'control', {
    datasets: controlDatasets.flat(),
    migrations: controlMigrations,
  });
}
