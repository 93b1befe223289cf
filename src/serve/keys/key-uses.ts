// When keys were last used: noted in memory by each request, and written to the control file once a minute.
import { causeOf, type Observation, type Observe } from '../../base/observe.ts';
import { limits } from '../../contract/limits.ts';
import type { KeyUse } from '../../store/control.ts';
import { StoreUnavailable } from '../../store/store.ts';

/**
 * The observation of a failed write: a store out of reach is no fault, and is logged once a second whoever
 * meets it.
 */
export const controlProblem = (where: string, error: unknown): Observation =>
  error instanceof StoreUnavailable
    ? { kind: 'unavailable', cause: error.message }
    : { kind: 'fault', requestId: null, where, cause: causeOf(error) };

/** The parts that key uses work with. */
type KeyUseParts = {
  /**
   * Writes uses where they are newer than the stored ones (`addKeyUses`). A lock may delay it for seconds.
   */
  readonly addUses: (uses: readonly KeyUse[]) => Promise<void>;
  readonly observe: Observe;
};

/** Notes when this process accepted each key. A request costs no write and waits for none. */
export class KeyUses {
  readonly #parts: KeyUseParts;
  /** The last use of each key that is not written yet. */
  #unwritten = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: KeyUseParts) {
    this.#parts = parts;
  }

  /** Notes a use of a key. */
  note(keyId: string, nowMs: number): void {
    this.#unwritten.set(keyId, nowMs);
    this.#startTimer();
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#unwritten.size > 0) await this.#write();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#writing = this.#write();
    }, limits.keyUseWriteMs).unref();
  }

  /** Writes the uses. After a failure, such as a full disk, it keeps them for the next minute. */
  async #write(): Promise<void> {
    const uses = this.#unwritten;
    this.#unwritten = new Map();
    try {
      await this.#parts.addUses(Array.from(uses, ([key_id, last_used_ms]) => ({ key_id, last_used_ms })));
    } catch (error) {
      this.#unwritten = new Map([...uses, ...this.#unwritten]);
      this.#startTimer();
      this.#parts.observe(controlProblem('key uses', error));
    }
  }
}
