// V8 keeps the pages that its collections have freed for as long as a thread works: what a few large answers
// took would stay with the thread.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limits } from '../../contract/limits.ts';

/** The work of a thread: how many pieces have ended, and whether there is none now. */
type Work = { readonly ended: number; readonly isIdle: boolean };

/**
 * A collection that also gives back the pages of earlier ones. The flag is set for a moment: while it is, no
 * thread of the process takes compiled code that was kept without it.
 */
function lastResort(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Gives memory that the thread does not need back to the system now and then: after work, while there is
 * none. By itself V8 does so only where it has not collected old objects for 100 seconds.
 */
export function giveBackMemory(work: Work, collect = lastResort): void {
  let { ended } = work;
  const giveBack = (): void => {
    if (work.ended === ended || !work.isIdle) return;
    ended = work.ended;
    collect();
  };
  setInterval(giveBack, limits.threadMemoryBackMs).unref();
}
