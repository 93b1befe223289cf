// The scrub process: reads the whole store slowly where that is due, tells what is damaged, and ends.
// SQLite's own check of a large table is one call of seconds to minutes, which nothing can interrupt: in a
// thread it would keep the service from stopping.
import { setPriority } from 'node:os';
import { causeOf } from '../../base/observe.ts';
import type { Scrub } from '../../store/control.ts';
import { scrubWhenDue } from './scrub.ts';

/** The first message to a scrub process. */
export type ScrubTask = { readonly storeUrl: string; readonly everyMs: number };

/** Its messages: a part that it could not check, and at the end the newest reading, or why it failed. */
export type ScrubMessage =
  | { readonly kind: 'lack'; readonly words: string }
  | { readonly kind: 'read'; readonly scrub: Scrub | null }
  | { readonly kind: 'failed'; readonly cause: string };

const LEAST_PRIORITY = 19;

const tell = (message: ScrubMessage): void => void process.send!(message);

async function work({ storeUrl, everyMs }: ScrubTask): Promise<void> {
  try {
    const lack = (words: string): void => tell({ kind: 'lack', words });
    const scrub = await scrubWhenDue(storeUrl, everyMs, lack);
    tell({ kind: 'read', scrub });
  } catch (error) {
    tell({ kind: 'failed', cause: causeOf(error) });
  }
  process.disconnect();
}

setPriority(LEAST_PRIORITY);
process.once('message', (task: ScrubTask) => void work(task));
// The service has ended, however it did.
process.once('disconnect', () => process.exit());
