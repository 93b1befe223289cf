// Layout 9 of a store: what each of the newest writes changed.
import type { Step } from './step.ts';

export const store0009: Step = {
  tables: [
    {
      name: 'changes',
      columns: { version: 'integer', parts: 'json null' },
      key: ['version'],
      keptAsTheyCome: true,
    },
  ],
};
