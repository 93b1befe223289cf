// The nearest of some words: what someone may have meant.
import { distance } from 'fastest-levenshtein';

/** The nearest of some names, where one is near. */
export function nearest(name: string, among: readonly string[]): string | undefined {
  const ranked = [...among].sort(
    (a, b) => distance(a.toLowerCase(), name.toLowerCase()) - distance(b.toLowerCase(), name.toLowerCase()),
  );
  const best = ranked[0];
  return best !== undefined &&
    distance(best.toLowerCase(), name.toLowerCase()) <= Math.max(2, name.length / 3)
    ? best
    : undefined;
}
