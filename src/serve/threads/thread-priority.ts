// The priority of a thread among those that compete with it for the processor.
import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** The link to the calling thread, `PID/task/TID`: proc_thread-self(5). */
const THIS_THREAD = '/proc/thread-self';

/**
 * A thread that is so much nicer gets half of the processor time of each other one, where there is too little
 * for all: sched(7).
 */
const GIVING_WAY = 3;

/**
 * Lets other threads go before the calling one where the processor is busy. Linux alone has priorities of
 * threads: elsewhere nothing happens.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    // A synchronous call runs in the thread itself.
    const thread = Number(readlinkSync(THIS_THREAD).split('/').at(-1));
    setPriority(thread, Math.min(getPriority(thread) + GIVING_WAY, constants.priority.PRIORITY_LOW));
  } catch {
    // Where /proc is hidden or priorities are forbidden, all threads are equal.
  }
}
