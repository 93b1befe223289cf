// Deleting rows of the datasets beside bars and instruments: a recorded run like an import, which can be taken back (contract 10).
import type { ParsedInstant } from '../base/instant.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { type Dataset, type RowOf, spokenName } from '../datasets/dataset.ts';
import type { FileDataset } from '../datasets/index.ts';
import { instruments } from '../datasets/reference.ts';
import { rowWith } from '../store/all-rows.ts';
import { type RowSelection, selectedRows } from '../store/selected-rows.ts';
import type { Store, Writer } from '../store/store.ts';
import { type DeletionRequest, runDeletion } from './deletion.ts';
import { findInstrument } from './instrument-choice.ts';
import { seriesWithBars, useOf } from './instrument-uses.ts';
import { changeRow } from './journal.ts';
import { namedBy } from './naming.ts';
import { RequestProblem } from './request-problem.ts';
import { rangeOf } from './row-selection.ts';

/** What chooses rows. */
export type RowChoice = {
  /** The values of flags, such as `--country`: those of the dataset's fields, and its selectors. */
  readonly flags: Readonly<Record<string, string>>;
  /** Inclusive bounds of the row's own time (contract 2.2). */
  readonly from?: ParsedInstant | undefined;
  readonly to?: ParsedInstant | undefined;
  /** Nothing else that narrows the choice is meant to be said. */
  readonly all?: boolean | undefined;
};

export type RowDeleteRequest = DeletionRequest & RowChoice & { readonly dataset: FileDataset };

/** The account of a deletion. */
export type RowDeleteReport = {
  readonly dataset: string;
  /** Null where nothing was written. */
  readonly runId: number | null;
  /** What was asked for, in words. */
  readonly choice: string;
  readonly rowsDeleted: number;
  /** Those of option contracts, which go with them. */
  readonly instrumentsDeleted: number;
};

/** Flags that name a market: by themselves they narrow no choice. */
const marketFlags = ['--country', '--schema'];

/** The rows that a choice takes. @throws RequestProblem where it says too little, or names what is not there */
async function selectionOf(writer: Writer, request: RowDeleteRequest): Promise<RowSelection> {
  const { dataset, flags, from, to } = request;
  const { fields, time, deletion } = dataset.file;
  const selectors = deletion!.selectors ?? {};
  checkChoice(request);
  const where: Record<string, string> = {};
  for (const [flag, value] of Object.entries(await withInstrument(writer, request))) {
    const field = Object.keys(fields).find((name) => fields[name]!.flag === flag);
    const column = selectors[flag]?.column ?? field!;
    if (Object.hasOwn(dataset.columns, column)) where[column] = value;
  }
  if (time === undefined) return { where };
  const isAlone = Object.keys(flags).some((flag) => selectors[flag]?.isAlone);
  if (isAlone && (from ?? to) !== undefined)
    throw new RequestProblem('what is named one by one has no range: leave --from and --to away');
  return { where, range: rangeOf(from, to, dataset.columns[time]!.kind === 'day' ? 'day' : 'instant') };
}

/** A choice of everything must be said to be one. */
function checkChoice({ dataset, flags, from, to, all }: RowDeleteRequest): void {
  const { fields, time, names = [], deletion } = dataset.file;
  const { rows, needs, selectors = {} } = deletion!;
  const alone = Object.keys(selectors).filter((flag) => selectors[flag]!.isAlone);
  const given = [...alone, '--symbol'].filter((flag) => flags[flag] !== undefined);
  const isNamed = names.some(({ isOwn }) => isOwn);
  if (isNamed && given.length !== 1)
    throw new RequestProblem(`give --symbol, the underlying, or ${alone.join(' or ')}, one contract`);
  const has = (flag: string): boolean => Object.values(fields).some((field) => field.flag === flag);
  if (has('--symbol') && !needs.includes('--country')) checkMarket(flags);
  const isNarrowed = Object.keys(flags).some((flag) => !marketFlags.includes(flag));
  if (isNarrowed || from !== undefined || to !== undefined || all === true) return;
  const where = flags['--country'] ?? 'the store';
  const narrower = [
    ...(has('--symbol') ? ['--symbol'] : []),
    ...Object.keys(selectors),
    ...(time === undefined ? [] : ['--from', '--to']),
  ];
  const last = narrower.pop();
  throw new RequestProblem(
    `this would delete all ${rows} of ${where}: narrow it by ${[...(narrower.length > 0 ? [narrower.join(', ')] : []), last].join(' or ')}, or say --all`,
  );
}

/** A symbol and a market are named whole. */
function checkMarket(flags: RowChoice['flags']): void {
  const { '--country': country, '--schema': schema, '--symbol': symbol } = flags;
  if (symbol !== undefined && country === undefined)
    throw new RequestProblem('--symbol needs --country, such as --country US');
  if (symbol === undefined && (country === undefined) !== (schema === undefined))
    throw new RequestProblem('--country and --schema name a market together: give both, or a --symbol too');
}

/** The flags of a choice with the asset type of the instrument that it names, where that was left out. */
async function withInstrument(
  writer: Writer,
  { dataset, flags }: RowDeleteRequest,
): Promise<RowChoice['flags']> {
  const { '--symbol': symbol, '--country': country, '--schema': schema } = flags;
  const [naming] = dataset.file.names ?? [];
  // Days may be an instrument's that is not known.
  if (symbol === undefined || naming === undefined || naming.mayBeMarket) return flags;
  const assetSchema = typeof naming.assetSchema === 'string' ? naming.assetSchema : (schema ?? null);
  const choice = { assetSchema: assetSchema as AssetSchema | null, country: country!, symbol };
  const { asset_schema } = await findInstrument(writer, choice);
  return { ...flags, '--schema': asset_schema };
}

/** Deletes the rows that a choice takes. @throws RequestProblem when it says too little, or names what is not there */
export function deleteRows(store: Store, request: RowDeleteRequest): Promise<RowDeleteReport> {
  const { dataset } = request;
  return runDeletion(store, spokenName(dataset), request, async (writer, runId) => {
    const deleted = { rows: 0, instruments: 0 };
    for await (const row of selectedRows(writer, dataset, await selectionOf(writer, request))) {
      await changeRow(writer, runId, dataset, row, null);
      deleted.rows++;
      if (await deleteOwn(writer, runId, dataset, row)) deleted.instruments++;
    }
    const result = {
      dataset: spokenName(dataset),
      choice: request.words,
      rowsDeleted: deleted.rows,
      instrumentsDeleted: deleted.instruments,
    };
    return { result, count: deleted.rows };
  });
}

/** The instrument that a row is goes with it, unless something else needs it. */
async function deleteOwn(
  writer: Writer,
  runId: number,
  dataset: Dataset,
  row: RowOf<Dataset>,
): Promise<boolean> {
  const named = namedBy(dataset, row).find(({ isOwn }) => isOwn);
  if (named === undefined) return false;
  const own = await rowWith(writer, instruments, named.name);
  if (own === null || (await useOf(writer, own)) !== null) return false;
  if ((await seriesWithBars(writer, own)).length > 0) return false;
  await changeRow(writer, runId, instruments, own, null);
  return true;
}
