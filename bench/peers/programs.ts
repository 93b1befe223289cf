// Programs that other people's servers need, found where this machine has them.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';

const runs = (command: string, args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** nginx, or null. */
export const findNginx = (): string | null =>
  ['nginx', '/usr/sbin/nginx'].find((command) => runs(command, ['-v'])) ?? null;

/** A Python that has FastAPI and uvicorn, or null. */
export const findFastApi = (): string | null =>
  ['python3', '/usr/bin/python3'].find((command) => runs(command, ['-c', 'import fastapi, uvicorn'])) ?? null;

const POSTGRES_VERSIONS = '/usr/lib/postgresql';

/** The folder of PostgreSQL's programs, of the latest version; or null. */
export function findPostgres(): string | null {
  const versions = foldersIn(POSTGRES_VERSIONS).toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...versions.map((version) => join(POSTGRES_VERSIONS, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return (
    folders.find((folder) => ['initdb', 'postgres', 'psql'].every((name) => isProgram(join(folder, name)))) ??
    null
  );
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
