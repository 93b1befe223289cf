// Which files of a watched folder are done: the store's runs name those that were imported, a file in the folder the others.
import { createHash } from 'node:crypto';
import { appendFileSync, createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importRuns } from '../datasets/internal.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { RowReader } from '../store/store.ts';

/** A dot file, so that it is never imported itself. */
const MEMORY_NAME = '.bourse-watch.ndjson';

const RUNS_PER_READ = 2_000;

/** A file that was handled, and its runs: none where nothing of it could be imported. */
type Entry = {
  /** Dataset, flags and hash. */
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
  // A process that was killed may have left half a line.
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}

/** Knows which files are done, across restarts. */
export class WatchMemory {
  readonly #path: string;
  readonly #dataset: string;
  readonly #call: string;
  readonly #entries: Map<string, Entry>;
  /** The store's runs of the dataset, and the hashes of their files. A run that was undone counts: its file is not imported again. */
  readonly #runs = new Set<number>();
  readonly #hashes = new Set<string>();
  #lastRun = 0;

  /** `call` is the flags: with other ones a file may have another result. */
  constructor(folder: string, dataset: string, call: string) {
    this.#path = join(folder, MEMORY_NAME);
    this.#dataset = dataset;
    this.#call = call;
    this.#entries = new Map(readEntries(this.#path).map((entry) => [entry.key, entry]));
  }

  /** Reads the runs that the store has recorded since. */
  async learn(reader: RowReader): Promise<void> {
    for await (const run of rowsInOrder(reader, importRuns, {
      range: { from: this.#lastRun + 1 },
      order: [['run_id', 'asc']],
      limit: RUNS_PER_READ,
    })) {
      this.#lastRun = run.run_id;
      if (run.kind !== 'import' || run.dataset !== this.#dataset) continue;
      this.#runs.add(run.run_id);
      this.#hashes.add(run.sha256);
    }
  }

  /** Whether a file with this hash was handled before, with the same flags or with success. */
  knows(sha256: string): boolean {
    if (this.#hashes.has(sha256)) return true;
    const entry = this.#entries.get(this.#keyOf(sha256));
    return entry?.runs.every((run) => this.#runs.has(run)) ?? false;
  }

  /** Keeps the runs of a file; false where the folder cannot be written to, so that the memory ends with the process. */
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
