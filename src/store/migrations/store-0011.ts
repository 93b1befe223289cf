// Layout 11 of a store: runs say with which bar they begin, so that a session before it is none of theirs.
import type { Step } from './step.ts';

export const store0011: Step = {
  columns: { run_coverage: { first_ms: 'instant null' } },
};
