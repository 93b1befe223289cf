// A small disk of its own for a test: mounted in memory, which needs the rights to mount.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finished } from '../commands.ts';

const run = (command: string, ...args: readonly string[]): void =>
  void execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** A mounted disk. */
export class SmallDisk {
  readonly folder: string;

  /** @throws where this process may not mount */
  constructor(bytes: number) {
    this.folder = mkdtempSync(join(tmpdir(), 'bourse-disk-'));
    try {
      run('mount', '-t', 'tmpfs', '-o', `size=${Math.ceil(bytes)}`, 'bourse-test', this.folder);
    } catch (error) {
      rmSync(this.folder, { recursive: true });
      throw error;
    }
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A folder on it, made. */
  subfolder(name: string): string {
    mkdirSync(this.path(name));
    return this.path(name);
  }

  resize(bytes: number): void {
    run('mount', '-o', `remount,size=${Math.ceil(bytes)}`, this.folder);
  }

  /** Leaves so many bytes free. */
  leaveFree(bytes: number): void {
    const blocks = readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).blocks);
    const usedBytes = 512 * blocks.reduce((sum, count) => sum + count, 0);
    this.resize(Math.ceil((usedBytes + bytes) / 4096) * 4096);
  }

  makeReadOnly(): void {
    run('mount', '-o', 'remount,ro', this.folder);
  }

  close(): void {
    run('umount', '--lazy', this.folder);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Why no small disk can be had here, or false: what a test's `skip` takes. */
export function noSmallDisk(): string | false {
  try {
    new SmallDisk(64 * 1024).close();
    return false;
  } catch (error) {
    return `no small disk can be mounted here: ${(error as Error).message.split('\n').join(' ').trim()}`;
  }
}

/** The numbers of a refusal for want of room, which must be all that was said. */
export function roomIn(
  { status, stderr, stdout }: Finished,
  folder: string,
): { freeBytes: number; neededBytes: number } {
  assert.equal(status, 3, stderr);
  assert.equal(stdout, '');
  const [line, ...more] = stderr.trimEnd().split('\n');
  assert.deepEqual(more, []);
  assert.ok(line!.startsWith(`bourse: the disk of ${folder} has `), line);
  const found = /has ([\d,]+) bytes free, but about ([\d,]+) bytes are needed/.exec(line!);
  const [freeBytes, neededBytes] = found!.slice(1).map((text) => Number(text.replaceAll(',', '')));
  assert.ok(freeBytes! < neededBytes!, line);
  return { freeBytes: freeBytes!, neededBytes: neededBytes! };
}
