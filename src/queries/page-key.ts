// Page keys: where a walk stands and what it took from the moment, authenticated (contract 4.1).
import { hash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../contract/errors.ts';

const MAC_BYTES = 16;

/** Of SHA-256. */
const HASH_BLOCK_BYTES = 64;

/** Where a walk stands: the order key of the last record, and what the first page took from the moment. */
export type Place = {
  readonly position: readonly (string | number)[];
  readonly pinned: readonly (string | number)[];
};

/** The refusal of a page key that was changed or belongs to another query. */
export function foreignKey(key: string): Refusal {
  return new Refusal('invalid_page_key', {
    message:
      'next_page_key was changed, or was given by another query: the path, the filters and sort must stay the same.',
    param: 'next_page_key',
    got: key,
  });
}

/** Signs and checks page keys with the store's secret. */
export class PageKeys {
  readonly #innerPad: Uint8Array;
  readonly #outerPad: Uint8Array;

  constructor(secret: Uint8Array) {
    if (secret.length > HASH_BLOCK_BYTES) throw new Error('the secret of page keys is longer than a block');
    const block = Uint8Array.from({ length: HASH_BLOCK_BYTES }, (_, index) => secret[index] ?? 0);
    this.#innerPad = block.map((byte) => byte ^ 0x36);
    this.#outerPad = block.map((byte) => byte ^ 0x5c);
  }

  /** A key for the place, bound to the query: endpoint, filters and sort as `fingerprint` writes them. */
  sign(fingerprint: string, place: Place): string {
    const payload = Buffer.from(JSON.stringify([place.position, place.pinned]));
    return Buffer.concat([this.#mac(fingerprint, payload), payload]).toString('base64url');
  }

  /** The place that a key names. @throws Refusal `invalid_page_key` when it was changed or belongs to another query. */
  verify(fingerprint: string, key: string): Place {
    const bytes = Buffer.from(key, 'base64url');
    const mac = bytes.subarray(0, MAC_BYTES);
    const payload = bytes.subarray(MAC_BYTES);
    // Another spelling of the same bytes is a changed key too.
    const unchanged = bytes.toString('base64url') === key && mac.length === MAC_BYTES;
    if (!unchanged || !timingSafeEqual(mac, this.#mac(fingerprint, payload))) {
      throw foreignKey(key);
    }
    const [position, pinned] = JSON.parse(payload.toString()) as [Place['position'], Place['pinned']];
    return { position, pinned };
  }

  /** HMAC-SHA-256 (RFC 2104), by one-shot hashes, which cost less than a keyed hash object for each key. */
  #mac(fingerprint: string, payload: Uint8Array): Buffer {
    const inner = hash(
      'sha256',
      Buffer.concat([this.#innerPad, Buffer.from(`${fingerprint}\0`), payload]),
      'buffer',
    );
    return hash('sha256', Buffer.concat([this.#outerPad, inner]), 'buffer').subarray(0, MAC_BYTES);
  }
}
