// Finds keys in texts of a request, so that none is logged or told back (contract 6.2, 6.5, 7.4).
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';

const RUN = new RegExp(`[\\w-]{${limits.issuedKeyCharacters},}`, 'g');

const decodedOnce = (text: string): string =>
  text.replace(/%([2-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/**
 * A text percent-decoded twice: ASCII alone, which issued keys and request ids have, so nothing is malformed.
 */
const decodedTwice = (text: string): string => (text.includes('%') ? decodedOnce(decodedOnce(text)) : text);

/**
 * True if a text holds what may be an issued key. Those have letters of both cases, unlike a letter that is
 * repeated.
 */
export const mayHoldKey = (text: string): boolean =>
  Array.from(decodedTwice(text).matchAll(RUN)).some(([run]) => /[a-z]/.test(run) && /[A-Z]/.test(run));

/**
 * The texts that a request has where keys are sent, in lower case: in its query and in its Authorization
 * header.
 */
function sentKeys(target: string, authorization: string): string[] {
  const inQuery = target
    .split(/[?&#]/)
    .map((pair) => decodedTwice(pair).toLowerCase())
    .filter((pair) => pair.startsWith('secret_key='))
    .map((pair) => pair.slice('secret_key='.length).replaceAll('+', ' ').trim());
  const words = authorization.toLowerCase().split(/[\s,]/);
  const inHeader = words.filter((word, index) => word !== 'bearer' && (index > 0 || words.length === 1));
  return [...inQuery, ...inHeader].filter((key) => key.length >= httpLimits.secretCharactersMin);
}

/**
 * True if a request id may be or hold a key: one of this request, or any run of as many characters as keys
 * have.
 */
export function isOrHoldsKey(id: string, target: string, authorization: string): boolean {
  if (id.search(RUN) >= 0) return true;
  const lower = id.toLowerCase();
  const whole = `${target}\n${decodedTwice(target)}\n${authorization}`.toLowerCase();
  if (id.length >= httpLimits.keyPartCharactersMin && whole.includes(lower)) return true;
  return sentKeys(target, authorization).some((key) => lower.includes(key));
}
