// Counts the bytes of answers that are not sent yet, in all and by caller, and refuses requests above the bounds.
import { Refusal } from '../../contract/errors.ts';
import { httpLimits } from '../limits.ts';

/** Whose bytes they are: the id of a key, or null for all callers without a valid one. */
export type Owner = string | null;

const defaultBounds = {
  totalMax: httpLimits.unsentBytesMax,
  perKeyMax: httpLimits.unsentBytesPerKeyMax,
  anonymousMax: httpLimits.unsentBytesAnonymousMax,
};

/** Bounds in place of those in `limits`. */
export type UnsentBounds = { readonly [name in keyof typeof defaultBounds]?: number };

/** The unsent bytes of one serving process. */
export class UnsentBytes {
  readonly #bounds: Required<UnsentBounds>;
  readonly #byOwner = new Map<Owner, number>();
  #total = 0;
  #recount = async (): Promise<void> => undefined;

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

  /** Counts bytes until the result is called; calling it again changes nothing. */
  hold(owner: Owner, bytes: number): () => void {
    this.add(owner, bytes);
    let held = bytes;
    return () => {
      this.add(owner, -held);
      held = 0;
    };
  }

  /** Has `recount` count the bytes anew before any request is refused for them. */
  recountWith(recount: () => Promise<void>): void {
    this.#recount = recount;
  }

  /** Whether a caller, or all of them together, are at the bound. */
  isOver(owner: Owner): boolean {
    return this.#total >= this.#bounds.totalMax || this.#isOwnerOver(owner);
  }

  #isOwnerOver(owner: Owner): boolean {
    const { perKeyMax, anonymousMax } = this.#bounds;
    return this.of(owner) >= (owner === null ? anonymousMax : perKeyMax);
  }

  /** Whether they still are after a new count. */
  async isStillOver(owner: Owner): Promise<boolean> {
    if (this.isOver(owner)) await this.#recount();
    return this.isOver(owner);
  }

  /**
   * Lets a request through, and counts the bytes that its answer may have until the result is called. Nothing is awaited between look
   * and count: of many that wait for a new count only a few get through. @throws Refusal `unavailable` at the bound
   */
  async admit(owner: Owner, bytes: number): Promise<() => void> {
    if (this.isOver(owner)) await this.#recount();
    if (!this.isOver(owner)) return this.hold(owner, bytes);
    const message = !this.#isOwnerOver(owner)
      ? 'The service holds as many unsent answers as it may: try again soon.'
      : owner === null
        ? 'Callers without a key have not read their answers yet: try again soon.'
        : 'The caller has not read its earlier answers yet: read them, then try again.';
    throw new Refusal('unavailable', { message });
  }
}
