// The names in the rows of a bars file: the instrument and the series that each of them stands for.
import { cellText } from '../../base/decimal.ts';
import { volumeBasis } from '../../contract/file-words.ts';
import {
  parseAssetSchema,
  parseCountry,
  parseSpacedSymbol,
  parseSymbol,
  plainOptionSymbol,
} from '../../contract/identifiers.ts';
import { type Interval, parseInterval } from '../../contract/interval.ts';
import { type KnownName, nameOf } from '../../runs/new-instrument.ts';
import { barFields, seriesFields } from '../../store/schema/bars.ts';
import type { FieldRule } from '../../store/schema/dataset.ts';
import { readNotation } from '../../store/schema/notations.ts';
import { unfitProblem } from '../read/file-problem.ts';
import type { Names } from './bar-chunk.ts';
import type { BarLoad, SeriesName } from './bar-load.ts';
import { OpenSeries } from './open-series.ts';
import { OwnNames } from './own-names.ts';
import type { RowProblem } from './refused-rows.ts';
import type { PresentRun } from './run.ts';
import type { SymbolOnDays, SymbolsOnDays } from './symbols-on-days.ts';

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
export type Called =
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
export class BarNames {
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
