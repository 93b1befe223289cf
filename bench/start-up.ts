// The cost of an import apart from its rows: the time to import one row, which is subtracted from the time of
// other imports.
import type { Finished } from './process.ts';
import type { Setting } from './setting.ts';
import { median } from './statistics.ts';

const LEAST_MS = 10;

/** A store that can be filled and removed again. */
type Emptied = { importMinutes(path: string): Promise<Finished>; remove(): void | Promise<void> };

/** Times of whole imports of one row, in milliseconds: into one store, or each into a new one. */
export async function oneRowImportsMs(
  { workshop, scale }: Setting,
  into: 'one store' | 'new stores',
  store: Emptied = workshop.freshStore('one-row'),
): Promise<number[]> {
  const times: number[] = [];
  // The first one makes the store, and may compile the sources.
  for (let minute = 0; minute <= scale.starts; minute++) {
    if (into === 'new stores') await store.remove();
    const csv = workshop.minutes({ rows: 1, order: 'time', symbols: 1, firstMinute: minute });
    const { wallMs } = await store.importMinutes(csv);
    if (minute > 0) times.push(wallMs);
  }
  await store.remove();
  return times;
}

/** What is taken off the time of an import into a new store. */
export const importStartUpMs = async (setting: Setting, store?: Emptied): Promise<number> =>
  median(await oneRowImportsMs(setting, 'new stores', store));

/**
 * The time of an import without its start-up. Where there are few rows, the start-up varies by more than they
 * take.
 */
export const withoutStartUp = (wallMs: number, startUpMs: number): number =>
  Math.max(wallMs - startUpMs, LEAST_MS);
