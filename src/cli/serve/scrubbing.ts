// Beside a service: starts the scrub process now and then, and tells what is newly found.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { moduleBeside } from '../../base/module.ts';
import { causeOf, type Observe } from '../../base/observe.ts';
import { beginServing, endServing, type Scrub } from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { cliLimits } from '../shared/limits.ts';
import { closing } from '../shared/opened-store.ts';
import { KnownDamage } from './known-damage.ts';
import type { ScrubMessage, ScrubTask } from './scrub-process.ts';

const HOUR_MS = 3_600_000;

/** Its heap is small, whatever the heap of this process may be. */
const FLAGS = [
  ...['--max-old-space-size=128', '--max-semi-space-size=2', '--single-threaded-gc'],
  '--disable-warning=ExperimentalWarning',
];

/** The place of faults whose cause is damaged data. */
export const DATA = 'data';

/** The readings of a service's store: begun when they are due, known when they end. */
export class Scrubbing {
  readonly #task: ScrubTask;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  #process: ChildProcess | null = null;
  /** When its service began, where that was noted. */
  #beganMs: number | null = null;
  readonly #known = new KnownDamage();

  /** With 0 hours the store is never read. */
  constructor(
    storeUrl: string,
    everyHours: number,
    observe: Observe,
    firstMs: number = cliLimits.scrubFirstMs,
  ) {
    this.#task = { storeUrl, everyMs: everyHours * HOUR_MS };
    this.#observe = observe;
    this.#timer = setTimeout(() => this.#ask(), firstMs);
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
    const program = fileURLToPath(moduleBeside('./scrub-process.ts', import.meta.url));
    const child = fork(program, [], { execArgv: FLAGS, serialization: 'advanced', stdio: 'ignore' });
    this.#process = child;
    child.unref();
    child.channel?.unref();
    child.on('message', (message: ScrubMessage) => {
      if (message.kind === 'read') this.#know(message.scrub);
      else this.#fail(message.kind === 'lack' ? message.words : message.cause);
    });
    child.once('error', (error) => this.#fail(error.message));
    child.once('exit', (code, signal) => {
      if (code !== 0 && this.#process !== null)
        this.#fail(`the process that reads the store ended with ${code ?? signal}`);
      this.#process = null;
      setTimeout(() => this.#ask(), cliLimits.scrubAskMs).unref();
    });
    child.send(this.#task);
  }

  #fail(cause: string): void {
    this.#observe({ kind: 'fault', requestId: null, where: 'scrub', cause });
  }

  #know(scrub: Scrub | null): void {
    if (scrub === null) return;
    for (const words of this.#known.read(scrub))
      this.#observe({ kind: 'fault', requestId: null, where: DATA, cause: words });
  }

  /**
   * Notes that its service begins: a reading is due where the one before it was cut off (a power failure,
   * `kill -9`).
   */
  async begin(): Promise<void> {
    const beganMs = Date.now();
    try {
      await closing(openControl(this.#task.storeUrl, 'write'), (control) => beginServing(control, beganMs));
      this.#beganMs = beganMs;
    } catch (error) {
      // A standby of PostgreSQL only reads. Of a store that is away, requests say so.
      if (!(error instanceof StoreUnavailable)) this.#fail(causeOf(error));
    }
  }

  /** Ends a reading that goes on, and notes that its service has ended. */
  async stop(): Promise<void> {
    await this.#stopReading();
    const beganMs = this.#beganMs;
    if (beganMs === null) return;
    const end = closing(openControl(this.#task.storeUrl, 'write'), (control) =>
      endServing(control, beganMs, Date.now()),
    );
    // If this cannot be noted, the next start reads the store.
    await end.catch(() => undefined);
  }

  async #stopReading(): Promise<void> {
    clearTimeout(this.#timer);
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.ref();
    child.kill('SIGKILL');
    await ended;
  }
}
