// Metrics of the store's data. They are read when metrics are requested, so they cost other requests nothing.
import { Gauge, Registry } from '@prometheus-io/client';
import { counters, importRuns } from '../datasets/internal.ts';
import { rowWith } from '../store/all-rows.ts';
import { openStore } from '../store/engines.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import type { Report } from './metrics.ts';

async function freshnessOf(reader: Reader): Promise<{ dataVersion: number; importedMs: number | null }> {
  const version = await rowWith(reader, counters, { name: 'data_version' });
  const newest = { where: { kind: 'import' }, order: [['run_id', 'desc']], limit: 1 } as const;
  const [run] = await reader.rows(importRuns, newest);
  return { dataVersion: version?.value ?? 0, importedMs: run?.finished_ms ?? null };
}

/** The data version and the end of the newest import; an empty report while the store cannot be read. */
export async function storeReport(storeUrl: string): Promise<Report> {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number): void =>
    new Gauge({ name, help, registers: [registry] }).set(value);
  try {
    const store = await openStore(storeUrl, 'read');
    try {
      const { dataVersion, importedMs } = await store.snapshot(freshnessOf);
      gauge('bourse_data_version', 'Advances with every import, deletion and undoing.', dataVersion);
      if (importedMs !== null)
        gauge('bourse_newest_import_timestamp_seconds', 'When the newest import ended.', importedMs / 1_000);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error;
  }
  return registry.getMetricsAsJSON();
}
