// Layout 13 of a store: runs record the bars and rows that they held unchanged, so that an undo of an earlier run leaves these to them;
// calendar days of files may have the date of their announcement.
import type { Step } from './step.ts';

export const store0013: Step = {
  columns: { run_coverage: { tells_held: 'boolean null' }, holidays: { announced: 'day null' } },
  tables: [
    {
      name: 'held_bars',
      columns: { series_id: 'integer', bucket: 'integer', run_id: 'integer', keys: 'bytes' },
      key: ['series_id', 'bucket', 'run_id'],
      indexes: [['run_id', 'series_id', 'bucket']],
    },
    {
      name: 'held_rows',
      columns: { dataset: 'text', run_id: 'integer', part: 'integer', hashes: 'bytes' },
      key: ['dataset', 'run_id', 'part'],
    },
  ],
};
