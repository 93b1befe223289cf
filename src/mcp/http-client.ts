// The HTTP thread's access to the thread that speaks the protocol, which is started by the first message.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../base/module.ts';
import type { AskedAnswer, AssistantMessage, Assistants } from '../http/assistants.ts';
import { KeyTurns } from '../http/queue/key-turns.ts';
import type { FromThread, ToThread } from './http-thread.ts';
import { mcpLimits } from './limits.ts';

/**
 * Answers messages of assistants in a thread, keys in turn. After one that failed, the next message starts
 * another.
 */
export class McpThread implements Assistants {
  readonly #version: string;
  /** The next answer of the thread to each message. */
  readonly #next = new Map<number, PromiseWithResolvers<FromThread>>();
  /**
   * The thread does one thing at a time: it reads a message, or makes an answer of the data that it asked
   * for.
   */
  readonly #turns = new KeyTurns(1);
  #worker: Worker | null = null;
  #lastId = 0;

  /** @param version that of the program */
  constructor(version: string) {
    this.#version = version;
  }

  /** @throws where the thread failed, such as without the optional library */
  async answer(keyId: string, message: AssistantMessage, ask: (target: string) => Promise<AskedAnswer>) {
    const id = ++this.#lastId;
    try {
      let said = await this.#turns.run(keyId, () => {
        const next = this.#nextOf(id);
        this.#worker ??= this.#start();
        this.#post({ kind: 'message', id, ...message });
        return next;
      });
      while (said.kind === 'ask') {
        const { asked, target } = said;
        // The time of the message may end meanwhile.
        const next = this.#nextOf(id);
        const answer = await ask(target);
        said = await this.#turns.run(keyId, () => {
          // Another thread would take it for the answer to a question of its own.
          if (this.#next.has(id)) this.#post({ kind: 'asked', asked, ...answer });
          return next;
        });
      }
      if (said.kind === 'fault') throw new Error(said.cause);
      return said;
    } finally {
      this.#next.delete(id);
    }
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  #nextOf(id: number): Promise<FromThread> {
    const next = Promise.withResolvers<FromThread>();
    next.promise.catch(() => undefined);
    this.#next.set(id, next);
    return next.promise;
  }

  #start(): Worker {
    const worker = new Worker(moduleBeside('./http-thread.ts', import.meta.url), {
      workerData: this.#version,
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: mcpLimits.threadMegabytes },
    });
    let cause: unknown = new Error('the thread of assistants ended');
    worker.on('message', (message: FromThread) => this.#next.get(message.id)?.resolve(message));
    worker.once('error', (error) => {
      cause = error;
    });
    worker.once('exit', () => {
      this.#worker = null;
      for (const { reject } of this.#next.values()) reject(cause);
      this.#next.clear();
    });
    return worker;
  }
}
