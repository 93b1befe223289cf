// Reads a whole store for damage: at once for `bourse doctor --deep`, slowly and about once a day beside a
// service.
import { setTimeout as sleep } from 'node:timers/promises';
import { namedDamage } from '../../series/damaged-bars.ts';
import { claimScrub, putScrub, readScrub, type Scrub } from '../../store/control.ts';
import { type Damage, damageWords } from '../../store/damage.ts';
import { openControl, scrubStore } from '../../store/engines.ts';
import { StoreUnusable } from '../../store/store.ts';
import { cliLimits } from '../shared/limits.ts';
import { closing, readStore } from '../shared/opened-store.ts';

/** Takes the reason why damaged blocks and series have no names: they are listed by their numbers. */
type OnUnnamed = (why: string) => void;

/** Takes a part of a store that was read, with what is damaged in it, or why it was not checked. */
type OnStep = (table: string, damage: readonly Damage[], unchecked?: string) => void | Promise<void>;

/**
 * Calls `onStep` for each part of a store that was read, with what is damaged in it, named; where that cannot
 * be, `onUnnamed` once.
 */
export async function scrub(url: string, onStep: OnStep, onUnnamed: OnUnnamed): Promise<void> {
  let isTold = false;
  const tellOnce: OnUnnamed = (why) => {
    if (!isTold) onUnnamed(`damaged bars are listed by the numbers of their blocks and series: ${why}`);
    isTold = true;
  };
  for await (const { table, damage, unchecked } of scrubStore(url)) {
    const named = damage.length === 0 ? [] : await nameAll(url, damage, tellOnce);
    await onStep(table, named, unchecked);
  }
}

const hasName = ({ block, seriesId }: Damage): boolean => (block ?? seriesId) !== undefined;

/** A store so damaged that it cannot be opened, or that is gone by now, names nothing. */
async function nameAll(
  url: string,
  damage: readonly Damage[],
  onUnnamed: OnUnnamed,
): Promise<readonly Damage[]> {
  if (!damage.some(hasName)) return damage;
  try {
    return await readStore(url, 'read', (reader) =>
      Promise.all(damage.map((one) => namedDamage(reader, one))),
    );
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error;
    onUnnamed(error.message);
    return damage;
  }
}

/**
 * Reads the store slowly if that is due, and stores the damage that it finds. Returns the newest reading,
 * this one or an earlier. `onLack` takes the reason for each part that was not checked, with the cure, and
 * for damaged bars without names.
 */
export function scrubWhenDue(
  url: string,
  everyMs: number,
  onLack: (words: string) => void,
  rest: number = cliLimits.scrubRestFactor,
): Promise<Scrub | null> {
  return closing(openControl(url, 'write'), async (control) => {
    const startedMs = Date.now();
    if (await claimScrub(control, startedMs, everyMs)) {
      // What was known stays known until all is read.
      const before = (await readScrub(control))?.damage ?? [];
      const found = new Map<string, Damage>();
      let beganMs = performance.now();
      const onStep: OnStep = async (_, damage, unchecked) => {
        if (unchecked !== undefined) onLack(unchecked);
        const known = found.size;
        for (const one of damage) if (found.size < cliLimits.scrubDamageMax) found.set(damageWords(one), one);
        if (found.size > known)
          await putScrub(control, { startedMs, finishedMs: null, damage: [...before, ...found.values()] });
        await sleep(Math.min(rest * (performance.now() - beganMs), cliLimits.scrubRestMsMax));
        beganMs = performance.now();
      };
      await scrub(url, onStep, onLack);
      await putScrub(control, { startedMs, finishedMs: Date.now(), damage: [...found.values()] });
    }
    return readScrub(control);
  });
}
