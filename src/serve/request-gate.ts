// The gate before the parser: a bounded number of requests is worked on at a time, so that their objects die
// young. The others wait on their connections, unparsed, in the order in which they came.
import { httpLimits } from './limits.ts';

type Waiting = { readonly sinceMs: number; readonly letIn: () => void };

/** A request that is worked on. */
type Place = { readonly enteredMs: number; isFree: boolean };

/**
 * When a request came, by `performance.now()`, how long it waited at the gate, and what gives its place to
 * another.
 */
export type Entered = { readonly arrivedMs: number; readonly waitedMs: number; readonly leave: () => void };

/** The requests of one server that are worked on, and those that wait to be read. */
export class RequestGate {
  #waiting: Waiting[] = [];
  /** How many of `#waiting`, from its front, have been let in. */
  #gone = 0;
  /** The places that were taken, in their order; free ones stay until all before them are free. */
  readonly #places: Place[] = [];
  #taken = 0;
  #lettingIn: Waiting | null = null;
  /**
   * Whether others are let in in the next turn of the event loop, and whether a look at the places is to
   * come.
   */
  #isNext = false;
  #willLook = false;

  /** Whether a request that comes now can be read at once. */
  get isOpen(): boolean {
    return this.#count === 0 && this.#hasPlace(performance.now());
  }

  /** Calls `letIn` when it is its turn. */
  wait(letIn: () => void): void {
    this.#waiting.push({ sinceMs: performance.now(), letIn });
    this.#lookSoon();
  }

  /** A request has been read: it takes a place, also where none is free. */
  enter(): Entered {
    const nowMs = performance.now();
    const place = { enteredMs: nowMs, isFree: false };
    this.#places.push(place);
    this.#taken++;
    const leave = (): void => {
      this.#free(place);
      if (this.#count > 0) this.#letInNext();
    };
    const arrivedMs = this.#lettingIn?.sinceMs ?? nowMs;
    return { arrivedMs, waitedMs: nowMs - arrivedMs, leave };
  }

  get #count(): number {
    return this.#waiting.length - this.#gone;
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
      if (!first.isFree && nowMs - first.enteredMs < httpLimits.placeMsMax) break;
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
    while (this.#count > 0 && this.#hasPlace(performance.now())) {
      this.#lettingIn = this.#waiting[this.#gone++]!;
      this.#lettingIn.letIn();
    }
    this.#lettingIn = null;
    if (this.#gone <= this.#waiting.length / 2) return;
    this.#waiting = this.#waiting.slice(this.#gone);
    this.#gone = 0;
  }

  /** Looks again after a while: a place may have been kept long enough without anybody leaving. */
  #lookSoon(): void {
    if (this.#willLook) return;
    this.#willLook = true;
    setTimeout(() => {
      this.#willLook = false;
      this.#letIn();
      if (this.#count > 0) this.#lookSoon();
    }, httpLimits.placeMsMax / 10).unref();
  }
}
