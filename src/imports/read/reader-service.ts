// The work of a reader process: it answers one request after the other by frames, and ends with the process
// that started it.
import { writeFileSync } from 'node:fs';
import { causeOf } from '../../base/observe.ts';
import type { Chunk, ChunksAsked, ColumnsAsked, ReadPlan } from './chunk.ts';
import { chunkFrames } from './chunk-frames.ts';
import { Expansion } from './expansion.ts';
import { FileProblem, NeedsCare } from './file-problem.ts';
import { type Ended, type Frame, writeFrame } from './frames.ts';
import type { ReadableFile } from './scan.ts';

/** What is read, by the kinds of requests. */
type Readings<R extends { readonly kind: string }> = {
  readonly [K in R['kind']]: (request: Extract<R, { kind: K }>) => AsyncGenerator<Frame>;
};

/** The frames go to this file: others may write to the standard output. */
const OUTPUT = 3;

const ownReadings: Readings<ColumnsAsked | ChunksAsked> = {
  async *columns({ file }) {
    const { describeByDuckDB } = await import('./duckdb.ts');
    yield { head: { kind: 'columns', ...(await describeByDuckDB(file)) }, parts: [] };
  },
  async *chunks({ file, plan, firstRow }) {
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
export function serveReadings<R extends { readonly kind: string }>(more?: Readings<R>): void {
  const readings = { ...ownReadings, ...more } as unknown as Readings<{ readonly kind: string }>;
  giveWay();
  // Whoever stops a whole service sends them to each process of it: that which imports decides.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
  let isStopped = false;
  let text = '';
  const answer = async (request: { readonly kind: string }): Promise<void> => {
    isStopped = false;
    writeFrame(OUTPUT, { head: await endOf(readings[request.kind]!(request), () => isStopped), parts: [] });
  };
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (piece: string) => {
    const lines = (text + piece).split('\n');
    text = lines.pop()!;
    for (const request of lines.map((line) => JSON.parse(line) as { readonly kind: string })) {
      if (request.kind === 'stop') isStopped = true;
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
