// The control thread: while a process serves, it alone uses the control file. Neither a lock nor the disk holds up the HTTP thread.
import { parentPort, workerData } from 'node:worker_threads';
import { causeOf } from '../base/observe.ts';
import { type ApiKey, addQuotaUses, type QuotaUse, readKeys } from '../store/control.ts';
import { openControl } from '../store/engines.ts';

/** A call and its number: adds what keys have used, or with null reads all keys. */
export type ControlCall = { readonly id: number; readonly uses: readonly QuotaUse[] | null };

/** The rows that a call asked for, or why there are none. */
export type ControlResult =
  | { readonly id: number; readonly rows: readonly (ApiKey | QuotaUse)[] }
  | { readonly id: number; readonly cause: string };

const port = parentPort!;
const writer = await openControl(workerData, 'write');
// A connection of its own: keys are read while a write waits for the lock.
const reader = await openControl(workerData, 'read');

async function answer({ id, uses }: ControlCall): Promise<void> {
  let result: ControlResult;
  try {
    const rows = uses === null ? await readKeys(reader) : await addQuotaUses(writer, uses, Date.now);
    result = { id, rows };
  } catch (error) {
    result = { id, cause: causeOf(error) };
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
