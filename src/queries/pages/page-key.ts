// Page keys: the end of a page and what the walk fixed at its start, signed with the store's secret (contract
// 4.1).
import { hash, timingSafeEqual } from 'node:crypto';
import { DAY_MS, END_DAY, FIRST_DAY } from '../../base/instant.ts';
import { Refusal } from '../../contract/errors.ts';

const MAC_BYTES = 16;

/** Of SHA-256. */
const HASH_BLOCK_BYTES = 64;
const HASH_BYTES = 32;

/** Moments outside are of no walk: an offset moves those of contract 2.4 by less than a day. */
const FIRST_MOMENT_MS = (FIRST_DAY - 1) * DAY_MS;
const END_MOMENT_MS = (END_DAY + 1) * DAY_MS;

/**
 * The end of a page: the order key of its last record, and what the first page fixed for the whole walk, such
 * as its time.
 */
export type Place = {
  readonly position: readonly (string | number)[];
  readonly pinned: readonly (string | number)[];
};

/** What a key holds: position, pinned, and the moment where there is one. */
type Payload = readonly [Place['position'], Place['pinned'], number?];

/** The refusal of a page key that was changed or belongs to another query. */
export function foreignKey(key: string): Refusal {
  return new Refusal('invalid_page_key', {
    message:
      'next_page_key was changed, or belongs to another query: keep the path, the filters and sort as they were.',
    param: 'next_page_key',
    got: key,
  });
}

/**
 * The moment that a key names, before anything says whose key it is: what the fingerprint is made of depends
 * on the moment. Undefined where it names none. @throws Refusal `invalid_page_key` for a text that is no key,
 * or names a moment that no walk has
 */
export function claimedMoment(key: string): number | undefined {
  const walkMs = unsignedMoment(key);
  if (typeof walkMs !== 'number') return undefined;
  if (walkMs < FIRST_MOMENT_MS || walkMs >= END_MOMENT_MS) throw foreignKey(key);
  return walkMs;
}

function unsignedMoment(key: string): unknown {
  try {
    const payload = Buffer.from(key, 'base64url').subarray(MAC_BYTES);
    return (JSON.parse(payload.toString()) as Payload)[2];
  } catch {
    throw foreignKey(key);
  }
}

/** Signs and checks page keys with the store's secret. */
export class PageKeys {
  readonly #innerPad: Uint8Array;
  /** The outer pad, and room for the inner hash. */
  readonly #outer = Buffer.alloc(HASH_BLOCK_BYTES + HASH_BYTES);

  constructor(secret: Uint8Array) {
    if (secret.length > HASH_BLOCK_BYTES)
      throw new Error('the secret of page keys is longer than a block of SHA-256');
    const block = Uint8Array.from({ length: HASH_BLOCK_BYTES }, (_, index) => secret[index] ?? 0);
    this.#innerPad = block.map((byte) => byte ^ 0x36);
    this.#outer.set(block.map((byte) => byte ^ 0x5c));
  }

  /**
   * A key for a place, bound to the query by its fingerprint. `momentMs` is the moment as of which the walk
   * is answered, infinite where it has none (contract 9.8).
   */
  sign(fingerprint: string, { position, pinned }: Place, momentMs = Number.POSITIVE_INFINITY): string {
    const moment = momentMs === Number.POSITIVE_INFINITY ? [] : [momentMs];
    const payload = Buffer.from(JSON.stringify([position, pinned, ...moment]));
    return Buffer.concat([this.#mac(fingerprint, payload), payload]).toString('base64url');
  }

  /**
   * The place in a key. @throws Refusal `invalid_page_key` when it was changed or belongs to another query.
   */
  verify(fingerprint: string, key: string): Place {
    const bytes = Buffer.from(key, 'base64url');
    const mac = bytes.subarray(0, MAC_BYTES);
    const payload = bytes.subarray(MAC_BYTES);
    // Base64url can spell the same bytes in several ways; only our own spelling is accepted.
    const unchanged = bytes.toString('base64url') === key && mac.length === MAC_BYTES;
    if (!unchanged || !timingSafeEqual(mac, this.#mac(fingerprint, payload))) {
      throw foreignKey(key);
    }
    const [position, pinned] = JSON.parse(payload.toString()) as Payload;
    return { position, pinned };
  }

  /**
   * HMAC-SHA-256 (RFC 2104), by one-shot hashes as texts of bytes: cheaper than a keyed hash object, and than
   * hashes as buffers.
   */
  #mac(fingerprint: string, payload: Uint8Array): Buffer {
    const message = Buffer.concat([this.#innerPad, Buffer.from(`${fingerprint}\0`), payload]);
    this.#outer.write(hash('sha256', message, 'binary'), HASH_BLOCK_BYTES, 'latin1');
    return Buffer.from(hash('sha256', this.#outer, 'binary').slice(0, MAC_BYTES), 'latin1');
  }
}
