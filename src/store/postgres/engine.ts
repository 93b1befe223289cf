// What PostgreSQL can do with the store at one address.
import { instrumentTerms } from '../../datasets/reference.ts';
import type { Rebuilt } from '../damage.ts';
import { fillInstrumentTerms } from '../instrument-terms.ts';
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

async function rebuildPostgres(
  address: PostgresAddress,
  tables: readonly string[],
  tell: Tell,
): Promise<readonly Rebuilt[]> {
  const store = await openPostgresStore(address, 'write', tell);
  try {
    for (const table of tables) {
      if (table === instrumentTerms.name) await store.write(fillInstrumentTerms);
      await onSession(address, (session) => session.ask(`reindex table "${table}"`));
    }
    return tables.map((dataset) => ({ dataset, problem: null }));
  } finally {
    await store.close();
  }
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
  rebuild: (tables: readonly string[], tell: Tell) => rebuildPostgres(address, tables, tell),
});
