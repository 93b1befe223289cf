// A whole store as one file, made while others read and write it; and a store restored from it, which is
// verified before it replaces anything, and keeps the replaced files (docs/decisions/0010).
import { createHash, type Hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  constants as files,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { diskFull, makeFolder, requireDiskSpace } from '../../base/space.ts';
import { readVersion } from '../changes.ts';
import type { StoredCell } from '../checked-rows.ts';
import { damageWords } from '../damage.ts';
import { leapVersion } from '../former-rows.ts';
import { storeLimits } from '../limits.ts';
import { controlHistory, newestLayout, storeHistory } from '../migrations/index.ts';
import type { Dataset } from '../schema/dataset.ts';
import { dataDatasets } from '../schema/index.ts';
import { controlDatasets } from '../schema/internal.ts';
import {
  type Copied,
  type CopyOptions,
  type Restored,
  StoreUnusable,
  UnfitPlace,
  WouldReplace,
} from '../store.ts';
import { Database } from './connection.ts';
import { controlPathOf } from './control.ts';
import {
  COMPANIONS,
  type FileKind,
  flush,
  keptName,
  kinds,
  makePartial,
  requireFile,
  takeOwner,
  troubleOf,
} from './files.ts';
import { checkLayout, openFile } from './layout.ts';
import { SqliteRows } from './rows.ts';
import { scrub } from './scrub.ts';
import { MANIFEST } from './sums.ts';

const { copyAttemptsMax, copyDamageNamedMax, manifestBytes } = storeLimits;

/** The same error, or a `DiskFull` where the folder's disk had no space for so many bytes. */
const writeProblem = async (error: unknown, folder: string, bytes: number): Promise<unknown> =>
  troubleOf(error) === 'full' ? diskFull(folder, bytes, error) : error;

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
type Table = [name: string, sql: string, key: string | null];

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
  for (const [name, sql, key] of database.rows(tables) as Table[]) {
    addValue(hash, sql);
    for (const row of database.walk(`select * from "${name}" order by ${key ?? 'rowid'}`))
      for (const value of row) addValue(hash, value);
  }
  return hash.digest('hex');
}

/** Kind and length come first, so that different rows are different bytes. */
function addValue(hash: Hash, value: StoredCell): void {
  if (value instanceof Uint8Array) hash.update(`b${value.length}:`).update(value);
  else hash.update(typeof value === 'string' ? `t${value.length}:${value}` : `n${value};`);
}

/**
 * The hash of a file, after SQLite has checked it; `called` is its name in messages. @throws StoreUnusable
 * for a damaged file
 */
function soundDigest(path: string, kind: FileKind, called: string): string {
  using database = new Database(path, 'read', kind);
  const [fault] = database.walk('pragma integrity_check(1)').next().value as string[];
  if (fault !== 'ok') throw new StoreUnusable(`${called} is damaged: ${fault}`);
  return digestOf(database);
}

/** The error to throw for one that a damaged file may have caused. */
function damageOf(called: string, error: unknown): unknown {
  if (troubleOf(error) !== 'damaged') return error;
  return new StoreUnusable(`${called} is damaged: ${(error as Error).message}`, { cause: error });
}

/** The content of a backup beside the data. */
type Manifest = {
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
  using copy = new Database(path, 'write', 'store', true);
  copy.exec(
    `begin; create table ${MANIFEST} (made_ms integer not null, sha256 text not null, control blob, control_sha256 text)`,
  );
  const values = [madeMs, sha256, control, controlSha256(control)];
  copy.run(`insert into ${MANIFEST} values (?, ?, ?, ?)`, values);
  copy.exec(`pragma application_id = ${kinds.backup.applicationId}; commit`);
}

/** Makes a backup the data of a store, without any trace of keys and secrets. */
function unseal(path: string): void {
  using data = new Database(path, 'write', 'backup');
  data.exec(
    `pragma secure_delete = on; begin; drop table ${MANIFEST}; pragma application_id = ${kinds.store.applicationId}; commit`,
  );
}

/** The manifest of a backup that this Bourse can restore. @throws StoreUnusable for any other */
function readManifest(path: string): Manifest {
  using backup = new Database(path, 'read', 'backup');
  checkLayout(backup, path, storeHistory);
  const sql = `select made_ms, sha256, control, control_sha256 from ${MANIFEST}`;
  const [[madeMs, sha256, control, keysSha256]] = backup.rows(sql) as [
    [number, string, Uint8Array | null, string | null],
  ];
  if (controlSha256(control) !== keysSha256)
    throw new StoreUnusable(`${path} is damaged: its keys are not what was written`);
  return { madeMs, sha256, control };
}

/** The number of keys in a control file. */
const keysIn = (control: Database): number => control.rows('select count(*) from api_keys')[0]![0] as number;

/** Makes the store at `path` from the backup `file`. */
export async function restoreSqlite(path: string, file: string, options: CopyOptions): Promise<Restored> {
  const backup = resolve(file);
  const data = resolve(path);
  const places = [data, controlPathOf(data)] as const;
  requireFile(data, 'store');
  const manifest = openBackup(backup);
  const present = places.filter((place) => existsSync(place));
  checkReplacing(present, options.force);
  const folder = dirname(data);
  makeFolder(folder);
  using held = hold(data, 'store');
  using _control = hold(places[1], 'control');
  const neededBytes = statSync(backup).size;
  try {
    requireDiskSpace(folder, neededBytes);
    const replaced = { present, version: await versionOf(held) };
    const { keys, version } = await replace(places, replaced, { path: backup, manifest }, options);
    const { sha256, madeMs } = manifest;
    const kept = present.map(keptName);
    return { file: data, bytes: statSync(data).size, sha256, keys, madeMs, version, kept };
  } catch (error) {
    throw damageOf(backup, await writeProblem(error, folder, neededBytes));
  }
}

type Places = readonly [data: string, control: string];

type Backup = { readonly path: string; readonly manifest: Manifest };

function openBackup(backup: string): Manifest {
  if (!existsSync(backup)) throw new UnfitPlace(`there is no backup ${backup}`);
  try {
    return readManifest(backup);
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    throw new StoreUnusable(`${backup} is not a backup, or it is damaged`, { cause: error });
  }
}

function checkReplacing(present: readonly string[], force: boolean): void {
  if (present.length === 0) return;
  const kept = present.map(keptName);
  if (!force)
    throw new WouldReplace(
      `there is a store at ${present[0]}: --force replaces it and keeps it as ${kept.join(' and ')}`,
    );
  const earlier = kept.find((one) => existsSync(one));
  if (earlier !== undefined)
    throw new WouldReplace(`${earlier} is left from an earlier restore: move it away or remove it first`);
}

/**
 * Keeps everyone out of a file until it is closed. Null where there is no file, or one so damaged that nobody
 * can use it.
 */
function hold(path: string, kind: FileKind): Database | null {
  if (!existsSync(path)) return null;
  try {
    return new Database(path, 'write', kind, true);
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble === 'damaged') return null;
    if (trouble !== 'busy') throw error;
    throw new StoreUnusable(`${path} is in use: stop bourse serve, let imports end, and restore again`);
  }
}

/**
 * The version of a store that is replaced; 0 where that cannot be read: whatever is wrong with it may be why
 * it is replaced.
 */
async function versionOf(held: Database | null): Promise<number> {
  try {
    return held === null ? 0 : ((await readVersion(new SqliteRows(held))) ?? 0);
  } catch {
    return 0;
  }
}

/** The files that are there, and the version of their store. */
type Replaced = { readonly present: readonly string[]; readonly version: number };

/**
 * Makes both files under temporary names and renames them when they are sound. Gives the number of keys, and
 * the new version.
 */
async function replace(
  places: Places,
  { present, version: replacedVersion }: Replaced,
  backup: Backup,
  options: CopyOptions,
): Promise<{ readonly keys: number; readonly version: number }> {
  using data = makePartial(places[0]);
  using control = makePartial(places[1]);
  options.tell('copying');
  copyFileSync(backup.path, data.path, files.COPYFILE_FICLONE);
  chmodSync(data.path, 0o600);
  const keysFile = backup.manifest.control;
  if (keysFile !== null) writeFileSync(control.path, keysFile);
  options.tell('reading the copy');
  const keys = verify(data.path, control.path, backup);
  const version = await leap(data.path, replacedVersion, options);
  for (const made of [data, control]) flush(made.path);
  if (places.some((place) => existsSync(place) !== present.includes(place)))
    throw new StoreUnusable(`a store was made at ${places[0]} meanwhile: restore again`);
  takeOwner(data.path, places[0]);
  takeOwner(control.path, places[1]);
  swap(keysFile === null ? null : control.path, places[1]);
  swap(data.path, places[0]);
  flush(dirname(places[0]));
  return { keys, version };
}

/**
 * Gives the restored data a version that no store had before. Data of an older layout are migrated, which
 * forgets earlier versions: the version of that would be one that the store of the backup has had meanwhile.
 */
async function leap(path: string, replaced: number, { tell, nowMs }: CopyOptions): Promise<number> {
  const isOlder = layoutIn(path) < newestLayout(storeHistory);
  const layout = { ...storeHistory, keepsOlder: false };
  using data = await openFile(path, 'write', 'store', layout, tell);
  const { to } = await data.longWrite(
    () => leapVersion(new SqliteRows(data), { nowMs: nowMs(), replaced, forgetsEarlier: isOlder }),
    () => undefined,
  );
  return to;
}

function layoutIn(path: string): number {
  using data = new Database(path, 'read', 'store');
  return data.pragma('user_version');
}

/** Checks the files of a backup; gives the number of keys. @throws StoreUnusable for a damaged one */
function verify(data: string, control: string, { path, manifest }: Backup): number {
  unseal(data);
  if (soundDigest(data, 'store', path) !== manifest.sha256)
    throw new StoreUnusable(`${path} is damaged: its data is not what was written`);
  if (manifest.control === null) return 0;
  using database = new Database(control, 'read', 'control');
  checkLayout(database, path, controlHistory);
  return keysIn(database);
}

/** Gives a file its final name; null removes the old file. The old file stays under another name. */
function swap(made: string | null, place: string): void {
  if (existsSync(place)) linkSync(place, keptName(place));
  // Else SQLite would apply the old file's log to the new one.
  for (const companion of COMPANIONS.filter((end) => existsSync(place + end)))
    renameSync(place + companion, keptName(place) + companion);
  if (made === null) rmSync(place, { force: true });
  else renameSync(made, place);
}
