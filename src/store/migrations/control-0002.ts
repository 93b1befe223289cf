// Layout 2 of a control file: what keys have used of their quotas.
import type { Step } from './step.ts';

export const control0002: Step = {
  tables: [
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
  ],
};
