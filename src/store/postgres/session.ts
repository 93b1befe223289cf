// One connection to PostgreSQL: `pg` connects and authenticates it, then statements are pipelined and answers
// read as binary (postgresql.org/docs/15/protocol-message-formats.html).
import type { Duplex } from 'node:stream';
import type { StoredCell } from '../checked-rows.ts';
import { storeLimits } from '../limits.ts';
import { StoreUnavailable } from '../store.ts';

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

/** Types (pg_type.dat). */
const types = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, float8: 701 } as const;

/** A value that a statement takes. */
export type Parameter = string | number | boolean | Uint8Array | SentArray | null | undefined;

const typed = (type: string, ...parts: readonly Uint8Array[]): Buffer => {
  const head = Buffer.allocUnsafe(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(4 + parts.reduce((sum, part) => sum + part.length, 0), 1);
  return Buffer.concat([head, ...parts]);
};

const zeroEnded = (text: string): Buffer => Buffer.from(`${text}\0`);

const short = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt16BE(value, 2 * at);
  return bytes;
};

/** Names a statement, and asks for the types of its columns. */
const prepareFrames = (name: string, sql: string): Buffer =>
  Buffer.concat([
    typed('P', zeroEnded(name), zeroEnded(sql), short(0)),
    typed('D', Buffer.from('S'), zeroEnded(name)),
  ]);

/** Takes the rows that a statement gives, up to its end; then the answer is sent. */
const executeAndSync = Buffer.concat([typed('E', Buffer.from('\0\0\0\0\0')), typed('S')]);

const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const AS_TEXT = 0;
const AS_BINARY = 1;

/**
 * Executes a statement. Arrays go as binary, other values as text; the cells of the answer come as binary.
 */
function executeFrames(name: string, values: readonly Parameter[]): Buffer {
  const sent = values.map(sentOf);
  const bytes = sent.reduce((sum, one) => sum + LENGTH_BYTES + (one?.byteLength ?? 0), 0);
  const head = Buffer.from(`\0${name}\0`);
  const formats = sent.map((one) => (one instanceof SentArray ? AS_BINARY : AS_TEXT));
  const frame = Buffer.allocUnsafe(1 + LENGTH_BYTES + head.length + 2 * (values.length + 4) + bytes);
  let at = frame.write('B', 0, 'latin1');
  at = frame.writeInt32BE(frame.length - 1, at);
  at += head.copy(frame, at);
  for (const word of [values.length, ...formats, values.length]) at = frame.writeInt16BE(word, at);
  for (const one of sent) {
    at = frame.writeInt32BE(one?.byteLength ?? NULL_LENGTH, at);
    if (one instanceof SentArray) at = one.write(frame, at);
    else if (one !== null) at += one.copy(frame, at);
  }
  for (const word of [1, AS_BINARY]) at = frame.writeInt16BE(word, at);
  return Buffer.concat([frame, executeAndSync]);
}

/** A value as it is sent. */
function sentOf(value: Parameter): Buffer | SentArray | null {
  if (value === null || value === undefined) return null;
  if (value instanceof SentArray) return value;
  if (value instanceof Uint8Array)
    return Buffer.from(`\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`);
  // Engines do not keep the sign of zero.
  return Buffer.from(Object.is(value, -0) ? '0' : String(value));
}

/** A mark of byte order is part of a text. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function cellOf(type: number, bytes: Buffer): StoredCell {
  switch (type) {
    case types.int8:
      return Number(bytes.readBigInt64BE());
    case types.int4:
      return bytes.readInt32BE();
    case types.float8:
      return bytes.readDoubleBE();
    case types.bool:
      return bytes[0]!;
    // A copy of its own: the socket's buffer holds much more, and would stay as long as the cell.
    case types.bytea:
      return new Uint8Array(bytes);
    default:
      return utf8.decode(bytes);
  }
}

/** The cells of a data row. */
function cellsOf(columnTypes: readonly number[], body: Buffer): StoredCell[] {
  const cells: StoredCell[] = [];
  for (let at = 2, column = 0; column < columnTypes.length; column++) {
    const length = body.readInt32BE(at);
    at += 4;
    cells.push(length < 0 ? null : cellOf(columnTypes[column]!, body.subarray(at, at + length)));
    at += Math.max(length, 0);
  }
  return cells;
}

/** The types of the columns of a row description. */
function columnTypesOf(body: Buffer): number[] {
  const found: number[] = [];
  for (let at = 2, column = body.readInt16BE(0); column > 0; column--) {
    const name = body.indexOf(0, at);
    found.push(body.readInt32BE(name + 7));
    at = name + 19;
  }
  return found;
}

/** The fields of an error: its code (`C`) and its message (`M`) among them. */
function errorFields(body: Buffer): Readonly<Record<string, string>> {
  const fields = body.toString('utf8').split('\0').filter(Boolean);
  return Object.fromEntries(fields.map((field) => [field[0]!, field.slice(1)]));
}

/** Cuts a stream of bytes into frames. */
class Frames {
  #parts: Buffer[] = [];
  #length = 0;
  #needed = 5;

  /** Takes bytes, and gives each whole frame to `onFrame`. */
  take(chunk: Buffer, onFrame: (type: number, body: Buffer) => void): void {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    let at = 0;
    this.#needed = 5;
    while (bytes.length - at >= 5) {
      const length = 1 + bytes.readInt32BE(at + 1);
      if (bytes.length - at < length) {
        this.#needed = length;
        break;
      }
      onFrame(bytes[at]!, bytes.subarray(at + 5, at + length));
      at += length;
    }
    const rest = bytes.subarray(at);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }
}

/** A value in an array; null for none. */
export type Element = string | number | Uint8Array | null;

export type ElementType = Exclude<keyof typeof types, 'bool'>;

/**
 * Dimensions, whether there are nulls, type of the elements; then the length and the lower bound of the only
 * dimension.
 */
const HEAD_BYTES = 20;
const TWO_TO_32 = 2 ** 32;

const fixedBytes: Partial<Readonly<Record<ElementType, number>>> = { int4: 4, int8: 8, float8: 8 };

/** An array of one type, as a parameter of a statement (array_recv in arrayfuncs.c, PostgreSQL 15). */
export class SentArray {
  readonly type: ElementType;
  readonly #elements: readonly Element[];
  readonly #lengths: Int32Array;
  /** Bytes of the whole. */
  readonly byteLength: number;

  constructor(type: ElementType, elements: readonly Element[]) {
    this.type = type;
    this.#elements = elements;
    this.#lengths = Int32Array.from(elements, (element) => lengthOf(type, element));
    this.byteLength = this.#lengths.reduce(
      (sum, length) => sum + LENGTH_BYTES + Math.max(length, 0),
      HEAD_BYTES,
    );
  }

  /** Writes it from a place on, and gives the place after it. */
  write(target: Buffer, from: number): number {
    const count = this.#elements.length;
    let at = from;
    for (const word of [1, 1, types[this.type], count, 1]) at = target.writeInt32BE(word, at);
    for (let index = 0; index < count; index++) {
      const length = this.#lengths[index]!;
      at = target.writeInt32BE(length, at);
      if (length < 0) continue;
      this.#writeElement(target, at, this.#elements[index]!);
      at += length;
    }
    return at;
  }

  #writeElement(target: Buffer, at: number, element: NonNullable<Element>): void {
    switch (this.type) {
      case 'text':
        target.write(element as string, at, 'utf8');
        return;
      case 'bytea':
        target.set(element as Uint8Array, at);
        return;
      case 'float8':
        // Engines do not keep the sign of zero.
        target.writeDoubleBE((element as number) + 0, at);
        return;
      case 'int4':
        target.writeInt32BE(element as number, at);
        return;
      case 'int8': {
        const high = Math.floor((element as number) / TWO_TO_32);
        target.writeInt32BE(high, at);
        target.writeUInt32BE((element as number) - high * TWO_TO_32, at + 4);
      }
    }
  }
}

/** Bytes of an element; -1 for null. @throws TypeError for a value of another type */
function lengthOf(type: ElementType, element: Element): number {
  if (element === null) return -1;
  const isFit =
    type === 'text'
      ? typeof element === 'string'
      : type === 'bytea'
        ? element instanceof Uint8Array
        : typeof element === 'number' && (type === 'float8' || Number.isSafeInteger(element));
  if (!isFit) throw new TypeError(`${String(element)} is no ${type}`);
  return (
    fixedBytes[type] ??
    (typeof element === 'string' ? Buffer.byteLength(element) : (element as Uint8Array).length)
  );
}

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
