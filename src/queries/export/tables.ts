// The table of an export, by the name of its dataset (contract 10, 11): of stored bars, series after series
// and block after block; of stored rows, the fields of their dataset in its order.
import { DAY_MS, formatDay, formatInstantZ, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/instant.ts';
import { volumeBasis } from '../../contract/file-words.ts';
import { assetSchemas } from '../../contract/identifiers.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import { type Bars, filterBars } from '../../market/bars/columns.ts';
import { findInstruments } from '../../runs/instrument-choice.ts';
import { namesByDay, seriesWithBars } from '../../runs/naming.ts';
import { RequestProblem } from '../../runs/recorded-write.ts';
import { rangeOf, selectBars } from '../../runs/stored-series.ts';
import { Calendars } from '../../series/calendars.ts';
import { namingDamage } from '../../series/damaged-bars.ts';
import { allBlocks, openBlock, refuseLostBlocks } from '../../store/all-blocks.ts';
import { rowsWith } from '../../store/all-rows.ts';
import { rowKeyOf, valuesOfKey } from '../../store/journal-entries.ts';
import {
  EXCHANGE_LENGTH_MAX,
  type series as seriesDataset,
  seriesFields,
  valueFields,
} from '../../store/schema/bars.ts';
import type { ColumnKind, Dataset, RowOf, Values } from '../../store/schema/dataset.ts';
import { type FileDataset, fileDatasetNamed } from '../../store/schema/index.ts';
import { type Instrument, instruments, instrumentTerms } from '../../store/schema/reference.ts';
import { selectedRows } from '../../store/selected-rows.ts';
import type { Reader } from '../../store/store.ts';
import {
  type Cell,
  type Column,
  type ExportTable,
  type Lines,
  numberText,
  rowLines,
  type Selection,
  type TextStyle,
} from './export-table.ts';

/** The part of `2025-03-03T09:30:00Z` before the minutes. */
const HOUR_LENGTH = 'YYYY-MM-DDTHH:'.length;

const MINUTES = Array.from({ length: 60 }, (_, minute) => `${String(minute).padStart(2, '0')}:00Z`);

/**
 * Writes the lines of one series: names, moment, values, in the order of `seriesFields` and `valueFields`.
 */
class BarLine {
  readonly #style: TextStyle;
  readonly #before: readonly string[];
  readonly #instrument: Instrument;
  readonly #interval: Interval;
  readonly #isMinutes: boolean;
  readonly #null: string;
  #hour = Number.NaN;
  #hourText = '';

  constructor(style: TextStyle, instrument: Instrument, interval: Interval) {
    this.#style = style;
    this.#before = style.before([...seriesFields, 'datetime', ...valueFields]);
    this.#instrument = instrument;
    this.#interval = interval;
    this.#isMinutes = intervalMinutes(interval) !== null;
    this.#null = style.cell(null);
  }

  /** The lines of some bars, under the present symbol of their instrument. */
  text(bars: Bars): string {
    const { quote, end } = this.#style;
    const start = this.#start() + quote;
    const [open, high, low, close, volume, vwap] = this.#before.slice(seriesFields.length + 1);
    let text = '';
    for (let at = 0; at < bars.count; at++) {
      text += `${start}${this.#moment(bars.keyMs[at]!)}${quote}${open}${numberText(bars.open[at]!)}${high}${numberText(bars.high[at]!)}${low}${numberText(bars.low[at]!)}${close}${numberText(bars.close[at]!)}${volume}${this.#orNull(bars.volume[at]!)}${vwap}${this.#orNull(bars.vwap[at]!)}${end}`;
    }
    return text;
  }

  /** All cells before the moment. */
  #start(): string {
    const { asset_schema, country_iso_code, symbol, exchange } = this.#instrument;
    // A longer one is imported with instruments only.
    const named = exchange !== null && exchange.length > EXCHANGE_LENGTH_MAX ? null : exchange;
    const names = [asset_schema, country_iso_code, symbol, this.#interval, named];
    const cells = names.map((name, place) => this.#before[place]! + this.#style.cell(name));
    return cells.join('') + this.#before[seriesFields.length]!;
  }

  /** The open of a bar of minutes, else the first day of the period. */
  #moment(keyMs: number): string {
    if (!this.#isMinutes) return formatDay(keyMs / DAY_MS);
    const hour = Math.floor(keyMs / HOUR_MS);
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#hourText = formatInstantZ(hour * HOUR_MS).slice(0, HOUR_LENGTH);
    }
    return this.#hourText + MINUTES[(keyMs - hour * HOUR_MS) / MINUTE_MS]!;
  }

  #orNull(value: number): string {
    return Number.isNaN(value) ? this.#null : numberText(value);
  }
}

type Selected = { readonly instrument: Instrument; readonly row: RowOf<typeof seriesDataset> };

const INSTRUMENTS_PER_READ = 2_000;

/** The fields that a selection names, and their values. */
export function whereOf(dataset: FileDataset, selection: Selection): Record<string, string> {
  const named = {
    '--schema': selection.assetSchema,
    '--country': selection.country,
    '--symbol': selection.symbol,
  };
  return Object.fromEntries(
    Object.entries(dataset.file.fields).flatMap(([field, { flag }]) => {
      const value = named[flag as keyof typeof named] ?? null;
      return value === null ? [] : [[field, value]];
    }),
  );
}

/**
 * `--symbols now` if an instrument of the store had another symbol before: by the day of a row it may be
 * another's.
 */
async function symbolFlags(reader: Reader): Promise<readonly string[]> {
  for (const asset_schema of assetSchemas) {
    const where = { asset_schema, kind: 'former' };
    const order = [['term', 'asc'] as const];
    if ((await reader.rows(instrumentTerms, { where, order, limit: 1 })).length > 0)
      return ['--symbols', 'now'];
  }
  return [];
}

/** The series that are selected and have bars. */
async function* selectedSeries(reader: Reader, selection: Selection): AsyncGenerator<Selected> {
  for await (const instrument of selectedRows(reader, instruments, {
    where: whereOf(instruments, selection),
    along: [instruments.key],
    limit: INSTRUMENTS_PER_READ,
  }))
    for (const row of await seriesWithBars(reader, instrument)) {
      const { interval, basis, volumes } = selection;
      if (
        (interval === null || row.interval === interval) &&
        (basis === null || row.prices === basis) &&
        (volumes === null || volumeBasis(row) === volumes)
      )
        yield { instrument, row };
    }
}

/** The flags of an import for bars of a series' basis. */
const basisFlags = ({ prices, volumes }: RowOf<typeof seriesDataset>): string[] => [
  ...(prices === 'raw' ? [] : ['--prices', prices]),
  ...(volumes === null ? [] : ['--volumes', volumes]),
];

/** The flags that select series of one basis. */
const basisSelectors = (row: RowOf<typeof seriesDataset>): string =>
  `--prices ${row.prices} --volumes ${volumeBasis(row)}`;

/** The selected bars. @throws RequestProblem where they have several bases: an import has one */
async function barTable(reader: Reader, selection: Selection): Promise<ExportTable> {
  const seriesOfBasis = new Map<string, number>();
  let flags: readonly string[] = [];
  let [rowsAbout, someMinutes, someLabels] = [0, false, false];
  for await (const { row } of selectedSeries(reader, selection)) {
    rowsAbout += row.bar_count;
    const basis = basisSelectors(row);
    seriesOfBasis.set(basis, (seriesOfBasis.get(basis) ?? 0) + 1);
    flags = basisFlags(row);
    const isLabel = intervalMinutes(row.interval as Interval) === null;
    someLabels ||= isLabel;
    someMinutes ||= !isLabel;
  }
  if (seriesOfBasis.size > 1) {
    const counts = [...seriesOfBasis].map(([basis, count]) => `${basis} (${count})`).join(', or ');
    throw new RequestProblem(
      `these series have several bases, and a file is imported with one: export each by itself, by ${counts}`,
    );
  }
  // Opens are instants and labels are dates; a column of both is text.
  const momentType = !someLabels ? 'TIMESTAMP WITH TIME ZONE' : someMinutes ? 'VARCHAR' : 'DATE';
  const columns = [
    ...seriesFields.map((name) => ({ name, type: 'VARCHAR' })),
    { name: 'datetime', type: momentType },
    ...valueFields.map((name) => ({ name, type: 'DOUBLE' })),
  ];
  return {
    columns,
    rowsAbout,
    isMadeEmpty: false,
    lines: (style) => linesOf(reader, selection, style),
    flags: [...flags, ...(await symbolFlags(reader))],
  };
}

async function* linesOf(reader: Reader, selection: Selection, style: TextStyle): AsyncGenerator<Lines> {
  const { from, to } = selection;
  const calendars = new Calendars();
  for await (const { instrument, row } of selectedSeries(reader, selection)) {
    const line = new BarLine(style, instrument, row.interval as Interval);
    const selected = selectBars(row, await calendars.of(reader, instrument), { from, to });
    if (selected === null) continue;
    const { fromBucket, toBucket, holds } = selected;
    const read = { seriesId: row.series_id, fromBucket, toBucket, direction: 'asc' } as const;
    await namingDamage(reader, refuseLostBlocks(reader, row.series_id));
    for await (const block of allBlocks(reader, read)) {
      const { bars: stored } = await namingDamage(reader, Promise.try(openBlock, row.series_id, block));
      const isWhole = from === null && to === null;
      const bars = isWhole ? stored : filterBars(stored, (at) => holds(stored.keyMs[at]!));
      if (bars.count > 0) yield { text: line.text(bars), rows: bars.count };
    }
  }
}

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
