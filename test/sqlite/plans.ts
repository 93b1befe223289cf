// How SQLite reads large lists: the plans of the statements by which a service reads them.
import { DatabaseSync } from 'node:sqlite';
import { askForLists, isOptionSearch, largeTables, listening } from '../list-plans.ts';
import { storeFile } from './files.ts';

/** What a service reads from a store for every list, and why it is no walk of an index. */
export type Plans = { readonly statements: number; readonly problems: readonly string[] };

/** Asks a store for every list. */
export async function sqlitePlans(url: string): Promise<Plans> {
  const prepared = new Set<string>();
  const note = ([sql]: readonly unknown[]): void => void prepared.add(sql as string);
  await listening(DatabaseSync.prototype, 'prepare', note, () => askForLists(url));
  const reads = [...prepared].filter(
    (sql) => /^(?:select|with)\b/.test(sql) && largeTables.some((table) => sql.includes(`"${table}"`)),
  );
  const database = new DatabaseSync(storeFile(url), { readOnly: true });
  const problems = reads.flatMap((sql) => {
    const steps = database.prepare(`explain query plan ${sql}`).all();
    return steps
      .map(({ detail }) => String(detail))
      .filter((step) => isWrong(sql, step))
      .map((step) => `${step}: ${sql}`);
  });
  database.close();
  return { statements: reads.length, problems };
}

const isWrong = (sql: string, step: string): boolean =>
  (/TEMP B-TREE/.test(step) && !isOptionSearch(sql)) ||
  (/^SCAN /.test(step) &&
    !/ USING (?:COVERING )?INDEX /.test(step) &&
    largeTables.some((table) => step.includes(table)));
