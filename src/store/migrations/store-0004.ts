// Layout 4 of a store: bars that were not finished at their import, and how far each run makes its series complete; that replaces one
// instant for each market.
import type { Step } from './step.ts';

export const store0004: Step = {
  columns: { series: { complete_ms: 'instant null', complete_run_id: 'integer null' } },
  tables: [
    {
      name: 'run_coverage',
      columns: {
        run_id: 'integer',
        market: 'text',
        interval: 'text',
        complete_ms: 'instant',
        series_count: 'integer',
        series: 'bytes',
      },
      key: ['run_id', 'market', 'interval'],
      indexes: [['market', 'interval', 'complete_ms', 'run_id']],
    },
    {
      name: 'unfinished_bars',
      columns: { series_id: 'integer', run_id: 'integer', first_ms: 'instant', last_ms: 'instant' },
      key: ['series_id', 'run_id', 'first_ms'],
      indexes: [['run_id', 'series_id', 'first_ms']],
    },
  ],
  drops: ['bar_coverage'],
  // The runs so far have no coverage yet: `history/old-runs.ts` makes it from the journal.
  statements: {
    sqlite: [
      "delete from row_changes where dataset = 'bar_coverage'",
      "insert into counters (name, value) select 'uncovered_runs', max(run_id) from import_runs having max(run_id) is not null",
    ],
  },
};
