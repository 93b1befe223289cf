// Stored bars as rows of native files: series after series, each block as it is read.
import { type Bars, filterBars } from '../bars/bars.ts';
import { decodeBlock, wholeBlock } from '../bars/block-reader.ts';
import { DAY_MS } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { series as seriesDataset, seriesFields, valueFields } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { selectBars } from '../history/bar-selection.ts';
import { RequestProblem } from '../history/request-problem.ts';
import { Calendars } from '../series/calendars.ts';
import { allBlocks } from '../store/all-blocks.ts';
import { selectedRows } from '../store/selected-rows.ts';
import type { Reader } from '../store/store.ts';
import { BarLine } from './bar-line.ts';
import { ExportSymbols, type SymbolsOfOne } from './export-symbols.ts';
import {
  type ExportColumn,
  type ExportTable,
  type ImportAdvice,
  type Lines,
  type Selection,
  whereOf,
} from './export-table.ts';
import type { TextStyle } from './text-style.ts';

type Series = RowOf<typeof seriesDataset>;
type Selected = { readonly instrument: Instrument; readonly row: Series };

/** No instrument has more series. */
const SERIES_MAX = 2_000;

const INSTRUMENTS_PER_READ = 2_000;

/** The series that are selected and have bars. */
async function* selectedSeries(reader: Reader, selection: Selection): AsyncGenerator<Selected> {
  for await (const instrument of selectedRows(reader, instruments, {
    where: whereOf(instruments, selection),
    along: [instruments.key],
    limit: INSTRUMENTS_PER_READ,
  })) {
    const found = await reader.rows(seriesDataset, {
      where: { instrument_id: instrument.instrument_id },
      order: [['interval', 'asc']],
      limit: SERIES_MAX,
    });
    for (const row of found) {
      const isWanted =
        (selection.interval === null || row.interval === selection.interval) &&
        (selection.basis === null || row.prices === selection.basis);
      if (row.bar_count > 0 && isWanted) yield { instrument, row };
    }
  }
}

/** What the selected series have in common. */
type Found = {
  bars: number;
  readonly series: Map<string, number>;
  someMinutes: boolean;
  someLabels: boolean;
};

async function survey(reader: Reader, selection: Selection): Promise<Found> {
  const found: Found = { bars: 0, series: new Map(), someMinutes: false, someLabels: false };
  for await (const { row } of selectedSeries(reader, selection)) {
    found.bars += row.bar_count;
    found.series.set(row.prices, (found.series.get(row.prices) ?? 0) + 1);
    if (intervalMinutes(row.interval as Interval) === null) found.someLabels = true;
    else found.someMinutes = true;
  }
  return found;
}

/** Opens are instants, labels are dates; a column of both is text. */
function columnsOf({ someMinutes, someLabels }: Found): ExportColumn[] {
  const momentType = !someLabels ? 'TIMESTAMP WITH TIME ZONE' : someMinutes ? 'VARCHAR' : 'DATE';
  return [
    ...seriesFields.map((name) => ({ name, type: 'VARCHAR' })),
    { name: 'datetime', type: momentType },
    ...valueFields.map((name) => ({ name, type: 'DOUBLE' })),
  ];
}

/** The bars that are selected. @throws RequestProblem where their prices are of several bases: an import has one */
export async function barTable(reader: Reader, selection: Selection): Promise<ExportTable> {
  const found = await survey(reader, selection);
  const bases = [...found.series.keys()];
  if (bases.length > 1) {
    const counts = [...found.series].map(([basis, count]) => `${basis} ${count}`).join(', ');
    throw new RequestProblem(
      `the prices of these series are of several bases (${counts}), and a file is imported with one: export each by itself, by --prices ${bases.join(' or ')}`,
    );
  }
  const columns = columnsOf(found);
  const walk = new BarWalk(reader, selection);
  const flags = bases[0] === undefined || bases[0] === 'raw' ? [] : ['--prices', bases[0]];
  return {
    columns,
    rowsAbout: found.bars,
    lines: (style) =>
      walk.lines(
        style,
        columns.map(({ name }) => name),
      ),
    advice: () => walk.advice(flags),
  };
}

/** One pass over the selected series. */
class BarWalk {
  readonly #reader: Reader;
  readonly #selection: Selection;
  readonly #calendars = new Calendars();
  readonly #symbols: ExportSymbols;

  constructor(reader: Reader, selection: Selection) {
    this.#reader = reader;
    this.#selection = selection;
    this.#symbols = new ExportSymbols(reader);
  }

  async *lines(style: TextStyle, columns: readonly string[]): AsyncGenerator<Lines> {
    for await (const { instrument, row } of selectedSeries(this.#reader, this.#selection)) {
      const line = new BarLine(style, columns, instrument, row.interval);
      const symbols = await this.#symbols.of(instrument);
      const dayOf = dayOfKeys(instrument, row.interval);
      for await (const bars of this.#bars(instrument, row)) {
        const text = runsOf(symbols, bars, dayOf).map(({ symbol, from, to }) =>
          line.text(symbol, bars, from, to),
        );
        yield { text: text.join(''), rows: bars.count };
      }
    }
  }

  /** The selected bars of a series, block by block. */
  async *#bars(instrument: Instrument, row: Series): AsyncGenerator<Bars> {
    const { from, to } = this.#selection;
    const selected = selectBars(row, await this.#calendars.of(this.#reader, instrument), { from, to });
    if (selected === null) return;
    const { fromBucket, toBucket, holds } = selected;
    const read = { seriesId: row.series_id, fromBucket, toBucket, direction: 'asc' } as const;
    for await (const { bytes } of allBlocks(this.#reader, read)) {
      const bars = decodeBlock(bytes, wholeBlock);
      const isWhole = from === null && to === null;
      const wanted = isWhole ? bars : filterBars(bars, (at) => holds(bars.keyMs[at]!));
      if (wanted.count > 0) yield wanted;
    }
  }

  advice(flags: readonly string[]): ImportAdvice {
    return { flags, notes: this.#symbols.notes('bar') };
  }
}

/** Bars one after the other that stand under one symbol. */
type Run = { readonly symbol: string; readonly from: number; readonly to: number };

/** The day that a key of a series is about: of minutes that of its market, of other intervals its date. */
function dayOfKeys(instrument: Instrument, interval: string): (keyMs: number) => number {
  if (intervalMinutes(interval as Interval) === null) return (keyMs) => keyMs / DAY_MS;
  const { zone } = calendarOf(instrument.asset_schema as AssetSchema, instrument.country_iso_code);
  return (keyMs) => zone.dayAt(keyMs);
}

/** All of some bars, in order. */
function runsOf(symbols: SymbolsOfOne, { count, keyMs }: Bars, dayOf: (keyMs: number) => number): Run[] {
  const first = symbols.on(dayOf(keyMs[0]!));
  if (symbols.areOne) return [{ symbol: first, from: 0, to: count }];
  const runs: Run[] = [];
  let from = 0;
  let before = first;
  for (let at = 1; at < count; at++) {
    const symbol = symbols.on(dayOf(keyMs[at]!));
    if (symbol === before) continue;
    runs.push({ symbol: before, from, to: at });
    [before, from] = [symbol, at];
  }
  return [...runs, { symbol: before, from, to: count }];
}
