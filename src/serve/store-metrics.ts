// Metrics of the store's data. They are read when metrics are requested, so they cost other requests nothing.
import { Gauge, Registry } from '@prometheus-io/client';
import { rowWith } from '../store/all-rows.ts';
import { openStore } from '../store/engines.ts';
import { counters, failedFiles, importRuns } from '../store/schema/internal.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import type { Report } from './metrics.ts';

type State = {
  readonly dataVersion: number;
  readonly importedMs: number | null;
  readonly failedCount: number;
};

async function stateOf(reader: Reader): Promise<State> {
  const version = await rowWith(reader, counters, { name: 'data_version' });
  const newest = { where: { kind: 'import' }, order: [['run_id', 'desc']], limit: 1 } as const;
  const [run] = await reader.rows(importRuns, newest);
  const failedCount = await reader.count(failedFiles);
  return { dataVersion: version?.value ?? 0, importedMs: run?.finished_ms ?? null, failedCount };
}

/**
 * The data version, the end of the newest import and the failed files of watched folders; empty while the
 * store cannot be read.
 */
export async function storeReport(storeUrl: string): Promise<Report> {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number): void =>
    new Gauge({ name, help, registers: [registry] }).set(value);
  try {
    const store = await openStore(storeUrl, 'serve');
    try {
      const { dataVersion, importedMs, failedCount } = await store.snapshot(stateOf);
      gauge('bourse_data_version', 'The version of the store: every write raises it.', dataVersion);
      gauge(
        'bourse_watch_failed_files',
        'Files in watched folders that could not be imported, or not wholly.',
        failedCount,
      );
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
