// The checks of `bourse doctor` in a SQLite store: files, disk space, log, layout; and facts about it.
// Nothing here writes.
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { freeBytesIn } from '../../base/space.ts';
import { otherThanFile } from '../../base/temporary.ts';
import { formatBytes } from '../../base/words.ts';
import { broken, type Diagnosis, doubtful, fine, readableByOthers } from '../damage.ts';
import { OlderLayout, type StoreFacts, type StoreSpace, StoreUnusable } from '../store.ts';
import { Database, versionProblem } from './connection.ts';
import { controlPathOf, openSqliteControl } from './control.ts';
import { openSqliteStore } from './engine.ts';
import { PAGE_BYTES } from './files.ts';

type Check = (path: string) => Diagnosis | null | Promise<Diagnosis | null>;

const MEBIBYTE = 1024 * 1024;

/** Space for the import of a day and its log; the next import may fail with less. */
const FREE_BYTES_LEAST = 256 * MEBIBYTE;

/** An import leaves an empty log. While it runs the log stays below this size unless a reader holds it. */
const LOG_BYTES_USUAL = 64 * MEBIBYTE;

/** Bytes of a file; null where there is none. */
const sizeOf = async (path: string): Promise<number | null> =>
  (await stat(path).catch(() => null))?.size ?? null;

async function nearestFolder(path: string): Promise<string> {
  const folder = dirname(path);
  return folder === path || (await sizeOf(folder)) !== null ? folder : nearestFolder(folder);
}

function sqliteVersion(): Diagnosis {
  const version = process.versions.sqlite ?? '0';
  const problem = versionProblem(version);
  if (problem === null) return fine('sqlite', `SQLite ${version}`);
  return broken('sqlite', problem, 'run Bourse with the Node.js that it brings (npm ci)');
}

/** Opens and closes; gives why that cannot be, or null. */
async function openingProblem(opening: Promise<{ close(): Promise<void> }>): Promise<StoreUnusable | null> {
  try {
    await (await opening).close();
    return null;
  } catch (error) {
    if (error instanceof StoreUnusable) return error;
    throw error;
  }
}

async function storeFile(path: string): Promise<Diagnosis> {
  const size = await sizeOf(path);
  if (size === null)
    return doubtful('store', `there is no store at ${path} yet`, 'bourse serve or bourse import makes it');
  const problem = await openingProblem(openSqliteStore(path, 'inspect', () => undefined));
  return problem === null
    ? fine('store', `${path}, ${formatBytes(size)}, of the current layout`)
    : broken('store', problem.message, null);
}

async function controlFile(path: string): Promise<Diagnosis | null> {
  if ((await sizeOf(path)) === null) return null;
  const control = controlPathOf(path);
  if ((await sizeOf(control)) === null) {
    const cure = 'restore it with the store; else bourse keys create makes a new one, and old keys are lost';
    return doubtful('control file', `${control} is not beside the store: no key is known`, cure);
  }
  const problem = await openingProblem(openSqliteControl(path, 'inspect', () => undefined));
  if (problem === null) return fine('control file', control);
  const cure = problem instanceof OlderLayout ? null : 'put back the control file that belongs to the store';
  return broken('control file', problem.message, cure);
}

async function writable(path: string): Promise<Diagnosis> {
  const folder = await nearestFolder(path);
  for (const file of [folder, path, controlPathOf(path)]) {
    const isClosed = await access(file, constants.W_OK).then(
      () => false,
      () => true,
    );
    if (!isClosed || (await sizeOf(file)) === null) continue;
    const user = process.getuid === undefined ? 'this user' : `user ${process.getuid()}`;
    const cure = 'run Bourse as its owner, or give the file and its folder to this user (chown)';
    return broken('writing', `${user} cannot write ${file}`, cure);
  }
  return fine('writing', `files in ${folder} can be written`);
}

async function permissions(path: string): Promise<Diagnosis | null> {
  const files = [path, controlPathOf(path)];
  const open = await readableByOthers(files);
  if (open.length > 0) {
    const message = `every user of this machine can read ${open.join(' and ')}`;
    return doubtful('permissions', message, `chmod o-rwx ${open.join(' ')}`);
  }
  return (await sizeOf(path)) === null ? null : fine('permissions', 'closed to other users');
}

async function freeSpace(path: string): Promise<Diagnosis> {
  const folder = await nearestFolder(path);
  const free = await freeBytesIn(folder);
  const size = (await sizeOf(path)) ?? 0;
  const message = `${formatBytes(free)} free in ${folder}, the store has ${formatBytes(size)}`;
  const cure = 'free some space, or move the store to a larger disk and name it with --store';
  if (free < FREE_BYTES_LEAST) return broken('disk', message, cure);
  if (free < size) return doubtful('disk', `${message}: a copy of it would not fit`, cure);
  return fine('disk', message);
}

async function log(path: string): Promise<Diagnosis | null> {
  const size = await sizeOf(`${path}-wal`);
  if (size === null) return null;
  const message = `${path}-wal has ${formatBytes(size)}`;
  if (size <= LOG_BYTES_USUAL) return fine('log', message);
  const cure = 'wait for the import to end; else restart what reads the store, and import once more';
  return doubtful('log', `${message}: an import is running, or was cut off, or a reader holds it`, cure);
}

/** The size of a page is in the file's header (sqlite.org/fileformat2.html#page_size). */
async function pageSize(path: string): Promise<Diagnosis | null> {
  if (((await sizeOf(path)) ?? 0) < 100) return null;
  await using file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  const { buffer } = await file.read({ buffer: Buffer.alloc(100) });
  if (!buffer.toString('latin1').startsWith('SQLite format 3')) return null;
  const field = buffer.readUInt16BE(16);
  const bytes = field === 1 ? 65_536 : field;
  if (bytes === PAGE_BYTES) return fine('page size', `${bytes} bytes`);
  const cure = 'import into a new store to make it faster';
  return doubtful('page size', `${bytes} bytes a page, new stores have ${PAGE_BYTES}`, cure);
}

const fileChecks: readonly Check[] = [controlFile, writable, permissions, freeSpace, log, pageSize];

/** The results of all checks of the store at `path`, whether it exists or not. */
export async function diagnoseSqlite(path: string): Promise<Diagnosis[]> {
  const checks: Check[] = [sqliteVersion, storeFile, ...(otherThanFile(path) === null ? fileChecks : [])];
  const found: (Diagnosis | null)[] = [];
  for (const check of checks) found.push(await check(path));
  return found.filter((diagnosis) => diagnosis !== null);
}

/** The files of the store at `path` that are there. */
async function partsOf(path: string): Promise<{ what: string; path: string; bytes: number }[]> {
  const control = controlPathOf(path);
  const files = [
    { what: 'data', path },
    { what: 'data log', path: `${path}-wal` },
    { what: 'keys', path: control },
    { what: 'keys log', path: `${control}-wal` },
  ];
  const sizes = await Promise.all(files.map((file) => sizeOf(file.path)));
  return files.flatMap((file, at) => (sizes[at] == null ? [] : [{ ...file, bytes: sizes[at] }]));
}

/** Layout and files of the store at `path`. */
export async function sqliteFacts(path: string): Promise<StoreFacts> {
  using database = new Database(path, 'read', 'store');
  return { layout: database.pragma('user_version'), server: null, parts: await partsOf(path) };
}

/**
 * Size of the store at `path`, and what is free on its disk. It opens nothing: a lock would hold up who asks.
 */
export async function sqliteSpace(path: string): Promise<StoreSpace> {
  const parts = await partsOf(path);
  const freeBytes = await freeBytesIn(dirname(path)).catch(() => null);
  return { storeBytes: parts.reduce((sum, { bytes }) => sum + bytes, 0), freeBytes };
}
