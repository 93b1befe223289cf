// Layout 1 of a control file: the keys of callers and the secrets of the service.
import type { Step } from './step.ts';

export const control0001: Step = {
  tables: [
    {
      name: 'api_keys',
      columns: {
        key_id: 'text',
        name: 'text',
        hash: 'bytes',
        created_ms: 'instant',
        expires_ms: 'instant null',
        per_minute: 'integer null',
        per_day: 'integer null',
        revoked_ms: 'instant null',
      },
      key: ['key_id'],
    },
    {
      name: 'secrets',
      columns: {
        name: 'text',
        value: 'bytes',
      },
      key: ['name'],
    },
  ],
};
