// The table of an export, by the name of its dataset (contract 10, 11); of stored rows: the fields of their
// dataset, in its order.
import { formatDay, formatInstantZ, SECOND_MS } from '../../base/instant.ts';
import { findInstruments } from '../../runs/instrument-choice.ts';
import { namesByDay } from '../../runs/naming.ts';
import { rangeOf } from '../../runs/stored-series.ts';
import { rowsWith } from '../../store/all-rows.ts';
import { rowKeyOf, valuesOfKey } from '../../store/journal-entries.ts';
import type { ColumnKind, Dataset, Values } from '../../store/schema/dataset.ts';
import { BARS, type FileDataset, fileDatasetNamed } from '../../store/schema/index.ts';
import { selectedRows } from '../../store/selected-rows.ts';
import type { Reader } from '../../store/store.ts';
import { barTable } from './export-bars.ts';
import {
  type Cell,
  type Column,
  type ExportTable,
  rowLines,
  type Selection,
  symbolFlags,
  whereOf,
} from './export-table.ts';

/** Few, because a row may be as long as a line of a file. */
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

const columnsOf = ({ columns: own, file: { fields, beside } }: FileDataset): Column<Values>[] => {
  const columns: Dataset['columns'] = { ...beside?.dataset.columns, ...own };
  return Object.entries(fields)
    .filter(([, { isNeverWritten }]) => !isNeverWritten)
    .map(([name, { written }]) => {
      const kind = written?.kind ?? columns[name]!.kind;
      return { name, type: types[kind], value: written?.of ?? ((row) => cellOf(kind, row[name] ?? null)) };
    });
};

/** Rows, each with the values of the row beside it. */
async function* withBeside(
  reader: Reader,
  { file: { beside } }: FileDataset,
  rows: AsyncGenerator<Values>,
): AsyncGenerator<Values> {
  if (beside === undefined) return yield* rows;
  const { dataset } = beside;
  const some: Values[] = [];
  async function* joined() {
    const keys = some.map((row) => valuesOfKey(dataset, rowKeyOf(dataset, row)));
    const found = await rowsWith(reader, dataset, keys);
    for (const [at, row] of some.splice(0).entries()) yield { ...found[at], ...row };
  }
  for await (const row of rows) if (some.push(row) === ROWS_PER_READ) yield* joined();
  yield* joined();
}

/** The selected rows in the order of their key, or of their time where the key is a hash. */
async function* rowsOf(reader: Reader, dataset: FileDataset, selection: Selection): AsyncGenerator<Values> {
  const { fields } = dataset.file;
  const wanted = Object.entries(whereOf(dataset, selection));
  const isWritten = ([name]: readonly [string, string]): boolean => fields[name]!.written !== undefined;
  if (wanted.some((one) => isWritten(one) && fields[one[0]]!.written!.of({}) !== one[1])) return;
  const along = dataset.keptAsTheyCome ? dataset.indexes! : [dataset.key];
  const where = Object.fromEntries(wanted.filter((one) => !isWritten(one)));
  yield* selectedRows(reader, dataset, {
    where,
    range: boundsOf(dataset, selection),
    along,
    limit: ROWS_PER_READ,
  });
}

/** The range of a selection. @throws RequestProblem where `from` is after `to` */
const boundsOf = ({ columns, file: { time } }: FileDataset, { from, to }: Selection) =>
  rangeOf(from, to, time !== undefined && columns[time]!.kind === 'instant' ? 'instant' : 'day');

/** The selected rows of a dataset. @throws RequestProblem where `from` is after `to` */
async function rowTable(reader: Reader, dataset: FileDataset, selection: Selection): Promise<ExportTable> {
  boundsOf(dataset, selection);
  const columns = columnsOf(dataset);
  const flags = namesByDay(dataset) ? await symbolFlags(reader) : [];
  return {
    columns,
    rowsAbout: null,
    isMadeEmpty: false,
    lines: (style) =>
      rowLines(withBeside(reader, dataset, rowsOf(reader, dataset, selection)), columns, style),
    flags,
  };
}

/** The first part of a selection that a dataset does not have; undefined where it has all. */
export function straySelector(name: string, selection: Selection): keyof Selection | undefined {
  if (name === BARS) return undefined;
  const dataset = fileDatasetNamed(name)!;
  const isKnown = (part: keyof Selection): boolean => {
    if (part === 'from' || part === 'to') return dataset.file.time !== undefined;
    return Object.keys(whereOf(dataset, { ...everything, [part]: selection[part] })).length > 0;
  };
  const given = (Object.keys(selection) as (keyof Selection)[]).filter((part) => selection[part] !== null);
  return given.find((part) => !isKnown(part));
}

/** Selects everything. */
export const everything: Selection = {
  assetSchema: null,
  country: null,
  symbol: null,
  interval: null,
  basis: null,
  volumes: null,
  from: null,
  to: null,
};

/**
 * The selected part of a dataset.
 * @throws RequestProblem for an unknown symbol, a range that ends before it begins, and bars of several bases
 */
export async function exportTable(reader: Reader, name: string, selection: Selection): Promise<ExportTable> {
  const { assetSchema, country, symbol } = selection;
  const dataset = fileDatasetNamed(name);
  // Calendar overrides may be of an unknown instrument.
  const isKnown = dataset?.file.names?.[0]?.mayBeMarket !== true;
  const [found] =
    symbol !== null && country !== null && isKnown
      ? await findInstruments(reader, { assetSchema, country, symbol })
      : [];
  const named = found === undefined ? selection : { ...selection, symbol: found.symbol };
  return dataset === undefined ? barTable(reader, named) : rowTable(reader, dataset, named);
}
