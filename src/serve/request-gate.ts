// The gate before the parser: a bounded number of requests is worked on at a time, so that their objects die
// young. The others wait on their connections, unparsed; keys take turns, and those of one key come as they
// came. What is let in in one turn of the event loop is handled together.
import type { Socket } from 'node:net';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';
import { RecentKeys, WaitingRequests } from './threads/turns.ts';

type Waiting = { readonly sinceMs: number; readonly letIn: () => void };

/** A request that is worked on. */
type Place = { readonly enteredMs: number; isFree: boolean };

/**
 * When a request came, by `performance.now()`, how long it waited at the gate, and what gives its place to
 * another.
 */
export type Entered = {
  readonly arrivedMs: number;
  readonly waitedMs: number;
  /** `keyId`: whose request it was; null for nobody's. */
  readonly leave: (keyId?: string | null) => void;
};

/** The requests of one server that are worked on, and those that wait to be read. */
export class RequestGate {
  readonly #waiting = new WaitingRequests<Waiting>();
  /** The places that were taken, in their order; free ones stay until all before them are free. */
  readonly #places: Place[] = [];
  #taken = 0;
  readonly #keys = new RecentKeys();
  /** The keys of which a request was read in this turn of the event loop, while several ask. */
  readonly #inTurn = new Set<string | null>();
  #lettingIn: Waiting | null = null;
  /**
   * Whether others are let in in the next turn of the event loop, and whether a look at the places is to
   * come.
   */
  #isNext = false;
  #willLook = false;

  /** Whether a request of a key, by its id, that comes now can be read at once; null as with `wait`. */
  isOpen(keyId: string | null = null): boolean {
    return this.#waiting.length === 0 && !this.#inTurn.has(keyId) && this.#hasPlace(performance.now());
  }

  /** Calls `letIn` when it is the turn of a key, by its id; null where nothing tells the key. */
  wait(letIn: () => void, keyId: string | null = null): void {
    this.#waiting.add(keyId, { sinceMs: performance.now(), letIn });
    this.#lookSoon();
  }

  /**
   * A request has been read: it takes a place, also where none is free. While several keys ask, it is the
   * only one of its key in this turn of the event loop: what others begin in a turn, each waits for.
   */
  enter(keyId: string | null = null): Entered {
    const nowMs = performance.now();
    if (this.#keys.areSeveral) {
      this.#inTurn.add(keyId);
      this.#letInNext();
    }
    const place = { enteredMs: nowMs, isFree: false };
    this.#places.push(place);
    this.#taken++;
    const leave = (heard: string | null = null): void => {
      this.#keys.heard(heard);
      this.#free(place);
      if (this.#waiting.length > 0) this.#letInNext();
    };
    const arrivedMs = this.#lettingIn?.sinceMs ?? nowMs;
    return { arrivedMs, waitedMs: nowMs - arrivedMs, leave };
  }

  #free(place: Place): void {
    if (place.isFree) return;
    place.isFree = true;
    this.#taken--;
  }

  /**
   * Whether a place is free. A request that takes long has its place for a while only: others do not wait for
   * dear ones.
   */
  #hasPlace(nowMs: number): boolean {
    for (let [first] = this.#places; first !== undefined; [first] = this.#places) {
      if (!first.isFree && nowMs - first.enteredMs < limits.queueWaitMs) break;
      this.#free(first);
      this.#places.shift();
    }
    return this.#taken < httpLimits.placesMax;
  }

  /**
   * Lets in in the next turn of the event loop: until then what the last requests leave behind is cleared
   * away, and all connections are heard.
   */
  #letInNext(): void {
    if (this.#isNext) return;
    this.#isNext = true;
    setImmediate(() => {
      this.#isNext = false;
      this.#letIn();
    });
  }

  #letIn(): void {
    this.#inTurn.clear();
    while (this.#hasPlace(performance.now())) {
      const next = this.#waiting.takeFirst((keyId) => !this.#inTurn.has(keyId));
      if (next === undefined) break;
      this.#lettingIn = next.request;
      this.#lettingIn.letIn();
    }
    this.#lettingIn = null;
    if (this.#inTurn.size > 0) this.#letInNext();
  }

  /** Looks again after a while: a place may have been kept long enough without anybody leaving. */
  #lookSoon(): void {
    if (this.#willLook) return;
    this.#willLook = true;
    setTimeout(() => {
      this.#willLook = false;
      this.#letIn();
      if (this.#waiting.length > 0) this.#lookSoon();
    }, limits.queueWaitMs / 10).unref();
  }
}

type Work = (batch: number) => void;

/**
 * Request batching: requests that arrive in one tick of the event loop are handled together at its end. Work
 * that is the same for all of them is done once, and their responses are sent one right after the other, so
 * that a client is woken once.
 */
export class RequestBatches {
  /** Counts the batches of the whole process: its servers share what is read once a batch. */
  static #batch = 0;
  #works: Work[] = [];

  /**
   * Does `work` with the number of its batch, at the end of this tick or once the batch is full. Numbers
   * ascend.
   */
  add(work: Work): void {
    const count = this.#works.push(work);
    if (count === 1) setImmediate(() => this.#flush());
    if (count === limits.batchRequestsMax) this.#flush();
  }

  #flush(): void {
    const works = this.#works;
    this.#works = [];
    const batch = ++RequestBatches.#batch;
    for (const work of works) work(batch);
  }
}

/** Who may be read, and what becomes of it. */
type ReadingRules = {
  /** True while the connection is not to be read. */
  readonly isPaused: () => boolean;
  /** True if received bytes must wait. */
  readonly mustWait: () => boolean;
  /** Calls `letIn` when it is its turn. */
  readonly wait: (letIn: () => void) => void;
  /** True for one whole request: a parser that was between two requests is so after it. */
  readonly isWhole: (piece: Buffer) => boolean;
  /**
   * Begins to answer a whole request that is known; false where it is not. `done` says whether it was
   * answered: it is parsed where it was not.
   */
  readonly answerKnown: (piece: Buffer, done: (isAnswered: boolean) => void) => boolean;
  /** Parses what has arrived; `isWhole` as above. */
  readonly parse: (piece: Buffer, isWhole: boolean, parse: (piece: Buffer) => void) => void;
};

/**
 * Gives what arrives on a connection of node:http to its parser in pieces of `readPieceBytes`. Node.js reads
 * up to 64 kB at once, and these may be thousands of requests, or of chunks of a body. The rest stays in the
 * socket's buffer, so that a pause holds for it, too. A request costs 1 to 3 us more: otherwise the parser
 * reads from the kernel itself. It cannot do so for small requests alone, because nothing tells how much has
 * arrived before all of it is parsed: that took turns of 8 to 42 ms.
 *
 * A request that is known does not reach the parser. That is certain only between two requests, so the
 * connection must have brought whole requests alone until then; its first is parsed, because the parser's
 * time for it runs from the beginning of the connection.
 */
export function paceReading(socket: Socket, rules: ReadingRules): void {
  const [parseNow] = socket.listeners('data') as ((piece: Buffer) => void)[];
  if (parseNow === undefined) return;
  let isWaiting = false;
  /** Whether only whole requests came before; null at the beginning. */
  let isBetween: boolean | null = null;
  const goOn = (): void => {
    isWaiting = false;
    if (!rules.isPaused()) socket.resume();
  };
  const putBack = (piece: Buffer): void => {
    // A stream that is not paused would hand it out at once.
    socket.pause();
    socket.unshift(piece);
  };
  const parse = (piece: Buffer): void => {
    isBetween = isBetween !== false && rules.isWhole(piece);
    rules.parse(piece, isBetween, (whole) => parseNow.call(socket, whole));
  };
  const done = (piece: Buffer, isAnswered: boolean): void => {
    if (socket.destroyed) return;
    if (!isAnswered) parse(piece);
    goOn();
  };
  const read = (piece: Buffer): void => {
    if (piece.length > httpLimits.readPieceBytes) {
      isWaiting = true;
      putBack(piece.subarray(httpLimits.readPieceBytes));
      setImmediate(goOn);
      parse(piece.subarray(0, httpLimits.readPieceBytes));
    } else if (isBetween === true && rules.answerKnown(piece, (isAnswered) => done(piece, isAnswered)))
      isWaiting = true;
    else parse(piece);
  };
  socket.off('data', parseNow);
  socket.on('data', (piece: Buffer) => {
    // Node.js has resumed it, to read a body; or a request before this one is being answered.
    if (isWaiting) return putBack(piece);
    if (!rules.mustWait()) return read(piece);
    isWaiting = true;
    socket.pause();
    rules.wait(() => {
      if (socket.destroyed) return;
      goOn();
      read(piece);
    });
  });
}
