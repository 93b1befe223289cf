// Metrics of the store's data. They are read when metrics are requested, so they cost other requests nothing.
import { Gauge, Registry } from '@prometheus-io/client';
import { counters, importRuns } from '../datasets/internal.ts';
import { openStore } from '../store/engines.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import type { Report } from './metrics.ts';

type Freshness = { readonly dataVersion: number; readonly importedMs: number | null };

async function freshnessOf(reader: Reader): Promise<Freshness> {
  const [version] = await reader.rows(counters, {
    where: { name: 'data_version' },
    order: [['name', 'asc']],
    limit: 1,
  });
  const [newest] = await reader.rows(importRuns, {
    where: { kind: 'import' },
    order: [['run_id', 'desc']],
    limit: 1,
  });
  return { dataVersion: version?.value ?? 0, importedMs: newest?.finished_ms ?? null };
}

async function read(storeUrl: string): Promise<Freshness | null> {
  try {
    const store = await openStore(storeUrl, 'read');
    try {
      return await store.snapshot(freshnessOf);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreUnusable) return null;
    throw error;
  }
}

/** The data version and the end of the newest import; an empty report while the store cannot be read. */
export async function storeReport(storeUrl: string): Promise<Report> {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number): void =>
    new Gauge({ name, help, registers: [registry] }).set(value);
  const freshness = await read(storeUrl);
  if (freshness === null) return [];
  const { dataVersion, importedMs } = freshness;
  gauge('bourse_data_version', 'Advances with every import, deletion and undoing.', dataVersion);
  if (importedMs !== null)
    gauge('bourse_newest_import_timestamp_seconds', 'When the newest import ended.', importedMs / 1_000);
  return registry.getMetricsAsJSON();
}
