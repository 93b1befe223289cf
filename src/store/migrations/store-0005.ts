// Layout 5 of a store: runs have the path, archive and flags of their file; files of watched folders that failed.
import type { Step } from './step.ts';

export const store0005: Step = {
  columns: { import_runs: { path: 'text null', archive_sha256: 'text null', flags: 'json null' } },
  indexes: { import_runs: [['file', 'run_id']] },
  tables: [
    {
      name: 'failed_files',
      columns: {
        dataset: 'text',
        path: 'text',
        problem: 'text',
        failed_ms: 'instant',
      },
      key: ['dataset', 'path'],
    },
  ],
};
