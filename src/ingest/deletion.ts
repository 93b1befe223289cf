// What every deletion is: one recorded write, which can be taken back; and the instrument that it is about.
import { type AssetSchema, assetSchemas } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import type { OnWait, Store, Writer } from '../store/store.ts';
import { nextValue } from './load.ts';
import { nearest } from './mapping.ts';
import { RequestProblem } from './problem.ts';
import { writeOrTry } from './trial.ts';

type Instrument = RowOf<typeof instruments>;

/** What every deletion is asked with. */
export type DeletionRequest = {
  /** What is asked for, in words: kept with the run. */
  readonly words: string;
  /** Does everything, and writes nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
};

/** Which instrument is meant. The asset type may be left out where no other type has the symbol. */
export type InstrumentChoice = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string;
  readonly symbol: string;
};

/** Symbols compared for a hint. */
const NEIGHBOURS_MAX = 1000;

/** Runs a deletion in one write and records it as a run, unless it is a trial or there was nothing to delete: then its number is null. */
export function runDeletion<T>(
  store: Store,
  dataset: string,
  request: DeletionRequest,
  work: (writer: Writer, runId: number) => Promise<{ readonly result: T; readonly count: number }>,
): Promise<T & { readonly runId: number | null }> {
  return writeOrTry(
    store,
    async (writer) => {
      const startedMs = request.nowMs();
      const runId = await nextValue(writer, 'run_id', 1);
      const { result, count } = await work(writer, runId);
      const isTrial = request.dryRun || count === 0;
      await record(writer, runId, dataset, request, count, startedMs);
      return { result: { ...result, runId: isTrial ? null : runId }, isTrial };
    },
    request.onWait,
  );
}

async function record(
  writer: Writer,
  runId: number,
  dataset: string,
  { words, nowMs }: DeletionRequest,
  count: number,
  startedMs: number,
): Promise<void> {
  await writer.upsert(importRuns, [
    {
      run_id: runId,
      kind: 'delete',
      dataset,
      file: words,
      sha256: '',
      source: null,
      rows_read: count,
      rows_written: count,
      rows_unchanged: 0,
      rows_refused: 0,
      started_ms: startedMs,
      finished_ms: nowMs(),
      undone_ms: null,
    },
  ]);
  await nextValue(writer, 'data_version', 1);
}

/** The instrument that is meant. @throws RequestProblem where none is, or several are */
export async function findInstrument(writer: Writer, choice: InstrumentChoice): Promise<Instrument> {
  const { assetSchema, country, symbol } = choice;
  const schemas = assetSchema === null ? assetSchemas : [assetSchema];
  const found: Instrument[] = [];
  for (const schema of schemas) {
    const where = { asset_schema: schema, country_iso_code: country, symbol };
    found.push(...(await writer.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 })));
  }
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const types = found.map((instrument) => instrument.asset_schema).join(', ');
    throw new RequestProblem(
      `${country}:${symbol} is of several asset types: choose by --schema one of ${types}`,
    );
  }
  const near = nearest(symbol, await neighbours(writer, schemas, country, symbol[0]!));
  throw new RequestProblem(
    `the store holds no ${assetSchema ?? 'instrument'} ${country}:${symbol}${near === undefined ? '' : `; is it ${near}?`}`,
  );
}

async function neighbours(
  writer: Writer,
  schemas: readonly string[],
  country: string,
  beginning: string,
): Promise<string[]> {
  const symbols: string[] = [];
  for (const schema of schemas) {
    const found = await writer.rows(instruments, {
      where: { asset_schema: schema, country_iso_code: country },
      range: { from: beginning, to: `${beginning}\u{10ffff}` },
      order: [['symbol', 'asc']],
      limit: NEIGHBOURS_MAX,
    });
    symbols.push(...found.map((instrument) => instrument.symbol));
  }
  return symbols;
}
