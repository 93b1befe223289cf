// Deleting rows of the datasets beside bars and instruments, chosen by what they are about and by their own time (contract 10).
import type { ParsedInstant } from '../base/instant.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import { type Dataset, type RowOf, spokenName } from '../datasets/dataset.ts';
import { eventCodes, events } from '../datasets/economic.ts';
import { holidays } from '../datasets/holidays.ts';
import { news } from '../datasets/news.ts';
import { optionContracts } from '../datasets/options.ts';
import { instruments } from '../datasets/reference.ts';
import type { Store, Writer } from '../store/store.ts';
import { type DeletionRequest, runDeletion } from './deletion.ts';
import { findInstrument } from './instrument-choice.ts';
import { seriesWithBars, useOf } from './instrument-uses.ts';
import { changeRow } from './journal.ts';
import { RequestProblem } from './request-problem.ts';
import { given, type RowRange, rangeOf } from './row-selection.ts';

/** What chooses rows; each dataset takes some of it. */
export type RowChoice = {
  readonly country?: string | undefined;
  readonly assetSchema?: AssetSchema | undefined;
  /** Of options the underlying's; of holidays also `*`, the whole market. */
  readonly symbol?: string | undefined;
  readonly actionType?: string | undefined;
  readonly contract?: string | undefined;
  readonly eventCode?: string | undefined;
  readonly sourceId?: string | undefined;
  /** Inclusive bounds of the row's own time (contract 2.2). */
  readonly from?: ParsedInstant | undefined;
  readonly to?: ParsedInstant | undefined;
  /** Nothing else that narrows the choice is meant to be said. */
  readonly all?: boolean | undefined;
};

export type RowDeleteRequest = DeletionRequest & RowChoice & { readonly dataset: RowDatasetName };

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

/** Rows that are deleted, all of them: what an index has under some values, in the order of its next column. */
type Stretch = { readonly where: Readonly<Record<string, string>>; readonly order: string };

type RowDeletion = {
  readonly dataset: Dataset;
  /** The column that says when a row is; null where none does. */
  readonly time: string | null;
  /** @throws RequestProblem where the choice says too little, or names what is not there */
  readonly stretchesOf: (choice: RowChoice, writer: Writer) => Promise<Stretch[]> | Stretch[];
};

const ROWS_PER_READ = 500;

const deletions = {
  'corporate-actions': {
    dataset: corporateActions,
    time: 'ex_date',
    async stretchesOf({ country, symbol, actionType }, writer) {
      const stock = await findInstrument(writer, {
        assetSchema: 'stock',
        country: country!,
        symbol: symbol!,
      });
      const where = { country_iso_code: country, symbol: stock.symbol, action_type: actionType };
      return [{ where: given(where), order: 'ex_date' }];
    },
  },
  news: {
    dataset: news,
    time: 'published_date',
    async stretchesOf(choice, writer) {
      const { country, assetSchema, symbol } = choice;
      if (symbol !== undefined && country === undefined)
        throw new RequestProblem('--symbol needs --country, such as --country US');
      if (symbol === undefined && (country === undefined) !== (assetSchema === undefined))
        throw new RequestProblem(
          '--country and --schema name a market together: give both, or a --symbol too',
        );
      if (symbol === undefined) refuseUnbounded(choice, 'news', '--symbol, --from or --to');
      const asset_name =
        symbol === undefined
          ? assetSchema
          : (await findInstrument(writer, { assetSchema: assetSchema ?? null, country: country!, symbol }))
              .asset_schema;
      return [{ where: given({ asset_name, country_iso_code: country, symbol }), order: 'published_date' }];
    },
  },
  'option-contracts': {
    dataset: optionContracts,
    time: 'expiration_date',
    async stretchesOf({ country, assetSchema, symbol, contract }, writer) {
      if ((symbol === undefined) === (contract === undefined))
        throw new RequestProblem('give --symbol, the underlying, or --contract, one contract');
      if (contract !== undefined)
        return [{ where: given({ country_iso_code: country, symbol: contract }), order: 'symbol' }];
      const of = { assetSchema: assetSchema ?? null, country: country!, symbol: symbol! };
      const underlying = await findInstrument(writer, of);
      return ['call', 'put'].map((option_type) => ({
        where: {
          country_iso_code: country!,
          parent_asset_schema: underlying.asset_schema,
          underlying_name: underlying.symbol,
          option_type,
        },
        order: 'expiration_date',
      }));
    },
  },
  holidays: {
    dataset: holidays,
    time: 'calendar_date',
    stretchesOf: ({ country, assetSchema, symbol }) => [
      {
        where: given({ country_iso_code: country, asset_name: assetSchema, symbol }),
        order: 'calendar_date',
      },
    ],
  },
  'economic-events': {
    dataset: events,
    time: 'event_timestamp',
    stretchesOf(choice) {
      const { country, eventCode, sourceId } = choice;
      const where = given({ country_iso_code: country, event_code: eventCode });
      if (sourceId !== undefined) return [{ where: { ...where, source_id: sourceId }, order: 'source_id' }];
      if (eventCode === undefined)
        refuseUnbounded(choice, 'events', '--event-code, --source-id, --from or --to');
      return [{ where, order: 'event_timestamp' }];
    },
  },
  'economic-event-codes': {
    dataset: eventCodes,
    time: null,
    stretchesOf(choice) {
      const { country, eventCode } = choice;
      if (eventCode === undefined) refuseUnbounded(choice, 'codes', '--event-code');
      return [{ where: given({ country_iso_code: country, event_code: eventCode }), order: 'event_code' }];
    },
  },
} satisfies Readonly<Record<string, RowDeletion>>;

/** The datasets whose rows can be deleted, as the command line calls them. */
export type RowDatasetName = keyof typeof deletions;

/** A choice of everything must be said to be one. */
function refuseUnbounded({ country, from, to, all }: RowChoice, what: string, narrower: string): void {
  if (from !== undefined || to !== undefined || all === true) return;
  const where = country === undefined ? 'the store' : country;
  throw new RequestProblem(
    `this would delete all ${what} of ${where}: narrow it by ${narrower}, or say --all`,
  );
}

/** Deletes the rows that a choice takes. @throws RequestProblem when it says too little, or names what is not there */
export function deleteRows(store: Store, request: RowDeleteRequest): Promise<RowDeleteReport> {
  const kind: RowDeletion = deletions[request.dataset];
  const { dataset } = kind;
  return runDeletion(store, spokenName(dataset), request, async (writer, runId) => {
    const stretches = await kind.stretchesOf(request, writer);
    const deleted = { rows: 0, instruments: 0 };
    for (const stretch of stretches) {
      const range = timeRange(kind, stretch, request);
      for await (const row of rowsOf(writer, dataset, stretch, range)) {
        await changeRow(writer, runId, dataset, row, null);
        deleted.rows++;
        if (dataset === optionContracts && (await deleteOwn(writer, runId, row))) deleted.instruments++;
      }
    }
    const result = {
      dataset: request.dataset,
      choice: request.words,
      rowsDeleted: deleted.rows,
      instrumentsDeleted: deleted.instruments,
    };
    return { result, count: deleted.rows };
  });
}

/** The bounds of a choice on the time of a stretch. */
function timeRange({ dataset, time }: RowDeletion, { order }: Stretch, { from, to }: RowChoice): RowRange {
  if (from === undefined && to === undefined) return {};
  if (order !== time)
    throw new RequestProblem('what is named one by one has no range: leave --from and --to away');
  return rangeOf(from, to, dataset.columns[time]!.kind === 'day' ? 'day' : 'instant');
}

/** The rows of a stretch, each of which is gone when the next ones are read. */
async function* rowsOf(
  writer: Writer,
  dataset: Dataset,
  { where, order }: Stretch,
  range: RowRange,
): AsyncGenerator<RowOf<Dataset>> {
  for (;;) {
    const read = { where, range, order: [[order, 'asc']], limit: ROWS_PER_READ } as const;
    const rows = await writer.rows(dataset, read);
    yield* rows;
    if (rows.length < ROWS_PER_READ) return;
  }
}

/** A contract's own instrument goes with it, unless something else needs it. */
async function deleteOwn(writer: Writer, runId: number, contract: RowOf<Dataset>): Promise<boolean> {
  const { country_iso_code, symbol } = contract as RowOf<typeof optionContracts>;
  const where = { asset_schema: 'option', country_iso_code, symbol };
  const [own] = await writer.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 });
  if (own === undefined || (await useOf(writer, own)) !== null) return false;
  if ((await seriesWithBars(writer, own)).length > 0) return false;
  await changeRow(writer, runId, instruments, own, null);
  return true;
}
