// Layout 4 of a control file: every row has a checksum over its key and its values; what the newest reading of the whole store found.
import type { Step } from './step.ts';

export const control0004: Step = {
  checksRows: true,
  tables: [
    {
      name: 'scrubs',
      columns: { name: 'text', started_ms: 'instant', finished_ms: 'instant null', damage: 'json' },
      key: ['name'],
    },
  ],
};
