// What the scrub of a store finds: the one place where the flips ask whether damage is seen.
import { damageWords } from '../../src/store/damage.ts';
import { engineAt } from '../../src/store/engines.ts';
import { fileStore } from '../sqlite/files.ts';

/** The damage in the store's file, in words; nothing where none is found. */
export async function findsDamage(path: string): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const { damage } of engineAt(fileStore(path)).scrub()) found.push(...damage.map(damageWords));
  } catch (error) {
    // A store that does not open reports its damage so.
    found.push(`the scrub ended: ${(error as Error).message}`);
  }
  return found;
}
