// Layout 7 of a store: runs say by which bar they make their series complete, so that a changed calendar counts for them.
import type { Step } from './step.ts';

export const store0007: Step = {
  columns: { run_coverage: { last_ms: 'instant null', last_series_id: 'integer null' } },
};
