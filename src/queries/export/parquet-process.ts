// Starts the processes that make Parquet.
import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { moduleBeside } from '../../base/runtime.ts';
import type { ReadColumn } from './parquet.ts';

/** A process that makes a Parquet file of the CSV that it is given. */
type ParquetProcess = {
  /** Gives it the next bytes; resolves once it takes more. @throws where it has ended */
  write(piece: Uint8Array): Promise<void>;
  /**
   * Ends the CSV; the rows of the file, and its hash. @throws where it failed; the error of a full disk has
   * the code `ENOSPC`
   */
  end(): Promise<ParquetFile>;
  /** Ends the process at once; nothing where it has ended. */
  kill(): void;
};

/** A whole file: its rows, and the hash of its bytes. */
type ParquetFile = { readonly rows: number; readonly hash: string };

/** Its heap is small, whatever the heap of this process may be. */
const FLAGS = ['--max-old-space-size=64', '--max-semi-space-size=2', '--single-threaded-gc'];

/**
 * DuckDB opens its input by name. Node.js gives a child a socket, which has none; behind `cat` it is a pipe.
 */
const PIPED = 'cat | exec "$0" "$@"';

/** Characters of what a process said at its end that an error repeats. */
const SAID_MAX = 1_000;

/** Starts a process that makes a file at a path. `columns` are those of a CSV without a header. */
export function startParquet(path: string, columns: readonly ReadColumn[]): ParquetProcess {
  const program = fileURLToPath(moduleBeside('./parquet.ts', import.meta.url));
  const words = [...FLAGS, program, path, JSON.stringify(columns)];
  const child = spawn('/bin/sh', ['-c', PIPED, process.execPath, ...words], { detached: true });
  let hasEnded = false;
  child.once('close', () => {
    hasEnded = true;
  });
  const ended = Promise.all([
    new Promise<number | string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal ?? 'nothing'));
    }),
    buffer(child.stdout),
    buffer(child.stderr),
  ]).then(([status, printed, said]) => {
    if (status === 0) return JSON.parse(printed.toString()) as ParquetFile;
    const cause = said.toString().slice(-SAID_MAX);
    const error = new Error(`the process that makes Parquet ended with ${status}: ${cause}`);
    throw /ENOSPC/.test(cause) ? Object.assign(error, { code: 'ENOSPC' }) : error;
  });
  ended.catch(() => undefined);
  // Its end says why it takes no more.
  child.stdin.on('error', () => undefined);
  return {
    write: async (piece) => {
      const failed = await new Promise((resolve) => child.stdin.write(piece, resolve));
      if (!failed) return;
      await ended;
      throw new Error('the process that makes Parquet ended before its input');
    },
    end: () => {
      child.stdin.end();
      return ended;
    },
    kill: () => {
      // Another process may have its number since.
      if (hasEnded) return;
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
    },
  };
}
