// Layout 6 of a control file: how many findings the newest check of the whole store had.
import type { Step } from './step.ts';

export const control0006: Step = {
  tables: [
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
