// Beside a service: starts the scrub thread now and then, and keeps what it says is damaged.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../base/module.ts';
import { causeOf, type Observe } from '../base/observe.ts';
import type { Scrub } from '../store/control.ts';
import { damageWords } from '../store/damage.ts';
import type { ScrubData } from './scrub-thread.ts';

const HOUR_MS = 3_600_000;

/** The place of faults whose cause is damaged data. */
export const DATA = 'data';

/** The most damaged parts that are kept. */
const KEPT_MAX = 20;

/** A service that has just begun has other work. */
const FIRST_MS = 60_000;

/** How often a process asks whether a reading is due: another may have begun or ended one. */
const ASK_MS = HOUR_MS;

/** The readings of a service's store: begun when they are due, known when they end. */
export class Scrubbing {
  readonly #data: ScrubData;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  #thread: Worker | null = null;
  /** What is damaged, in words, and since when that is known: by the newest reading, and met by requests since it began. */
  readonly #damaged = new Map<string, number>();
  #readingMs = 0;
  /** When the newest reading ended; null before the first. */
  readMs: number | null = null;

  /** With 0 hours the store is never read. */
  constructor(storeUrl: string, everyHours: number, observe: Observe) {
    this.#data = { storeUrl, everyMs: everyHours * HOUR_MS };
    this.#observe = observe;
    this.#timer = setTimeout(() => this.#ask(), FIRST_MS);
    this.#timer.unref();
    if (everyHours === 0) clearTimeout(this.#timer);
  }

  get damaged(): readonly string[] {
    return [...this.#damaged.keys()];
  }

  /** Keeps what a request met. */
  met(words: string): void {
    this.#keep(words, Date.now());
  }

  #ask(): void {
    const thread = new Worker(moduleBeside('./scrub-thread.ts', import.meta.url), { workerData: this.#data });
    this.#thread = thread;
    thread.unref();
    thread.once('message', (scrub: Scrub | null) => this.#know(scrub));
    thread.once('error', (error) =>
      this.#observe({ kind: 'fault', requestId: null, where: 'scrub', cause: causeOf(error) }),
    );
    thread.once('exit', () => {
      this.#thread = null;
      setTimeout(() => this.#ask(), ASK_MS).unref();
    });
  }

  #know(scrub: Scrub | null): void {
    if (scrub === null) return;
    const isNew = scrub.finishedMs !== null && scrub.startedMs !== this.#readingMs;
    if (isNew) {
      this.readMs = scrub.finishedMs;
      this.#readingMs = scrub.startedMs;
    }
    const before = new Set(this.#damaged.keys());
    if (isNew)
      for (const [words, knownMs] of this.#damaged)
        if (knownMs < scrub.startedMs) this.#damaged.delete(words);
    // A reading that goes on still has what an earlier one found: its own end decides whether that is repaired.
    const sinceMs = scrub.finishedMs === null ? 0 : scrub.startedMs;
    for (const words of scrub.damage.map(damageWords)) {
      this.#keep(words, sinceMs);
      if (!before.has(words)) this.#observe({ kind: 'fault', requestId: null, where: DATA, cause: words });
    }
  }

  #keep(words: string, sinceMs: number): void {
    if (!this.#damaged.has(words) && this.#damaged.size < KEPT_MAX) this.#damaged.set(words, sinceMs);
  }

  /** Ends a reading that goes on. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#thread?.terminate();
  }
}
