// The scrub thread: reads the whole store slowly where that is due, tells what is damaged, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import type { Scrub } from '../store/control.ts';
import { scrubWhenDue } from './scrub.ts';

/** What a scrub thread works with. */
export type ScrubData = { readonly storeUrl: string; readonly everyMs: number };

const { storeUrl, everyMs } = workerData as ScrubData;
parentPort!.postMessage((await scrubWhenDue(storeUrl, everyMs)) satisfies Scrub | null);
