// The HTTP thread's access to the control file: questions to the control thread.
import { moduleBeside } from '../../base/runtime.ts';
import { WorkerClient } from '../../base/worker-client.ts';
import type { ApiKey, KeyUse, QuotaUse } from '../../store/control.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { ControlAnswer, ControlState, ControlTask, Given } from './control-thread.ts';

/** A control thread. After one that failed, the next call starts another. */
export class ControlClient {
  readonly #thread: WorkerClient<ControlTask, ControlAnswer>;
  /** The keys as the thread sent them last. */
  #keys: readonly ApiKey[] = [];

  constructor(storeUrl: string) {
    this.#thread = new WorkerClient(
      'the control thread',
      moduleBeside('./control-thread.ts', import.meta.url),
      {
        workerData: storeUrl,
        // Its work is small: a larger young generation would only take memory.
        resourceLimits: { maxYoungGenerationSizeMb: 2 },
      },
    );
  }

  /**
   * All keys, those revoked included: the same array as before while only their last uses change. @throws
   * where the thread could not read them
   */
  async keys(): Promise<readonly ApiKey[]> {
    const changed = (await this.#ask({ task: 'keys' })) as readonly ApiKey[] | null;
    if (changed !== null) this.#keys = changed;
    return this.#keys;
  }

  /**
   * Adds to what keys have used, as `addQuotaUses`. @throws where the thread could not write, such as on a
   * full disk
   */
  addQuotaUses(uses: readonly QuotaUse[]): Promise<readonly QuotaUse[]> {
    return this.#ask({ task: 'quota uses', uses }) as Promise<readonly QuotaUse[]>;
  }

  /** Writes when keys were last used, as `addKeyUses`. @throws where the thread could not write */
  async addKeyUses(uses: readonly KeyUse[]): Promise<void> {
    await this.#ask({ task: 'key uses', uses });
  }

  /** The keys as people see them, and the newest check. @throws where the thread could not read them */
  state(): Promise<ControlState> {
    return this.#ask({ task: 'state' }) as Promise<ControlState>;
  }

  /** Ends the thread once it has closed its connections. To be called when no call waits. */
  async close(): Promise<void> {
    if (this.#thread.isRunning) await this.#ask({ task: 'close' }).catch(() => undefined);
    await this.#thread.stop();
  }

  async #ask(task: ControlTask): Promise<Given> {
    const answer = await this.#thread.ask(task);
    if ('away' in answer) throw new StoreUnavailable(answer.away);
    return answer.given;
  }
}
