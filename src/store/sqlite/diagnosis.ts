// What `bourse doctor` checks in a SQLite store: files, disk space, log, layout. Nothing here writes.
import { constants } from 'node:fs';
import { access, open, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatBytes } from '../../base/size.ts';
import { otherThanFile } from '../../disk/file-kind.ts';
import { broken, type Diagnosis, doubtful, fine, readableByOthers } from '../diagnosis.ts';
import { StoreUnusable } from '../store.ts';
import { controlPathOf, openSqliteControl } from './control.ts';
import { PAGE_BYTES, versionProblem } from './database.ts';
import { openSqliteStore } from './store.ts';

type Check = (path: string) => Diagnosis | null | Promise<Diagnosis | null>;

const MEBIBYTE = 1024 * 1024;

/** An import of a day and its log fit into this; less stops the next one. */
const FREE_BYTES_LEAST = 256 * MEBIBYTE;

/** An import leaves an empty log, and while one runs it stays below this unless a reader holds it. */
const LOG_BYTES_USUAL = 64 * MEBIBYTE;

/** Bytes of a file; null where there is none. */
const sizeOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ size }) => size,
    () => null,
  );

const may = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

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

/** Opens and closes; the problem in words, or null. */
async function openingProblem(opening: Promise<{ close(): Promise<void> }>): Promise<string | null> {
  try {
    await (await opening).close();
    return null;
  } catch (error) {
    if (error instanceof StoreUnusable) return error.message;
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
    : broken('store', problem, null);
}

async function controlFile(path: string): Promise<Diagnosis | null> {
  if ((await sizeOf(path)) === null) return null;
  const control = controlPathOf(path);
  if ((await sizeOf(control)) === null) {
    const cure = 'restore it with the store; else bourse keys create makes a new one, and old keys are lost';
    return doubtful('control file', `${control} is not beside the store: no key is known`, cure);
  }
  const problem = await openingProblem(openSqliteControl(path, 'inspect', () => undefined));
  return problem === null
    ? fine('control file', control)
    : broken('control file', problem, 'put back the control file that belongs to the store');
}

async function writable(path: string): Promise<Diagnosis> {
  const folder = await nearestFolder(path);
  const needed = [folder, path, controlPathOf(path)];
  for (const file of needed) {
    if ((await sizeOf(file)) === null || (await may(file, constants.W_OK))) continue;
    const user = process.getuid === undefined ? 'this user' : `user ${process.getuid()}`;
    return broken(
      'writing',
      `${user} cannot write ${file}`,
      `run Bourse as its owner, or: chown it, folder included`,
    );
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
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const size = (await sizeOf(path)) ?? 0;
  const message = `${formatBytes(free)} free in ${folder}, the store has ${formatBytes(size)}`;
  const cure = 'free some, or move the store to a larger disk and name it with --store';
  if (free < FREE_BYTES_LEAST) return broken('disk', message, cure);
  return free < size
    ? doubtful('disk', `${message}: a copy of it would not fit`, cure)
    : fine('disk', message);
}

async function log(path: string): Promise<Diagnosis | null> {
  const size = await sizeOf(`${path}-wal`);
  if (size === null) return null;
  const message = `${path}-wal has ${formatBytes(size)}`;
  if (size <= LOG_BYTES_USUAL) return fine('log', message);
  return doubtful(
    'log',
    `${message}: an import is running, or was cut off, or a reader holds it`,
    'wait for the import to end; else restart what reads the store, and import once more',
  );
}

/** The size of a page is in the file's header (sqlite.org/fileformat2.html#page_size). */
async function pageSize(path: string): Promise<Diagnosis | null> {
  if (((await sizeOf(path)) ?? 0) < 100) return null;
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  try {
    const { buffer } = await file.read({ buffer: Buffer.alloc(100) });
    const field = buffer.readUInt16BE(16);
    const bytes = field === 1 ? 65_536 : field;
    if (!buffer.subarray(0, 15).equals(Buffer.from('SQLite format 3'))) return null;
    if (bytes === PAGE_BYTES) return fine('page size', `${bytes} bytes`);
    const cure = 'import into a new store to have it faster';
    return doubtful('page size', `${bytes} bytes a page, new stores have ${PAGE_BYTES}`, cure);
  } finally {
    await file.close();
  }
}

const firstChecks: readonly Check[] = [sqliteVersion, storeFile];

const fileChecks: readonly Check[] = [controlFile, writable, permissions, freeSpace, log, pageSize];

/** The results of all checks of the store at `path`, whether there is one or not. */
export async function diagnoseSqlite(path: string): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  const checks = otherThanFile(path) === null ? [...firstChecks, ...fileChecks] : firstChecks;
  for (const check of checks) {
    const diagnosis = await check(path);
    if (diagnosis !== null) found.push(diagnosis);
  }
  return found;
}
