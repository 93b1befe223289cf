// The first layout of a control file: keys, quotas, secrets, and what the newest readings and checks of the
// store found.
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
        last_used_ms: 'instant null',
        as_of_ms: 'instant null',
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
    {
      name: 'quota_uses',
      columns: {
        key_id: 'text',
        span: 'text',
        from_ms: 'instant',
        used: 'integer',
      },
      key: ['key_id', 'span'],
    },
    {
      name: 'scrubs',
      columns: {
        name: 'text',
        started_ms: 'instant',
        finished_ms: 'instant null',
        damage: 'json',
      },
      key: ['name'],
    },
    {
      name: 'checks',
      columns: {
        name: 'text',
        checked_ms: 'instant',
        run_id: 'integer',
        run_started_ms: 'instant',
        data_version: 'integer',
        error: 'integer',
        warning: 'integer',
        info: 'integer',
      },
      key: ['name'],
    },
  ],
};
