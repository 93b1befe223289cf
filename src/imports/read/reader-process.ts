// The process that reads files by DuckDB. Some files end it, by a fault of DuckDB or for want of memory: that
// is a refusal of the file.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { moduleBeside } from '../../base/runtime.ts';
import { contentProblem, FileProblem, NeedsCare } from './file-problem.ts';
import { type Ended, FrameParser, type ReceivedFrame } from './frames.ts';

const FLAGS = ['--single-threaded-gc', '--disable-warning=ExperimentalWarning'];

/** Frames and their bytes that may wait here, so that neither process waits for the other. */
const FRAMES_MAX = 4;
const BYTES_MAX = 16 * 1024 * 1024;

/** Its program. */
let program = moduleBeside('./reader-service.ts', import.meta.url);

/** Names the program of reader processes, which knows more than columns and rows. */
export function readBy(address: URL): void {
  program = address;
}

/** A process that reads one file at a time. */
class ReaderProcess {
  readonly #child: ChildProcess;
  readonly #output: Socket;
  readonly #frames: ReceivedFrame[] = [];
  readonly #parser = new FrameParser((frame) => this.#frames.push(frame));
  #wake: () => void = () => undefined;
  /** By what it ended; null while it runs. */
  ended: string | Error | null = null;

  constructor() {
    // A process group of its own gets no Ctrl-C: the process ends with this one, whose end closes its input.
    this.#child = spawn(process.execPath, [...FLAGS, fileURLToPath(program)], {
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    this.#output = this.#child.stdio[3] as Socket;
    this.#output.on('data', (piece: Buffer) => {
      this.#parser.add(piece);
      this.#balance();
      this.#wake();
    });
    const end = (by: string | Error): void => {
      this.ended ??= by;
      this.#wake();
    };
    this.#child.once('error', end);
    this.#child.once('close', (code, signal) => end(signal ?? `exit status ${code}`));
    for (const stream of [this.#child.stdin!, this.#output]) stream.on('error', () => undefined);
    this.#hold(false);
  }

  /**
   * The frames that it sends on a request, up to its last, which is not given; each is gone when the next is
   * read. @throws what that says
   */
  async *ask<H>(name: string, kind: string, request: object): AsyncGenerator<{ head: H; body: ArrayBuffer }> {
    this.#hold(true);
    let last: Ended | null = null;
    try {
      this.#say(kind, request);
      for (;;) {
        const frame = await this.#next(name);
        last = endedBy(frame.head);
        if (last !== null) return throwOf(last);
        yield frame as ReceivedFrame & { head: H };
        this.#parser.give(frame);
      }
    } finally {
      if (last === null && this.ended === null) await this.#stop(name).catch(() => undefined);
      this.#hold(false);
    }
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  /** Has a reading ended that is not read to its end. */
  async #stop(name: string): Promise<void> {
    this.#say('stop', {});
    for (;;) {
      const frame = await this.#next(name);
      if (endedBy(frame.head) !== null) return;
      this.#parser.give(frame);
    }
  }

  /** Functions cannot be sent: there columns are computed by SQL alone. */
  #say(kind: string, request: object): void {
    const text = JSON.stringify([kind, request], (key, value) => (key === 'plain' ? undefined : value));
    this.#child.stdin!.write(`${text}\n`);
  }

  async #next(name: string): Promise<ReceivedFrame> {
    for (;;) {
      const frame = this.#frames.shift();
      this.#balance();
      if (frame !== undefined) return frame;
      if (this.ended instanceof Error) throw this.ended;
      if (this.ended !== null)
        throw contentProblem(
          name,
          `the process that reads it ended by ${this.ended}: its data may be damaged, or take too much memory. Nothing was imported.`,
        );
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }

  #balance(): void {
    const bytes = this.#frames.reduce((sum, { body }) => sum + body.byteLength, 0);
    if (this.#frames.length >= FRAMES_MAX || bytes > BYTES_MAX) this.#output.pause();
    else if (this.#output.isPaused()) this.#output.resume();
  }

  /** Keeps this process running while a file is read, and no longer. */
  #hold(isHeld: boolean): void {
    const streams = [this.#child.stdin as Socket, this.#output];
    for (const one of [this.#child, ...streams]) {
      if (isHeld) one.ref();
      else one.unref();
    }
  }
}

const ENDS: ReadonlySet<unknown> = new Set<Ended['kind']>(['end', 'care', 'problem', 'fault']);

const endedBy = (head: object): Ended | null => (ENDS.has((head as Ended).kind) ? (head as Ended) : null);

/** @throws what ended a reading, unless that is its end */
function throwOf(ended: Ended): void {
  if (ended.kind === 'care') throw new NeedsCare();
  if (ended.kind === 'problem') throw new FileProblem(ended.problem, ended.message);
  if (ended.kind === 'fault') throw new Error(`the process that reads files failed: ${ended.cause}`);
}

/** How many hold the reader, and the process that is ready for the next file. */
let holders = 0;
let ready: ReaderProcess | null = null;

/**
 * Keeps one process for the files that follow, until the function that it gives is called: a start takes as
 * long as reading 100,000 rows.
 */
export function holdReader(): () => void {
  holders++;
  return () => {
    if (--holders > 0) return;
    ready?.end();
    ready = null;
  };
}

/** The frames that a reader process gives of a file on a request. @throws FileProblem, NeedsCare */
export async function* asked<H>(
  name: string,
  kind: string,
  request: object,
): AsyncGenerator<{ readonly head: H; readonly body: ArrayBuffer }> {
  const reader = ready !== null && ready.ended === null ? ready : new ReaderProcess();
  ready = null;
  try {
    yield* reader.ask<H>(name, kind, request);
  } finally {
    if (holders > 0 && ready === null && reader.ended === null) ready = reader;
    else reader.end();
  }
}
