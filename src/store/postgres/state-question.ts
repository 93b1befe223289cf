// Which version is published now: one question at a time, for all who ask before it is sent.
import { storeLimits } from '../limits.ts';
import type { Identified } from './published.ts';

/**
 * The question of one process. Those who ask while it is under way share the next one: no answer is older
 * than its asking.
 */
export class StateQuestion {
  readonly #ask: () => Promise<Identified>;
  #underWay: Promise<Identified> | null = null;
  #next: Promise<Identified> | null = null;
  /** The last answer, and when it was asked for. */
  #told: { readonly published: Identified; readonly askedMs: number } | null = null;

  constructor(ask: () => Promise<Identified>) {
    this.#ask = ask;
  }

  /**
   * The answer of a moment ago; null without one. Whoever uses it asks as well, and compares. Every block of
   * that version is still there, because replaced ones are kept for longer.
   */
  get lately(): Identified | null {
    if (this.#told === null || performance.now() - this.#told.askedMs > storeLimits.publishedUsedMs)
      return null;
    return this.#told.published;
  }

  /** The published version at this moment or a later one. @throws StoreUnavailable */
  now(): Promise<Identified> {
    if (this.#underWay === null) return this.#send();
    if (this.#next === null) {
      // Where the server does not answer, nobody waits for it twice: these fail with those before them.
      this.#next = this.#underWay.then(() => this.#send());
      this.#next.catch(() => undefined);
    }
    return this.#next;
  }

  #send(): Promise<Identified> {
    this.#next = null;
    const askedMs = performance.now();
    const answer = this.#ask().then(
      (published) => {
        this.#underWay = null;
        this.#told = { published, askedMs };
        return published;
      },
      (error: unknown) => {
        this.#underWay = null;
        this.#next = null;
        throw error;
      },
    );
    answer.catch(() => undefined);
    this.#underWay = answer;
    return answer;
  }
}
