// Addresses of stores as people write them: read, or refused with what to write. No password is ever part of
// a message.
import { UnfitPlace, UnknownStoreAddress } from './store.ts';

const POSTGRES = 'postgres';

/** An address that can be pasted. */
const EXAMPLE = 'sqlite:data/bourse.db';

/** Beginnings that SQLite or people take for another place than the path of a file. */
const OTHER_PLACE = /^(:memory|file|sqlite|postgres(?:ql)?):/i;

/** An address without the password after the user's name: from the colon there to the last `@`. */
function withoutUserPassword(text: string): string {
  const scheme = text.indexOf('://');
  const colon = scheme < 0 ? -1 : text.indexOf(':', scheme + '://'.length);
  const at = text.lastIndexOf('@');
  return colon < 0 || at < colon ? text : `${text.slice(0, colon)}:***${text.slice(at)}`;
}

/** A text without the passwords that addresses carry: after the user's name, or as `password=`. */
export const withoutPassword = (text: string): string =>
  withoutUserPassword(text).replace(/\b(password\s*=\s*)(?:'[^']*'|[^&\s]*)/gi, '$1***');

/**
 * The engine's scheme, in lower case, and the rest of an address such as `sqlite:data/bourse.db`, or of a
 * path that ends in `.db`; `schemes` are those of the engines.
 * @throws UnknownStoreAddress
 */
export function readAddress(url: string, schemes: readonly string[]): { scheme: string; rest: string } {
  const [, given = '', rest = ''] = /^(?:([a-z]+):)?(.*)$/is.exec(url)!;
  const scheme = given.toLowerCase().replace('postgresql', POSTGRES);
  const isKnown = schemes.includes(scheme);
  // A path; a single letter is a drive.
  if (given.length <= 1 && url.endsWith('.db') && !url.includes('://'))
    return { scheme: 'sqlite', rest: url };
  // Its own reader checks the rest.
  if (scheme === POSTGRES && isKnown) return { scheme, rest };
  const place = isKnown ? rest : url;
  const [, other = ''] = OTHER_PLACE.exec(place) ?? [];
  if (other.startsWith(':'))
    throw new UnknownStoreAddress(
      `${place} would be gone with its process: a store is a file that stays. Name one, such as --store ${EXAMPLE}`,
    );
  if (isKnown && rest !== '' && other === '') return { scheme, rest };
  throw new UnknownStoreAddress(
    `${withoutPassword(url)} is not the address of a store: write sqlite:PATH, such as ${exampleFor(place)}, or postgres://USER@HOST/DATABASE`,
  );
}

/** The address of a store that a command has as an argument: a path alone is a file. */
export const storeAddress = (text: string): string =>
  text === '' || OTHER_PLACE.test(text) || text.includes('://') ? text : `sqlite:${text}`;

/** The address that was probably meant: the same path, where it is one. */
function exampleFor(place: string): string {
  const path = place.replace(/^(?:file:(?:\/\/[^/]*(?=\/))?|sqlite:)/i, '').replace(/[?#].*/s, '');
  return path === '' || /:\/\/|[=@]/.test(path) ? EXAMPLE : `sqlite:${path}`;
}

/** Refuses an address where the path of a backup is to be named. @throws UnfitPlace */
export function requireBackupPath(file: string): void {
  if (!OTHER_PLACE.test(file) && !file.includes('://')) return;
  throw new UnfitPlace(
    `${withoutPassword(file)}: a backup is a file: name its path, such as backup/bourse.backup`,
  );
}
