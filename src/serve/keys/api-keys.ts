// Keys of callers: issues, revokes and verifies them. Only hashes are stored (contract 7).
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatInstant } from '../../base/instant.ts';
import type { Scope } from '../../contract/endpoint.ts';
import { limits } from '../../contract/limits.ts';
import { type ApiKey, changeKey, putKey, readKeys } from '../../store/control.ts';
import { type RowStore, StoreUnavailable } from '../../store/store.ts';
import type { KeyUses } from './quotas.ts';

/** Keys are looked up by the first bytes of their hash; the whole hash is then compared in constant time. */
const PREFIX_BYTES = 8;

/** A new key: the only moment at which the key itself is known. */
type IssuedKey = { readonly secret: string; readonly key: ApiKey };

/** The scope, the expiry, the quotas and the instant of a new key; null for none. */
type KeyTerms = {
  readonly scope: Scope;
  readonly expiresMs: number | null;
  readonly perMinute: number | null;
  readonly perDay: number | null;
  /** Its requests are answered as of this instant. */
  readonly asOfMs: number | null;
};

/** A key of the scope `data`, without expiry, quotas and instant. */
export const noTerms: KeyTerms = {
  ...{ scope: 'data', expiresMs: null },
  ...{ perMinute: null, perDay: null, asOfMs: null },
};

const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** Issues a key of 256 random bits, 43 characters, and stores its hash. */
export async function issueKey(
  control: RowStore,
  name: string,
  terms: KeyTerms,
  nowMs: number,
): Promise<IssuedKey> {
  const secret = randomBytes(32).toString('base64url');
  const key: ApiKey = {
    key_id: randomBytes(5).toString('hex'),
    name,
    hash: new Uint8Array(hashOf(secret)),
    created_ms: nowMs,
    expires_ms: terms.expiresMs,
    per_minute: terms.perMinute,
    per_day: terms.perDay,
    revoked_ms: null,
    last_used_ms: null,
    as_of_ms: terms.asOfMs,
    scope: terms.scope,
  };
  await putKey(control, key);
  return { secret, key };
}

/** Revokes a key by its id; null where no key has it. */
export function revokeKey(control: RowStore, keyId: string, nowMs: number): Promise<ApiKey | null> {
  return changeKey(control, keyId, (key) => ({ ...key, revoked_ms: key.revoked_ms ?? nowMs }));
}

/**
 * Moves a pinned key to another instant; null where no key has the id. A key that is not pinned stays as it
 * is.
 */
export function moveKey(control: RowStore, keyId: string, asOfMs: number): Promise<ApiKey | null> {
  return changeKey(control, keyId, (key) => (key.as_of_ms === null ? key : { ...key, as_of_ms: asOfMs }));
}

/** Revokes every live key of a name and issues one in their place. */
export async function replaceKey(control: RowStore, name: string, nowMs: number): Promise<IssuedKey> {
  for (const key of await readKeys(control)) {
    if (key.name === name && key.revoked_ms === null) await revokeKey(control, key.key_id, nowMs);
  }
  return issueKey(control, name, noTerms, nowMs);
}

/** True if a key may be used at a moment. */
export function isLive(key: ApiKey, nowMs: number): boolean {
  return key.revoked_ms === null && (key.expires_ms === null || nowMs < key.expires_ms);
}

/** The scope of a key; those from before there were scopes read data. */
export const scopeOf = ({ scope }: ApiKey): Scope => (scope ?? 'data') as Scope;

const instantText = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms));

/** A key as people see it: neither the secret nor its hash. */
export const keyRecord = (key: ApiKey, nowMs: number) =>
  ({
    id: key.key_id,
    name: key.name,
    scope: scopeOf(key),
    state: key.revoked_ms !== null ? 'revoked' : isLive(key, nowMs) ? 'live' : 'expired',
    created: formatInstant(key.created_ms),
    last_used: instantText(key.last_used_ms),
    expires: instantText(key.expires_ms),
    per_minute: key.per_minute,
    per_day: key.per_day,
    as_of: instantText(key.as_of_ms),
    revoked: instantText(key.revoked_ms),
  }) as const;

const prefixOf = (hash: Buffer): string => hash.toString('latin1', 0, PREFIX_BYTES);

/**
 * A read of the keys: `ended` as it ends; `awaited` also once requests have waited long enough, or the store
 * cannot be reached.
 */
type Reading = { readonly ended: Promise<void>; readonly awaited: Promise<void> };

/**
 * Verifies keys against a copy in memory, which is read again every second (contract 7.3). Where the store
 * cannot be reached, or does not answer, the copy holds a few seconds more.
 */
export class KeyRing {
  readonly #readKeys: () => Promise<readonly ApiKey[]>;
  readonly #uses: Pick<KeyUses, 'note'> | null;
  #keys: readonly ApiKey[] = [];
  #present: ReadonlySet<ApiKey> = new Set();
  #byPrefix = new Map<string, ApiKey>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Reading | null = null;

  /** With `uses` each key that is accepted is noted there. */
  constructor(readKeys: () => Promise<readonly ApiKey[]>, uses: Pick<KeyUses, 'note'> | null = null) {
    this.#readKeys = readKeys;
    this.#uses = uses;
  }

  /** The live key that a secret belongs to, or null. */
  async verify(secret: string, nowMs: number): Promise<ApiKey | null> {
    if (secret.length > limits.keyCharactersMax) return null;
    const ageMs = this.#ageMs(nowMs);
    if (ageMs >= limits.keyRefreshMs) {
      const { ended, awaited } = this.#read(nowMs);
      await (ageMs < limits.keyGoodMs ? awaited : ended);
    }
    const sent = hashOf(secret);
    // A key may have been issued a moment ago.
    const isMiss = !this.#byPrefix.has(prefixOf(sent));
    if (isMiss && this.#ageMs(nowMs) >= limits.keyMissRefreshMs) await this.#read(nowMs).ended;
    if (this.#find(sent)?.as_of_ms != null) await this.#readForPinned(nowMs);
    const key = this.#find(sent);
    if (key === undefined || !isLive(key, nowMs)) return null;
    this.#uses?.note(key.key_id, nowMs);
    return key;
  }

  /** Whether a key that was verified before would be again, without keys being read for it. */
  holds(key: ApiKey, nowMs: number): boolean {
    const ageMaxMs = key.as_of_ms === null ? limits.keyRefreshMs : limits.pinnedKeyRefreshMs;
    if (this.#ageMs(nowMs) >= ageMaxMs || !this.#present.has(key) || !isLive(key, nowMs)) return false;
    this.#uses?.note(key.key_id, nowMs);
    return true;
  }

  #find(sent: Buffer): ApiKey | undefined {
    const key = this.#byPrefix.get(prefixOf(sent));
    return key !== undefined && timingSafeEqual(key.hash, sent) ? key : undefined;
  }

  /**
   * Reads again where a pinned key may have moved. A read that began too long before the request does not
   * count.
   */
  async #readForPinned(nowMs: number): Promise<void> {
    while (nowMs - this.#readAtMs >= limits.pinnedKeyRefreshMs) await this.#read(nowMs).ended;
  }

  #ageMs(nowMs: number): number {
    return Math.abs(nowMs - this.#readAtMs);
  }

  /** Reads the keys. Callers that ask meanwhile wait for the same read. */
  #read(nowMs: number): Reading {
    if (this.#reading !== null) return this.#reading;
    const ended = this.#readKeys()
      .then((keys) => {
        this.#readAtMs = nowMs;
        // Of many keys this takes milliseconds, and unknown keys have them read ten times a second.
        if (keys === this.#keys) return;
        this.#keys = keys;
        this.#present = new Set(keys);
        this.#byPrefix = new Map(keys.map((key) => [prefixOf(Buffer.from(key.hash)), key]));
      })
      .finally(() => {
        this.#reading = null;
      });
    const held = ended.catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    const awaited = Promise.race([held, sleep(limits.keyWaitMaxMs, undefined, { ref: false })]);
    // Both are met by those who wait for them.
    ended.catch(() => undefined);
    awaited.catch(() => undefined);
    this.#reading = { ended, awaited };
    return this.#reading;
  }
}
