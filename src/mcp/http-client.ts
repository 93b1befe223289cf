// The HTTP thread's access to the thread that speaks the protocol, which is started by the first message.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../base/module.ts';
import type { AskedAnswer, AssistantMessage, Assistants } from '../http/assistants.ts';
import type { FromThread, ToThread } from './http-thread.ts';
import { mcpLimits } from './limits.ts';

type Answered = Awaited<ReturnType<Assistants['answer']>>;
type Waiting = PromiseWithResolvers<Answered> & {
  readonly ask: (target: string) => Promise<AskedAnswer>;
};

/** Answers messages of assistants in a thread. After one that failed, the next message starts another. */
export class McpThread implements Assistants {
  readonly #version: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #lastId = 0;

  /** @param version that of the program */
  constructor(version: string) {
    this.#version = version;
  }

  /** @throws where the thread failed, such as without the optional library */
  answer(message: AssistantMessage, ask: (target: string) => Promise<AskedAnswer>): Promise<Answered> {
    const id = ++this.#lastId;
    const waiting = { ask, ...Promise.withResolvers<Answered>() };
    this.#waiting.set(id, waiting);
    this.#worker ??= this.#start();
    this.#post({ kind: 'message', id, ...message });
    return waiting.promise;
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  #receive(message: FromThread): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === 'ask') {
      const { asked, target } = message;
      waiting.ask(target).then(
        (answer) => this.#post({ kind: 'asked', asked, ...answer }),
        (error: unknown) => this.#end(message.id, () => waiting.reject(error)),
      );
    } else if (message.kind === 'fault')
      this.#end(message.id, () => waiting.reject(new Error(message.cause)));
    else this.#end(message.id, () => waiting.resolve(message));
  }

  #end(id: number, settle: () => void): void {
    this.#waiting.delete(id);
    settle();
  }

  #start(): Worker {
    const worker = new Worker(moduleBeside('./http-thread.ts', import.meta.url), {
      workerData: this.#version,
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: mcpLimits.threadMegabytes },
    });
    let cause: unknown = new Error('the thread of assistants ended');
    worker.on('message', (message: FromThread) => this.#receive(message));
    worker.once('error', (error) => {
      cause = error;
    });
    worker.once('exit', () => {
      this.#worker = null;
      for (const { reject } of this.#waiting.values()) reject(cause);
      this.#waiting.clear();
    });
    return worker;
  }
}
