// What a watched folder's files have come to: the store's runs say what was imported, a file in the folder the rest.
import { createHash } from 'node:crypto';
import { appendFileSync, createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importRuns } from '../datasets/internal.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { RowReader } from '../store/store.ts';

/** The file of the memory: a dot file, so that it is never taken for data. */
export const MEMORY_NAME = '.bourse-watch.ndjson';

const RUNS_PER_READ = 2_000;

/** What a file came to that was taken: the runs that it became; none where nothing of it could be imported. */
type Entry = {
  /** Dataset, flags and bytes. */
  readonly key: string;
  readonly file: string;
  readonly runs: readonly number[];
};

/** SHA-256 of a file, in hexadecimal. */
export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

function readEntries(path: string): Entry[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  // The last line of a process that was killed may be half a line.
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}

/** Knows what was done, across restarts. */
export class WatchMemory {
  readonly #path: string;
  readonly #dataset: string;
  readonly #call: string;
  readonly #entries: Map<string, Entry>;
  /** Of the store: its runs of the dataset, and what they were made of. A run that was taken back is not to come again. */
  readonly #runs = new Set<number>();
  readonly #hashes = new Set<string>();
  #lastRun = 0;

  /** `call` is what beside a file decides what becomes of it: the flags. */
  constructor(folder: string, dataset: string, call: string) {
    this.#path = join(folder, MEMORY_NAME);
    this.#dataset = dataset;
    this.#call = call;
    this.#entries = new Map(readEntries(this.#path).map((entry) => [entry.key, entry]));
  }

  /** Learns what the store has recorded since. */
  async learn(reader: RowReader): Promise<void> {
    const range = { from: this.#lastRun + 1 };
    const read = { range, order: [['run_id', 'asc']] as const, limit: RUNS_PER_READ };
    for await (const run of rowsInOrder(reader, importRuns, read)) {
      this.#lastRun = run.run_id;
      if (run.kind !== 'import' || run.dataset !== this.#dataset) continue;
      this.#runs.add(run.run_id);
      this.#hashes.add(run.sha256);
    }
  }

  /** Whether a file of these bytes was taken before, with the same flags or with success. */
  knows(sha256: string): boolean {
    if (this.#hashes.has(sha256)) return true;
    const entry = this.#entries.get(this.#keyOf(sha256));
    return entry?.runs.every((run) => this.#runs.has(run)) ?? false;
  }

  /** Keeps what a file came to; false where its folder takes no memory, which then ends with the process. */
  remember(sha256: string, file: string, runs: readonly number[]): boolean {
    const entry = { key: this.#keyOf(sha256), file, runs };
    this.#entries.set(entry.key, entry);
    try {
      appendFileSync(this.#path, `${JSON.stringify(entry)}\n`);
      return true;
    } catch {
      return false;
    }
  }

  readonly #keyOf = (sha256: string): string => `${this.#dataset} ${this.#call} ${sha256}`;
}
