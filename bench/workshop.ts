// The folders of the benchmark: one that is removed at the end, and one for generated files that may be
// kept.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FIRST_YEAR, type MinuteFile, writeMinutes } from './minutes.ts';
import { bourse, type Finished, run } from './process.ts';

/** Says on standard error what goes on. */
export const tell = (text: string): void => void process.stderr.write(`${text}\n`);

const RETRIES = 10;

/** Files of fewer rows are written without a word. */
const TOLD_ROWS = 100_000;

/** The folders of one run. */
export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), 'bourse-bench-'));
  readonly #kept: string;
  readonly #outside: string[] = [];

  constructor(keep: string | undefined) {
    this.#kept = keep ?? this.folder;
    mkdirSync(this.#kept, { recursive: true });
  }

  /** A place for a file that the next run may use again. */
  kept(name: string): string {
    return join(this.#kept, name);
  }

  /** The path of a file of minutes, written unless it is there. */
  minutes(file: Omit<MinuteFile, 'path'>): string {
    const { rows, order, symbols, firstSymbol = 0, firstMinute = 0, firstYear = FIRST_YEAR } = file;
    const from = `${firstSymbol}-${firstYear}-${firstMinute}`;
    const path = this.kept(`minutes-by-${order}-${symbols}-${rows}-from-${from}.csv`);
    if (rows >= TOLD_ROWS) tell(`${path}: ${rows.toLocaleString('en-US')} rows`);
    writeMinutes({ path, ...file });
    return path;
  }

  /** Removes a file that is no longer needed, unless the next run may use it. */
  discard(path: string): void {
    if (this.#kept === this.folder) rmSync(path, { force: true });
  }

  /** A store that nothing has been written to. */
  freshStore(name: string): FileStore {
    const store = new FileStore(this.folder, name);
    store.remove();
    return store;
  }

  /** A store that the next run may use again. */
  keptStore(name: string): FileStore {
    return new FileStore(this.#kept, name);
  }

  /** A folder beside the workshop's own, for a program of another user. */
  folderOutside(name: string): string {
    const path = mkdtempSync(join(tmpdir(), `bourse-bench-${name}-`));
    this.#outside.push(path);
    return path;
  }

  close(): void {
    for (const folder of [this.folder, ...this.#outside]) // A program that was just ended may still write.
      rmSync(folder, { recursive: true, force: true, maxRetries: RETRIES });
  }
}

/** A store that the product writes. */
export class BenchStore {
  readonly url: string;
  readonly #folder: string;

  /** `folder`: where its commands run. */
  constructor(folder: string, url: string) {
    this.#folder = folder;
    this.url = url;
  }

  /** Runs a command on it. */
  bourse(...args: readonly string[]): Promise<Finished> {
    return run(this.#folder, bourse, [...args, '--store', this.url]);
  }

  /** Makes a key; its secret. */
  async createKey(): Promise<string> {
    return (await this.bourse('keys', 'create', 'bench')).stdout;
  }

  /** Imports files of minutes. */
  importMinutes(...paths: readonly string[]): Promise<Finished> {
    return this.bourse(
      'import',
      'bars',
      ...paths,
      '--schema',
      'stock',
      '--country',
      'US',
      '--interval',
      '1M',
    );
  }
}

/** A store in files of its own. */
export class FileStore extends BenchStore {
  readonly path: string;
  readonly #files: readonly string[];

  constructor(folder: string, name: string) {
    const path = join(folder, `${name}.db`);
    super(folder, `sqlite:${path}`);
    this.path = path;
    const files = [`${name}.db`, `${name}.control.db`];
    this.#files = files
      .flatMap((file) => [file, `${file}-wal`, `${file}-shm`])
      .map((file) => join(folder, file));
  }

  /** Bytes on disk, everything included. */
  get bytes(): number {
    return this.#files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  remove(): void {
    for (const file of this.#files) rmSync(file, { force: true });
  }
}
