// Looks at the kernel's send queues from a thread of their own: with many connections one takes many milliseconds, and under overload the
// HTTP thread has none to spare.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../base/module.ts';
import type { SendQueues } from './send-queues.ts';

/** The thread does little; without bounds its heap would be sized for a whole program. */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 };

/** Looks at the queues of one port, one after the other. */
export class QueueLooks {
  #thread: Worker | null = null;
  #isClosed = false;
  #answered: ((queues: SendQueues | null) => void) | null = null;

  /** The send queues of a port's connections; null where the system does not tell, or the thread has ended. One look at a time. */
  look(port: number): Promise<SendQueues | null> {
    if (this.#isClosed) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#thread ??= this.#start();
      this.#thread.postMessage(port);
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
    thread.on('message', (queues: SendQueues | null) => this.#answer(queues));
    thread.on('error', () => undefined);
    thread.once('exit', () => {
      this.#thread = null;
      this.#answer(null);
    });
    // Who listens to messages holds the process, so this comes after.
    thread.unref();
    return thread;
  }

  #answer(queues: SendQueues | null): void {
    const answered = this.#answered;
    this.#answered = null;
    answered?.(queues);
  }
}
