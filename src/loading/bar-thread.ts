// A thread that reads a bars file, a few batches ahead of the thread that started it and loads them.
import { parentPort, workerData } from 'node:worker_threads';
import { valueFields } from '../datasets/bars.ts';
import type { ComputedColumn } from '../files/computed-column.ts';
import { FileProblem } from '../files/file-problem.ts';
import { type Chunk, NeedsCare, readChunks } from '../files/read.ts';
import type { ReadableFile } from '../files/scan.ts';
import { type BarChunk, BarChunker, type BarColumns, columnsOf, type Names } from './bar-chunk.ts';

/** The thread's `workerData`. */
export type BarThreadSetup = {
  readonly file: ReadableFile;
  readonly columns: BarColumns;
  readonly derived: readonly ComputedColumn[];
};

/** The most rows in a batch. */
export const BATCH_ROWS = 16_384;

/** Batches that may be on their way, so that neither thread waits for the other. */
const BATCHES_MAX = 6;

/** What the thread sends; `care`: the file needs a careful reading. */
export type BarThreadMessage =
  | { readonly kind: 'batch'; readonly chunk: BarChunk }
  | { readonly kind: 'end' }
  | { readonly kind: 'care' }
  | { readonly kind: 'problem'; readonly problem: FileProblem['kind']; readonly message: string };

/** The arrays of one batch. */
const arraysFor = (columns: BarColumns) => ({
  ms: new Float64Array(BATCH_ROWS),
  kinds: new Uint8Array(BATCH_ROWS),
  nameIds: new Int32Array(BATCH_ROWS),
  values: valueFields.map((field) => (columns.has(field) ? new Float64Array(BATCH_ROWS) : null)),
});

/** Fills batches and sends them; waits while too many are on their way. */
class Batches {
  readonly #columns: BarColumns;
  readonly #chunker: BarChunker;
  #arrays: ReturnType<typeof arraysFor>;
  #count = 0;
  #firstRow = 1;
  #newNames: Names[] = [];
  #pending = 0;
  #wake: () => void = () => undefined;

  constructor(columns: BarColumns) {
    const { texts, numbers } = columnsOf(columns);
    this.#columns = columns;
    this.#chunker = new BarChunker(columns, texts, numbers);
    this.#arrays = arraysFor(columns);
    // Each message says that a batch was loaded.
    parentPort!.on('message', () => {
      this.#pending--;
      this.#wake();
    });
  }

  async add(chunk: Chunk): Promise<void> {
    if (this.#count + chunk.count > BATCH_ROWS) await this.flush();
    const at = this.#count;
    this.#chunker.readMoments(chunk, this.#arrays.ms, this.#arrays.kinds, at);
    for (const [index, column] of this.#chunker.valuesOf(chunk).entries())
      if (column !== null) this.#arrays.values[index]!.set(column, at);
    this.#newNames.push(...this.#chunker.readNames(chunk, this.#arrays.nameIds, at));
    this.#count += chunk.count;
  }

  async flush(): Promise<void> {
    if (this.#count === 0) return;
    const { ms, kinds, nameIds, values } = this.#arrays;
    const about = { count: this.#count, firstRow: this.#firstRow, newNames: this.#newNames };
    const message: BarThreadMessage = { kind: 'batch', chunk: { ...about, ...this.#arrays } };
    const buffers = [ms, kinds, nameIds, ...values].flatMap((array) => array?.buffer ?? []);
    parentPort!.postMessage(message, buffers);
    this.#firstRow += this.#count;
    this.#count = 0;
    this.#newNames = [];
    this.#arrays = arraysFor(this.#columns);
    this.#pending++;
    while (this.#pending >= BATCHES_MAX) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }
}

async function run({ file, columns, derived }: BarThreadSetup): Promise<BarThreadMessage> {
  const batches = new Batches(columns);
  try {
    const plan = { ...columnsOf(columns), careful: false, derived };
    for await (const chunk of readChunks(file, plan)) await batches.add(chunk);
    await batches.flush();
    return { kind: 'end' };
  } catch (error) {
    if (error instanceof NeedsCare) return { kind: 'care' };
    if (!(error instanceof FileProblem)) throw error;
    return { kind: 'problem', problem: error.kind, message: error.message };
  }
}

if (parentPort !== null) {
  parentPort.postMessage(await run(workerData as BarThreadSetup));
  parentPort.close();
}
