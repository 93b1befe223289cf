// The control thread: while a process serves, it alone uses the control file. Neither a lock nor the disk holds up the HTTP thread.
import { parentPort, workerData } from 'node:worker_threads';
import { causeOf } from '../base/observe.ts';
import { type ApiKey, addQuotaUses, type QuotaUse, readKeys } from '../store/control.ts';
import { openControl } from '../store/engines.ts';

/** What the thread is asked for: all keys, or to add what keys have used; null asks it to end. */
export type ControlCall =
  | { readonly id: number; readonly kind: 'keys' }
  | { readonly id: number; readonly kind: 'quotaUses'; readonly uses: readonly QuotaUse[] };

/** The rows that a call asked for, or why there are none. */
export type ControlResult =
  | { readonly id: number; readonly rows: readonly (ApiKey | QuotaUse)[] }
  | { readonly id: number; readonly cause: string };

const port = parentPort!;
const storeUrl = workerData as string;
const writer = await openControl(storeUrl, 'write');
// A connection of its own: keys are read while a write waits for the lock.
const reader = await openControl(storeUrl, 'read');

async function resultOf(call: ControlCall): Promise<ControlResult> {
  const { id } = call;
  try {
    const rows =
      call.kind === 'keys' ? await readKeys(reader) : await addQuotaUses(writer, call.uses, Date.now);
    return { id, rows };
  } catch (error) {
    return { id, cause: causeOf(error) };
  }
}

async function end(): Promise<void> {
  port.close();
  await reader.close();
  await writer.close();
}

port.on('message', (call: ControlCall | null) => {
  if (call === null) void end();
  else void resultOf(call).then((result) => port.postMessage(result));
});
