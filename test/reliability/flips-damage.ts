// What the scrub of a store finds: the one place where the flips ask whether damage is seen.
import { decodeBlock, wholeBlock } from '../../src/bars/block-reader.ts';
import { rowsOfFile } from '../sqlite/files.ts';

/**
 * The damage in the store's file, in words; nothing where none is found. For now this is SQLite's own check and the checksum of each
 * block; the store's scrub takes its place.
 */
export async function findsDamage(path: string): Promise<string[]> {
  try {
    const found = rowsOfFile(path, 'pragma integrity_check').map((row) => String(Object.values(row)[0]));
    const damage = found.filter((text) => text !== 'ok');
    for (const { series_id: seriesId, bucket, bytes } of rowsOfFile(path, 'select * from bar_blocks'))
      try {
        decodeBlock(bytes as Uint8Array, wholeBlock);
      } catch (error) {
        damage.push(`series ${String(seriesId)}, bucket ${String(bucket)}: ${(error as Error).message}`);
      }
    return damage;
  } catch (error) {
    return [(error as Error).message];
  }
}
