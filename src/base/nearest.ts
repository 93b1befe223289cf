// The nearest of some words: what someone may have meant.
import { distance } from 'fastest-levenshtein';

/** The nearest of some names, where one is near. */
export function nearest(name: string, among: readonly string[]): string | undefined {
  const distanceTo = (word: string): number => distance(word.toLowerCase(), name.toLowerCase());
  const [best] = among.toSorted((a, b) => distanceTo(a) - distanceTo(b));
  return best !== undefined && distanceTo(best) <= Math.max(2, name.length / 3) ? best : undefined;
}
