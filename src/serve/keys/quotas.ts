// Quotas: counts the requests of each key in this process, and shares the counts with the other workers
// (docs/decisions/0016). When keys were last used is noted in memory by each request, and written to the
// control file once a minute.
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../base/instant.ts';
import { causeOf, type Observation, type Observe } from '../../base/observe.ts';
import { Refusal } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import type { ApiKey, KeyUse, QuotaUse } from '../../store/control.ts';
import { StoreUnavailable } from '../../store/store.ts';

/**
 * The observation of a failed write: a store out of reach is no fault, and is logged once a second whoever
 * meets it.
 */
const controlProblem = (where: string, error: unknown): Observation =>
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

const spans = { minute: MINUTE_MS, day: DAY_MS } as const;

/** When the period of a quota began that a moment is in. */
export const periodStart = (span: keyof typeof spans, nowMs: number): number => nowMs - (nowMs % spans[span]);

/** True if a key has a quota. */
export const hasQuota = ({ per_minute, per_day }: ApiKey): boolean => per_minute !== null || per_day !== null;

/** The state of one quota of a key. */
export type Quota = {
  /** The period that it counts: minutes of the clock, or days (UTC). */
  readonly span: keyof typeof spans;
  readonly limit: number;
  readonly remaining: number;
  /** Until the next minute or day begins, at least 1. */
  readonly resetSeconds: number;
};

/** A request of a key that has a quota. */
export type CountedRequest = {
  /** False where the quota was used up: the request was not counted. */
  readonly isAdmitted: boolean;
  /** The tighter of the key's quotas, this request included. */
  readonly quota: Quota;
  /** Stops counting the request, because it was not answered; returns the quota after that. */
  readonly giveBack: () => Quota;
};

/** The refusal of a request whose key has used up a quota. */
export function overQuota({ span, limit, resetSeconds }: Quota): Refusal {
  const requests = limit === 1 ? '1 request' : `${limit} requests`;
  const message = `The key has used up its quota of ${requests} a ${span}: try again in ${resetSeconds} s.`;
  return new Refusal('rate_limited', { message });
}

/** A request that does not count for its quota, or no longer. */
export function uncounted({ isAdmitted, quota, giveBack }: CountedRequest): CountedRequest {
  const left = isAdmitted ? giveBack() : quota;
  return { isAdmitted: true, quota: left, giveBack: () => left };
}

/** One quota of one key, as this process knows it. */
class Count {
  readonly #span: Quota['span'];
  readonly #limit: number;
  #fromMs = Number.NaN;
  /** The requests that all processes had counted at the last report. */
  #reported = 0;
  /** The requests that this process has counted since. */
  #unreported = 0;

  constructor(span: Quota['span'], limit: number) {
    this.#span = span;
    this.#limit = limit;
  }

  /** Begins a new count where a moment is in another minute or day. */
  moveTo(nowMs: number): void {
    const fromMs = periodStart(this.#span, nowMs);
    if (fromMs === this.#fromMs) return;
    this.#fromMs = fromMs;
    this.#reported = 0;
    this.#unreported = 0;
  }

  get remaining(): number {
    return Math.max(0, this.#limit - this.#reported - this.#unreported);
  }

  /** Whether it must be reported before it counts more. */
  get isFull(): boolean {
    return this.#unreported >= Math.max(1, Math.floor(this.#limit * limits.quotaUnreportedShare));
  }

  add(): void {
    this.#unreported++;
  }

  /** Stops counting a request that was counted at a moment. */
  subtract(countedMs: number): void {
    if (countedMs >= this.#fromMs) this.#unreported--;
  }

  use(keyId: string): QuotaUse {
    return { key_id: keyId, span: this.#span, from_ms: this.#fromMs, used: this.#unreported };
  }

  /** Takes over the total of all processes, of which `reported` is now a part. */
  settle(reported: QuotaUse, total: number): void {
    if (reported.from_ms !== this.#fromMs) return;
    this.#reported = total;
    this.#unreported -= reported.used;
  }

  stateAt(nowMs: number): Quota {
    const resetMs = this.#fromMs + spans[this.#span] - nowMs;
    const resetSeconds = Math.max(1, Math.ceil(resetMs / SECOND_MS));
    return { span: this.#span, limit: this.#limit, remaining: this.remaining, resetSeconds };
  }
}

/** The quotas of one key. */
class KeyCounts {
  readonly keyId: string;
  readonly counts: readonly Count[];
  /** When this process last read the counts of all. */
  syncedMs = Number.NEGATIVE_INFINITY;

  constructor({ key_id, per_minute, per_day }: ApiKey) {
    this.keyId = key_id;
    const quotas = [['minute', per_minute] as const, ['day', per_day] as const];
    this.counts = quotas.flatMap(([span, limit]) => (limit === null ? [] : [new Count(span, limit)]));
  }

  moveTo(nowMs: number): void {
    for (const count of this.counts) count.moveTo(nowMs);
  }

  /** Whether it must be reported before one more request is counted. */
  isStale(nowMs: number): boolean {
    this.moveTo(nowMs);
    return Math.abs(nowMs - this.syncedMs) >= limits.quotaSyncMs || this.counts.some(({ isFull }) => isFull);
  }

  /** Counts a request where each quota has something left. */
  count(nowMs: number): boolean {
    this.moveTo(nowMs);
    const isAdmitted = this.counts.every(({ remaining }) => remaining > 0);
    if (isAdmitted) for (const count of this.counts) count.add();
    return isAdmitted;
  }

  /** The quota with less left; of equals the day's, for which a caller waits longer. */
  tighterAt(nowMs: number): Quota {
    const states = this.counts.map((count) => count.stateAt(nowMs));
    return states.reduce((one, other) => (other.remaining <= one.remaining ? other : one));
  }
}

/**
 * A report in progress: `ended` resolves when it has ended or failed, `awaited` also once requests have
 * waited long enough.
 */
type Sync = { readonly ended: Promise<void>; readonly awaited: Promise<void>; isLate: boolean };

/** The parts that quotas work with. */
type QuotaParts = {
  /**
   * Adds to the counts of all processes, and returns the totals (`addQuotaUses`). A lock may delay it for
   * seconds.
   */
  readonly addUses: (uses: readonly QuotaUse[]) => Promise<readonly QuotaUse[]>;
  readonly observe: Observe;
  readonly nowMs: () => number;
};

/** Counts the requests of keys that have a quota. */
export class Quotas {
  readonly #parts: QuotaParts;
  readonly #byKey = new Map<string, KeyCounts>();
  /** Keys for the next report. */
  readonly #pending = new Set<KeyCounts>();
  #sync: Sync | null = null;
  /** After a failure this process counts alone until this moment. */
  #aloneUntilMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /** Counts a request of a key; null at once where the key has no quota. */
  count(key: ApiKey): Promise<CountedRequest> | null {
    return hasQuota(key) ? this.#count(key) : null;
  }

  /** Reports the counts that are not reported yet. */
  async close(): Promise<void> {
    await this.#sync?.ended;
    if (this.#pending.size > 0) await this.#startSync().ended;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /**
   * Counts a request of a key where nothing is to be reported before; undefined where `count` must. Null
   * where the key has no quota.
   */
  countNow(key: ApiKey): CountedRequest | null | undefined {
    if (!hasQuota(key)) return null;
    const counts = this.#byKey.get(key.key_id);
    const nowMs = this.#parts.nowMs();
    return counts === undefined || this.#mustReport(counts, nowMs) ? undefined : this.#countAt(counts, nowMs);
  }

  #mustReport(counts: KeyCounts, nowMs: number): boolean {
    return counts.isStale(nowMs) && nowMs >= this.#aloneUntilMs && this.#sync?.isLate !== true;
  }

  async #count(key: ApiKey): Promise<CountedRequest> {
    const counts = this.#byKey.get(key.key_id) ?? new KeyCounts(key);
    this.#byKey.set(key.key_id, counts);
    let nowMs = this.#parts.nowMs();
    while (this.#mustReport(counts, nowMs)) {
      this.#pending.add(counts);
      await (this.#sync ?? this.#startSync()).awaited;
      nowMs = this.#parts.nowMs();
    }
    return this.#countAt(counts, nowMs);
  }

  #countAt(counts: KeyCounts, nowMs: number): CountedRequest {
    const isAdmitted = counts.count(nowMs);
    const quota = counts.tighterAt(nowMs);
    if (isAdmitted) this.#reportSoon(counts);
    const giveBack = (): Quota => {
      const givenBackMs = this.#parts.nowMs();
      counts.moveTo(givenBackMs);
      for (const count of counts.counts) count.subtract(nowMs);
      this.#reportSoon(counts);
      return counts.tighterAt(givenBackMs);
    };
    return { isAdmitted, quota, giveBack };
  }

  #reportSoon(counts: KeyCounts): void {
    this.#pending.add(counts);
    this.#startTimer();
  }

  #startTimer(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (this.#sync === null) this.#startSync();
    }, limits.quotaSyncMs).unref();
  }

  /**
   * Reports the pending keys. Requests of keys that are stale meanwhile wait for it, but not longer than the
   * limit.
   */
  #startSync(): Sync {
    const { promise: awaited, resolve } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      sync.isLate = true;
      resolve();
    };
    // A result that came while this thread was busy is handled before `setImmediate`.
    const timer = setTimeout(() => setImmediate(giveUp), limits.quotaWaitMaxMs);
    const ended = this.#report().then(() => {
      this.#sync = null;
      clearTimeout(timer);
      if (this.#pending.size > 0) this.#startTimer();
      resolve();
    });
    const sync: Sync = { ended, awaited, isLate: false };
    this.#sync = sync;
    return sync;
  }

  /**
   * Reports the pending keys. After a failure, such as a full disk, it keeps their counts for later: the
   * service goes on.
   */
  async #report(): Promise<void> {
    const { addUses, observe, nowMs } = this.#parts;
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const counts of pending) counts.moveTo(nowMs());
    const reported = pending.flatMap(({ keyId, counts }) =>
      counts.map((count) => ({ count, use: count.use(keyId) })),
    );
    try {
      const totals = await addUses(reported.map(({ use }) => use));
      for (const [index, { count, use }] of reported.entries()) count.settle(use, totals[index]!.used);
      for (const counts of pending) counts.syncedMs = nowMs();
    } catch (error) {
      this.#aloneUntilMs = nowMs() + limits.quotaSyncMs;
      for (const counts of pending) this.#pending.add(counts);
      observe(controlProblem('quotas', error));
    }
  }
}
