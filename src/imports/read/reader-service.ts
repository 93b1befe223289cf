// The work of a reader process: it answers one request after the other by frames, and ends with the process
// that started it. As a program it gives columns and rows, and no more.
import { statSync, writeFileSync } from 'node:fs';
import { causeOf } from '../../base/observe.ts';
import type { Chunk, DescribedFile, ReadRows } from './chunk.ts';
import type { DuckChunk } from './duckdb.ts';
import { contentProblem, FileProblem, NeedsCare } from './file-problem.ts';
import { type ChunkHead, type Ended, type Frame, writeFrame } from './frames.ts';
import type { Reshaping } from './reshape.ts';
import type { ReadableFile, ReadPlan } from './scan.ts';
import type { TextColumn } from './text-column.ts';
import { unpackedMax } from './unpack.ts';

/** What is read, by the kinds of requests. */
type Readings = Readonly<Record<string, (request: never) => AsyncGenerator<Frame>>>;

/** The frames go to this file: others may write to the standard output. */
const OUTPUT = 3;

const ownReadings: Readings = {
  async *columns(file: DescribedFile) {
    const { describeByDuckDB } = await import('./duckdb.ts');
    yield { head: await describeByDuckDB(file), parts: [] };
  },
  async *reshape(request: Reshaping) {
    const { reshape } = await import('./reshape.ts');
    yield { head: { made: reshape(request) }, parts: [] };
  },
  async *chunks([file, plan, firstRow]: Parameters<ReadRows>) {
    const { readByDuckDB } = await import('./duckdb.ts');
    const expansion = new Expansion(file, plan);
    for await (const chunk of readByDuckDB(file, plan, firstRow)) {
      expansion.add(chunk);
      yield* chunkFrames(chunk);
    }
  },
};

/** Reads rows in this process; DuckDB is loaded where it is needed. */
export async function* readHere(file: ReadableFile, plan: ReadPlan, firstRow: number): AsyncGenerator<Chunk> {
  const { readByDuckDB } = await import('./duckdb.ts');
  yield* readByDuckDB(file, plan, firstRow);
}

/**
 * Answers requests, each a line of JSON, as long as the process that sends them runs; `more` are readings
 * beside those of columns and rows.
 */
export function serveReadings(more: Readings = {}): void {
  const readings: Readings = { ...ownReadings, ...more };
  giveWay();
  // The files that DuckDB writes where memory is short have the data of the imported one.
  process.umask(0o077);
  // Whoever stops a whole service sends them to each process of it: that which imports decides.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
  let isStopped = false;
  let text = '';
  const answer = async ([kind, request]: readonly [kind: string, request: unknown]): Promise<void> => {
    isStopped = false;
    writeFrame(OUTPUT, { head: await endOf(readings[kind]!(request as never), () => isStopped), parts: [] });
  };
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (piece: string) => {
    const lines = (text + piece).split('\n');
    text = lines.pop()!;
    for (const line of lines) {
      const request = JSON.parse(line) as [kind: string, request: unknown];
      if (request[0] === 'stop') isStopped = true;
      else answer(request).catch(die);
    }
  });
  process.stdin.on('close', die);
}

/**
 * Writes the frames of a reading, until it is stopped; how it ended. @throws where nobody reads them any more
 */
async function endOf(frames: AsyncGenerator<Frame>, isStopped: () => boolean): Promise<Ended> {
  let isSent = true;
  try {
    for await (const frame of frames) {
      if (isStopped()) break;
      isSent = false;
      writeFrame(OUTPUT, frame);
      isSent = true;
    }
    return { kind: 'end' };
  } catch (error) {
    if (!isSent) throw error;
    if (error instanceof NeedsCare) return { kind: 'care' };
    if (error instanceof FileProblem) return { kind: 'problem', problem: error.kind, message: error.message };
    return { kind: 'fault', cause: causeOf(error) };
  }
}

/** Ends this process at once, whatever DuckDB is about. */
const die = (): void => void process.kill(process.pid, 'SIGKILL');

/** Where memory is short, the system ends this process before the one that imports. */
function giveWay(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Only Linux has it.
  }
}

/** Bytes of texts in a frame, unless one row has more. */
const TEXTS_MAX = 16 * 1024 * 1024;

/**
 * The rows of a chunk, in one frame where their texts are not long: these are copied out of the memory of
 * DuckDB.
 */
function* chunkFrames(chunk: DuckChunk): Generator<Frame<ChunkHead>> {
  const { count, surplus } = chunk;
  const texts = surplus === null ? chunk.texts : [...chunk.texts, surplus];
  for (let from = 0; from < count; ) {
    const to = endOfFrame(texts, from, count);
    yield frameOf(chunk, texts, from, to);
    from = to;
  }
}

function endOfFrame(texts: readonly TextColumn[], from: number, count: number): number {
  let bytes = 0;
  for (let row = from; row < count; row++) {
    for (const column of texts) bytes += column.lengthOf(row);
    if (bytes > TEXTS_MAX) return Math.max(row, from + 1);
  }
  return count;
}

function frameOf(chunk: DuckChunk, texts: readonly TextColumn[], from: number, to: number): Frame<ChunkHead> {
  const count = to - from;
  for (const column of texts) column.gather(from, to);
  const nulls = texts.map((column) => column.nulls(from, to));
  const bytes = texts.map((column) => column.bytes.subarray(0, column.starts[count]));
  return {
    head: {
      count,
      firstRow: chunk.firstRow + from,
      texts: bytes.map(({ length }) => length),
      hasNulls: nulls.map((one) => one !== null),
      numbers: chunk.numbers.length,
      hasSurplus: chunk.surplus !== null,
    },
    parts: [
      ...chunk.numbers.map((column) => column.subarray(from, to)),
      ...texts.map(({ starts }) => starts.subarray(0, count + 1)),
      ...bytes.flatMap((all, index) => (nulls[index] === null ? [all] : [nulls[index]!, all])),
    ],
  };
}

/**
 * Bounds the bytes of all rows of a file with lists, column by column: each row of a list repeats the values
 * beside it.
 */
class Expansion {
  readonly #name: string;
  readonly #max: number;
  readonly #columns: readonly string[];
  readonly #bytes: number[];

  constructor({ name, path, format }: ReadableFile, { texts, derived = [] }: ReadPlan) {
    this.#name = name;
    this.#max =
      format.kind !== 'csv' && format.records !== undefined ? unpackedMax(statSync(path).size) : Infinity;
    this.#columns = texts.map((name) => derived.find((made) => made.name === name)?.reported[0] ?? name);
    this.#bytes = this.#columns.map(() => 0);
  }

  /** @throws FileProblem where the rows have more bytes than a packed file may unpack to */
  add({ texts, count }: DuckChunk): void {
    if (this.#max === Infinity) return;
    for (const [index, column] of texts.entries())
      for (let row = 0; row < count; row++) this.#bytes[index]! += column.lengthOf(row);
    if (this.#bytes.reduce((sum, bytes) => sum + bytes, 0) <= this.#max) return;
    const most = this.#columns[this.#bytes.indexOf(Math.max(...this.#bytes))];
    throw contentProblem(
      this.#name,
      `its lists repeat ${most} in each of their rows, which have more than ${this.#max} bytes. Nothing was imported.`,
    );
  }
}

if (import.meta.main) serveReadings();
