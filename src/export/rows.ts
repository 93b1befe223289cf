// Rows of the store as rows of native files: the columns that their imports know, in that order, and what was said in each.
import { formatDay, formatInstantZ, SECOND_MS } from '../base/instant.ts';
import { assetSchemas } from '../contract/identifiers.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import type { ColumnKind, Dataset, RowOf } from '../datasets/dataset.ts';
import { eventCodes, events } from '../datasets/economic.ts';
import { holidays } from '../datasets/holidays.ts';
import { news } from '../datasets/news.ts';
import { optionContracts } from '../datasets/options.ts';
import { type FormerSymbol, instruments } from '../datasets/reference.ts';
import { given, type RowRange, rangeOf } from '../history/row-selection.ts';
import { corporateActionFields, symbolOfAction } from '../loading/corporate-actions.ts';
import { eventCodeFields, eventFields, impacts, RANK_UNKNOWN } from '../loading/economic.ts';
import { holidayFields, symbolOfHoliday } from '../loading/holidays.ts';
import { newsFields, symbolOfNews } from '../loading/news.ts';
import { optionContractFields, symbolOfUnderlying } from '../loading/options.ts';
import { instrumentFields } from '../loading/reference.ts';
import type { NamedOnDay } from '../loading/rows.ts';
import type { FieldNames } from '../mapping/column-mapping.ts';
import { allRows, rowsInOrder } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';
import { ExportSymbols } from './export-symbols.ts';
import type { ExportTable, Lines, Selection } from './export-table.ts';
import type { Cell, TextStyle } from './text-style.ts';

type Row = Readonly<Record<string, unknown>>;
type Column = { readonly name: string; readonly type: string; readonly value: (row: Row) => Cell };

/** How a dataset leaves the store. */
type RowExport = {
  readonly dataset: Dataset;
  readonly fields: FieldNames;
  /** Columns that the dataset does not have, or that say something else than its own. */
  readonly own: readonly Column[];
  /** Columns of its imports that no file takes along. */
  readonly omitted?: readonly string[];
  readonly rows: (reader: Reader, selection: Selection) => AsyncGenerator<Row>;
  /** The symbol by which a row names an instrument, as its import reads it. */
  readonly symbolOf?: (row: Row) => NamedOnDay | null;
};

/** Characters of lines that are handed on at a time. */
const PIECE_LENGTH = 256 * 1024;

const INSTRUMENTS_PER_READ = 2_000;

/** A row may be as long as a row of a file may be. */
const ROWS_PER_READ = 100;

/** An instant to the millisecond. */
function instantText(ms: number): string {
  const fraction = ms - Math.floor(ms / SECOND_MS) * SECOND_MS;
  const text = formatInstantZ(ms);
  return fraction === 0 ? text : `${text.slice(0, -1)}.${String(fraction).padStart(3, '0')}Z`;
}

const types: Readonly<Record<ColumnKind, string>> = {
  text: 'VARCHAR',
  integer: 'BIGINT',
  real: 'DOUBLE',
  instant: 'TIMESTAMP WITH TIME ZONE',
  day: 'DATE',
  boolean: 'BOOLEAN',
  json: 'VARCHAR',
  bytes: 'BLOB',
};

function cellOf(kind: ColumnKind, value: unknown): Cell {
  if (value === null) return null;
  if (kind === 'instant') return instantText(value as number);
  return kind === 'day' ? formatDay(value as number) : (value as Cell);
}

function columnsOf({ dataset, fields, own, omitted = [] }: RowExport): Column[] {
  const names = [...fields.required, ...fields.optional].filter((name) => !omitted.includes(name));
  return names.map((name) => {
    const known = own.find((column) => column.name === name);
    if (known !== undefined) return known;
    const { kind } = dataset.columns[name]!;
    return { name, type: types[kind], value: (row) => cellOf(kind, row[name]) };
  });
}

/** Whether a day lies within the bounds, by their dates as they were written (contract 2.2). */
const holdsDay = (day: unknown, { from, to }: Selection): boolean =>
  (from === null || (day as number) >= from.day) && (to === null || (day as number) <= to.day);

/** The bounds of instants. */
const instantRange = ({ from, to }: Selection): RowRange => rangeOf(from, to, 'instant');

const isEqual = (row: Row, columns: Readonly<Record<string, string>>): boolean =>
  Object.entries(columns).every(([name, value]) => row[name] === value);

/** Rows in the order of the key, which begins with what is wanted of it; every other part of the selection is held against each. */
async function* byKey<D extends Dataset>(
  reader: Reader,
  dataset: D,
  wanted: Readonly<Record<string, string | null>>,
  holds: (row: RowOf<D>) => boolean = () => true,
): AsyncGenerator<RowOf<D>> {
  const where = given(wanted) as Partial<RowOf<D>>;
  for await (const row of allRows(reader, dataset, where)) if (holds(row)) yield row;
}

/** The selected instruments in the order of their key. */
export async function* selectedInstruments(
  reader: Reader,
  { assetSchema, country, symbol }: Selection,
): AsyncGenerator<RowOf<typeof instruments>> {
  const rest = given({ country_iso_code: country, symbol });
  for (const asset_schema of assetSchema === null ? assetSchemas : [assetSchema]) {
    const where = { asset_schema, ...rest };
    yield* rowsInOrder(reader, instruments, {
      where,
      order: instrumentOrder(country),
      limit: INSTRUMENTS_PER_READ,
    });
  }
}

const instrumentOrder = (country: string | null) =>
  country === null
    ? ([
        ['country_iso_code', 'asc'],
        ['symbol', 'asc'],
      ] as const)
    : ([['symbol', 'asc']] as const);

/** By their time, from the index that the selection's first parts lead to; those of a country asset type by asset type. */
async function* newsRows(reader: Reader, selection: Selection) {
  const { assetSchema, country, symbol } = selection;
  const isOfAny = assetSchema === null && country !== null;
  for (const asset_name of isOfAny ? assetSchemas : [assetSchema])
    yield* newsOf(reader, selection, given({ asset_name, country_iso_code: country, symbol }));
}

async function* newsOf(reader: Reader, selection: Selection, wanted: Readonly<Record<string, string>>) {
  const isIndexed = wanted.asset_name !== undefined && wanted.country_iso_code !== undefined;
  const read = {
    where: isIndexed ? wanted : {},
    range: instantRange(selection),
    order: [
      ['published_date', 'asc'],
      ['news_id', 'asc'],
    ] as const,
    limit: ROWS_PER_READ,
  };
  for await (const row of rowsInOrder(reader, news, read)) if (isEqual(row, wanted)) yield row;
}

const eventRows = (reader: Reader, selection: Selection) =>
  rowsInOrder(reader, events, {
    where: given({ country_iso_code: selection.country }),
    range: instantRange(selection),
    order: [
      ['event_timestamp', 'asc'],
      ['rank', 'asc'],
      ['event_code', 'asc'],
      ['source_id', 'asc'],
    ],
    limit: ROWS_PER_READ,
  });

const text = (name: string, value: (row: Row) => string | null): Column => ({
  name,
  type: types.text,
  value,
});

/** Former symbols as their import reads them (contract 9.6). */
const formerText = (symbols: readonly FormerSymbol[] | null): string | null =>
  symbols
    ?.map(({ symbol, from_day, to_day }) => `${symbol}:${formatDay(from_day)}..${formatDay(to_day)}`)
    .join(' ') ?? null;

/** By importance, 1 to 3; null where it is not known. */
const importanceOf = ({ rank }: Row): number | null =>
  rank === RANK_UNKNOWN ? null : RANK_UNKNOWN - (rank as number);

const exports: Readonly<Record<string, RowExport>> = {
  'corporate-actions': {
    dataset: corporateActions,
    fields: corporateActionFields,
    own: [text('asset_schema', () => 'stock')],
    rows: (reader, selection) =>
      byKey(
        reader,
        corporateActions,
        { country_iso_code: selection.country, symbol: selection.symbol },
        (row) => (selection.assetSchema ?? 'stock') === 'stock' && holdsDay(row.ex_date, selection),
      ),
    symbolOf: symbolOfAction,
  },
  'economic-event-codes': {
    dataset: eventCodes,
    fields: eventCodeFields,
    own: [],
    rows: (reader, { country }) => byKey(reader, eventCodes, { country_iso_code: country }),
  },
  'economic-events': {
    dataset: events,
    fields: eventFields,
    own: [
      { name: 'importance', type: types.integer, value: importanceOf },
      text('impact', (row) => impacts[(importanceOf(row) ?? 0) - 1] ?? null),
    ],
    rows: eventRows,
  },
  holidays: {
    dataset: holidays,
    fields: holidayFields,
    own: [],
    rows: (reader, selection) =>
      byKey(
        reader,
        holidays,
        { country_iso_code: selection.country },
        (row) =>
          isEqual(row, given({ asset_name: selection.assetSchema, symbol: selection.symbol })) &&
          holdsDay(row.calendar_date, selection),
      ),
    symbolOf: symbolOfHoliday,
  },
  instruments: {
    dataset: instruments,
    fields: instrumentFields,
    own: [text('former_symbols', (row) => formerText(row.former_symbols as FormerSymbol[] | null))],
    // A number of this store: another one gives its own.
    omitted: ['parent_schema_instrument_id'],
    rows: selectedInstruments,
  },
  news: { dataset: news, fields: newsFields, own: [], rows: newsRows, symbolOf: symbolOfNews },
  'option-contracts': {
    dataset: optionContracts,
    fields: optionContractFields,
    // What a contract is where no file says so, must not be said: it would be the instrument's too.
    own: [text('status', ({ status }) => (status === 'active' ? null : (status as string)))],
    rows: (reader, selection) => {
      const { assetSchema, country, symbol } = selection;
      const wanted = given({ parent_asset_schema: assetSchema, underlying_name: symbol });
      return byKey(
        reader,
        optionContracts,
        { country_iso_code: country },
        (row) => isEqual(row, wanted) && holdsDay(row.expiration_date, selection),
      );
    },
    symbolOf: symbolOfUnderlying,
  },
};

/** Rows under the symbols by which an import finds their instruments again (contract 9.6). */
async function* named(
  { symbolOf }: RowExport,
  symbols: ExportSymbols,
  rows: AsyncIterable<Row>,
): AsyncGenerator<Row> {
  for await (const row of rows) {
    const said = symbolOf?.(row) ?? null;
    yield said === null ? row : { ...row, [said.field]: (await symbols.of(said.name)).on(said.day) };
  }
}

async function* linesOf(
  rows: AsyncIterable<Row>,
  columns: readonly Column[],
  style: TextStyle,
): AsyncGenerator<Lines> {
  const before = style.before(columns.map(({ name }) => name));
  let piece = { text: '', rows: 0 };
  for await (const row of rows) {
    for (const [place, { value }] of columns.entries()) piece.text += before[place]! + style.cell(value(row));
    piece.text += style.end;
    piece.rows++;
    if (piece.text.length < PIECE_LENGTH) continue;
    yield piece;
    piece = { text: '', rows: 0 };
  }
  if (piece.rows > 0) yield piece;
}

/** Datasets whose rows have instants; those of the others have dates. */
const timed: readonly Dataset[] = [news, events];

function tableOf(kind: RowExport, reader: Reader, selection: Selection): ExportTable {
  rangeOf(selection.from, selection.to, timed.includes(kind.dataset) ? 'instant' : 'day');
  const columns = columnsOf(kind);
  const symbols = new ExportSymbols(reader);
  return {
    columns,
    rowsAbout: null,
    lines: (style) => linesOf(named(kind, symbols, kind.rows(reader, selection)), columns, style),
    advice: () => ({ flags: [], notes: symbols.notes('row') }),
  };
}

/** What is selected of every dataset but bars, by its name on the command line. */
export const rowTables: Readonly<Record<string, (reader: Reader, selection: Selection) => ExportTable>> =
  Object.fromEntries(
    Object.entries(exports).map(([name, kind]) => [
      name,
      (reader: Reader, selection: Selection) => tableOf(kind, reader, selection),
    ]),
  );
