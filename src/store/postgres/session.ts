// One connection to PostgreSQL: `pg` connects and authenticates it, then statements are pipelined and answers
// read as binary.
import type { Duplex } from 'node:stream';
import { storeLimits } from '../limits.ts';
import type { StoredCell } from '../row-check.ts';
import { StoreUnavailable } from '../store.ts';
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

/** The connection is lost: statements under way are not answered any more. */
export class ConnectionLost extends StoreUnavailable {}

/** A server that may not write: it is no primary any more. */
const READ_ONLY = '25006';

const readOnly =
  'the server only reads: it is a standby. Name the primary in --store, or every server: postgres://user@one,two/database?target_session_attrs=read-write';

/**
 * Conditions that pass: the server stops, starts, has no connection left, took too long, is no primary any
 * more, or a standby removed what a read needed.
 */
const passing = /^(?:08|57P0[123]|57014|53300|25006|40001)/;

const INTERNAL = 'XX000';

/**
 * Texts of the client library of PostgreSQL and of Citus about a lost worker (citus 13.2: remote_commands.c,
 * remote_transaction.c, expected/failure_*.out); most others have a condition of class 08.
 */
const lostWorker =
  /^(?:connection not open|no connection to the server|server closed the connection|SSL (?:SYSCALL|connection|error)|could not (?:receive|send|connect)|failure on connection marked as essential)/;

/** True if an error is that of a worker that was lost. Citus has no condition of its own for it. */
export const isLostWorker = (code: string, message: string): boolean =>
  code === INTERNAL && lostWorker.test(message);

/**
 * True if a warning says that a worker has not committed what the coordinator has. The statement succeeds
 * all the same, and its blocks may appear later, or never: a write must not count on them.
 */
export const isUncommitted = (severity: string, message: string): boolean =>
  severity === 'WARNING' && message.startsWith('failed to commit transaction on ');

/** The condition of a transaction in which a statement has failed. */
const FAILED_TRANSACTION = '25P02';

type Prepared = { readonly name: string; isMade: boolean; columnTypes: readonly number[] };

type Asked = {
  readonly prepared: Prepared;
  readonly rows: StoredCell[][];
  error: Error | null;
  readonly resolve: (rows: StoredCell[][]) => void;
  readonly reject: (error: Error) => void;
};

/** A statement without a name is not kept. */
const UNNAMED = '';

const COMMIT = 'commit';

/**
 * What the server says that it did instead of a commit, without an error
 * (postgresql.org/docs/15/sql-commit.html).
 */
const ROLLED_BACK = 'ROLLBACK\0';

/**
 * An authenticated connection. Statements that are asked at once are sent at once, and answered in their
 * order.
 */
export class Session {
  readonly #stream: Duplex;
  readonly #frames = new Frames();
  readonly #prepared = new Map<string, Prepared>();
  readonly #asked: Asked[] = [];
  #out: Buffer[] = [];
  #named = 0;
  readonly #patienceMs: number;
  readonly #watch: NodeJS.Timeout | null;
  /** Since when the first statement that is not answered has been the server's next one. */
  #nextSinceMs = 0;
  #lost: StoreUnavailable | null = null;
  /**
   * Names the run of the server that it leads to: when it was started, in microseconds. Two runs have
   * different ones.
   */
  readonly server: number;

  /**
   * `stream`: the authenticated socket, which nobody else reads; `patienceMs`: after so long without an
   * answer the server counts as gone.
   */
  constructor(stream: Duplex, patienceMs: number, server: number) {
    this.#stream = stream;
    this.server = server;
    this.#patienceMs = patienceMs;
    stream.on('data', (chunk: Buffer) => this.#frames.take(chunk, (type, body) => this.#frame(type, body)));
    stream.on('error', (error) => this.destroy(error));
    stream.on('close', () => this.destroy(new Error('the connection ended')));
    this.#watch = Number.isFinite(patienceMs) ? setInterval(() => this.#look(), patienceMs / 16) : null;
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
    if (this.#asked.length === 0) this.#nextSinceMs = performance.now();
    this.#asked.push({ prepared, rows: [], error: null, resolve, reject });
    this.#send(executeFrames(prepared.name, values));
    return promise;
  }

  /**
   * Ends a transaction. @throws PostgresProblem where a statement in it has failed: nothing of it is stored.
   */
  async commit(): Promise<void> {
    await this.ask(COMMIT);
  }

  /** Runs `work` in a transaction. A session that cannot take it back is ended. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.ask('begin');
    try {
      const result = await work();
      await this.commit();
      return result;
    } catch (error) {
      if (this.isOpen) await this.ask('rollback').catch((cause: Error) => this.destroy(cause));
      throw error;
    }
  }

  /** Sends at the end of this turn, with all else that is asked in it. */
  #send(frames: Buffer): void {
    if (this.#out.length === 0) queueMicrotask(() => this.#flush());
    this.#out.push(frames);
  }

  #flush(): void {
    const out = this.#out;
    this.#out = [];
    if (this.#lost !== null || out.length === 0) return;
    // One call of the system for all of them; large ones are not copied for that.
    this.#stream.cork();
    for (const frames of out) this.#stream.write(frames);
    this.#stream.uncork();
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
    else if (type === 0x43 /* C */) this.#done(asked, body);
    else if (type === 0x5a /* Z */) this.#end(asked);
  }

  #problemOf(body: Buffer): Error {
    const { C: code = '', M: said = 'no message' } = errorFields(body);
    const message = code === READ_ONLY ? readOnly : said;
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

  #done(asked: Asked, tag: Buffer): void {
    if (asked.prepared === this.#prepared.get(COMMIT) && tag.toString() === ROLLED_BACK)
      asked.error = new PostgresProblem(FAILED_TRANSACTION, 'a statement of the transaction has failed');
  }

  #end({ error, rows, prepared, resolve, reject }: Asked): void {
    this.#asked.shift();
    this.#nextSinceMs = performance.now();
    if (error === null) {
      resolve(rows);
      return;
    }
    if (!prepared.isMade)
      for (const [sql, one] of this.#prepared) if (one === prepared) this.#prepared.delete(sql);
    reject(error);
    // The next connection may find a primary.
    if ((error.cause as { code?: string } | undefined)?.code === READ_ONLY) this.destroy(error);
  }

  /** The patience with a statement begins when those before it are answered. */
  #look(): void {
    if (this.#asked.length > 0 && performance.now() - this.#nextSinceMs > this.#patienceMs)
      this.destroy(new Error(`no answer within ${this.#patienceMs} ms`));
  }

  /** Ends the connection; what it was asked fails. */
  destroy(cause: Error): void {
    // The server may have said why.
    const { message } = this.#asked[0]?.error ?? cause;
    this.#lost ??= new ConnectionLost(`the connection to PostgreSQL is lost: ${message}`, { cause });
    clearInterval(this.#watch ?? undefined);
    for (const { reject } of this.#asked.splice(0)) reject(this.#lost);
    this.#stream.destroy();
  }

  /** Ends the connection in order: what it was asked is still answered. */
  close(): void {
    if (this.#lost !== null) return;
    this.#flush();
    this.#lost = new StoreUnavailable('the store was closed');
    this.#stream.end(Buffer.from([0x58, 0, 0, 0, 4]));
    setTimeout(() => this.#stream.destroy(), storeLimits.closeMs).unref();
  }
}
