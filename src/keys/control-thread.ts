// The control thread: while a process serves, it alone uses the control file. Neither a lock nor the disk
// holds up the HTTP thread.
import { parentPort, workerData } from 'node:worker_threads';
import { causeOf } from '../base/observe.ts';
import {
  type ApiKey,
  addKeyUses,
  addQuotaUses,
  type KeyUse,
  type QuotaUse,
  readSoundKeys,
} from '../store/control.ts';
import { openControl } from '../store/engines.ts';
import { isAway } from '../store/store.ts';

/** The task of a call: to read all keys, or to add uses. */
export type ControlTask =
  | { readonly task: 'keys' }
  | { readonly task: 'key uses'; readonly uses: readonly KeyUse[] }
  | { readonly task: 'quota uses'; readonly uses: readonly QuotaUse[] };

/** A call and its number. */
export type ControlCall = ControlTask & { readonly id: number };

/**
 * The rows that a call asked for, null for keys that are as they were sent before; or why there are none, and
 * whether that is because the control file cannot be reached now.
 */
export type ControlResult =
  | { readonly id: number; readonly rows: readonly (ApiKey | QuotaUse)[] | null }
  | { readonly id: number; readonly cause: string; readonly isAway: boolean };

const port = parentPort!;
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

async function rowsFor(call: ControlCall): Promise<readonly (ApiKey | QuotaUse)[] | null> {
  if (call.task === 'keys') return changedKeys();
  if (call.task === 'quota uses') return addQuotaUses(writer, call.uses, Date.now);
  await addKeyUses(writer, call.uses, Date.now);
  return [];
}

async function answer(call: ControlCall): Promise<void> {
  const { id } = call;
  let result: ControlResult;
  try {
    result = { id, rows: await rowsFor(call) };
  } catch (error) {
    result = isAway(error)
      ? { id, cause: (error as Error).message, isAway: true }
      : { id, cause: causeOf(error), isAway: false };
  }
  port.postMessage(result);
}

async function end(): Promise<void> {
  port.close();
  await reader.close();
  await writer.close();
}

// Null ends the thread.
port.on('message', (call: ControlCall | null) => void (call === null ? end() : answer(call)));
