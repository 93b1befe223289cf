// The HTTP thread's access to the control file: calls to the control thread.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../base/module.ts';
import type { ApiKey, KeyUse, QuotaUse } from '../store/control.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { ControlCall, ControlResult, ControlTask } from './control-thread.ts';

type Rows = readonly (ApiKey | QuotaUse)[];

/**
 * A control thread, and the calls that wait for it. After a thread that failed, the next call starts another.
 */
export class ControlClient {
  readonly #storeUrl: string;
  readonly #waiting = new Map<number, PromiseWithResolvers<Rows | null>>();
  /** The keys as the thread sent them last. */
  #keys: readonly ApiKey[] = [];
  #worker: Worker | null = null;
  #nextId = 0;

  constructor(storeUrl: string) {
    this.#storeUrl = storeUrl;
  }

  /**
   * All keys, those revoked included: the same array as before while only their last uses change. @throws
   * where the thread could not read them
   */
  async keys(): Promise<readonly ApiKey[]> {
    const changed = (await this.#call({ task: 'keys' })) as readonly ApiKey[] | null;
    if (changed !== null) this.#keys = changed;
    return this.#keys;
  }

  /**
   * Adds to what keys have used, as `addQuotaUses`. @throws where the thread could not write, such as on a
   * full disk
   */
  addQuotaUses(uses: readonly QuotaUse[]): Promise<readonly QuotaUse[]> {
    return this.#call({ task: 'quota uses', uses }) as Promise<readonly QuotaUse[]>;
  }

  /** Writes when keys were last used, as `addKeyUses`. @throws where the thread could not write */
  async addKeyUses(uses: readonly KeyUse[]): Promise<void> {
    await this.#call({ task: 'key uses', uses });
  }

  /** Ends the thread once it has closed its connections. To be called when no call waits. */
  async close(): Promise<void> {
    const worker = this.#worker;
    worker?.postMessage(null);
    if (worker !== null) await new Promise((resolve) => worker.once('exit', resolve));
  }

  #call(task: ControlTask): Promise<Rows | null> {
    const waiting = Promise.withResolvers<Rows | null>();
    const id = this.#nextId++;
    this.#waiting.set(id, waiting);
    this.#worker ??= this.#start();
    this.#worker.postMessage({ ...task, id } satisfies ControlCall);
    return waiting.promise;
  }

  #start(): Worker {
    const worker = new Worker(moduleBeside('./control-thread.ts', import.meta.url), {
      workerData: this.#storeUrl,
      // Its work is small: a larger young generation would only take memory.
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    });
    let cause: unknown = new Error('the control thread ended');
    worker.on('message', (result: ControlResult) => {
      const waiting = this.#waiting.get(result.id);
      this.#waiting.delete(result.id);
      if ('rows' in result) waiting?.resolve(result.rows);
      else waiting?.reject(new (result.isAway ? StoreUnavailable : Error)(result.cause));
    });
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
