// The control file's contents: callers' keys and the service's own secrets, beside the data (docs/decisions/0003).
import { randomBytes } from 'node:crypto';
import type { RowOf } from '../datasets/dataset.ts';
import { apiKeys, secrets } from '../datasets/internal.ts';
import type { RowReader, RowStore } from './store.ts';

/** One key as stored: never the key itself. */
export type ApiKey = RowOf<typeof apiKeys>;

/** More keys than this are not read: a service has a few hundred callers at most. */
const KEYS_MAX = 100_000;

/** All keys, by id, those revoked included. */
export function readKeys(control: RowStore): Promise<ApiKey[]> {
  return control.snapshot((reader) => reader.rows(apiKeys, { order: [['key_id', 'asc']], limit: KEYS_MAX }));
}

/** Adds a key, or replaces the one of equal id. */
export function putKey(control: RowStore, key: ApiKey): Promise<void> {
  return control.write((writer) => writer.upsert(apiKeys, [key]));
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
