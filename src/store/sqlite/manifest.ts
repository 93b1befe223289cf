// Makes a copy of the data a backup: one more table, with the hash of the data and the bytes of the control
// file.
import { createHash } from 'node:crypto';
import { storeHistory } from '../migrations/index.ts';
import { StoreUnusable } from '../store.ts';
import { Database, markOf } from './database.ts';
import { MANIFEST } from './digest.ts';
import { checkLayout } from './layout.ts';

/** The content of a backup beside the data. */
export type Manifest = {
  readonly madeMs: number;
  /** The hash of the data: `digestOf`. */
  readonly sha256: string;
  /** The whole control file; null where the store had none yet. */
  readonly control: Uint8Array | null;
};

const controlSha256 = (control: Uint8Array | null): string | null =>
  control === null ? null : createHash('sha256').update(control).digest('hex');

/** Makes a copy of the data a backup. */
export function seal(path: string, { madeMs, sha256, control }: Manifest): void {
  using copy = new Database(path, 'write', 'store');
  copy.takeAlone();
  copy.exec(
    `create table ${MANIFEST} (made_ms integer not null, sha256 text not null, control blob, control_sha256 text)`,
  );
  const values = [madeMs, sha256, control, controlSha256(control)];
  copy.run(`insert into ${MANIFEST} values (?, ?, ?, ?)`, values);
  copy.exec(`pragma application_id = ${markOf('backup')}; commit`);
}

/** Makes a backup the data of a store, without any trace of keys and secrets. */
export function unseal(path: string): void {
  using data = new Database(path, 'write', 'backup');
  data.exec(
    `pragma secure_delete = on; begin; drop table ${MANIFEST}; pragma application_id = ${markOf('store')}; commit`,
  );
}

/** The manifest of a backup that this Bourse can restore. @throws StoreUnusable for any other */
export function readManifest(path: string): Manifest {
  using backup = new Database(path, 'read', 'backup');
  checkLayout(backup, path, storeHistory);
  const [row] = backup.all(
    `select made_ms as madeMs, sha256, control, control_sha256 as keysSha256 from ${MANIFEST}`,
    [],
  );
  const { keysSha256, ...manifest } = row as Manifest & { readonly keysSha256: string | null };
  if (controlSha256(manifest.control) !== keysSha256)
    throw new StoreUnusable(`${path} is damaged: its keys are not what was written`);
  return manifest;
}

/** The number of keys in a control file. */
export const keysIn = (control: Database): number =>
  control.all('select count(*) as keys from api_keys', [])[0]!.keys as number;
