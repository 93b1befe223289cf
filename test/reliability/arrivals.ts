// A generator of load in a process of its own: arrivals at a fixed rate, whatever the answers, or as fast as
// answers come. It reads a plan from standard input and writes what came of each phase to standard output.
// Raw sockets: it must be cheap.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { random } from '../../bench/minutes.ts';

/**
 * Some seconds of load: by so many callers that ask again as soon as they are answered, or by arrivals at a
 * rate.
 */
export type Phase = {
  readonly name: string;
  readonly seconds: number;
  /** `timesPeak`: arrivals a second as a multiple of what was served in the last phase of callers. */
  readonly load:
    | { readonly callers: number }
    | { readonly perSecond: number }
    | { readonly timesPeak: number };
};

/** A load on 127.0.0.1. Targets are asked in turn. */
export type Plan = {
  readonly port: number;
  readonly targets: readonly string[];
  readonly keepAlive: boolean;
  /**
   * Connections that are there before the first request, as those of callers that have been asking for a
   * while.
   */
  readonly connectionsFirst: number;
  /** Connections at once, above which arrivals wait; their latency counts from when they were due. */
  readonly connectionsMax: number;
  readonly phases: readonly Phase[];
};

/** Latencies, in milliseconds from the instant at which a request was due. */
export type Latencies = { readonly p50: number; readonly p99: number; readonly max: number };

/**
 * What a phase came to: the generator writes a list of them. A request counts in the phase in which it was
 * due.
 */
export type Outcome = {
  readonly name: string;
  readonly seconds: number;
  readonly asked: number;
  readonly served: number;
  /** Those of the served that were answered before the phase had ended. */
  readonly servedMeanwhile: number;
  readonly refused: number;
  /** Answers that are neither, or not as they must be: the first of them. */
  readonly odd: readonly string[];
  /**
   * Requests that ended without a whole answer, by what ended them; `new` where their connection had not been
   * taken yet.
   */
  readonly broken: Readonly<Record<string, number>>;
  readonly servedMs: Latencies;
  readonly refusedMs: Latencies;
  /** Connections that were open at its end. */
  readonly connections: number;
  /** Processor time of the generator itself, as a part of one core. */
  readonly processor: number;
};

/** How long answers are waited for after the last phase. */
const PATIENCE_MS = 60_000;
const TICK_MS = 1;
const ODD_MAX = 5;
const FIRST_AT_ONCE = 4;
/** What is read as text of an answer's beginning: its head, and the whole of a refusal. */
const HEAD_BYTES = 2_048;
const READ_BYTES = 256 * 1024;
/** All sockets read into the same memory: nothing of it is kept. */
const memory = Buffer.allocUnsafe(READ_BYTES);

class Tally {
  readonly phase: Phase;
  asked = 0;
  served: number[] = [];
  servedMeanwhile = 0;
  endMs = 0;
  refused: number[] = [];
  odd: string[] = [];
  broken: { [cause: string]: number } = {};
  connections = 0;
  processor = 0;

  constructor(phase: Phase) {
    this.phase = phase;
  }

  /** Requests that have neither an answer nor an end. */
  get waiting(): number {
    const broken = Object.values(this.broken).reduce((sum, count) => sum + count, 0);
    return this.asked - this.served.length - this.refused.length - this.odd.length - broken;
  }

  outcome(): Outcome {
    const { name, seconds } = this.phase;
    return {
      name,
      seconds,
      asked: this.asked,
      served: this.served.length,
      servedMeanwhile: this.servedMeanwhile,
      refused: this.refused.length,
      odd: this.odd.slice(0, ODD_MAX),
      broken: this.waiting === 0 ? this.broken : { ...this.broken, unanswered: this.waiting },
      servedMs: latenciesOf(this.served),
      refusedMs: latenciesOf(this.refused),
      connections: this.connections,
      processor: this.processor,
    };
  }
}

function latenciesOf(all: readonly number[]): Latencies {
  const sorted = Float64Array.from(all).sort();
  const at = (part: number): number => sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

type Asked = { readonly dueMs: number; readonly record: Tally };

/** A connection with at most one request on its way. */
class Connection {
  readonly #generator: Generator;
  readonly socket: Socket;
  #asked: Asked | null = null;
  #status = 0;
  /** Bytes of the answer that are still to come; -1 before its head is read. */
  #missing = -1;
  #closes = false;
  #cause = 'closed';
  #isNew = true;

  constructor(generator: Generator, port: number) {
    this.#generator = generator;
    this.socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: memory, callback: (length, bytes) => this.#read(length, bytes as Buffer) },
    });
    this.socket.once('error', (error: NodeJS.ErrnoException) => {
      this.#cause = error.code ?? 'error';
    });
    this.socket.once('close', () => {
      const cause = this.#isNew ? `new ${this.#cause}` : this.#cause;
      const { broken } = this.#asked?.record ?? {};
      if (broken !== undefined) broken[cause] = (broken[cause] ?? 0) + 1;
      this.#asked = null;
      generator.lost(this);
    });
  }

  ask(request: Buffer, asked: Asked): void {
    this.#asked = asked;
    this.#missing = -1;
    this.socket.write(request);
  }

  #read(length: number, bytes: Buffer): boolean {
    if (this.#asked === null) return true;
    if (this.#missing < 0) this.#readHead(bytes.toString('latin1', 0, Math.min(length, HEAD_BYTES)), length);
    else this.#missing -= length;
    if (this.#missing === 0) this.#answered();
    else if (this.#missing < 0) this.#misread('an answer that is longer than it says');
    return true;
  }

  #readHead(start: string, length: number): void {
    const end = start.indexOf('\r\n\r\n');
    const lengthAt = start.indexOf('Content-Length: ') + 16;
    this.#status = Number(start.slice(9, 12));
    if (end < 0 || lengthAt < 16 || (this.#status !== 200 && !isRefusal(start, this.#status))) {
      this.#misread(start.slice(0, 400));
      return;
    }
    this.#closes =
      start.includes('\r\nConnection: close\r\n') && start.indexOf('\r\nConnection: close\r\n') < end;
    this.#missing = end + 4 + Number.parseInt(start.slice(lengthAt, lengthAt + 10), 10) - length;
  }

  #misread(what: string): void {
    this.#asked?.record.odd.push(what);
    this.#asked = null;
    this.socket.destroy();
  }

  #answered(): void {
    const { dueMs, record } = this.#asked!;
    this.#isNew = false;
    const nowMs = performance.now();
    (this.#status === 200 ? record.served : record.refused).push(nowMs - dueMs);
    if (this.#status === 200 && nowMs < record.endMs) record.servedMeanwhile++;
    this.#asked = null;
    if (this.#closes || !this.#generator.keepAlive) this.socket.end();
    else this.#generator.free(this);
    this.#generator.answered(record);
  }
}

/** Whether an answer is the refusal of a full queue, whole and in the envelope (contract 6.2, 6.3). */
const isRefusal = (start: string, status: number): boolean =>
  status === 503 && start.includes('\r\nRetry-After: ') && start.includes('"error":"unavailable"');

/** First in, first out; an array's own shift moves all that follow. */
class Line<T> {
  #items: T[] = [];
  #head = 0;

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item !== undefined) this.#head++;
    if (this.#head * 2 > this.#items.length && this.#head > 1_000) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

class Generator {
  readonly keepAlive: boolean;
  readonly #plan: Plan;
  readonly #requests: readonly Buffer[];
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #late = new Line<Asked>();
  readonly #records: Tally[] = [];
  #next = 0;
  readonly #chance = random(1);

  constructor(plan: Plan) {
    this.#plan = plan;
    this.keepAlive = plan.keepAlive;
    const rest = ` HTTP/1.1\r\nHost: 127.0.0.1\r\n${plan.keepAlive ? '' : 'Connection: close\r\n'}\r\n`;
    this.#requests = plan.targets.map((target) => Buffer.from(`GET ${target}${rest}`));
  }

  async run(): Promise<Outcome[]> {
    await this.#connectFirst();
    for (const phase of this.#plan.phases) await this.#phase(phase);
    const deadlineMs = performance.now() + PATIENCE_MS;
    while (this.#records.some(({ waiting }) => waiting > 0) && performance.now() < deadlineMs)
      await sleep(20);
    for (const { socket } of this.#open) socket.destroy();
    return this.#records.map((record) => record.outcome());
  }

  /** Opens connections that have been used once each: what idles from its start on is taken for an attack. */
  async #connectFirst(): Promise<void> {
    const uncounted = new Tally({ name: 'first', seconds: 0, load: { perSecond: 0 } });
    for (let count = 0; count < this.#plan.connectionsFirst; count++) {
      const connection = this.#connect()!;
      await once(connection.socket, 'connect');
      uncounted.asked++;
      this.#send(connection, { dueMs: performance.now(), record: uncounted });
      while (uncounted.waiting >= FIRST_AT_ONCE) await sleep(TICK_MS);
    }
    while (uncounted.waiting > 0) await sleep(TICK_MS);
  }

  async #phase(phase: Phase): Promise<void> {
    const record = new Tally(phase);
    this.#records.push(record);
    const before = process.cpuUsage();
    const startMs = performance.now();
    record.endMs = startMs + phase.seconds * 1_000;
    if ('callers' in phase.load) {
      for (let caller = 0; caller < phase.load.callers; caller++) this.#ask({ dueMs: startMs, record });
      await sleep(phase.seconds * 1_000);
    } else await this.#arrivals(this.#rateOf(phase.load), startMs, record);
    const { user, system } = process.cpuUsage(before);
    record.connections = this.#open.size;
    record.processor = (user + system) / 1_000 / (performance.now() - startMs);
  }

  #rateOf(load: { readonly perSecond: number } | { readonly timesPeak: number }): number {
    if ('perSecond' in load) return load.perSecond;
    const peak = this.#records.findLast(({ phase }) => 'callers' in phase.load)!;
    return (load.timesPeak * peak.served.length) / peak.phase.seconds;
  }

  /** Arrivals that know nothing of each other: the time between two is exponentially distributed. */
  async #arrivals(perSecond: number, startMs: number, record: Tally): Promise<void> {
    for (let dueMs = startMs; dueMs < record.endMs; await sleep(TICK_MS)) {
      const nowMs = Math.min(performance.now(), record.endMs);
      while (dueMs < nowMs) {
        this.#ask({ dueMs, record });
        dueMs += (-Math.log(1 - this.#chance()) * 1_000) / perSecond;
      }
    }
  }

  #ask(asked: Asked): void {
    asked.record.asked++;
    const connection = this.#idle.pop() ?? this.#connect();
    if (connection === null) this.#late.push(asked);
    else this.#send(connection, asked);
  }

  #send(connection: Connection, asked: Asked): void {
    connection.ask(this.#requests[this.#next++ % this.#requests.length]!, asked);
  }

  #connect(): Connection | null {
    if (this.#open.size >= this.#plan.connectionsMax) return null;
    const connection = new Connection(this, this.#plan.port);
    this.#open.add(connection);
    return connection;
  }

  /** A connection can be asked again. */
  free(connection: Connection): void {
    const late = this.#late.shift();
    if (late === undefined) this.#idle.push(connection);
    else this.#send(connection, late);
  }

  /** One of the callers has its answer and asks again. */
  answered({ phase: { load } }: Tally): void {
    const record = this.#records.at(-1)!;
    const nowMs = performance.now();
    if ('callers' in load && nowMs < record.endMs && record.phase.load === load)
      this.#ask({ dueMs: nowMs, record });
  }

  /** A connection has ended; what is late may have a new one. */
  lost(connection: Connection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    const late = this.#late.shift();
    const next = late === undefined ? null : this.#connect();
    if (next !== null) this.#send(next, late!);
  }
}

const outcomes = await new Generator(JSON.parse(await text(process.stdin)) as Plan).run();
process.stdout.write(JSON.stringify(outcomes));
