// Layout 3 of a control file: when keys were last used.
import type { Step } from './step.ts';

export const control0003: Step = {
  columns: { api_keys: { last_used_ms: 'instant null' } },
};
