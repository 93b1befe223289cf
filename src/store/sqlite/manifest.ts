// What makes a copy of the data a backup: one table more, with the hash of the data and the control file as bytes.
import { createHash } from 'node:crypto';
import { storeSteps } from '../migrations/index.ts';
import { StoreUnusable } from '../store.ts';
import { Database, markOf } from './database.ts';
import { MANIFEST } from './digest.ts';
import { checkLayout } from './layout.ts';

/** What a backup holds beside the data. */
export type Manifest = {
  readonly madeMs: number;
  /** Of the data: `digestOf`. */
  readonly sha256: string;
  /** The control file, whole; null where the store had none yet. */
  readonly control: Uint8Array | null;
};

const controlSha256 = (control: Uint8Array | null): string | null =>
  control === null ? null : createHash('sha256').update(control).digest('hex');

/** Makes a copy of the data a backup. */
export function seal(path: string, { madeMs, sha256, control }: Manifest): void {
  const copy = new Database(path, 'write', 'store');
  try {
    copy.takeAlone();
    copy.exec(
      `create table ${MANIFEST} (made_ms integer not null, sha256 text not null, control blob, control_sha256 text)`,
    );
    copy.run(`insert into ${MANIFEST} values (?, ?, ?, ?)`, [
      madeMs,
      sha256,
      control,
      controlSha256(control),
    ]);
    copy.exec(`pragma application_id = ${markOf('backup')}; commit`);
  } finally {
    copy.close();
  }
}

/** Makes the data of a store of a backup; nothing of keys and secrets stays in it. */
export function unseal(path: string): void {
  const data = new Database(path, 'write', 'backup');
  try {
    data.exec(
      `pragma secure_delete = on; begin; drop table ${MANIFEST}; pragma application_id = ${markOf('store')}; commit`,
    );
  } finally {
    data.close();
  }
}

/** What a backup says of itself, where this Bourse can make a store of it. */
export function readManifest(path: string): Manifest {
  const backup = new Database(path, 'read', 'backup');
  try {
    checkLayout(backup, path, storeSteps);
    const [row] = backup.all(`select * from ${MANIFEST}`, []);
    const { made_ms, sha256, control, control_sha256 } = row as {
      made_ms: number;
      sha256: string;
      control: Uint8Array | null;
      control_sha256: string | null;
    };
    if (controlSha256(control) !== control_sha256)
      throw new StoreUnusable(`${path} is damaged: its keys are not what was written`);
    return { madeMs: made_ms, sha256, control };
  } finally {
    backup.close();
  }
}

/** How many keys a control file holds. */
export const keysIn = (control: Database): number =>
  control.all('select count(*) as keys from api_keys', [])[0]!.keys as number;
