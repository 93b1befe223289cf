// The control thread: while a process serves, it alone uses the control file. Neither a lock nor the disk holds up the HTTP thread.
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

/** What a call asks for: all keys, or that uses be added. */
export type ControlTask =
  | { readonly task: 'keys' }
  | { readonly task: 'key uses'; readonly uses: readonly KeyUse[] }
  | { readonly task: 'quota uses'; readonly uses: readonly QuotaUse[] };

/** A call and its number. */
export type ControlCall = ControlTask & { readonly id: number };

/** The rows that a call asked for, or why there are none, and whether that is because the control file cannot be reached now. */
export type ControlResult =
  | { readonly id: number; readonly rows: readonly (ApiKey | QuotaUse)[] }
  | { readonly id: number; readonly cause: string; readonly isAway: boolean };

const port = parentPort!;
const writer = await openControl(workerData, 'write');
// A connection of its own: keys are read while a write waits for the lock.
const reader = await openControl(workerData, 'read');

async function rowsFor(call: ControlCall): Promise<readonly (ApiKey | QuotaUse)[]> {
  if (call.task === 'keys') return readSoundKeys(reader);
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
