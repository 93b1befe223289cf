// Layout 5 of a control file: the instants that keys are pinned to.
import type { Step } from './step.ts';

export const control0005: Step = {
  columns: { api_keys: { as_of_ms: 'instant null' } },
};
