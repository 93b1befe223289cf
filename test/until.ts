// Waits of tests: for the thing itself, never for a fixed time.
import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than anything takes on a busy machine, and shorter than the time limit of a test file. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 10;

/**
 * Waits until something holds: it is asked every 10 ms.
 * @returns what it gave, which is neither false, null nor undefined
 * @throws with the words of `what` after two minutes
 */
export async function until<T>(
  what: string | (() => string),
  holds: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined>> {
  for (const endMs = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    const found = await holds();
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<T, false | null | undefined>;
    if (performance.now() > endMs)
      throw new Error(`not within ${PATIENCE_MS / 1_000} s: ${typeof what === 'string' ? what : what()}`);
  }
}
