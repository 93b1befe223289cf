// Which bars of a stored block an import has brought itself: a note, for when it opens the block again.
import { appendBars, type Bars, emptyBars, lowerBound } from '../bars/columns.ts';

/**
 * The note about the bars of an import in a block that has all of them: where each stretch of them begins and
 * ends there.
 */
export function noteOf(own: Bars, block: Bars): Uint8Array {
  const ends: number[] = [];
  for (let at = 0; at < own.count; ) {
    const from = lowerBound(block, own.keyMs[at]!);
    let to = from;
    do {
      at++;
      to++;
    } while (at < own.count && to < block.count && block.keyMs[to] === own.keyMs[at]);
    ends.push(from, to);
  }
  return new Uint8Array(Uint32Array.from(ends).buffer);
}

/** The bars of a block that a note is about: copies. */
export function notedBars(note: Uint8Array, block: Bars): Bars {
  const ends = new Uint32Array(Uint8Array.from(note).buffer);
  const own = emptyBars(block.count);
  for (let at = 0; at < ends.length; at += 2) appendBars(own, block, ends[at]!, ends[at + 1]!);
  return own;
}
