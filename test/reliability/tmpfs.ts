// A small disk of its own for a test: mounted in memory, which needs the rights to mount.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
