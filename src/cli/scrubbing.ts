// Beside a service: starts the scrub thread now and then, and tells what is newly found.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../base/module.ts';
import { causeOf, type Observe } from '../base/observe.ts';
import type { Scrub } from '../store/control.ts';
import { KnownDamage } from './known-damage.ts';
import { cliLimits } from './limits.ts';
import type { ScrubData, ScrubMessage } from './scrub-thread.ts';

const HOUR_MS = 3_600_000;

/** The place of faults whose cause is damaged data. */
export const DATA = 'data';

/** The readings of a service's store: begun when they are due, known when they end. */
export class Scrubbing {
  readonly #data: ScrubData;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  #thread: Worker | null = null;
  readonly #known = new KnownDamage();

  /** With 0 hours the store is never read. */
  constructor(storeUrl: string, everyHours: number, observe: Observe) {
    this.#data = { storeUrl, everyMs: everyHours * HOUR_MS };
    this.#observe = observe;
    this.#timer = setTimeout(() => this.#ask(), cliLimits.scrubFirstMs);
    this.#timer.unref();
    if (everyHours === 0) clearTimeout(this.#timer);
  }

  /** What is damaged, in words. */
  get damaged(): readonly string[] {
    return this.#known.parts;
  }

  /** When the newest reading ended; null before the first. */
  get readMs(): number | null {
    return this.#known.readMs;
  }

  /** Keeps what a request met. */
  met(words: string): void {
    this.#known.met(words, Date.now());
  }

  #ask(): void {
    const thread = new Worker(moduleBeside('./scrub-thread.ts', import.meta.url), { workerData: this.#data });
    this.#thread = thread;
    thread.unref();
    thread.on('message', (message: ScrubMessage) => {
      if (message.kind === 'read') this.#know(message.scrub);
      else this.#fail(message.why);
    });
    thread.once('error', (error) => this.#fail(causeOf(error)));
    thread.once('exit', () => {
      this.#thread = null;
      setTimeout(() => this.#ask(), cliLimits.scrubAskMs).unref();
    });
  }

  #fail(cause: string): void {
    this.#observe({ kind: 'fault', requestId: null, where: 'scrub', cause });
  }

  #know(scrub: Scrub | null): void {
    if (scrub === null) return;
    for (const words of this.#known.read(scrub))
      this.#observe({ kind: 'fault', requestId: null, where: DATA, cause: words });
  }

  /** Ends a reading that goes on. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#thread?.terminate();
  }
}
