// The control file's contents: callers' keys, what they have used, and the service's own secrets, beside the data (docs/decisions/0003).
import { randomBytes } from 'node:crypto';
import type { RowOf } from '../datasets/dataset.ts';
import { apiKeys, quotaUses, secrets } from '../datasets/internal.ts';
import type { RowReader, RowStore } from './store.ts';

/** One key as stored: never the key itself. */
export type ApiKey = RowOf<typeof apiKeys>;

/** The most keys that are read: a service has a few hundred callers at most. */
const KEYS_MAX = 100_000;

/** All keys, by id, those revoked included. */
export function readKeys(control: RowStore): Promise<ApiKey[]> {
  return control.snapshot((reader) => reader.rows(apiKeys, { order: [['key_id', 'asc']], limit: KEYS_MAX }));
}

/** Adds a key, or replaces the one of equal id. */
export function putKey(control: RowStore, key: ApiKey): Promise<void> {
  return control.write((writer) => writer.upsert(apiKeys, [key]));
}

/** What a key has used of one of its quotas, in the minute or day that begins at `from_ms`. */
export type QuotaUse = RowOf<typeof quotaUses>;

const nameOf = ({ key_id, span }: QuotaUse): string => `${key_id} ${span}`;

/**
 * Adds to what keys have used, and gives it with what all processes have used. A minute or day of which another process has begun
 * the next one is over: it is not written. `nowMs` is asked once nobody else can write.
 */
export function addQuotaUses(
  control: RowStore,
  uses: readonly QuotaUse[],
  nowMs: () => number,
): Promise<readonly QuotaUse[]> {
  return control.write(async (writer) => {
    const keyIds = [...new Set(uses.map(({ key_id }) => key_id))];
    const stored = await writer.among(quotaUses, {}, 'key_id', keyIds);
    const rows = new Map(stored.map((row) => [nameOf(row), row]));
    const totals = uses.map((use) => {
      const row = rows.get(nameOf(use));
      return row?.from_ms === use.from_ms ? { ...use, used: use.used + row.used } : use;
    });
    const isOver = (use: QuotaUse): boolean => {
      const { from_ms } = rows.get(nameOf(use)) ?? use;
      return use.from_ms < from_ms && from_ms <= nowMs();
    };
    await writer.upsert(
      quotaUses,
      totals.filter((total, index) => uses[index]!.used !== 0 && !isOver(total)),
    );
    return totals;
  });
}

async function readSecret(reader: RowReader, name: string): Promise<Uint8Array | null> {
  const found = await reader.rows(secrets, { where: { name }, order: [['name', 'asc']], limit: 1 });
  return found[0]?.value ?? null;
}

/** The secret that page keys are signed with, made on first use. It lives with the store (contract 4.1). */
export async function pageKeySecret(control: RowStore): Promise<Uint8Array> {
  const name = 'page_key';
  const known = await control.snapshot((reader) => readSecret(reader, name));
  if (known !== null) return known;
  return control.write(async (writer) => {
    const raced = await readSecret(writer, name);
    if (raced !== null) return raced;
    const value = new Uint8Array(randomBytes(32));
    await writer.upsert(secrets, [{ name, value }]);
    return value;
  });
}
