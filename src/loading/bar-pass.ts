// One pass over the rows of a bars file: each is found its series and its key, and taken in stretches, or refused.
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { type PeriodInterval, periodStart } from '../calendar/period.ts';
import {
  type AssetSchema,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../contract/identifiers.ts';
import { type Interval, intervalsAllowed, parseInterval } from '../contract/interval.ts';
import { EXCHANGE_LENGTH_MAX, seriesFields, valueFields } from '../datasets/bars.ts';
import { FileProblem, type RowProblem } from '../files/file-problem.ts';
import { type Chunk, NeedsCare } from '../files/read.ts';
import type { ImportRequest, RunResult } from '../history/run.ts';
import { type FieldSources, reportedColumn } from '../mapping/column-mapping.ts';
import { LocalClock } from '../mapping/instant-cell.ts';
import { type FormerBearer, formerBearers } from '../store/instrument-terms.ts';
import type { Writer } from '../store/store.ts';
import { type BarChunk, INSTANT, momentKinds, type Names } from './bar-chunk.ts';
import { BarLoad, type OpenSeries, type SeriesName } from './bar-load.ts';
import { type BarValues, barProblem, isSoundBar } from './bar-rules.ts';
import { BATCH_ROWS } from './bar-thread.ts';
import type { RefusedRows } from './refused-rows.ts';

type NameField = (typeof seriesFields)[number];

/** Why a text cannot name a part of a series, or null. */
export function nameProblem(field: NameField, text: string | null): RowProblem | null {
  const refuse = (reason: string): RowProblem => ({ column: field, reason });
  if (field === 'exchange') {
    return text !== null && text.length > EXCHANGE_LENGTH_MAX
      ? refuse(`must be a MIC of up to ${EXCHANGE_LENGTH_MAX} characters`)
      : null;
  }
  if (text === null || text === '') return refuse('is missing');
  if (field === 'asset_schema' && parseAssetSchema(text) === null) {
    return refuse('must be stock, future, crypto, forex or option');
  }
  if (field === 'country_iso_code' && parseCountry(text) === null) {
    return refuse('must be a two-letter code such as US, or GLOBAL');
  }
  if (field === 'symbol' && parseSymbol(text) === null) return refuse(`must be ${symbolAllowed}`);
  if (field === 'interval' && parseInterval(text) === null)
    return refuse(`must be one of ${intervalsAllowed}`);
  return null;
}

/** What a careful reading knows beside a chunk: its cells, by row what is no number or cannot be made, and how many columns the file has. */
type Care = {
  readonly read: Chunk;
  readonly strange: ReadonlyMap<number, RowProblem>;
  readonly width: number;
};

/** What some names in a file stand for: a series, or why they stand for none. */
type Named = {
  readonly series: OpenSeries | null;
  readonly problem: RowProblem | null;
  /** Whether its prices may be zero and negative. */
  readonly anySign: boolean;
};

/** Some names in a file, and the instruments that had their symbol before (contract 9.6). */
type Called = {
  /** Null where they can name nothing. */
  readonly name: SeriesName | null;
  /** Those that have the symbol now, once a row is theirs. */
  named: Named | null;
  readonly former: readonly FormerBearer[];
};

/** Which former bearer of its symbol a row belongs to; null where it is the present one's. */
function bearerOf({ name, former }: Called, chunk: BarChunk, row: number): FormerBearer | null {
  if (former.length === 0) return null;
  const kind = momentKinds[chunk.kinds[row]!]!;
  const ms = chunk.ms[row]!;
  if (kind === 'missing' || kind === 'bad') return null;
  const day =
    kind === 'instant'
      ? calendarOf(name!.assetSchema, name!.country).zone.dayAt(ms)
      : Math.floor(ms / DAY_MS);
  return former.find(({ fromDay, toDay }) => fromDay <= day && day <= toDay) ?? null;
}

/** The column that a file does not have. */
const noValues = new Float64Array(BATCH_ROWS).fill(Number.NaN);

/** One pass over a file: rows into the load, or refused. */
export class BarPass {
  readonly load: BarLoad;
  rowsRead = 0;
  readonly #writer: Writer;
  readonly #request: ImportRequest;
  readonly #mapping: FieldSources;
  readonly #refused: RefusedRows;
  readonly #clock: LocalClock | null;
  /** By number. */
  readonly #called: Called[] = [];
  /** Whether the prices of the series at hand may be zero and negative. */
  #anySign = false;
  /** The key of the row read last, and those of a chunk's rows. */
  #keyMs = 0;
  readonly #keys = new Float64Array(BATCH_ROWS);

  constructor(
    writer: Writer,
    runId: number,
    request: ImportRequest,
    mapping: FieldSources,
    refused: RefusedRows,
  ) {
    this.#writer = writer;
    this.load = new BarLoad(writer, runId, request.basis ?? 'raw');
    this.#request = request;
    this.#mapping = mapping;
    this.#refused = refused;
    this.#clock = request.zone ? new LocalClock(request.zone) : null;
  }

  /** Takes the rows of a chunk. Without care the first problem is thrown: NeedsCare. */
  async take(chunk: BarChunk, care: Care | null): Promise<void> {
    const values = chunk.values.map((column) => column ?? noValues);
    for (const names of chunk.newNames) this.#called.push(await this.#call(names));
    const { nameIds, count } = chunk;
    for (let from = 0; from < count; ) {
      const id = nameIds[from]!;
      const called = this.#called[id]!;
      const bearer = bearerOf(called, chunk, from);
      let to = from + 1;
      while (to < count && nameIds[to] === id && bearerOf(called, chunk, to) === bearer) to++;
      await this.#takeRun(await this.#named(called, bearer), chunk, values, care, from, to);
      from = to;
    }
    this.rowsRead += chunk.count;
    this.#request.onRows?.(this.rowsRead);
    this.load.grew(chunk.count);
  }

  /** Takes rows of one series: stretches of sound bars that ascend in one bucket at once, every other row alone. */
  async #takeRun(
    { series, problem: nameProblem, anySign }: Named,
    chunk: BarChunk,
    values: readonly Float64Array[],
    care: Care | null,
    from: number,
    to: number,
  ): Promise<void> {
    this.#anySign = anySign;
    let at = from;
    while (at < to) {
      const beforeMs = series?.beforeMs ?? Number.NaN;
      const end = series === null ? at : this.#stretchEnd(series, chunk, values, care, at, to);
      if (series !== null && end > at) {
        const bucket = Math.floor(this.#keys[at]! / series.bucketMs);
        if (series.open?.bucket !== bucket) await this.load.turn(series, bucket);
        // A block opened anew may hold rows of this file already: then the first row finds its place alone.
        if (series.append(this.#keys, values, at, end)) {
          at = end;
          continue;
        }
        series.beforeMs = beforeMs;
      }
      const problem =
        series === null
          ? (care?.strange.get(at) ?? nameProblem)
          : await this.#takeRow(series, chunk, values, care, at);
      if (problem !== null) this.#refuse(chunk, care, at, problem);
      at++;
    }
  }

  /** The end of the stretch of sound bars from `from` on that ascend within one bucket; their keys are in `#keys`. */
  #stretchEnd(
    series: OpenSeries,
    chunk: BarChunk,
    values: readonly Float64Array[],
    care: Care | null,
    from: number,
    to: number,
  ): number {
    const [open, high, low, close, volume, vwap] = values;
    const keys = this.#keys;
    const anySign = this.#anySign;
    let last = Number.NEGATIVE_INFINITY;
    let bucketEnd = Number.POSITIVE_INFINITY;
    for (let row = from; row < to; row++) {
      if (
        !isSoundBar(open![row]!, high![row]!, low![row]!, close![row]!, volume![row]!, vwap![row]!, anySign)
      )
        return row;
      if (care !== null && oddRow(care, row) !== null) return row;
      if (this.#readKey(series, chunk, row) !== null) return row;
      const key = this.#keyMs;
      if (key <= last || key >= bucketEnd) return row;
      if (row === from) bucketEnd = (Math.floor(key / series.bucketMs) + 1) * series.bucketMs;
      keys[row] = key;
      last = key;
      series.beforeMs = key;
    }
    return to;
  }

  /** Takes one row that is in no stretch; why it is refused, or null. */
  async #takeRow(
    series: OpenSeries,
    chunk: BarChunk,
    values: readonly Float64Array[],
    care: Care | null,
    row: number,
  ): Promise<RowProblem | null> {
    const odd = care === null ? null : oddRow(care, row);
    if (odd !== null) return odd;
    const bar = Object.fromEntries(
      valueFields.map((field, index) => [field, values[index]![row]!]),
    ) as BarValues;
    const problem = barProblem(bar, this.#anySign) ?? this.#readKey(series, chunk, row);
    if (problem !== null) return problem;
    series.beforeMs = this.#keyMs;
    const bucket = Math.floor(this.#keyMs / series.bucketMs);
    if (series.open?.bucket !== bucket) await this.load.turn(series, bucket);
    const keyMs = this.#keyMs;
    if (series.insert(keyMs, values, row)) return null;
    if (care !== null) this.#checkPeriod(series, chunk, row, keyMs);
    return { column: 'datetime', reason: 'the file has this bar already, with other values' };
  }

  /** Two moments of one day, with other values, are no bars of days: the first would be stored as all of it. */
  #checkPeriod(series: OpenSeries, chunk: BarChunk, row: number, keyMs: number): void {
    const before = row - 1;
    if (series.isMinutes || before < 0 || chunk.nameIds[before] !== chunk.nameIds[row]) return;
    if (chunk.ms[before] === chunk.ms[row] || momentKinds[chunk.kinds[row]!] === 'date') return;
    if (this.#readKey(series, chunk, before) !== null || this.#keyMs !== keyMs) return;
    throw new FileProblem(
      'unfit',
      `${this.#request.file.name}: has several bars within one ${series.interval}, in data rows ${chunk.firstRow + before} and ${chunk.firstRow + row}: is the interval right (--interval)? Nothing was imported.`,
    );
  }

  /** Finds whom some names stand for. */
  async #call(names: Names): Promise<Called> {
    const texts = names.map((text, index) => text ?? this.#mapping.values.get(seriesFields[index]!) ?? null);
    for (const [index, field] of seriesFields.entries()) {
      const problem = nameProblem(field, texts[index]!);
      if (problem !== null)
        return { name: null, named: { series: null, problem, anySign: false }, former: [] };
    }
    const name = {
      assetSchema: parseAssetSchema(texts[0]!) as AssetSchema,
      country: parseCountry(texts[1]!)!,
      symbol: parseSymbol(texts[2]!)!,
      interval: parseInterval(texts[3]!) as Interval,
      exchange: texts[4] === '' ? null : (texts[4]?.toUpperCase() ?? null),
    };
    const { assetSchema, country, symbol } = name;
    const former = await formerBearers(this.#writer, {
      asset_schema: assetSchema,
      country_iso_code: country,
      symbol,
    });
    return { name, named: null, former };
  }

  /** The series of those that names stand for: of a former bearer of the symbol, or of the one that has it. */
  async #named(called: Called, bearer: FormerBearer | null): Promise<Named> {
    if (bearer !== null) return this.#findSeries({ ...called.name!, symbol: bearer.symbol });
    called.named ??= await this.#findSeries(called.name!);
    return called.named;
  }

  async #findSeries(name: SeriesName): Promise<Named> {
    const series = await this.load.series(name);
    if (series !== null) return { series, problem: null, anySign: name.assetSchema === 'future' };
    throw new FileProblem(
      'usage',
      `${this.#request.file.name}: the store holds the ${name.interval} bars of ${name.symbol} with prices of another basis than ${this.#request.basis}: give --prices as they were imported, or take back by bourse undo the runs that brought and deleted them`,
    );
  }

  /** Reads the key that a row's bar has in its series into `#keyMs`; why it has none, or null. */
  #readKey(series: OpenSeries, chunk: BarChunk, row: number): RowProblem | null {
    const ms = chunk.ms[row]!;
    if (chunk.kinds[row] === INSTANT && series.isMinutes) return this.#minuteKey(ms);
    const kind = momentKinds[chunk.kinds[row]!]!;
    if (kind === 'missing') return { column: 'datetime', reason: 'is missing' };
    if (kind === 'bad')
      return {
        column: 'datetime',
        reason:
          'is not a date or a time of the years 1900 to 2200: write 2025-03-03T09:30:00Z, or an epoch; a map says another form by "format", such as %Y%m%d',
      };
    if (!series.isMinutes) {
      const label = this.#labelOf(series, kind, ms);
      if (typeof label !== 'number') return label;
      this.#keyMs = periodStart(series.interval as PeriodInterval, label) * DAY_MS;
      return null;
    }
    if (kind === 'date')
      return { column: 'datetime', reason: 'is a date without a time: a bar of minutes needs its open' };
    const instant = this.#instantOf(series, kind, ms);
    return typeof instant === 'number' ? this.#minuteKey(instant) : instant;
  }

  #minuteKey(ms: number): RowProblem | null {
    if (Math.floor(ms / MINUTE_MS) * MINUTE_MS !== ms)
      return { column: 'datetime', reason: 'is not a whole minute' };
    this.#keyMs = ms;
    return null;
  }

  /** The label date of a DAY, WEEK or MON row (contract 3.10). */
  #labelOf(series: OpenSeries, kind: string, ms: number): number | RowProblem {
    if (kind === 'date' || (kind === 'local' && ms % DAY_MS === 0)) return ms / DAY_MS;
    const instant = this.#instantOf(series, kind, ms);
    if (typeof instant !== 'number') return instant;
    return series.calendar.labelAt(instant) ?? series.calendar.zone.dayAt(instant);
  }

  #instantOf(series: OpenSeries, kind: string, ms: number): number | RowProblem {
    if (kind === 'instant') return ms;
    if (this.#clock === null) {
      throw new FileProblem(
        'usage',
        `${this.#request.file.name}: its times have no offset: name their zone, such as --zone America/New_York or --zone UTC`,
      );
    }
    const placed = this.#clock.place(ms, series.beforeMs);
    if (typeof placed === 'number') return placed;
    const zone = this.#request.zone!.name;
    const reason =
      placed === 'skipped'
        ? `lies in an hour that ${zone} skips`
        : `lies in an hour that ${zone} has twice, and the order of the rows does not tell which`;
    return { column: 'datetime', reason };
  }

  #refuse(chunk: BarChunk, care: Care | null, row: number, problem: RowProblem): void {
    if (care === null) throw new NeedsCare();
    const cells = care.read.texts.slice(0, care.width).map((column) => column.text(row));
    const column = reportedColumn(this.#mapping, this.#mapping.columns.get(problem.column) ?? problem.column);
    this.#refused.add({ row: chunk.firstRow + row, column, reason: problem.reason, cells });
  }

  /** The account of a settled pass. */
  result(): RunResult {
    const { counts } = this.load;
    return {
      rowsRead: this.rowsRead,
      rowsWritten: counts.written,
      rowsUnchanged: this.rowsRead - this.#refused.count - counts.written,
      rowsRefused: this.#refused.count,
      newInstruments: counts.newInstruments,
      outsideSessions: counts.outsideSessions,
      offGrid: counts.offGrid,
      vwapOutside: counts.vwapOutside,
      findings: this.load.findings(),
      ignoredColumns: this.#mapping.ignored,
      refused: this.#refused.first,
    };
  }
}

/** Why a row is odd in a way that its values do not show: surplus cells, text that is no number. */
function oddRow({ read, strange, width }: Care, row: number): RowProblem | null {
  if (read.surplus?.isNull(row) === false)
    return { column: 'row', reason: 'has more cells than the header has columns' };
  // Only a CSV can be short of a cell: elsewhere it is a null.
  if (read.surplus !== null && read.texts[width - 1]!.isNull(row)) {
    return { column: 'row', reason: 'has fewer cells than the header has columns' };
  }
  return strange.get(row) ?? null;
}
