// Layout 12 of a store: what rows of the service's own records were, so that the store can be read as it was at an earlier version.
import type { Step } from './step.ts';

export const store0012: Step = {
  tables: [
    {
      name: 'former_rows',
      columns: {
        dataset: 'text',
        part: 'integer',
        version: 'integer',
        row_key: 'text',
        before: 'json null',
      },
      key: ['dataset', 'part', 'version', 'row_key'],
      indexes: [['dataset', 'version', 'part', 'row_key']],
    },
  ],
};
