// The header that names the query parameters which an endpoint does not know (contract 4.4).
import { nearest } from '../base/nearest.ts';
import { limits } from '../contract/limits.ts';

export const IGNORED_HEADER = 'X-Ignored-Parameters';

/** A name as a header may show it. A key has more characters, so none is shown after a mistyped `=`. */
const SHOWN = new RegExp(`^[\\w.[\\]-]{1,${limits.ignoredNameCharactersMax}}$`);

/** The known name that is likely meant: `from` is `from_date`, `adjst` is `adjust`. */
function likely(name: string, known: readonly string[]): string {
  const meant = known.find((one) => one.startsWith(`${name}_`)) ?? nearest(name, known);
  return meant === undefined ? name : `${name} (${meant}?)`;
}

/**
 * The header's value: up to 10 names, each with the known one that is likely meant, and how many more there
 * are; null without names. A name that is too long, or has other characters than names have, is only counted.
 */
export function ignoredHeader(names: readonly string[], known: readonly string[]): string | null {
  if (names.length === 0) return null;
  const shown = names.filter((name) => SHOWN.test(name)).slice(0, limits.ignoredNamesMax);
  const more = names.length - shown.length;
  const told = shown.map((name) => likely(name, known));
  return [...told, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
