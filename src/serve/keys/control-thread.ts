// The control thread: while a process serves, it alone uses the control file. Neither a lock nor the disk
// holds up the HTTP thread.
import { workerData } from 'node:worker_threads';
import { answerQuestions } from '../../base/worker-client.ts';
import {
  type ApiKey,
  addKeyUses,
  addQuotaUses,
  type KeyUse,
  type QuotaUse,
  readSoundKeys,
} from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import { isAway } from '../../store/store.ts';

/** The rows that a task asks for, null for keys that are as they were sent before. */
export type Rows = readonly (ApiKey | QuotaUse)[] | null;

/** To read all keys, to add uses, or to close the control file. */
export type ControlTask =
  | { readonly task: 'keys' | 'close' }
  | { readonly task: 'key uses'; readonly uses: readonly KeyUse[] }
  | { readonly task: 'quota uses'; readonly uses: readonly QuotaUse[] };

/** The rows, or why the control file cannot be reached now. */
export type ControlAnswer = { readonly rows: Rows } | { readonly away: string };

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
async function changedKeys(): Promise<Rows> {
  const keys = await readSoundKeys(reader);
  if (keys.length === sent?.length && keys.every((key, index) => isSame(key, sent?.[index]))) return null;
  sent = keys;
  return keys;
}

async function rowsFor(asked: ControlTask): Promise<Rows> {
  if (asked.task === 'keys') return changedKeys();
  if (asked.task === 'quota uses') return addQuotaUses(writer, asked.uses, Date.now);
  if (asked.task === 'key uses') await addKeyUses(writer, asked.uses, Date.now);
  else await Promise.all([reader.close(), writer.close()]);
  return [];
}

answerQuestions<ControlTask, ControlAnswer>(async (task) => {
  try {
    return { rows: await rowsFor(task) };
  } catch (error) {
    if (isAway(error)) return { away: (error as Error).message };
    throw error;
  }
});
