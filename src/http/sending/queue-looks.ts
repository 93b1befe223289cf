// Looks at the kernel's send queues from a thread of their own: with many connections one takes many
// milliseconds, and under overload the HTTP thread has none to spare.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../base/module.ts';
import type { Listening, Look } from './send-queues.ts';

/** The thread does little; without bounds its heap would be sized for a whole program. */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 };

/** Looks at the queues of one server, one after the other. */
export class QueueLooks {
  #thread: Worker | null = null;
  #isClosed = false;
  #answered: ((look: Look | null) => void) | null = null;

  /**
   * Looks at the send queues of a server's connections; null where the thread has ended. One look at a time.
   */
  look(server: Listening): Promise<Look | null> {
    if (this.#isClosed) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#thread ??= this.#start();
      this.#thread.postMessage(server);
    });
  }

  /** Ends the thread; a look that goes on, or comes later, answers null. */
  close(): void {
    this.#isClosed = true;
    void this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(moduleBeside('./send-queues-thread.ts', import.meta.url), {
      resourceLimits: MEMORY,
    });
    thread.on('message', (look: Look) => this.#answer(look));
    thread.on('error', () => undefined);
    thread.once('exit', () => {
      this.#thread = null;
      this.#answer(null);
    });
    // Who listens to messages holds the process, so this comes after.
    thread.unref();
    return thread;
  }

  #answer(look: Look | null): void {
    const answered = this.#answered;
    this.#answered = null;
    answered?.(look);
  }
}
