// The content of the control file beside the data: callers' keys, quota uses and the service's secrets
// (docs/decisions/0003).
import { randomBytes } from 'node:crypto';
import { rowsAmong, rowWith, soundRows, soundRowsByKey } from './all-rows.ts';
import { type Damage, unlessDamaged } from './damage.ts';
import type { RowOf } from './schema/dataset.ts';
import { apiKeys, checks, importRuns, quotaUses, scrubs, secrets } from './schema/internal.ts';
import type { RowLists, RowReader, RowStore } from './store.ts';

/** One stored key: its hash, never the key itself. */
export type ApiKey = RowOf<typeof apiKeys>;

/** The most keys that are read: a service has a few hundred callers at most. */
const KEYS_MAX = 100_000;

const everyKey = { order: [['key_id', 'asc']], limit: KEYS_MAX } as const;

/** All keys by id, revoked ones included. */
export const readKeys = (control: RowStore): Promise<ApiKey[]> =>
  control.snapshot((reader) => reader.rows(apiKeys, everyKey));

/** The keys whose rows are sound: a damaged one opens nothing, and stops no other. */
export const readSoundKeys = (control: RowStore): Promise<ApiKey[]> =>
  control.snapshot(async (reader) => {
    let isDamaged = false;
    const keys = await soundRows(reader, apiKeys, everyKey, () => {
      isDamaged = true;
    });
    if (!isDamaged) return keys;
    // A damaged identifier leads past others: these are found from the other end.
    const fromEnd = await soundRows(reader, apiKeys, { ...everyKey, order: [['key_id', 'desc']] });
    return [...new Map([...fromEnd, ...keys].map((key) => [key.key_id, key])).values()];
  });

/** Adds a key, or replaces the one of equal id. */
export function putKey(control: RowStore, key: ApiKey): Promise<void> {
  return control.write((writer) => writer.upsert(apiKeys, [key]));
}

/** Changes a key by its id, in one transaction; null where no key has it. */
export function changeKey(
  control: RowStore,
  keyId: string,
  change: (key: ApiKey) => ApiKey,
): Promise<ApiKey | null> {
  return control.write(async (writer) => {
    const known = await rowWith(writer, apiKeys, { key_id: keyId });
    if (known === null) return null;
    const changed = change(known);
    await writer.upsert(apiKeys, [changed]);
    return changed;
  });
}

/** The last use of a key that one process knows of. */
export type KeyUse = { readonly key_id: string; readonly last_used_ms: number };

/**
 * Writes when keys were last used. A newer use of another process stays, but not one after now: a clock was
 * wrong. Keys that are gone are ignored. `nowMs` is called when nobody else can write.
 */
export function addKeyUses(control: RowStore, uses: readonly KeyUse[], nowMs: () => number): Promise<void> {
  return control.write(async (writer) => {
    const usedMs = new Map(uses.map(({ key_id, last_used_ms }) => [key_id, last_used_ms]));
    const keys = await rowsAmong(writer, apiKeys, {}, 'key_id', [...usedMs.keys()]);
    const changed = keys.flatMap((key) => {
      const last_used_ms = usedMs.get(key.key_id)!;
      const storedMs = key.last_used_ms ?? Number.NEGATIVE_INFINITY;
      return last_used_ms <= storedMs && storedMs <= nowMs() ? [] : [{ ...key, last_used_ms }];
    });
    await writer.upsert(apiKeys, changed);
  });
}

/** A key's use of one of its quotas, in the minute or day that begins at `from_ms`. */
export type QuotaUse = RowOf<typeof quotaUses>;

/** The uses of the quotas of some keys; damaged rows are left out. */
export const readQuotaUses = (control: RowStore, keyIds: readonly string[]): Promise<QuotaUse[]> =>
  control.snapshot(async (reader) => {
    const keys = keyIds.map((key_id) => ({ key_id }));
    return (await soundRowsByKey(reader, quotaUses, keys)).flatMap((uses) => uses ?? []);
  });

const nameOf = ({ key_id, span }: QuotaUse): string => `${key_id} ${span}`;

/**
 * Adds uses of quotas, and gives the sums of all processes. Where another process has begun the next minute
 * or day, the use of the old one is not written. `nowMs` is called when nobody else can write.
 */
export function addQuotaUses(
  control: RowStore,
  uses: readonly QuotaUse[],
  nowMs: () => number,
): Promise<readonly QuotaUse[]> {
  return control.write(async (writer) => {
    const keyIds = [...new Set(uses.map(({ key_id }) => key_id))];
    const stored = await rowsAmong(writer, quotaUses, {}, 'key_id', keyIds);
    const rows = new Map(stored.map((row) => [nameOf(row), row]));
    const totals = uses.map((use) => {
      const row = rows.get(nameOf(use));
      return row?.from_ms === use.from_ms ? { ...use, used: use.used + row.used } : use;
    });
    const isOver = (use: QuotaUse): boolean => {
      const { from_ms } = rows.get(nameOf(use)) ?? use;
      return use.from_ms < from_ms && from_ms <= nowMs();
    };
    await writer.upsert(
      quotaUses,
      totals.filter((total, index) => uses[index]!.used !== 0 && !isOver(total)),
    );
    return totals;
  });
}

/** The secret that signs page keys, made at its first use and kept with the store (contract 4.1). */
export async function pageKeySecret(control: RowStore): Promise<Uint8Array> {
  const name = 'page_key';
  const known = await control.snapshot((reader) => rowWith(reader, secrets, { name }));
  if (known !== null) return known.value;
  return control.write(async (writer) => {
    const raced = await rowWith(writer, secrets, { name });
    if (raced !== null) return raced.value;
    const value = new Uint8Array(randomBytes(32));
    await writer.upsert(secrets, [{ name, value }]);
    return value;
  });
}

/** A reading of the whole store. */
export type Scrub = {
  readonly startedMs: number;
  /** Null while it goes on, or where it was cut off. */
  readonly finishedMs: number | null;
  readonly damage: readonly Damage[];
};

const newest = { name: 'newest' };

/** The newest reading of the whole store; null before the first. */
export const readScrub = (control: RowStore): Promise<Scrub | null> =>
  control.snapshot((reader) => scrubIn(reader));

async function scrubIn(reader: RowReader): Promise<Scrub | null> {
  // A damaged row counts as none, and the next reading replaces it.
  const row = await unlessDamaged(rowWith(reader, scrubs, newest));
  if (row === null) return null;
  return { startedMs: row.started_ms, finishedMs: row.finished_ms, damage: row.damage as Damage[] };
}

/** Keeps how far a reading is. */
export const putScrub = (control: RowStore, scrub: Scrub): Promise<void> =>
  control.write((writer) => writer.upsert(scrubs, [rowOfScrub(scrub)]));

const rowOfScrub = ({ startedMs, finishedMs, damage }: Scrub): RowOf<typeof scrubs> => ({
  ...newest,
  started_ms: startedMs,
  finished_ms: finishedMs,
  damage,
});

/** A reading that has not ended after so long was cut off. */
const CUT_OFF_MS = 6 * 3_600_000;

/**
 * Begins a reading where none began within `everyMs`: of several processes one does. False where it is not
 * time yet. A reading that began a little after now is one of a process that waited less for its turn to
 * write, or of a server whose clock is ahead; one that began further off was told by a wrong clock.
 */
export function claimScrub(control: RowStore, nowMs: number, everyMs: number): Promise<boolean> {
  return control.write(async (writer) => {
    const last = await scrubIn(writer);
    const restMs = last?.finishedMs == null ? Math.min(everyMs, CUT_OFF_MS) : everyMs;
    if (last !== null && Math.abs(nowMs - last.startedMs) < restMs) return false;
    await writer.upsert(scrubs, [
      rowOfScrub({ startedMs: nowMs, finishedMs: null, damage: last?.damage ?? [] }),
    ]);
    return true;
  });
}

const serving = { name: 'serving' };

/**
 * Notes that a service begins. Where the one before it has not ended, a reading of the whole store is due,
 * whenever the last one was.
 */
export function beginServing(control: RowStore, nowMs: number): Promise<void> {
  return control.write(async (writer) => {
    const before = await unlessDamaged(rowWith(writer, scrubs, serving));
    const last = await scrubIn(writer);
    if (before?.finished_ms === null && last !== null)
      await writer.upsert(scrubs, [rowOfScrub({ ...last, startedMs: 0 })]);
    await writer.upsert(scrubs, [{ ...serving, started_ms: nowMs, finished_ms: null, damage: [] }]);
  });
}

/** Notes that a service has ended as it should; `beganMs` tells it from one that began after it. */
export function endServing(control: RowStore, beganMs: number, nowMs: number): Promise<void> {
  return control.write(async (writer) => {
    const row = await unlessDamaged(rowWith(writer, scrubs, serving));
    if (row?.started_ms === beganMs) await writer.upsert(scrubs, [{ ...row, finished_ms: nowMs }]);
  });
}

/** A check of the whole store for findings. */
export type Check = Omit<RowOf<typeof checks>, 'name'>;

/** The newest check of the whole store; null before the first. A damaged row counts as none. */
export async function readCheck(control: RowStore): Promise<Check | null> {
  const row = await unlessDamaged(control.snapshot((reader) => rowWith(reader, checks, newest)));
  if (row === null) return null;
  const { name: _, ...check } = row;
  return check;
}

/**
 * A kept check, if it is of the store that is read: another may have stood at its address, or an older state
 * of it was restored.
 */
export async function checkOf(reader: RowLists, check: Check): Promise<Check | null> {
  const run = await rowWith(reader, importRuns, { run_id: check.run_id });
  return run?.started_ms === check.run_started_ms ? check : null;
}

/** Keeps a check in place of the one before. */
export const putCheck = (control: RowStore, check: Check): Promise<void> =>
  control.write((writer) => writer.upsert(checks, [{ ...newest, ...check }]));
