// What PostgreSQL can do with the store at one address.
import { type Mode, StoreUnusable, type Tell } from '../store.ts';
import type { PostgresAddress } from './address.ts';
import { openPostgresControl } from './control.ts';
import { openPostgresCopyTarget } from './copy-target.ts';
import { diagnosePostgres } from './diagnosis.ts';
import { onSession, postgresFacts } from './facts.ts';
import { layoutsOf } from './schema.ts';
import { scrubPostgres } from './scrub.ts';
import { openPostgresStore } from './store.ts';

async function ownTools(): Promise<never> {
  throw new StoreUnusable(
    'PostgreSQL backs up and restores its stores: pg_dump and pg_restore, or pg_basebackup. bourse copy makes a file of one, and one of a file',
  );
}

const isMade = (address: PostgresAddress): Promise<boolean> =>
  onSession(address, async (session) => (await layoutsOf(session)) !== null);

/** The operations on the store at an address. */
export const postgresEngine = (address: PostgresAddress) => ({
  isMade: () => isMade(address),
  openStore: (mode: Mode, tell: Tell) => openPostgresStore(address, mode, tell),
  openControl: (mode: Mode, tell: Tell) => openPostgresControl(address, mode, tell),
  facts: () => postgresFacts(address),
  copy: ownTools,
  openCopyTarget: (tell: Tell) => openPostgresCopyTarget(address, tell),
  diagnose: () => diagnosePostgres(address),
  scrub: () => scrubPostgres(address),
});
