// Counts the bytes of answers that are not sent yet, in all and by caller, and refuses requests above the
// bounds. Above the bound of all callers it first has the connections of those ended that do not read.
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../contract/errors.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { httpLimits } from '../limits.ts';

/** Whose bytes they are: the id of a key, or null for all callers without a valid one. */
export type Owner = string | null;

const defaultBounds = {
  totalMax: httpLimits.unsentBytesMax,
  perKeyMax: httpLimits.unsentBytesPerKeyMax,
  anonymousMax: httpLimits.unsentBytesAnonymousMax,
};

/** Bounds in place of those in `limits`. */
type UnsentBounds = { readonly [name in keyof typeof defaultBounds]?: number };

/** The relief that the sender of answers can give where there are too many unsent bytes. */
type Relief = {
  /** Counts the bytes of all connections anew. */
  recount(): Promise<void>;
  /**
   * Ends connections whose callers have not read for a while, of the key with the most unread bytes, until so
   * many bytes are free; false where there is no such connection.
   */
  endUnread(bytes: number): Promise<boolean>;
};

/** The unsent bytes of one serving process. */
export class UnsentBytes {
  readonly #bounds: Required<UnsentBounds>;
  readonly #byOwner = new Map<Owner, number>();
  #total = 0;
  #relief: Relief | null = null;
  #makingRoom: Promise<void> | null = null;
  /** The newest count, and its end or that of the wait for it. */
  #count: Promise<void> | undefined;
  #counted: Promise<unknown> = Promise.resolve();

  constructor(bounds: UnsentBounds = {}) {
    this.#bounds = { ...defaultBounds, ...bounds };
  }

  /** Bytes of all callers. */
  get total(): number {
    return this.#total;
  }

  /** Bytes of one caller. */
  of(owner: Owner): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  /** Adds bytes to a caller's, or takes negative ones away. */
  add(owner: Owner, bytes: number): void {
    if (bytes === 0) return;
    const sum = this.of(owner) + bytes;
    if (sum === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, sum);
    this.#total += bytes;
  }

  /** Counts bytes until the result is called, once. */
  hold(owner: Owner, bytes: number): () => void {
    this.add(owner, bytes);
    return () => this.add(owner, -bytes);
  }

  /** Has the sender of the answers relieve the bounds before any request is refused for them. */
  relieveWith(relief: Relief): void {
    this.#relief = relief;
  }

  /** Whether a caller is at its own bound. */
  isOwnerOver(owner: Owner): boolean {
    return this.of(owner) >= this.#boundOf(owner);
  }

  #boundOf(owner: Owner): number {
    return owner === null ? this.#bounds.anonymousMax : this.#bounds.perKeyMax;
  }

  /** Whether so much counts that looks tell what is read, before a caller may have to wait for one. */
  isNear(owner: Owner): boolean {
    const { lookFromShare } = httpLimits;
    return (
      this.of(owner) >= this.#boundOf(owner) * lookFromShare ||
      this.#total >= this.#bounds.totalMax * lookFromShare
    );
  }

  /** Counts again where so much is counted. */
  lookAhead(owner: Owner): void {
    if (this.isNear(owner)) void this.#relief?.recount();
  }

  /** Whether it still is after a new count. */
  async isOwnerStillOver(owner: Owner): Promise<boolean> {
    if (this.isOwnerOver(owner)) await this.#recount();
    return this.isOwnerOver(owner);
  }

  /**
   * Waits for a new count, but not for long: where the thread is overloaded it may take seconds, and a
   * refusal must be soon.
   */
  #recount(): Promise<unknown> {
    const count = this.#relief?.recount();
    if (count !== this.#count) {
      this.#count = count;
      this.#counted = Promise.race([count, sleep(httpLimits.lookWaitMs, undefined, { ref: false })]);
    }
    return this.#counted;
  }

  #isFull(): boolean {
    return this.#total >= this.#bounds.totalMax;
  }

  /**
   * Lets a request through, and counts the bytes that its answer may have until the result is called. Above
   * the bound of all callers it waits for room, up to `waitMs`, unless its own caller has a full share of the
   * bytes already. Nothing is awaited between look and count: of many that wait only a few get through.
   * @throws Refusal `unavailable` at the bound
   */
  async admit(owner: Owner, bytes: number, waitMs: number = httpLimits.roomWaitMs): Promise<() => void> {
    const untilMs = performance.now() + waitMs;
    if (this.#isFull() || this.isOwnerOver(owner)) await this.#recount();
    let isLast = this.#relief === null || waitMs === 0;
    while (!isLast && this.#isFull() && this.#mayWait(owner)) {
      isLast = performance.now() >= untilMs;
      await this.#makeRoom(isLast);
    }
    if (!this.isOwnerOver(owner) && !this.#isFull()) {
      this.lookAhead(owner);
      return this.hold(owner, bytes);
    }
    const message = !this.isOwnerOver(owner)
      ? 'The service holds as many unsent answers as it may: try again soon.'
      : owner === null
        ? 'Callers without a key have not read their answers yet: try again soon.'
        : 'The caller has not read its earlier answers yet: read them, then try again.';
    throw new Refusal('unavailable', { message });
  }

  /** Whether a caller has less than the mean of those that have unsent bytes. */
  #mayWait(owner: Owner): boolean {
    return !this.isOwnerOver(owner) && this.of(owner) * this.#byOwner.size < this.#total;
  }

  /**
   * Ends callers that do not read; where there are none yet, looks again after a pause, unless this is the
   * last look.
   */
  #makeRoom(isLast: boolean): Promise<void> {
    this.#makingRoom ??= this.#makeRoomNow(isLast).finally(() => {
      this.#makingRoom = null;
    });
    return this.#makingRoom;
  }

  async #makeRoomNow(isLast: boolean): Promise<void> {
    const excess = this.#total - this.#bounds.totalMax * (1 - httpLimits.roomShare);
    if ((await this.#relief!.endUnread(excess)) || isLast) return;
    await sleep(httpLimits.lookPauseMs);
    await this.#relief!.recount();
  }
}

/** The part of a large answer that an estimate keeps after a smaller one. */
const KEPT = 0.9;

function recordsOf({ parameters: { limit, symbols } }: Pick<QueryRequest, 'parameters'>): number {
  const each = typeof limit === 'number' ? limit : 1;
  return Array.isArray(symbols) ? each * symbols.length : each;
}

type Sizes = { readonly bytesPerRecord: number; readonly largest: number };

const NONE: Sizes = { bytesPerRecord: 0, largest: 0 };

/**
 * The sizes of the answers of each endpoint: of the latest in bytes for each record that was asked for, and
 * of the largest.
 */
export class AnswerSizes {
  readonly #byEndpoint = new Map<QueryRequest['endpoint'], Sizes>();

  /**
   * The bytes that an answer is expected to have; 0 before the first of its endpoint. Never more than the
   * largest had: one record may be very long, and a thousand times its bytes would be above every bound.
   */
  expected(request: QueryRequest): number {
    const { bytesPerRecord, largest } = this.#byEndpoint.get(request.endpoint) ?? NONE;
    return Math.min(Math.ceil(bytesPerRecord * recordsOf(request)), largest);
  }

  /** Learns the size of an answer. */
  add(request: QueryRequest, bytes: number): void {
    const before = this.#byEndpoint.get(request.endpoint) ?? NONE;
    this.#byEndpoint.set(request.endpoint, {
      bytesPerRecord: Math.max(bytes / recordsOf(request), before.bytesPerRecord * KEPT),
      largest: Math.max(bytes, before.largest),
    });
  }
}
