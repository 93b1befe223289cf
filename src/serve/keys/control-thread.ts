// The control thread: while a process serves, it alone uses the control file. Neither a lock nor the disk
// holds up the HTTP thread.
import { workerData } from 'node:worker_threads';
import { answerQuestions } from '../../base/worker-client.ts';
import { limits } from '../../contract/limits.ts';
import {
  type ApiKey,
  addKeyUses,
  addQuotaUses,
  type Check,
  type KeyUse,
  type QuotaUse,
  readCheck,
  readQuotaUses,
  readSoundKeys,
} from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import { isAway } from '../../store/store.ts';
import { keyRecord } from './api-keys.ts';
import { periodStart } from './quotas.ts';

/** A key without its hash, and the requests of the present minute and day; null without the quota. */
type KeyState = ReturnType<typeof keyRecord> & {
  readonly used_this_minute: number | null;
  readonly used_today: number | null;
};

/** The newest keys, newest first, and the newest check of the store: for people, so without hashes. */
export type ControlState = { readonly keys: readonly KeyState[]; readonly check: Check | null };

/**
 * The rows that a task asks for, null for keys that are as they were sent before; or what people see of all.
 */
export type Given = readonly (ApiKey | QuotaUse)[] | null | ControlState;

/** To read all keys, or what people see of them, to add uses, or to close the control file. */
export type ControlTask =
  | { readonly task: 'keys' | 'state' | 'close' }
  | { readonly task: 'key uses'; readonly uses: readonly KeyUse[] }
  | { readonly task: 'quota uses'; readonly uses: readonly QuotaUse[] };

/** The result of a task, or why the control file cannot be reached now. */
export type ControlAnswer = { readonly given: Given } | { readonly away: string };

const writer = await openControl(workerData, 'write');
// A connection of its own: keys are read while a write waits for the lock.
const reader = await openControl(workerData, 'read');

/** The keys as they were sent last. */
let sent: readonly ApiKey[] | null = null;

/** Whether two rows say the same of a key; when it was last used is for people alone. */
function isSame(one: ApiKey, other: ApiKey | undefined): boolean {
  return (Object.keys(one) as (keyof ApiKey)[]).every((name) => {
    if (name === 'hash') return other !== undefined && Buffer.compare(one.hash, other.hash) === 0;
    return name === 'last_used_ms' || one[name] === other?.[name];
  });
}

/**
 * All keys, null where they are as sent before: with 10,000 of them each message would hold the HTTP thread
 * for 60 ms.
 */
async function changedKeys(): Promise<readonly ApiKey[] | null> {
  const keys = await readSoundKeys(reader);
  if (keys.length === sent?.length && keys.every((key, index) => isSame(key, sent?.[index]))) return null;
  sent = keys;
  return keys;
}

/** The state for people. Keys beyond the newest would make each answer long. */
async function readState(nowMs: number): Promise<ControlState> {
  const all = await readSoundKeys(reader);
  const keys = all.sort((a, b) => b.created_ms - a.created_ms).slice(0, limits.stateRowsMax);
  const ids = keys.map(({ key_id }) => key_id);
  const nameOf = (keyId: string, span: string, fromMs: number): string => `${keyId} ${span} ${fromMs}`;
  const uses = new Map(
    (await readQuotaUses(reader, ids)).map((use) => [nameOf(use.key_id, use.span, use.from_ms), use.used]),
  );
  const usedOf = (keyId: string, span: 'minute' | 'day', limit: number | null): number | null => {
    return limit === null ? null : (uses.get(nameOf(keyId, span, periodStart(span, nowMs))) ?? 0);
  };
  const states = keys.map((key) => ({
    ...keyRecord(key, nowMs),
    used_this_minute: usedOf(key.key_id, 'minute', key.per_minute),
    used_today: usedOf(key.key_id, 'day', key.per_day),
  }));
  return { keys: states, check: await readCheck(reader) };
}

async function given(asked: ControlTask): Promise<Given> {
  if (asked.task === 'keys') return changedKeys();
  if (asked.task === 'state') return readState(Date.now());
  if (asked.task === 'quota uses') return addQuotaUses(writer, asked.uses, Date.now);
  if (asked.task === 'key uses') await addKeyUses(writer, asked.uses, Date.now);
  else await Promise.all([reader.close(), writer.close()]);
  return [];
}

answerQuestions<ControlTask, ControlAnswer>(async (task) => {
  try {
    return { given: await given(task) };
  } catch (error) {
    if (isAway(error)) return { away: (error as Error).message };
    throw error;
  }
});
