// Bars from a CSV into the store: which field each column gives, row by row checks, series by series loading.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { type PeriodInterval, periodStart } from '../calendar/period.ts';
import type { Zone } from '../calendar/zone.ts';
import {
  type AssetSchema,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../contract/identifiers.ts';
import { type Interval, intervalsAllowed, parseInterval } from '../contract/interval.ts';
import type { Store, Writer } from '../store/store.ts';
import { type BarValues, barProblem, isSoundBar, numberOf } from './check.ts';
import { openSource, rejectedPathOf, type SourceFile } from './file.ts';
import { InstantCell, LocalClock } from './instants.ts';
import { BarLoad, type OpenSeries, type PriceBasis } from './load.ts';
import { type FieldMap, type FieldNames, type Mapping, mapFields } from './mapping.ts';
import { FileProblem, type RowProblem } from './problem.ts';
import { type Chunk, NeedsCare, readChunks } from './read.ts';
import { type ImportReport, RefusedRows } from './report.ts';
import { type ImportRequest, type RunResult, runImport } from './run.ts';
import type { TextColumn } from './text-column.ts';

export type BarImportRequest = ImportRequest & {
  readonly map: FieldMap;
  /** The zone of clock readings without an offset. */
  readonly zone: Zone | null;
  readonly basis: PriceBasis;
};

const names = ['asset_schema', 'country_iso_code', 'symbol', 'interval', 'exchange'] as const;
const values = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

/** The fields of a bars file (contract 11). */
export const barFields: FieldNames = {
  required: [
    'datetime',
    'open',
    'high',
    'low',
    'close',
    'asset_schema',
    'country_iso_code',
    'symbol',
    'interval',
  ],
  optional: ['volume', 'vwap', 'exchange'],
  flags: {
    asset_schema: '--schema',
    country_iso_code: '--country',
    symbol: '--symbol',
    interval: '--interval',
    exchange: '--exchange',
  },
};

/** Imports one file of bars. @throws FileProblem when nothing of it can be imported */
export async function importBars(store: Store, request: BarImportRequest): Promise<ImportReport> {
  const source = await openSource(request.file);
  try {
    const mapping = mapFields(request.file, source.header, barFields, request.map, request.flags);
    checkConstants(mapping);
    try {
      return await importOnce(store, request, source, mapping, false);
    } catch (error) {
      if (!(error instanceof NeedsCare)) throw error;
    }
    return await importOnce(store, request, source, mapping, true);
  } finally {
    await source.close();
  }
}

/** A value given for the whole file that no row could have is wrong usage. */
function checkConstants(mapping: Mapping): void {
  for (const name of names) {
    const value = mapping.values.get(name);
    const problem = value === undefined ? null : nameProblem(name, value);
    if (problem !== null)
      throw new FileProblem('usage', `${barFields.flags[name]} ${value}: ${problem.reason}`);
  }
}

function importOnce(
  store: Store,
  request: BarImportRequest,
  source: SourceFile,
  mapping: Mapping,
  careful: boolean,
): Promise<ImportReport> {
  const refused = new RefusedRows(rejectedPathOf(request.file), source.header);
  return runImport(store, request, 'bars', source, async (writer, runId) => {
    const pass = new BarPass(writer, runId, request, mapping, careful ? refused : null);
    const texts = careful
      ? source.header
      : [...mapping.columns].filter(([field]) => !isValue(field)).map(([, column]) => column);
    const numbers = careful
      ? []
      : [...mapping.columns].filter(([field]) => isValue(field)).map(([, column]) => column);
    for await (const chunk of readChunks(source, { texts, numbers, careful }))
      await pass.take(chunk, texts, numbers);
    if (pass.rowsRead === 0) throw new FileProblem('content', `${request.file}: has a header and no rows`);
    await pass.load.settle();
    if (!careful && (await source.digest()).hasUnderscore) throw new NeedsCare();
    return { result: pass.result(refused.keep()), finish: (finishedMs) => pass.load.finish(finishedMs) };
  }).catch((error: unknown) => {
    refused.drop();
    throw error;
  });
}

/** More rows than a chunk has. */
const CHUNK_ROWS_MAX = 4096;

const isValue = (field: string): boolean => (values as readonly string[]).includes(field);

type NameField = (typeof names)[number];

/** Why a text cannot name a part of a series, or null. */
function nameProblem(field: NameField, text: string | null): RowProblem | null {
  const refuse = (reason: string): RowProblem => ({ column: field, reason });
  if (field === 'exchange')
    return text !== null && text.length > 20 ? refuse('must be a MIC of up to 20 characters') : null;
  if (text === null || text === '') return refuse('is missing');
  if (field === 'asset_schema' && parseAssetSchema(text) === null)
    return refuse('must be stock, future, crypto, forex or option');
  if (field === 'country_iso_code' && parseCountry(text) === null)
    return refuse('must be a two-letter code such as US, or GLOBAL');
  if (field === 'symbol' && parseSymbol(text) === null) return refuse(`must be ${symbolAllowed}`);
  if (field === 'interval' && parseInterval(text) === null)
    return refuse(`must be one of ${intervalsAllowed}`);
  return null;
}

/** What a chunk has of the fields. */
type ChunkFields = {
  /** A column, or null where the whole file has one value. */
  readonly names: readonly (readonly [NameField, TextColumn | null])[];
  /** Those of them that are columns. */
  readonly named: readonly TextColumn[];
  readonly datetime: TextColumn;
  /** In the order of `values`; NaN where there is none. */
  readonly values: readonly Float64Array[];
  /** In a careful reading: cells of the values that hold text which is no number, by column. */
  readonly strange: readonly (Uint8Array | null)[];
  /** In a careful reading: 1 for a row that is odd in a way its values do not show. */
  readonly odd: Uint8Array | null;
};

/** One pass over a file. Without a place for refused rows the first problem ends it: the file is then read carefully. */
class BarPass {
  readonly load: BarLoad;
  rowsRead = 0;
  readonly #request: BarImportRequest;
  readonly #mapping: Mapping;
  readonly #refused: RefusedRows | null;
  readonly #cell = new InstantCell();
  readonly #clock: LocalClock | null;
  #series: OpenSeries | null = null;
  #seriesProblem: RowProblem | null = null;
  #anySign = false;
  /** The key of the row read last, and those of a chunk's rows. */
  #keyMs = 0;
  readonly #keys = new Float64Array(CHUNK_ROWS_MAX);

  constructor(
    writer: Writer,
    runId: number,
    request: BarImportRequest,
    mapping: Mapping,
    refused: RefusedRows | null,
  ) {
    this.load = new BarLoad(writer, runId, request.basis);
    this.#request = request;
    this.#mapping = mapping;
    this.#refused = refused;
    this.#clock = request.zone === null ? null : new LocalClock(request.zone);
  }

  /** Takes the rows of a chunk whose columns are named, one run of rows of the same series after the other. */
  async take(chunk: Chunk, texts: readonly string[], numbers: readonly string[]): Promise<void> {
    const fields = this.#fieldsOf(chunk, texts, numbers);
    let from = 0;
    while (from < chunk.count) {
      if (this.#isNewName(fields, from)) await this.#findSeries(fields, from);
      let to = from + 1;
      while (to < chunk.count && !this.#isNewName(fields, to)) to++;
      await this.#takeSeries(chunk, fields, from, to);
      from = to;
    }
    this.rowsRead += chunk.count;
    this.load.grew(chunk.count);
  }

  /** Takes rows of one series: runs of sound bars that ascend in one bucket at once, every other row alone. */
  async #takeSeries(chunk: Chunk, fields: ChunkFields, from: number, to: number): Promise<void> {
    let at = from;
    while (at < to) {
      const series = this.#series;
      const end = series === null ? at : this.#runEnd(series, fields, at, to);
      if (series !== null && end > at) {
        const bucket = Math.floor(this.#keys[at]! / series.bucketMs);
        if (series.open?.bucket !== bucket) await this.load.turn(series, bucket);
        // A block opened anew may hold rows of this file already: then the first row finds its place alone.
        if (series.append(this.#keys, fields.values, at, end)) {
          at = end;
          continue;
        }
      }
      const problem = series === null ? this.#seriesProblem : await this.#takeRow(series, chunk, fields, at);
      if (problem !== null) this.#refuse(chunk, at, problem);
      at++;
    }
  }

  /** The end of the run of sound bars from `from` on that ascend within one bucket; their keys are in `#keys`. */
  #runEnd(series: OpenSeries, fields: ChunkFields, from: number, to: number): number {
    const [open, high, low, close, volume, vwap] = fields.values;
    const keys = this.#keys;
    const anySign = this.#anySign;
    let last = Number.NEGATIVE_INFINITY;
    let bucketEnd = Number.POSITIVE_INFINITY;
    for (let row = from; row < to; row++) {
      const sound = isSoundBar(
        open![row]!,
        high![row]!,
        low![row]!,
        close![row]!,
        volume![row]!,
        vwap![row]!,
        anySign,
      );
      if (!sound || fields.odd?.[row] === 1 || this.#readKey(series, fields.datetime, row) !== null)
        return row;
      const key = this.#keyMs;
      if (key <= last || key >= bucketEnd) return row;
      if (row === from) bucketEnd = (Math.floor(key / series.bucketMs) + 1) * series.bucketMs;
      keys[row] = key;
      last = key;
    }
    return to;
  }

  /** Takes one row that is in no run; why it is refused, or null. */
  async #takeRow(
    series: OpenSeries,
    chunk: Chunk,
    fields: ChunkFields,
    row: number,
  ): Promise<RowProblem | null> {
    const odd = oddRow(chunk, fields, row);
    if (odd !== null) return odd;
    const bar = Object.fromEntries(
      values.map((field, index) => [field, fields.values[index]![row]!]),
    ) as BarValues;
    const problem = barProblem(bar, this.#anySign) ?? this.#readKey(series, fields.datetime, row);
    if (problem !== null) return problem;
    const bucket = Math.floor(this.#keyMs / series.bucketMs);
    if (series.open?.bucket !== bucket) await this.load.turn(series, bucket);
    if (series.insert(this.#keyMs, fields.values, row)) return null;
    return { column: 'datetime', reason: 'the file has this bar already, with other values' };
  }

  #fieldsOf(chunk: Chunk, texts: readonly string[], numbers: readonly string[]): ChunkFields {
    const textOf = (field: string): TextColumn | null => {
      const column = this.#mapping.columns.get(field);
      return column === undefined ? null : (chunk.texts[texts.indexOf(column)] ?? null);
    };
    const strange: (Uint8Array | null)[] = values.map(() => null);
    const valuesOf = (field: string, index: number): Float64Array => {
      const column = this.#mapping.columns.get(field);
      if (column === undefined) return noValues;
      const read = chunk.numbers[numbers.indexOf(column)];
      if (read !== undefined) return read;
      const parsed = parseNumbers(textOf(field)!, chunk.count);
      strange[index] = parsed.strange;
      return parsed.values;
    };
    const datetime = textOf('datetime')!;
    datetime.gather();
    const nameColumns = names.map((field) => [field, textOf(field)] as const);
    const named = nameColumns.flatMap(([, column]) => (column === null ? [] : [column]));
    const fields = { names: nameColumns, named, datetime, values: values.map(valuesOf), strange, odd: null };
    if (this.#refused === null) return fields;
    return {
      ...fields,
      odd: Uint8Array.from({ length: chunk.count }, (_, row) =>
        oddRow(chunk, fields, row) === null ? 0 : 1,
      ),
    };
  }

  #isNewName(fields: ChunkFields, row: number): boolean {
    if (row === 0 && this.rowsRead === 0) return true;
    const { named } = fields;
    for (let index = 0; index < named.length; index++) if (!named[index]!.repeats(row)) return true;
    return false;
  }

  /** Finds the series of a row whose names are others than those of the row before it. */
  async #findSeries(fields: ChunkFields, row: number): Promise<void> {
    const texts = fields.names.map(
      ([field, column]) => column?.text(row) ?? this.#mapping.values.get(field) ?? null,
    );
    this.#series = null;
    this.#seriesProblem = null;
    for (const [index, [field]] of fields.names.entries()) {
      this.#seriesProblem ??= nameProblem(field, texts[index]!);
    }
    if (this.#seriesProblem !== null) return;
    const assetSchema = parseAssetSchema(texts[0]!) as AssetSchema;
    const name = {
      assetSchema,
      country: parseCountry(texts[1]!)!,
      symbol: parseSymbol(texts[2]!)!,
      interval: parseInterval(texts[3]!) as Interval,
      exchange: texts[4] === '' ? null : (texts[4]?.toUpperCase() ?? null),
    };
    this.#anySign = assetSchema === 'future';
    this.#series = await this.load.series(name);
    if (this.#series !== null) return;
    throw new FileProblem(
      'usage',
      `${this.#request.file}: the store holds the ${name.interval} bars of ${name.symbol} with prices of another basis than ${this.#request.basis}: give --prices as they were imported`,
    );
  }

  /** Reads the key that a row's bar has in its series into `#keyMs`; why it has none, or null. */
  #readKey(series: OpenSeries, column: TextColumn, row: number): RowProblem | null {
    const cell = this.#cell;
    if (column.isNull(row)) return { column: 'datetime', reason: 'is missing' };
    cell.read(column.bytes, column.starts[row]!, column.starts[row + 1]!);
    if (cell.kind === 'instant' && series.isMinutes) return this.#minuteKey(series, cell.ms);
    if (cell.kind === 'bad')
      return { column: 'datetime', reason: 'is not a date or a time of the years 1900 to 2200' };
    if (!series.isMinutes) {
      const label = this.#labelOf(series, cell);
      if (typeof label !== 'number') return label;
      this.#keyMs = periodStart(series.interval as PeriodInterval, label) * DAY_MS;
      return null;
    }
    if (cell.kind === 'date')
      return { column: 'datetime', reason: 'is a date without a time: a bar of minutes needs its open' };
    const ms = this.#instantOf(series, cell);
    return typeof ms === 'number' ? this.#minuteKey(series, ms) : ms;
  }

  #minuteKey(series: OpenSeries, ms: number): RowProblem | null {
    if (Math.floor(ms / MINUTE_MS) * MINUTE_MS !== ms)
      return { column: 'datetime', reason: 'is not a whole minute' };
    series.beforeMs = ms;
    this.#keyMs = ms;
    return null;
  }

  /** The label date of a DAY, WEEK or MON row (contract 3.10). */
  #labelOf(series: OpenSeries, cell: InstantCell): number | RowProblem {
    const midnight = cell.ms % DAY_MS === 0;
    if (cell.kind === 'date' || (cell.kind === 'local' && midnight)) return cell.ms / DAY_MS;
    const ms = this.#instantOf(series, cell);
    if (typeof ms !== 'number') return ms;
    return series.calendar.labelAt(ms) ?? series.calendar.zone.dayAt(ms);
  }

  #instantOf(series: OpenSeries, cell: InstantCell): number | RowProblem {
    if (cell.kind === 'instant') return cell.ms;
    if (this.#clock === null) {
      throw new FileProblem(
        'usage',
        `${this.#request.file}: its times have no offset: name their zone, such as --zone America/New_York or --zone UTC`,
      );
    }
    const ms = this.#clock.place(cell.ms, series.beforeMs);
    if (typeof ms === 'number') return ms;
    const zone = this.#request.zone!.name;
    const reason =
      ms === 'skipped'
        ? `lies in an hour that ${zone} skips`
        : `lies in an hour that ${zone} has twice, and the order of the rows does not tell which`;
    return { column: 'datetime', reason };
  }

  #refuse(chunk: Chunk, row: number, problem: RowProblem): void {
    if (this.#refused === null) throw new NeedsCare();
    const cells = chunk.texts.map((column) => column.text(row));
    const column = this.#mapping.columns.get(problem.column) ?? problem.column;
    this.#refused.add({ row: chunk.firstRow + row, column, reason: problem.reason, cells });
  }

  result(rejectedFile: string | null): RunResult {
    const { counts } = this.load;
    const rowsRefused = this.#refused?.count ?? 0;
    return {
      rowsRead: this.rowsRead,
      rowsWritten: counts.written,
      rowsUnchanged: this.rowsRead - rowsRefused - counts.written,
      rowsRefused,
      newInstruments: counts.newInstruments,
      outsideSessions: counts.outsideSessions,
      offGrid: counts.offGrid,
      ignoredColumns: this.#mapping.ignored,
      refused: this.#refused?.first ?? [],
      rejectedFile,
    };
  }
}

function surplusProblem(chunk: Chunk, row: number): RowProblem | null {
  if (chunk.surplus === null || chunk.surplus.isNull(row)) return null;
  return { column: 'row', reason: 'has more cells than the header has columns' };
}

/** Why a row is odd in a way that its values do not show: surplus cells, text that is no number. */
function oddRow(chunk: Chunk, fields: Pick<ChunkFields, 'strange'>, row: number): RowProblem | null {
  const surplus = surplusProblem(chunk, row);
  if (surplus !== null) return surplus;
  const column = fields.strange.findIndex((cells) => cells !== null && cells[row] === 1);
  return column < 0 ? null : { column: values[column]!, reason: 'is not a number' };
}

/** The column that a file does not have. */
const noValues = new Float64Array(CHUNK_ROWS_MAX).fill(Number.NaN);

/** The numbers of a column of texts, and which cells hold none. */
function parseNumbers(column: TextColumn, count: number): { values: Float64Array; strange: Uint8Array } {
  const parsed = new Float64Array(count);
  const strange = new Uint8Array(count);
  for (let row = 0; row < count; row++) {
    const number = numberOf(column.text(row));
    parsed[row] = number ?? Number.NaN;
    strange[row] = number === null ? 1 : 0;
  }
  return { values: parsed, strange };
}
