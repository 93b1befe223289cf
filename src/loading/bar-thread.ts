// A thread that reads a bars file while the one that started it loads what was read, a few batches behind.
import { parentPort, workerData } from 'node:worker_threads';
import { valueFields } from '../datasets/bars.ts';
import type { ComputedColumn } from '../files/computed-column.ts';
import { FileProblem } from '../files/file-problem.ts';
import { type Chunk, NeedsCare, readChunks } from '../files/read.ts';
import type { ReadableFile } from '../files/scan.ts';
import { type BarChunk, BarChunker, columnsOf, type Names } from './bar-chunk.ts';

/** What the thread is given. */
export type BarThreadSetup = {
  readonly file: ReadableFile;
  readonly columns: ReadonlyMap<string, string>;
  readonly derived: readonly ComputedColumn[];
};

/** Rows in a batch at the most. */
export const BATCH_ROWS = 16_384;

/** Batches that may wait to be taken in, so that neither side waits for the other. */
const BATCHES_MAX = 6;

/** The arrays of one batch. */
type BatchArrays = {
  readonly ms: Float64Array;
  readonly kinds: Uint8Array;
  readonly nameIds: Int32Array;
  readonly values: readonly (Float64Array | null)[];
};

export type BarThreadMessage =
  | { readonly kind: 'batch'; readonly chunk: BarChunk }
  | { readonly kind: 'end' }
  | { readonly kind: 'care' }
  | { readonly kind: 'problem'; readonly usage: boolean; readonly message: string };

function arraysFor(columns: ReadonlyMap<string, string>): BatchArrays {
  return {
    ms: new Float64Array(BATCH_ROWS),
    kinds: new Uint8Array(BATCH_ROWS),
    nameIds: new Int32Array(BATCH_ROWS),
    values: valueFields.map((field) => (columns.has(field) ? new Float64Array(BATCH_ROWS) : null)),
  };
}

function buffersOf({ ms, kinds, nameIds, values }: BatchArrays): ArrayBuffer[] {
  const present = values.flatMap((column) => (column === null ? [] : [column]));
  return [ms, kinds, nameIds, ...present].map((array) => array.buffer as ArrayBuffer);
}

/** Fills batches and hands them over; waits while too many are under way. */
class Batches {
  readonly #columns: ReadonlyMap<string, string>;
  readonly #chunker: BarChunker;
  #arrays: BatchArrays;
  #count = 0;
  #firstRow = 1;
  #newNames: Names[] = [];
  #underWay = 0;
  #wake: () => void = () => undefined;

  constructor(columns: ReadonlyMap<string, string>) {
    const { texts, numbers } = columnsOf(columns);
    this.#columns = columns;
    this.#chunker = new BarChunker(columns, texts, numbers);
    this.#arrays = arraysFor(columns);
    // Each message says that a batch was taken in.
    parentPort!.on('message', () => {
      this.#underWay--;
      this.#wake();
    });
  }

  async add(chunk: Chunk): Promise<void> {
    if (this.#count + chunk.count > BATCH_ROWS) await this.flush();
    const at = this.#count;
    this.#chunker.readMoments(chunk, this.#arrays.ms, this.#arrays.kinds, at);
    for (const [index, column] of this.#chunker.valuesOf(chunk).entries()) {
      if (column !== null) this.#arrays.values[index]!.set(column, at);
    }
    this.#newNames.push(...this.#chunker.readNames(chunk, this.#arrays.nameIds, at));
    this.#count += chunk.count;
  }

  async flush(): Promise<void> {
    if (this.#count === 0) return;
    const chunk: BarChunk = {
      ...this.#arrays,
      count: this.#count,
      firstRow: this.#firstRow,
      newNames: this.#newNames,
    };
    const message: BarThreadMessage = { kind: 'batch', chunk };
    parentPort!.postMessage(message, buffersOf(this.#arrays));
    this.#firstRow += this.#count;
    this.#count = 0;
    this.#newNames = [];
    this.#arrays = arraysFor(this.#columns);
    this.#underWay++;
    while (this.#underWay >= BATCHES_MAX) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function messageOf(error: unknown): BarThreadMessage {
  if (error instanceof NeedsCare) return { kind: 'care' };
  if (error instanceof FileProblem)
    return { kind: 'problem', usage: error.kind === 'usage', message: error.message };
  throw error;
}

async function run({ file, columns, derived }: BarThreadSetup): Promise<BarThreadMessage> {
  const batches = new Batches(columns);
  try {
    const plan = { ...columnsOf(columns), careful: false, derived };
    for await (const chunk of readChunks(file, plan)) await batches.add(chunk);
    await batches.flush();
    return { kind: 'end' };
  } catch (error) {
    return messageOf(error);
  }
}

if (parentPort !== null) {
  parentPort.postMessage(await run(workerData as BarThreadSetup));
  parentPort.close();
}
