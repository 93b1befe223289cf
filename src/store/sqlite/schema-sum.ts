// The checksum of a file's schema: a changed byte in it makes other indexes, or tables of other columns.
import { crc32 } from 'node:zlib';
import type { Database } from './database.ts';
import { MANIFEST } from './digest.ts';

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

/** What is wrong with the schema; null where it is as it was written. */
export function schemaProblem(database: Database): string | null {
  const [kept] = database.all('select rows as layout, checks from row_sums where name = ?', [SCHEMA]);
  const layout = database.pragma('user_version');
  // Files of layout 6 have no copy of its number.
  if (kept !== undefined && kept.layout !== 0 && kept.layout !== layout)
    return `its layout is ${layout}, and ${String(kept.layout)} was written`;
  if (kept?.checks !== schemaCheck(database)) return 'its schema is not what was written';
  const shared = `select 1 from ${SCHEMA} where rootpage > 0 group by rootpage having count(*) > 1`;
  return database.all(shared, []).length > 0 ? 'two of its tables or indexes share their pages' : null;
}
