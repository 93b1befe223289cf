// The service about itself: its address and version (contract 9.14), the runs that its data come from
// (contract 9.12), and its state for whoever operates it: what its HTTP process and its store tell (contract
// 7.6).
import { formatInstant } from '../base/instant.ts';
import type { RecordOf } from '../contract/endpoint.ts';
import { limits } from '../contract/limits.ts';
import type { addressInfo, operateStatus, runs } from '../contract/server.ts';
import { soundRows } from '../store/all-rows.ts';
import { type Check, checkOf } from '../store/control.ts';
import { type Damage, damageWords, unlessDamaged } from '../store/damage.ts';
import { newestLayout, storeHistory } from '../store/migrations/index.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { failedFiles, importRuns } from '../store/schema/internal.ts';
import type { Reader } from '../store/store.ts';
import { answerPage } from './pages/dataset-page.ts';
import { type Answer, allocateFresh, type Query, type ServiceFacts } from './query.ts';
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

type State = RecordOf<typeof operateStatus>;

/** The state of a service, as its HTTP process knows it, and the newest check. */
export type ServiceState = Pick<State, 'health' | 'disk' | 'keys'> & { readonly check: Check | null };

/** The facts about a service with its state. */
type StateFacts = ServiceFacts & { readonly state: ServiceState };

/** The part of the state that a store tells, and its damage that these reads meet. */
type StoredState = Pick<State, 'findings' | 'runs' | 'failed_files' | 'failed_count'> &
  Pick<State['versions'], 'data_version'> &
  Pick<State['health'], 'damaged'>;

/** The part of a store that cannot be reached. */
const unknownState: StoredState = {
  ...{ findings: null, runs: null, failed_files: null, failed_count: null, data_version: null, damaged: [] },
};

/** Reads the state that a store tells. A damaged row is named, and hides no other. */
async function storedState(reader: Reader, kept: Check | null): Promise<StoredState> {
  const damaged: string[] = [];
  const onDamage = (damage: Damage): void => void damaged.push(damageWords(damage));
  const newest = { order: [['run_id', 'desc']], limit: limits.stateRunsMax } as const;
  const byPath = {
    order: [
      ['dataset', 'asc'],
      ['path', 'asc'],
    ],
    limit: limits.stateRowsMax,
  } as const;
  const found = await soundRows(reader, importRuns, newest, onDamage);
  const failed = await soundRows(reader, failedFiles, byPath, onDamage);
  const check = kept && (await unlessDamaged(checkOf(reader, kept), onDamage));
  return {
    findings: check && {
      checked_at: formatInstant(check.checked_ms),
      ...{ data_version: check.data_version, info: check.info, warning: check.warning, error: check.error },
    },
    runs: found.map(({ run_id, kind, dataset, file, started_ms, finished_ms, undone_ms, ...rows }) => ({
      ...{ run: run_id, kind: kind as 'import' | 'delete', dataset, file },
      ...{ rows_read: rows.rows_read, rows_written: rows.rows_written },
      ...{ rows_unchanged: rows.rows_unchanged, rows_refused: rows.rows_refused },
      ...{ started_at: formatInstant(started_ms), finished_at: formatInstant(finished_ms) },
      undone: undone_ms !== null,
    })),
    failed_files: failed.map(({ dataset, path, problem, failed_ms }) => {
      return { dataset, path, problem, failed_at: formatInstant(failed_ms) };
    }),
    failed_count: await unlessDamaged(reader.count(failedFiles), onDamage),
    data_version: await reader.version(),
    damaged,
  };
}

/** Puts the parts together in the order of the wire. */
function stateOf({ version, state }: StateFacts, stored: StoredState): State {
  const { health, disk, keys } = state;
  const { damaged, data_version, ...rest } = stored;
  return {
    health: { ...health, damaged: [...new Set([...health.damaged, ...damaged])] },
    versions: { program: version, layout: newestLayout(storeHistory), data_version },
    disk,
    ...rest,
    keys,
  };
}

/** `GET …/operate/status`: the state of the service and of its store now. */
export const answerOperateStatus: Query<typeof operateStatus> = async (_, { request, reader, allocate }) => {
  const about = request.service as StateFacts;
  return renderResult(stateOf(about, await storedState(reader, about.state.check)), allocate);
};

/** The same while the store cannot be reached. */
export const stateWithoutStore = (about: StateFacts): Answer =>
  renderResult(stateOf(about, unknownState), allocateFresh);
