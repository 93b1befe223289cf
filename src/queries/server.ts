// The service about itself: the runs that its data come from (contract 9.12), its address and version
// (contract 9.14).
import { formatInstant } from '../base/instant.ts';
import type { addressInfo, runs } from '../contract/server.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { importRuns } from '../store/schema/internal.ts';
import { answerPage } from './pages/dataset-page.ts';
import type { Query } from './query.ts';
import { renderResult } from './render/list.ts';

type Run = RowOf<typeof importRuns>;

const recordOf = (run: Run, wasUndone: (run: Run) => boolean) => ({
  run: run.run_id,
  kind: run.kind,
  dataset: run.dataset,
  file: run.file,
  rows: run.rows_written,
  finished_at: formatInstant(run.finished_ms),
  undone: wasUndone(run),
  data_version: run.data_version,
});

/**
 * `GET …/server/runs`. As of a moment: the runs that had ended, and whether they had been undone (contract
 * 9.8).
 */
const answerRuns: Query<typeof runs> = (parameters, context) => {
  const { ms } = context.moment;
  const wasUndone = ({ undone_ms }: Run): boolean => undone_ms !== null && undone_ms <= ms;
  return answerPage(context, {
    parameters,
    understood: {},
    dataset: importRuns,
    where: {},
    order: ['run_id'],
    direction: parameters.sort,
    holds: ({ finished_ms }) => finished_ms <= ms,
    recordOf: (run) => recordOf(run, wasUndone),
  });
};

/** `GET …/server/address_info`: nothing of it is stored, so it is not cached. */
const answerAddressInfo: Query<typeof addressInfo> = async (_, { request, allocate }) => {
  const { baseAddress, version } = request.service!;
  return renderResult({ base_address: baseAddress, version }, allocate);
};

/** The queries of these endpoints. */
export const serverQueries = { runs: answerRuns, addressInfo: answerAddressInfo };
