// The service about itself: the runs that its data come from (contract 9.12).
import { formatInstant } from '../base/instant.ts';
import type { runs } from '../contract/server.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import { answerPage } from './dataset-page.ts';
import type { Query } from './query.ts';

const recordOf = (run: RowOf<typeof importRuns>) => ({
  run: run.run_id,
  kind: run.kind,
  dataset: run.dataset,
  file: run.file,
  rows: run.rows_written,
  finished_at: formatInstant(run.finished_ms),
  undone: run.undone_ms !== null,
  data_version: run.data_version,
});

/** `GET …/server/runs` */
export const answerRuns: Query<typeof runs> = (parameters, context) =>
  answerPage(context, {
    endpoint: 'runs',
    parameters,
    understood: {},
    dataset: importRuns,
    where: {},
    order: ['run_id'],
    direction: parameters.sort,
    recordOf,
  });
