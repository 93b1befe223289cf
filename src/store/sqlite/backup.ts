// A whole store as one file, made while others read and write it (docs/decisions/0010).

import { createHash, type Hash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, renameSync, statSync, truncateSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { requireDiskSpace } from '../../base/space.ts';
import { damageWords } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import { storeHistory } from '../migrations/index.ts';
import type { Dataset } from '../schema/dataset.ts';
import { controlDatasets, dataDatasets } from '../schema/index.ts';
import { type Copied, type CopyOptions, StoreUnusable, UnfitPlace, WouldReplace } from '../store.ts';
import { type Cell, Database, type FileKind, MANIFEST, markOf } from './connection.ts';
import { controlPathOf } from './control.ts';
import { COMPANIONS, flush, makePartial } from './files.ts';
import { checkLayout } from './layout.ts';
import { troubleOf, writeProblem } from './problems.ts';
import { scrub } from './scrub.ts';

const { copyAttemptsMax, copyDamageNamedMax, manifestBytes } = storeLimits;

/** Copies the store at `path` into `file`. */
export async function backupSqlite(path: string, file: string, options: CopyOptions): Promise<Copied> {
  const place = resolve(file);
  checkPlace(path, place, options.force);
  const folder = dirname(place);
  const bytes = bytesOf(path, 'store') + 2 * bytesOf(controlPathOf(path), 'control') + manifestBytes;
  requireDiskSpace(folder, bytes);
  try {
    return copyStore(path, place, options);
  } catch (error) {
    throw await writeProblem(error, folder, bytes);
  }
}

/** Makes the copy under a temporary name and renames it. A copy that fails leaves nothing. */
function copyStore(path: string, place: string, options: CopyOptions): Copied {
  using partial = makePartial(place);
  const sha256 = naming(path, () => copyData(path, partial.path, options.tell));
  const control = naming(controlPathOf(path), () => copyControl(path, place));
  const madeMs = options.nowMs();
  seal(partial.path, { madeMs, sha256, control: control?.bytes ?? null });
  flush(partial.path);
  checkPlace(path, place, options.force);
  renameSync(partial.path, place);
  flush(dirname(place));
  return { file: place, bytes: statSync(place).size, sha256, keys: control?.keys ?? 0, madeMs };
}

/** Runs `read` on a file; the error for a damaged file names it. */
function naming<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw damageOf(path, error);
  }
}

/** Refuses a path where no copy may be. */
function checkPlace(path: string, place: string, force: boolean): void {
  if (!existsSync(dirname(place)))
    throw new UnfitPlace(`there is no folder ${dirname(place)}: make it first, or mount its disk`);
  const found = lstatSync(place, { throwIfNoEntry: false });
  const own = [path, controlPathOf(path)].flatMap((one) => ['', ...COMPANIONS].map((end) => one + end));
  const isOwn = own.some((one) => {
    const other = statSync(one, { throwIfNoEntry: false });
    return resolve(one) === place || (found && other?.ino === found.ino && other.dev === found.dev);
  });
  if (isOwn) throw new UnfitPlace(`${place} belongs to the store itself: give the backup another name`);
  if (found === undefined) return;
  if (!found.isFile())
    throw new UnfitPlace(`${place} is a folder, a link or a device: give the backup the name of a new file`);
  if (!force)
    throw new WouldReplace(`${place} exists already: choose another name, or add --force to replace it`);
}

/** The size in bytes of a copy of a file; 0 where there is no control file. */
function bytesOf(path: string, kind: FileKind): number {
  if (kind === 'control' && !existsSync(path)) return 0;
  using database = new Database(path, 'read', kind);
  return database.copyBytes;
}

/**
 * Copies the data into `partial` and checks that the copy is sound and equals the store, row by row. Gives
 * the hash of the rows. SQLite chooses the state that it copies, so a second connection holds the state of
 * the moment before. Where an import ended between the two, the copy is made again.
 */
function copyData(path: string, partial: string, tell: CopyOptions['tell']): string {
  for (let attempt = 0; attempt < copyAttemptsMax; attempt++) {
    truncateSync(partial);
    using held = new Database(path, 'read', 'store');
    held.exec('begin');
    held.pragma('user_version');
    tell('reading the store');
    requireSound(held, dataDatasets);
    tell('copying');
    Database.vacuumInto(path, 'store', partial);
    tell('reading the store again');
    const expected = digestOf(held);
    held.exec('commit');
    tell('reading the copy');
    if (soundDigest(partial, 'store', `the copy of ${path}`) === expected) return expected;
  }
  throw new StoreUnusable(
    `${copyAttemptsMax} copies of ${path} differ from it: an import ended during each of them, or the disk does not keep what is written; try again`,
  );
}

/** Refuses a file of which anything is damaged. @throws StoreUnusable that names the damage */
function requireSound(database: Database, tables: readonly Dataset[]): void {
  const found = [...scrub(database, tables)].flatMap(({ damage }) => damage);
  if (found.length === 0) return;
  const named = found.slice(0, copyDamageNamedMax).map(damageWords).join('; ');
  const more = found.length > copyDamageNamedMax ? `; and ${found.length - copyDamageNamedMax} more` : '';
  throw new StoreUnusable(
    `${database.path} is damaged, and is not copied: ${named}${more}; bourse doctor --deep says what to do, and earlier backups are as they were`,
  );
}

/** The control file as one sound file's bytes, and its number of keys; null where the store has none yet. */
function copyControl(path: string, place: string): { bytes: Uint8Array; keys: number } | null {
  const control = controlPathOf(path);
  if (!existsSync(control)) return null;
  using keys = new Database(control, 'read', 'control');
  requireSound(keys, controlDatasets);
  using partial = makePartial(`${place}.keys`);
  Database.vacuumInto(control, 'control', partial.path);
  soundDigest(partial.path, 'control', `the copy of ${control}`);
  using copy = new Database(partial.path, 'read', 'control');
  return { bytes: readFileSync(partial.path), keys: keysIn(copy) };
}

/**
 * A table of any layout. `key` holds the columns that order its rows; null for a table with row ids.
 */
type Table = { readonly name: string; readonly sql: string; readonly key: string | null };

const tables = `select name, sql, case wr when 1 then (
    select group_concat('"' || name || '"' order by pk) from pragma_table_info(list.name) where pk > 0
  ) end as key
  from pragma_table_list as list join sqlite_schema using (name)
  where list.schema = 'main' and list.type = 'table' and name <> '${MANIFEST}' order by name`;

/**
 * SHA-256, in hexadecimal, of every table's declaration and every value of its rows, in the order of their
 * keys.
 */
function digestOf(database: Database): string {
  const hash = createHash('sha256');
  for (const { name, sql, key } of database.all(tables, []) as Table[]) {
    addValue(hash, sql);
    for (const row of database.walk(`select * from "${name}" order by ${key ?? 'rowid'}`))
      for (const value of row) addValue(hash, value);
  }
  return hash.digest('hex');
}

/** Kind and length come first, so that different rows are different bytes. */
function addValue(hash: Hash, value: Cell): void {
  if (value instanceof Uint8Array) hash.update(`b${value.length}:`).update(value);
  else hash.update(typeof value === 'string' ? `t${value.length}:${value}` : `n${value};`);
}

/**
 * The hash of a file, after SQLite has checked it; `called` is its name in messages. @throws StoreUnusable
 * for a damaged file
 */
export function soundDigest(path: string, kind: FileKind, called: string): string {
  using database = new Database(path, 'read', kind);
  const [fault] = database.walk('pragma integrity_check(1)').next().value as string[];
  if (fault !== 'ok') throw new StoreUnusable(`${called} is damaged: ${fault}`);
  return digestOf(database);
}

/** The error to throw for one that a damaged file may have caused. */
export function damageOf(called: string, error: unknown): unknown {
  if (troubleOf(error) !== 'damaged') return error;
  return new StoreUnusable(`${called} is damaged: ${(error as Error).message}`, { cause: error });
}

/** The content of a backup beside the data. */
export type Manifest = {
  readonly madeMs: number;
  /** The hash of the data: `digestOf`. */
  readonly sha256: string;
  /** The whole control file; null where the store had none yet. */
  readonly control: Uint8Array | null;
};

const controlSha256 = (control: Uint8Array | null): string | null =>
  control === null ? null : createHash('sha256').update(control).digest('hex');

/** Makes a copy of the data a backup. */
function seal(path: string, { madeMs, sha256, control }: Manifest): void {
  using copy = new Database(path, 'write', 'store');
  copy.takeAlone();
  copy.exec(
    `create table ${MANIFEST} (made_ms integer not null, sha256 text not null, control blob, control_sha256 text)`,
  );
  const values = [madeMs, sha256, control, controlSha256(control)];
  copy.run(`insert into ${MANIFEST} values (?, ?, ?, ?)`, values);
  copy.exec(`pragma application_id = ${markOf('backup')}; commit`);
}

/** Makes a backup the data of a store, without any trace of keys and secrets. */
export function unseal(path: string): void {
  using data = new Database(path, 'write', 'backup');
  data.exec(
    `pragma secure_delete = on; begin; drop table ${MANIFEST}; pragma application_id = ${markOf('store')}; commit`,
  );
}

/** The manifest of a backup that this Bourse can restore. @throws StoreUnusable for any other */
export function readManifest(path: string): Manifest {
  using backup = new Database(path, 'read', 'backup');
  checkLayout(backup, path, storeHistory);
  const [row] = backup.all(
    `select made_ms as madeMs, sha256, control, control_sha256 as keysSha256 from ${MANIFEST}`,
    [],
  );
  const { keysSha256, ...manifest } = row as Manifest & { readonly keysSha256: string | null };
  if (controlSha256(manifest.control) !== keysSha256)
    throw new StoreUnusable(`${path} is damaged: its keys are not what was written`);
  return manifest;
}

/** The number of keys in a control file. */
export const keysIn = (control: Database): number =>
  control.all('select count(*) as keys from api_keys', [])[0]!.keys as number;
