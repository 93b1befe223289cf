// Layout 10 of a store: the version that each run brought.
import type { Step } from './step.ts';

export const store0010: Step = {
  columns: { import_runs: { data_version: 'integer null' } },
};
