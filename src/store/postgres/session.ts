// One connection to PostgreSQL: `pg` connects and authenticates it, then statements are pipelined and answers read as binary.
import type { Duplex } from 'node:stream';
import { storeLimits } from '../limits.ts';
import type { StoredCell } from '../row-check.ts';
import { StoreUnavailable } from '../store.ts';
import { isLostWorker, isUncommitted } from './citus-problems.ts';
import {
  cellsOf,
  columnTypesOf,
  errorFields,
  executeFrames,
  Frames,
  type Parameter,
  prepareFrames,
} from './wire.ts';

/** PostgreSQL refused a statement. */
export class PostgresProblem extends Error {
  override readonly name = 'PostgresProblem';
  /** Its class and condition (postgresql.org/docs/15/errcodes-appendix.html). */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Conditions that pass: the server stops, starts, has no connection left, took too long, or is no primary any more. */
const passing = /^(?:08|57P0[123]|57014|53300|25006)/;

type Prepared = { readonly name: string; isMade: boolean; columnTypes: readonly number[] };

type Asked = {
  readonly prepared: Prepared;
  readonly rows: StoredCell[][];
  readonly sinceMs: number;
  error: Error | null;
  readonly resolve: (rows: StoredCell[][]) => void;
  readonly reject: (error: Error) => void;
};

/** A statement without a name is not kept. */
const UNNAMED = '';

/** An authenticated connection. Statements that are asked at once are sent at once, and answered in their order. */
export class Session {
  readonly #stream: Duplex;
  readonly #frames = new Frames();
  readonly #prepared = new Map<string, Prepared>();
  readonly #asked: Asked[] = [];
  #out: Buffer[] = [];
  #named = 0;
  readonly #patienceMs: number;
  readonly #watch: NodeJS.Timeout | null;
  #lost: StoreUnavailable | null = null;

  /** `stream`: the authenticated socket, which nobody else reads; `patienceMs`: after so long without an answer the server counts as gone. */
  constructor(stream: Duplex, patienceMs: number) {
    this.#stream = stream;
    this.#patienceMs = patienceMs;
    stream.on('data', (chunk: Buffer) => this.#frames.take(chunk, (type, body) => this.#frame(type, body)));
    stream.on('error', (error) => this.destroy(error));
    stream.on('close', () => this.destroy(new Error('the connection ended')));
    this.#watch = Number.isFinite(patienceMs) ? setInterval(() => this.#look(), patienceMs / 8) : null;
    this.#watch?.unref();
  }

  /** Whether statements can be asked. */
  get isOpen(): boolean {
    return this.#lost === null;
  }

  /** Statements that are not answered yet. */
  get waiting(): number {
    return this.#asked.length;
  }

  /** Executes a statement, and gives its rows. @throws PostgresProblem, StoreUnavailable */
  ask(sql: string, values: readonly Parameter[] = []): Promise<StoredCell[][]> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    const { promise, resolve, reject } = Promise.withResolvers<StoredCell[][]>();
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.#prepare(sql);
      this.#send(prepareFrames(prepared.name, sql));
    }
    this.#asked.push({ prepared, rows: [], sinceMs: performance.now(), error: null, resolve, reject });
    this.#send(executeFrames(prepared.name, values));
    return promise;
  }

  /** Sends at the end of this turn, with all else that is asked in it. */
  #send(frames: Buffer): void {
    if (this.#out.length === 0) queueMicrotask(() => this.#flush());
    this.#out.push(frames);
  }

  #flush(): void {
    const out = this.#out;
    this.#out = [];
    if (this.#lost === null) this.#stream.write(out.length === 1 ? out[0]! : Buffer.concat(out));
  }

  #prepare(sql: string): Prepared {
    const isKept = this.#prepared.size < storeLimits.statementsCachedMax;
    const prepared = { name: isKept ? `s${this.#named++}` : UNNAMED, isMade: false, columnTypes: [] };
    if (isKept) this.#prepared.set(sql, prepared);
    return prepared;
  }

  #frame(type: number, body: Buffer): void {
    const asked = this.#asked[0];
    if (asked === undefined) return;
    if (type === 0x44 /* D */) asked.rows.push(cellsOf(asked.prepared.columnTypes, body));
    else if (type === 0x31 /* 1 */) asked.prepared.isMade = true;
    else if (type === 0x54 /* T */) asked.prepared.columnTypes = columnTypesOf(body);
    else if (type === 0x45 /* E */) asked.error ??= this.#problemOf(body);
    else if (type === 0x4e /* N */) asked.error ??= this.#warningOf(body);
    else if (type === 0x5a /* Z */) this.#end(asked);
  }

  #problemOf(body: Buffer): Error {
    const { C: code = '', M: message = 'no message' } = errorFields(body);
    const problem = new PostgresProblem(code, message);
    const isPassing = passing.test(code) || isLostWorker(code, message);
    // The further lines of a lost worker's message ask whether it runs.
    return isPassing ? new StoreUnavailable(message.split('\n', 1)[0]!, { cause: problem }) : problem;
  }

  /** A warning that makes a statement fail; null for all others. */
  #warningOf(body: Buffer): Error | null {
    const { V: severity = '', M: message = '' } = errorFields(body);
    return isUncommitted(severity, message) ? new StoreUnavailable(message) : null;
  }

  #end({ error, rows, prepared, resolve, reject }: Asked): void {
    this.#asked.shift();
    if (error === null) {
      resolve(rows);
      return;
    }
    if (!prepared.isMade)
      for (const [sql, one] of this.#prepared) if (one === prepared) this.#prepared.delete(sql);
    reject(error);
  }

  #look(): void {
    const first = this.#asked[0];
    if (first !== undefined && performance.now() - first.sinceMs > this.#patienceMs)
      this.destroy(new Error(`no answer within ${this.#patienceMs} ms`));
  }

  /** Ends the connection; what it was asked fails. */
  destroy(cause: Error): void {
    if (this.#lost !== null) return;
    this.#lost = new StoreUnavailable(`the connection to PostgreSQL is lost: ${cause.message}`, { cause });
    clearInterval(this.#watch ?? undefined);
    for (const { reject } of this.#asked.splice(0)) reject(this.#lost);
    this.#stream.destroy();
  }

  /** Ends the connection in order. */
  close(): void {
    if (this.#lost !== null) return;
    this.#lost = new StoreUnavailable('the store was closed');
    clearInterval(this.#watch ?? undefined);
    this.#stream.end(Buffer.from([0x58, 0, 0, 0, 4]));
  }
}
