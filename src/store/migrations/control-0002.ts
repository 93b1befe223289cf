// Scopes of keys.
import type { Step } from './step.ts';

export const control0002: Step = { columns: { api_keys: { scope: 'text null' } } };
