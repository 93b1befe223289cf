// Quotas: what each key has used of its minute and its day, in this process and, told now and then, in all (docs/decisions/0016).
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../base/instant.ts';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import { type ApiKey, addQuotaUses, type QuotaUse } from '../store/control.ts';
import type { RowStore } from '../store/store.ts';

const spans = { minute: MINUTE_MS, day: DAY_MS } as const;
type Span = keyof typeof spans;

/** How one quota of a key stands. */
export type Quota = {
  /** What it is counted by: minutes of the clock, or days (UTC). */
  readonly span: Span;
  readonly limit: number;
  readonly remaining: number;
  /** Until the next minute or day begins, at least 1. */
  readonly resetSeconds: number;
};

/** What a request with a key that has a quota was told. */
export type Taken = {
  /** False where nothing was left. */
  readonly isAdmitted: boolean;
  /** The tighter of the key's quotas, this request counted. */
  readonly quota: Quota;
  /** Counts the request no more, for it was not answered; how the quota stands then. */
  readonly giveBack: () => Quota;
};

/** One quota of one key, as this process knows it. */
class Count {
  readonly span: Span;
  readonly limit: number;
  readonly #untoldMax: number;
  #fromMs = Number.NaN;
  /** What all processes had used when it was asked for last. */
  #told = 0;
  /** What this one has used since. */
  #untold = 0;

  constructor(span: Span, limit: number) {
    this.span = span;
    this.limit = limit;
    this.#untoldMax = Math.max(1, Math.floor(limit * limits.quotaUntoldShare));
  }

  /** Goes on to the minute or day of a moment. */
  turnTo(nowMs: number): void {
    const fromMs = nowMs - (nowMs % spans[this.span]);
    if (fromMs === this.#fromMs) return;
    this.#fromMs = fromMs;
    this.#told = 0;
    this.#untold = 0;
  }

  get remaining(): number {
    return Math.max(0, this.limit - this.#told - this.#untold);
  }

  get isFull(): boolean {
    return this.#untold >= this.#untoldMax;
  }

  /** Counts a request. */
  add(): void {
    this.#untold++;
  }

  /** Counts one that was counted at a moment no more. */
  subtract(countedMs: number): void {
    if (countedMs >= this.#fromMs) this.#untold--;
  }

  use(keyId: string): QuotaUse {
    return { key_id: keyId, span: this.span, from_ms: this.#fromMs, used: this.#untold };
  }

  settle(told: QuotaUse, total: number): void {
    if (told.from_ms !== this.#fromMs) return;
    this.#told = total;
    this.#untold -= told.used;
  }

  stateAt(nowMs: number): Quota {
    const { span, limit, remaining } = this;
    const resetMs = this.#fromMs + spans[span] - nowMs;
    return { span, limit, remaining, resetSeconds: Math.max(1, Math.ceil(resetMs / SECOND_MS)) };
  }
}

/** The quotas of one key. */
class KeyCounts {
  readonly keyId: string;
  readonly counts: readonly Count[];
  /** When this process heard of the others last. */
  heardMs = Number.NEGATIVE_INFINITY;

  constructor({ key_id, per_minute, per_day }: ApiKey) {
    this.keyId = key_id;
    const quotas = [['minute', per_minute] as const, ['day', per_day] as const];
    this.counts = quotas.flatMap(([span, limit]) => (limit === null ? [] : [new Count(span, limit)]));
  }

  turnTo(nowMs: number): void {
    for (const count of this.counts) count.turnTo(nowMs);
  }

  /** Whether the others must be told and heard before one more request is counted. */
  isStale(nowMs: number): boolean {
    this.turnTo(nowMs);
    return (
      Math.abs(nowMs - this.heardMs) >= limits.quotaExchangeMs || this.counts.some(({ isFull }) => isFull)
    );
  }

  /** Counts a request where each quota has something left. */
  take(nowMs: number): boolean {
    this.turnTo(nowMs);
    const isAdmitted = this.counts.every(({ remaining }) => remaining > 0);
    if (isAdmitted) for (const count of this.counts) count.add();
    return isAdmitted;
  }

  /** The quota of which less is left; of equals the day's, for which a caller waits longer. */
  tighterAt(nowMs: number): Quota {
    const states = this.counts.map((count) => count.stateAt(nowMs));
    return states.reduce((one, other) => (other.remaining <= one.remaining ? other : one));
  }
}

export type QuotaParts = {
  readonly control: RowStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
};

/** Counts the requests of keys that have a quota. */
export class Quotas {
  readonly #parts: QuotaParts;
  readonly #byKey = new Map<string, KeyCounts>();
  /** Keys of which the others are to be told or heard. */
  readonly #pending = new Set<KeyCounts>();
  #exchanging: Promise<void> | null = null;
  /** After a failure each worker counts alone until then. */
  #aloneUntilMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /** Counts a request with a key; null, and no work, where the key has no quota. */
  take(key: ApiKey): Promise<Taken> | null {
    return key.per_minute === null && key.per_day === null ? null : this.#take(key);
  }

  /** Tells the others what is left to tell. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#exchanging;
    if (this.#pending.size > 0) await this.#exchange();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #take(key: ApiKey): Promise<Taken> {
    const counts = this.#countsOf(key);
    let nowMs = this.#parts.nowMs();
    while (counts.isStale(nowMs) && nowMs >= this.#aloneUntilMs) {
      this.#pending.add(counts);
      await this.#exchange();
      nowMs = this.#parts.nowMs();
    }
    const isAdmitted = counts.take(nowMs);
    const quota = counts.tighterAt(nowMs);
    if (isAdmitted) this.#tellSoon(counts);
    return { isAdmitted, quota, giveBack: () => this.#giveBack(counts, nowMs) };
  }

  #giveBack(counts: KeyCounts, takenMs: number): Quota {
    const nowMs = this.#parts.nowMs();
    counts.turnTo(nowMs);
    for (const count of counts.counts) count.subtract(takenMs);
    this.#tellSoon(counts);
    return counts.tighterAt(nowMs);
  }

  #countsOf(key: ApiKey): KeyCounts {
    const known = this.#byKey.get(key.key_id);
    if (known !== undefined) return known;
    const counts = new KeyCounts(key);
    this.#byKey.set(key.key_id, counts);
    return counts;
  }

  #tellSoon(counts: KeyCounts): void {
    this.#pending.add(counts);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#exchange();
    }, limits.quotaExchangeMs).unref();
  }

  /** Tells the others of the pending keys and hears of them; whoever asks while that goes on waits for it. */
  #exchange(): Promise<void> {
    this.#exchanging ??= this.#exchangeNow().finally(() => {
      this.#exchanging = null;
    });
    return this.#exchanging;
  }

  /** What cannot be told, such as on a full disk, is kept and told later: a service that only reads goes on. */
  async #exchangeNow(): Promise<void> {
    const pending = [...this.#pending];
    this.#pending.clear();
    try {
      await this.#tell(pending);
    } catch (error) {
      this.#aloneUntilMs = this.#parts.nowMs() + limits.quotaExchangeMs;
      for (const counts of pending) this.#tellSoon(counts);
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#parts.observe({ kind: 'fault', requestId: null, where: 'quotas', cause });
    }
  }

  async #tell(pending: readonly KeyCounts[]): Promise<void> {
    const told: { readonly count: Count; readonly use: QuotaUse }[] = [];
    const totals = await addQuotaUses(this.#parts.control, () => {
      const nowMs = this.#parts.nowMs();
      for (const counts of pending) {
        counts.turnTo(nowMs);
        counts.heardMs = nowMs;
        for (const count of counts.counts) told.push({ count, use: count.use(counts.keyId) });
      }
      return told.map(({ use }) => use);
    });
    for (const [index, { count, use }] of told.entries()) count.settle(use, totals[index]!.used);
  }
}
