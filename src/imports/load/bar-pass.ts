// One pass over the rows of a bars file: finds the instrument and the series that each row names, and its
// key, and loads the row or refuses it.

import { cellText } from '../../base/decimal.ts';
import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import { type BarLabel, volumeBasis } from '../../contract/file-words.ts';
import {
  parseAssetSchema,
  parseCountry,
  parseSpacedSymbol,
  parseSymbol,
  plainOptionSymbol,
} from '../../contract/identifiers.ts';
import { type Interval, intervalMinutes, parseInterval } from '../../contract/interval.ts';
import { openBefore } from '../../market/calendar/bar-end.ts';
import {
  isPeriod,
  isSundayOfWeek,
  type PeriodInterval,
  periodEnd,
  periodOfRow,
} from '../../market/calendar/period.ts';
import { dayOf } from '../../runs/naming.ts';
import { type KnownName, nameOf } from '../../runs/new-instrument.ts';
import { barFields, seriesFields, valueFields } from '../../store/schema/bars.ts';
import type { FieldRule } from '../../store/schema/dataset.ts';
import { readNotation } from '../../store/schema/notations.ts';
import { LocalClock, RowOrder } from '../map/instant-cell.ts';
import { NeedsCare, unfitProblem } from '../read/file-problem.ts';
import { type BarChunk, type Care, momentKinds, type Names, writtenDay } from './bar-chunk.ts';
import { BarLoad, type SeriesName } from './bar-load.ts';
import { type BarValues, barProblem, isSoundBar } from './bar-rules.ts';
import { OpenSeries } from './open-series.ts';
import { OwnNames } from './own-names.ts';
import type { RowProblem } from './refused-rows.ts';
import type { PresentRun, RunResult } from './run.ts';
import { type RowOwner, type SymbolOnDays, SymbolsOnDays } from './symbols-on-days.ts';

/** Why a text cannot name a part of a series; null where it can. */
export function nameProblem(field: (typeof seriesFields)[number], text: string | null): RowProblem | null {
  const { rule, isRequired } = barFields[field]!;
  if (text === null || text === '') return isRequired ? { column: field, reason: 'is missing' } : null;
  const { parse, reason } = rule as FieldRule;
  return parse(text) === undefined ? { column: field, reason } : null;
}

/** Names that can be those of a series, and their symbol as the file writes it. */
type Named = { readonly name: SeriesName; readonly written: string };

/** Names in some rows and the series that they stand for, or why they stand for none. */
type Called =
  | RowProblem
  | (Named & {
      /** Whose the rows are, by their days. */
      readonly symbol: SymbolOnDays;
      /** Of the instrument that has the symbol now, from its first row on. */
      series: OpenSeries | null;
    });

const namesIn = (all: readonly (RowProblem | Named)[]): SeriesName[] =>
  all.flatMap((one) => ('reason' in one ? [] : [one.name]));

/** The names of one file, by their numbers. */
class BarNames {
  readonly #load: BarLoad;
  readonly #owners: SymbolsOnDays;
  readonly #own: OwnNames;
  readonly #run: PresentRun;
  readonly #called: Called[] = [];

  constructor(run: PresentRun, load: BarLoad, owners: SymbolsOnDays) {
    this.#run = run;
    this.#load = load;
    this.#owners = owners;
    this.#own = new OwnNames(run.writer);
  }

  /** Adds names that are new in the file. Those of one chunk are looked up together. */
  async add(newNames: readonly Names[]): Promise<void> {
    const own = await this.#withOwnSymbols(newNames);
    const found = await this.#load.lookUp(namesIn(own));
    for (const one of own) this.#called.push('reason' in one ? one : await this.#calledBy(one, found));
  }

  of(id: number): Called {
    return this.#called[id]!;
  }

  /** Names with the symbols that their instruments have. */
  async #withOwnSymbols(names: readonly Names[]): Promise<(RowProblem | Named)[]> {
    const parsed = names.map((texts) => this.#parse(texts));
    await this.#own.lookUp(namesIn(parsed));
    return parsed.map((one) => {
      if ('reason' in one) return one;
      const own = this.#own.of(one.name);
      return 'reason' in own
        ? { column: 'symbol', ...own }
        : { ...one, name: { ...one.name, symbol: own.symbol } };
    });
  }

  async #calledBy(named: Named, found: ReadonlyMap<string, KnownName>): Promise<Called> {
    const { name } = named;
    const known = found.get(nameOf(name));
    const reason = await this.#load.instruments.underlyingProblem(name, known?.instrument ?? null);
    if (reason !== null) return { column: 'symbol', reason };
    return { ...named, symbol: await this.#owners.made(name, known), series: null };
  }

  #parse(names: Names): RowProblem | Named {
    const { mapping, request } = this.#run;
    const texts = names.map((text, index) => {
      const field = seriesFields[index]!;
      const said = text === null ? null : cellText(text, field !== 'exchange');
      return mapping.values.get(field) ?? said;
    });
    if (texts[0]?.toLowerCase() === 'option') texts[2] = plainOptionSymbol(texts[2] ?? '');
    for (const [index, field] of seriesFields.entries()) {
      const problem = nameProblem(field, texts[index]!);
      // Only the store knows if words with spaces are a symbol.
      if (problem !== null && (field !== 'symbol' || parseSpacedSymbol(texts[index] ?? '') === null))
        return problem;
    }
    const market = {
      asset_schema: parseAssetSchema(texts[0]!)!,
      country_iso_code: parseCountry(texts[1]!)!,
    };
    const written = texts[2]!;
    const name = {
      ...market,
      symbol:
        parseSymbol(readNotation(market, written, request.file.mapping.notation)) ??
        parseSpacedSymbol(written)!,
      interval: parseInterval(texts[3]!) as Interval,
      exchange: texts[4] === '' ? null : (texts[4]?.toUpperCase() ?? null),
    };
    return { name, written };
  }

  /**
   * The series of the rows of some names; `symbol` is the present one of their instrument, which had
   * theirs on their days.
   */
  async seriesOf(called: Exclude<Called, RowProblem>, symbol: string): Promise<OpenSeries> {
    const { name } = called;
    if (symbol !== name.symbol) return this.#find({ ...name, symbol });
    called.series ??= await this.#find(name);
    return called.series;
  }

  async #find(name: SeriesName): Promise<OpenSeries> {
    const series = await this.#load.series(name);
    if (series instanceof OpenSeries) return series;
    const { basis } = this.#load;
    throw unfitProblem(
      this.#run.request.file.name,
      `the store has the ${name.interval} bars of ${name.symbol} with ${series} of another basis than ${series === 'prices' ? basis.prices : volumeBasis(basis)}: give --${series} as they were imported, or undo the runs that imported and deleted them, by bourse undo`,
    );
  }

  /** Holds the stored series that flags name, in a file without rows. False where none is. */
  async holdEmpty(): Promise<boolean> {
    const [name] = namesIn(await this.#withOwnSymbols([seriesFields.map(() => null)]));
    return name !== undefined && this.#load.holdEmpty(name);
  }

  /** Counts rows of some names. */
  count({ written, name }: Named, rows: number): void {
    this.#own.count(written, name.symbol, rows);
  }

  findings(): Record<string, number> {
    return this.#own.findings();
  }
}

/** A column that a file lacks, as long as the longest chunk so far. */
let noValues = new Float64Array(0);

function missingColumn(count: number): Float64Array {
  if (noValues.length < count) noValues = new Float64Array(count).fill(Number.NaN);
  return noValues;
}

/** One pass over a file. */
export class BarPass {
  readonly #load: BarLoad;
  readonly names: BarNames;
  rowsRead = 0;
  readonly #run: PresentRun;
  readonly #clock: LocalClock | null;
  readonly #label: BarLabel | undefined;
  /** Rows of weeks that are dated Sunday, of the chunks before and of the present one by their index. */
  #sundays = 0;
  readonly #sundayRows = new Set<number>();
  /** The present chunk, its value columns, and the keys of its rows. */
  #chunk!: BarChunk;
  #values: readonly Float64Array[] = [];
  #care: Care | null = null;
  /** The cells that were left out, by their computed column. */
  readonly #odd = new Map<string, readonly [finding: string, count: number]>();
  #keys = new Float64Array(0);
  /**
   * The key that was read last, and the instant by which a local time of the next row is told from the same
   * one an hour later.
   */
  #keyMs = 0;
  #beforeMs = 0;
  /** The order of a series before its rows were tried. */
  readonly #orderBefore = new RowOrder();

  constructor(run: PresentRun) {
    const owners = new SymbolsOnDays(run);
    this.#load = new BarLoad(run, owners);
    this.names = new BarNames(run, this.#load, owners);
    this.#run = run;
    this.#label = run.request.file.mapping.label;
    this.#clock = run.request.zone ? new LocalClock(run.request.zone) : null;
  }

  /** Loads the rows of a chunk, or refuses them. Without its care the first problem is thrown: NeedsCare. */
  async add(chunk: BarChunk): Promise<void> {
    this.#chunk = chunk;
    if (this.#keys.length < chunk.count) this.#keys = new Float64Array(chunk.count);
    this.#values = chunk.values.map((column) => column ?? missingColumn(chunk.count));
    this.#care = chunk.care ?? null;
    for (const [column, [finding, count]] of this.#care?.odd ?? []) {
      const [first, sofar] = this.#odd.get(column) ?? [finding, 0];
      this.#odd.set(column, [first, sofar + count]);
    }
    await this.names.add(chunk.newNames);
    const { nameIds, count } = chunk;
    for (let from = 0; from < count; ) {
      const id = nameIds[from]!;
      const called = this.names.of(id);
      const owner = this.#ownerOf(called, from);
      let to = from + 1;
      while (to < count && nameIds[to] === id && this.#ownerOf(called, to) === owner) to++;
      if ('symbol' in owner && !('reason' in called)) {
        this.names.count(called, to - from);
        const known = owner === called.symbol.present ? called.series : null;
        const series = known ?? (await this.names.seriesOf(called, owner.symbol));
        // Most rows of a file that is ordered by time need nothing of the store: awaiting would take as long
        // as adding them.
        const rest = this.#appendRun(series, from, to);
        if (rest < to) await this.#addRun(series, rest, to);
      } else {
        const problem = { column: 'symbol', reason: '', ...owner };
        for (let row = from; row < to; row++) this.#refuse(row, chunk.care?.strange.get(row) ?? problem);
      }
      from = to;
    }
    this.#sundays += this.#sundayRows.size;
    this.#sundayRows.clear();
    this.rowsRead += count;
    this.#run.request.onRows?.(this.rowsRead);
    this.#load.grew(count);
  }

  /**
   * Whose a row is, or why its names are wrong. A row without a day belongs to the instrument that has the
   * symbol now.
   */
  #ownerOf(called: Called, row: number): RowOwner {
    if ('reason' in called) return called;
    const { symbol, name } = called;
    if (symbol.isOne) return symbol.present;
    const { interval } = name;
    const code = this.#chunk.kinds[row]!;
    const kind = momentKinds[code]!;
    if (kind === 'missing' || kind === 'bad') return symbol.present;
    // A bar that closes at midnight is of the day before.
    const ms = this.#chunk.ms[row]! - (this.#label === 'close' && !isPeriod(interval) ? 1 : 0);
    const written = isPeriod(interval) ? writtenDay(code, ms) : null;
    const day = written ?? (kind === 'instant' ? dayOf(name, ms) : Math.floor(ms / DAY_MS));
    if (!isPeriod(interval)) return symbol.on(day);
    const start = periodOfRow(interval, day, this.#label);
    return symbol.on(start, periodEnd(interval, start) - 1);
  }

  /**
   * Appends rows of one series to its open block, where they keep every rule and ascend: the index of the
   * first that it did not append.
   */
  #appendRun(series: OpenSeries, from: number, to: number): number {
    const { open, order } = series;
    this.#orderBefore.set(order);
    if (open === null || this.#readKey(series, from) !== null) return from;
    if (Math.floor(this.#keyMs / series.bucketMs) !== open.bucket) return from;
    const end = this.#stretchEnd(series, from, to);
    if (end > from && open.rows.append(this.#keys, this.#values, from, end)) return end;
    order.set(this.#orderBefore);
    return from;
  }

  /**
   * Adds rows of one series: together where bars keep every rule and ascend in one bucket, every other row
   * alone.
   */
  async #addRun(series: OpenSeries, from: number, to: number): Promise<void> {
    for (let at = from; at < to; ) {
      this.#orderBefore.set(series.order);
      const end = this.#stretchEnd(series, at, to);
      if (end > at) {
        const bucket = Math.floor(this.#keys[at]! / series.bucketMs);
        if (series.open?.bucket !== bucket) await this.#load.turn(series, bucket);
        if (series.open!.rows.append(this.#keys, this.#values, at, end)) {
          at = end;
          continue;
        }
        // The block has later rows of this file already: insert the first row alone.
        series.order.set(this.#orderBefore);
      }
      const problem = await this.#addRow(series, at);
      if (problem !== null) this.#refuse(at, problem);
      at++;
    }
  }

  /**
   * The end of the rows from `from` on that keep every rule and ascend within one bucket; their keys are in
   * `#keys`.
   */
  #stretchEnd(series: OpenSeries, from: number, to: number): number {
    const [open, high, low, close, volume, vwap] = this.#values;
    const keys = this.#keys;
    const care = this.#care;
    const { anySign } = series;
    let last = Number.NEGATIVE_INFINITY;
    let bucketEnd = Number.POSITIVE_INFINITY;
    for (let row = from; row < to; row++) {
      if (
        !isSoundBar(open![row]!, high![row]!, low![row]!, close![row]!, volume![row]!, vwap![row]!, anySign)
      )
        return row;
      if (care !== null && oddRow(care, row) !== null) return row;
      if (this.#readKey(series, row) !== null) return row;
      const key = this.#keyMs;
      if (key <= last || key >= bucketEnd) return row;
      if (row === from) bucketEnd = (Math.floor(key / series.bucketMs) + 1) * series.bucketMs;
      keys[row] = key;
      last = key;
      series.order.add(this.#beforeMs);
    }
    return to;
  }

  /** Adds one row alone; why it is refused, or null. */
  async #addRow(series: OpenSeries, row: number): Promise<RowProblem | null> {
    const odd = this.#care === null ? null : oddRow(this.#care, row);
    if (odd !== null) return odd;
    const values = valueFields.map((field, index) => [field, this.#values[index]![row]!]);
    const bar = Object.fromEntries(values) as BarValues;
    const problem = barProblem(bar, series.anySign) ?? this.#readKey(series, row);
    if (problem !== null) return problem;
    const keyMs = this.#keyMs;
    series.order.add(this.#beforeMs);
    const bucket = Math.floor(keyMs / series.bucketMs);
    if (series.open?.bucket !== bucket) await this.#load.turn(series, bucket);
    if (series.open!.rows.insert(keyMs, this.#values, row)) return null;
    if (this.#care !== null) this.#checkPeriod(series, row, keyMs);
    return noTime('the file has this bar already, with other values');
  }

  /**
   * Refuses several bars within one day of DAY, and the like: the interval is wrong, and one of them would be
   * stored as the whole day.
   */
  #checkPeriod(series: OpenSeries, row: number, keyMs: number): void {
    const { nameIds, ms, kinds, firstRow } = this.#chunk;
    const before = row - 1;
    if (series.isMinutes || before < 0 || nameIds[before] !== nameIds[row]) return;
    if (ms[before] === ms[row] || momentKinds[kinds[row]!] === 'date') return;
    if (this.#readKey(series, before) !== null || this.#keyMs !== keyMs) return;
    throw unfitProblem(
      this.#run.request.file.name,
      `has several bars within one ${series.interval}, in data rows ${firstRow + before} and ${firstRow + row}: is the interval right (--interval)? Nothing was imported.`,
    );
  }

  /** Reads the key of a row's bar into `#keyMs`; why it has none, or null. */
  #readKey(series: OpenSeries, row: number): RowProblem | null {
    const { ms: allMs, kinds } = this.#chunk;
    const ms = allMs[row]!;
    const kind = momentKinds[kinds[row]!]!;
    if (kind === 'instant' && series.isMinutes) return this.#minuteKey(series, ms);
    if (kind === 'missing') return noTime('is missing');
    if (kind === 'bad')
      return noTime(
        'is not a date or a time of a known form, of the years 1900 to 2200: write 2025-03-03T09:30:00Z, or an epoch; a map gives another form with "format", such as %Y%m%d',
      );
    if (series.isMinutes && kind === 'date')
      return noTime(
        'is a date without a time: a bar of minutes needs its open; bars of days go with --interval DAY',
      );
    const written = series.isMinutes ? null : writtenDay(kinds[row]!, ms);
    if (written !== null) return this.#periodKey(series, row, written);
    const instant = kind === 'instant' ? ms : this.#instantOf(ms, series.order);
    if (typeof instant !== 'number') return instant;
    if (series.isMinutes) return this.#minuteKey(series, instant);
    const { calendar } = series;
    return this.#periodKey(series, row, calendar.labelAt(instant) ?? calendar.zone.dayAt(instant));
  }

  /** The key of a DAY, WEEK or MON row is its label date (contract 3.10). */
  #periodKey({ interval }: OpenSeries, row: number, day: number): null {
    const period = interval as PeriodInterval;
    if (isSundayOfWeek(period, day)) this.#sundayRows.add(row);
    this.#keyMs = periodOfRow(period, day, this.#label) * DAY_MS;
    this.#beforeMs = this.#keyMs;
    return null;
  }

  #minuteKey({ interval, calendar }: OpenSeries, ms: number): RowProblem | null {
    if (Math.floor(ms / MINUTE_MS) * MINUTE_MS !== ms) return noTime('is not a whole minute');
    const openMs = this.#label === 'close' ? openBefore(calendar, intervalMinutes(interval)!, ms) : ms;
    if (openMs === null)
      return noTime(`is not the close of a bar of ${interval} in any session of its market (--label close)`);
    this.#keyMs = openMs;
    this.#beforeMs = ms;
    return null;
  }

  /** The instant of a local time; why it has none. */
  #instantOf(localMs: number, order: RowOrder): number | RowProblem {
    const { file, zone } = this.#run.request;
    if (this.#clock === null)
      throw unfitProblem(
        file.name,
        `its times have no offset: name their zone, such as --zone America/New_York or --zone UTC`,
      );
    const placed = this.#clock.place(localMs, order);
    if (typeof placed === 'number') return placed;
    const has = placed === 'skipped' ? 'skips' : 'has twice, and the order of the rows does not show which';
    return noTime(`is in an hour that ${zone!.name} ${has}`);
  }

  #refuse(row: number, { column, reason }: RowProblem): void {
    if (this.#care === null) throw new NeedsCare();
    this.#sundayRows.delete(row);
    const { mapping, refused } = this.#run;
    refused.add(this.#care.read, row, { column: mapping.columns.get(column) ?? column, reason });
  }

  /** Which weeks the rows dated Sunday were taken for (contract 3.6). */
  #sundayFinding(): Record<string, number> {
    if (this.#sundays === 0) return {};
    const [ending, beginning] = ['the week that ends with it', 'the week that begins the day after'];
    const [taken, label, other] =
      this.#label === 'open' ? [beginning, 'close', ending] : [ending, 'open', beginning];
    return { [`of weeks dated Sunday, stored as ${taken} (--label ${label}: as ${other})`]: this.#sundays };
  }

  /** Writes what is still open; the report of the pass. `sha256` is the hash of its file. */
  async settle(sha256: string): Promise<RunResult> {
    await this.#load.settle();
    const { findings, ...report } = this.#load.report;
    return {
      rowsRead: this.rowsRead,
      ...report,
      findings: {
        ...findings,
        ...Object.fromEntries(this.#odd.values()),
        ...this.#sundayFinding(),
        ...this.names.findings(),
      },
      openTimes: await this.#load.openTimes(sha256),
      finish: () => this.#load.finish(sha256),
    };
  }
}

/** The problem of a row by its time. */
const noTime = (reason: string): RowProblem => ({ column: 'datetime', reason });

/** What is wrong with a row's cells: their number, or text in place of a number. */
function oddRow({ read, strange, width }: Care, row: number): RowProblem | null {
  if (read.surplus?.isNull(row) === false)
    return { column: 'row', reason: 'has more cells than the header has columns' };
  // Only a CSV can lack a cell: in other formats it is null.
  if (read.surplus !== null && read.texts[width - 1]!.isNull(row))
    return { column: 'row', reason: 'has fewer cells than the header has columns' };
  return strange.get(row) ?? null;
}
