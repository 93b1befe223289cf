// Deleting rows of the datasets beside bars and instruments: a recorded run, which can be undone (contract
// 10).
import type { ParsedInstant } from '../base/instant.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { type Dataset, type RowOf, spokenName } from '../store/schema/dataset.ts';
import type { FileDataset } from '../store/schema/index.ts';
import { isSelected, type RowSelection, selectedRows } from '../store/selected-rows.ts';
import type { Store, Writer } from '../store/store.ts';
import { findInstrument } from './instrument-choice.ts';
import { changeRows } from './journal.ts';
import { deleteOwn, removeBeside } from './naming.ts';
import { type DeletionRequest, RequestProblem, runDeletion } from './recorded-write.ts';
import { removeDamagedRow, removingDamaged } from './remove-damaged.ts';
import { rangeOf } from './stored-series.ts';

/** Which rows to delete. */
type RowChoice = {
  /** The values of flags, such as `--country`: those of the dataset's fields, and its selectors. */
  readonly flags: Readonly<Record<string, string>>;
  /** Inclusive bounds of the row's own time (contract 2.2). */
  readonly from?: ParsedInstant | undefined;
  readonly to?: ParsedInstant | undefined;
  /** Allows a choice that nothing narrows. */
  readonly all?: boolean | undefined;
};

/** A deletion of rows of one dataset. */
type RowDeleteRequest = DeletionRequest & RowChoice & { readonly dataset: FileDataset };

/** The report of a deletion. */
export type RowDeleteReport = {
  readonly dataset: string;
  /** Null where nothing was written. */
  readonly runId: number | null;
  /** The choice in words. */
  readonly choice: string;
  readonly rowsDeleted: number;
  /** Of these, the damaged ones: no undo restores them. */
  readonly damagedDeleted: number;
  /** Instruments of deleted option contracts. */
  readonly instrumentsDeleted: number;
  /** Bars that are no longer served: the deletion has changed their calendar. */
};

/** Flags that name a market: these alone narrow no choice. */
const marketFlags = ['--country', '--schema'];

/** The rows of a choice. @throws RequestProblem where it is too wide, or names an unknown instrument */
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
  const alone = Object.keys(flags).find((flag) => selectors[flag]?.isAlone);
  if (alone !== undefined && (from ?? to) !== undefined)
    throw new RequestProblem(`${alone} names single rows, which have no range: leave out --from and --to`);
  return { where, range: rangeOf(from, to, dataset.columns[time]!.kind === 'day' ? 'day' : 'instant') };
}

/** Refuses a choice that lacks a flag, or deletes everything without `--all`. */
function checkChoice({ dataset, flags, from, to, all }: RowDeleteRequest): void {
  const { fields, time, names = [], deletion } = dataset.file;
  const { rows, needs, selectors = {} } = deletion!;
  const { '--country': country, '--schema': schema, '--symbol': symbol } = flags;
  const alone = Object.keys(selectors).filter((flag) => selectors[flag]!.isAlone);
  const given = [...alone, '--symbol'].filter((flag) => flags[flag] !== undefined);
  if (names.some(({ isOwn }) => isOwn) && given.length !== 1)
    throw new RequestProblem(`give --symbol, the underlying, or ${alone.join(' or ')}, one contract`);
  const hasSymbol = Object.values(fields).some(({ flag }) => flag === '--symbol');
  if (hasSymbol && !needs.includes('--country')) {
    if (symbol !== undefined && country === undefined)
      throw new RequestProblem('--symbol needs --country, such as --country US');
    if (symbol === undefined && (country === undefined) !== (schema === undefined))
      throw new RequestProblem('--country and --schema name a market together: give both, or add --symbol');
  }
  const isNarrowed = Object.keys(flags).some((flag) => !marketFlags.includes(flag));
  if (isNarrowed || from !== undefined || to !== undefined || all === true) return;
  const narrower = [
    ...(hasSymbol ? ['--symbol'] : []),
    ...Object.keys(selectors),
    ...(time === undefined ? [] : ['--from', '--to']),
  ];
  const choices = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(narrower);
  throw new RequestProblem(
    `this would delete all ${rows} of ${country ?? 'the store'}: narrow it by ${choices}, or add --all`,
  );
}

/** The flags of a choice, with the asset type of the instrument that they name. */
async function withInstrument(
  writer: Writer,
  { dataset, flags }: RowDeleteRequest,
): Promise<RowChoice['flags']> {
  const { '--symbol': symbol, '--country': country, '--schema': schema } = flags;
  const [naming] = dataset.file.names ?? [];
  // Calendar overrides may be of an unknown instrument.
  if (symbol === undefined || naming === undefined || naming.mayBeMarket) return flags;
  const assetSchema = typeof naming.assetSchema === 'string' ? naming.assetSchema : (schema ?? null);
  const choice = { assetSchema: assetSchema as AssetSchema | null, country: country!, symbol };
  const found = await findInstrument(writer, choice);
  return { ...flags, '--symbol': found.symbol, '--schema': found.asset_schema };
}

/**
 * Deletes the rows of a choice. @throws RequestProblem where it is too wide, or names an unknown instrument
 */
export function deleteRows(store: Store, request: RowDeleteRequest): Promise<RowDeleteReport> {
  const { dataset, words } = request;
  return runDeletion(store, spokenName(dataset), request, async (writer, runId) => {
    let [rowsDeleted, damagedDeleted, instrumentsDeleted] = [0, 0, 0];
    const selection = await selectionOf(writer, request);
    const deleted = async (row: RowOf<Dataset>): Promise<void> => {
      rowsDeleted++;
      request.onRows?.(rowsDeleted);
      if (await removeBeside(writer, runId, dataset, row)) damagedDeleted++;
      if (await deleteOwn(writer, runId, dataset, row)) instrumentsDeleted++;
    };
    const deleteSelected = async (): Promise<void> => {
      for await (const row of selectedRows(writer, dataset, selection)) {
        await changeRows(writer, runId, dataset, [{ before: row, after: null }]);
        await deleted(row);
      }
    };
    await removingDamaged(dataset, deleteSelected, async (row) => {
      if (!isSelected(dataset, selection, row)) return false;
      await removeDamagedRow(writer, dataset, row);
      damagedDeleted++;
      await deleted(row as RowOf<Dataset>);
      return true;
    });
    const about = { dataset: spokenName(dataset), choice: words };
    const counts = { rowsDeleted, damagedDeleted, instrumentsDeleted };
    return { result: { ...about, ...counts }, count: rowsDeleted };
  });
}
