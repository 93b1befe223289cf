// The HTTP thread's access to the thread that speaks the protocol, which is started by the first message.
import { moduleBeside } from '../../base/runtime.ts';
import { WorkerClient } from '../../base/worker-client.ts';
import type { AskedAnswer, AssistantMessage, Assistants } from '../assistants.ts';
import { KeyTurns } from '../threads/turns.ts';
import type { FromThread, ToThread } from './http-thread.ts';
import { mcpLimits } from './limits.ts';

/**
 * Answers messages of assistants in a thread, keys in turn. After one that failed, the next message starts
 * another.
 */
export class McpThread implements Assistants {
  readonly #thread: WorkerClient<ToThread, FromThread>;
  /**
   * The thread does one thing at a time: it reads a message, or makes an answer of the data that it asked
   * for.
   */
  readonly #turns = new KeyTurns(1);
  /** No two messages have the same number, in whichever thread. */
  #lastId = 0;

  /** @param version that of the program */
  constructor(version: string) {
    this.#thread = new WorkerClient(
      'the thread of assistants',
      moduleBeside('./http-thread.ts', import.meta.url),
      {
        workerData: version,
        resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: mcpLimits.threadMegabytes },
      },
    );
  }

  /** @throws where the thread failed, such as without the optional library */
  async answer(keyId: string, message: AssistantMessage, ask: (target: string) => Promise<AskedAnswer>) {
    const id = ++this.#lastId;
    const say = (said: ToThread): Promise<FromThread> => this.#turns.run(keyId, () => this.#thread.ask(said));
    let said = await say({ kind: 'message', id, ...message });
    while (said.kind === 'ask') said = await say({ kind: 'asked', id, ...(await ask(said.target)) });
    return said;
  }

  /** Ends the thread. */
  close(): Promise<void> {
    return this.#thread.stop();
  }
}
