// The checksum of a file's schema: a changed byte in it makes other indexes, or tables of other columns.
import { crc32 } from 'node:zlib';
import type { Database } from './database.ts';
import { MANIFEST } from './digest.ts';
import { hasTable } from './row-sums.ts';

const SCHEMA = 'sqlite_schema';

/** The schema's checksum. Root pages are left out: they are other ones in a copy. */
function schemaCheck(database: Database): number {
  const entries = database.lists(
    `select type, name, tbl_name, sql from ${SCHEMA} where tbl_name not in ('${MANIFEST}', 'sqlite_stat1') order by type, name`,
    [],
  );
  return crc32(JSON.stringify(entries)) | 0;
}

/** Keeps the layout and the checksum of the schema, as the end of a migration. */
export function keepSchemaSum(database: Database): void {
  const layout = database.pragma('user_version');
  database.run('insert or replace into row_sums values (?, ?, ?)', [SCHEMA, layout, schemaCheck(database)]);
}

/**
 * Says how the number of the layout differs from its copy; null where it does not. A new file has no copy
 * yet.
 */
export function layoutProblem(database: Database): string | null {
  if (!hasTable(database, 'row_sums')) return null;
  // In one statement: another process may be migrating the file.
  const select =
    'select rows as copy, user_version as layout from row_sums, pragma_user_version where name = ? and rows <> 0';
  const [found] = database.all(select, [SCHEMA]);
  if (found === undefined || found.copy === found.layout) return null;
  return `its layout is ${String(found.layout)}, and ${String(found.copy)} was written`;
}

/** Says what is wrong with the schema; null where it is as it was written. */
export function schemaProblem(database: Database): string | null {
  const problem = layoutProblem(database);
  if (problem !== null) return problem;
  const [kept] = database.all('select checks from row_sums where name = ?', [SCHEMA]);
  if (kept?.checks !== schemaCheck(database)) return 'its schema is not what was written';
  const shared = `select 1 from ${SCHEMA} where rootpage > 0 group by rootpage having count(*) > 1`;
  return database.all(shared, []).length > 0 ? 'two of its tables or indexes share their pages' : null;
}
