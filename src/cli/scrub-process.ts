// The scrub thread: reads the whole store slowly where that is due, tells what is damaged, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import type { Scrub } from '../store/control.ts';
import { scrubWhenDue } from './scrub.ts';

/** What a scrub thread works with. */
export type ScrubData = { readonly storeUrl: string; readonly everyMs: number };

/** What it tells: why damaged bars have no names, and at the end the newest reading. */
export type ScrubMessage =
  | { readonly kind: 'unnamed'; readonly why: string }
  | { readonly kind: 'read'; readonly scrub: Scrub | null };

const { storeUrl, everyMs } = workerData as ScrubData;
const tell = (message: ScrubMessage): void => parentPort!.postMessage(message);
const scrub = await scrubWhenDue(storeUrl, everyMs, (why) => tell({ kind: 'unnamed', why }));
tell({ kind: 'read', scrub });
