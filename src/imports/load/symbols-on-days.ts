// Whose a row is, by its symbol and its day (contract 9.6).
import { formatDay, parseDay } from '../../base/instant.ts';
import type { SymbolTime } from '../../contract/file-words.ts';
import { limits } from '../../contract/limits.ts';
import { bearerOn } from '../../runs/naming.ts';
import { type KnownName, lookUpNames, nameOf } from '../../runs/new-instrument.ts';
import { type FormerBearer, formerBearers } from '../../store/instrument-terms.ts';
import type { FormerSymbol, Instrument, InstrumentName } from '../../store/schema/reference.ts';
import type { MappedFile } from '../map/column-mapping.ts';
import { unfitProblem } from '../read/file-problem.ts';
import type { PresentRun } from './run.ts';

/** The present symbol of the instrument that a row is of, or why the row is refused. */
export type RowOwner = { readonly symbol: string } | { readonly reason: string };

/** Former symbols that a message names. */
const TOLD_MAX = 5;

/** One symbol on all days, by what the store knew when the import first met it. */
export class SymbolOnDays {
  /** True if every row is of the instrument that has the symbol now. */
  readonly isOne: boolean;
  /** That instrument. */
  readonly present: { readonly symbol: string };
  readonly #former: readonly FormerBearer[];
  readonly #symbols: SymbolTime | undefined;
  readonly #file: string;
  /** The day on which the instrument took the symbol that it has now. */
  readonly #tookDay: number;
  readonly #refused: { readonly reason: string };
  /**
   * With `--symbols now`, if none has the symbol now: the owner of the rows so far, who must be the same for
   * all.
   */
  #only: RowOwner | null = null;

  /** `instrument` has the symbol now: null if none has it, undefined if its row cannot be read. */
  constructor(
    name: InstrumentName,
    instrument: Instrument | null | undefined,
    former: readonly FormerBearer[],
    { name: file, mapping }: MappedFile,
  ) {
    const { symbols } = mapping;
    const row = instrument ?? null;
    this.present = { symbol: name.symbol };
    this.#former = former;
    this.#symbols = symbols;
    this.#file = file;
    const had = ((row?.former_symbols ?? []) as FormerSymbol[]).toSorted((a, b) => b.to_day - a.to_day);
    // A symbol of the day is nobody's before the listing. Bars of other files may be of another exchange.
    const listed = symbols === 'then' && had.length === 0 ? parseDay(row?.listing_date ?? '') : null;
    this.#tookDay = had.length > 0 ? had[0]!.to_day + 1 : (listed ?? Number.NEGATIVE_INFINITY);
    this.#refused = { reason: row === null ? '' : reasonOf(row, had, this.#tookDay, symbols) };
    this.isOne =
      symbols === 'now'
        ? instrument !== null || former.length === 0
        : former.length === 0 && this.#tookDay === Number.NEGATIVE_INFINITY;
  }

  /**
   * The owner of a row. A bar of a week or month, from `day` to `lastDay`, is of who had the symbol first.
   * @throws FileProblem where rows of one company in one file are two instruments'
   */
  on(day: number, lastDay = day): RowOwner {
    if (this.isOne) return this.present;
    const bearer = bearerOn(this.#former, day) ?? bearerOn(this.#former, lastDay);
    if (this.#symbols === 'now') return this.#sameAsBefore(bearer ?? this.present);
    const isEarlier = lastDay < this.#tookDay && bearer?.symbol !== this.present.symbol;
    if (isEarlier && (bearer === undefined || this.#symbols === undefined)) return this.#refused;
    return bearer ?? this.present;
  }

  #sameAsBefore(owner: RowOwner): RowOwner {
    this.#only ??= owner;
    if (owner === this.#only) return owner;
    const { symbol } = this.present;
    const had = this.#former.map((one) => `${one.symbol} from ${spanOf(one.fromDay, one.toDay)}`).join(', ');
    throw unfitProblem(
      this.#file,
      `has rows of ${symbol} from days on which it was the symbol of another instrument (${had}) and from other days, but with --symbols now they are all of one instrument. If another instrument has ${symbol} now, import it first: bourse import instruments. If the file has the symbols of each day, give --symbols then. Nothing was imported`,
    );
  }
}

const spanOf = (fromDay: number, toDay: number): string => `${formatDay(fromDay)} to ${formatDay(toDay)}`;

/**
 * Why a row from before the day on which its instrument took the symbol is refused; `had` are its former
 * symbols, the latest first.
 */
function reasonOf(
  { symbol, name, country_iso_code }: Instrument,
  had: readonly FormerSymbol[],
  tookDay: number,
  symbols: SymbolTime | undefined,
): string {
  if (tookDay === Number.NEGATIVE_INFINITY) return '';
  const who = name?.replaceAll(/[\s\p{Cc}]+/gu, ' ') ?? `${country_iso_code}:${symbol}`;
  const before = had
    .slice(0, TOLD_MAX)
    .map((one) => `${one.symbol} from ${spanOf(one.from_day, one.to_day)}`);
  const took =
    before.length === 0
      ? `is the symbol of ${who}, listed on ${formatDay(tookDay)}`
      : `has been the symbol of ${who} since ${formatDay(tookDay)} (before: ${before.join(', ')})`;
  const whose =
    symbols === 'then'
      ? "this row is another company's, because the file has the symbols of each day (--symbols then)"
      : "give --symbols then if the file has the symbols of each day, so that this row is another company's; give --symbols now if it has each company's whole history under its present symbol";
  return `${symbol} ${took}: ${whose}`;
}

/** The symbols that the rows of one import have. */
export class SymbolsOnDays {
  readonly #run: PresentRun;
  readonly #symbols = new Map<string, SymbolOnDays>();

  constructor(run: PresentRun) {
    this.#run = run;
  }

  /** The symbol of a name that is kept. */
  known(name: InstrumentName): SymbolOnDays | undefined {
    return this.#symbols.get(nameOf(name));
  }

  /** Keeps the symbols of names that were looked up. */
  async keep(names: readonly InstrumentName[], found: ReadonlyMap<string, KnownName>): Promise<void> {
    const byKey = new Map(names.map((name) => [nameOf(name), name]));
    if (this.#symbols.size + byKey.size > limits.instrumentCacheMax) this.#symbols.clear();
    for (const [key, name] of byKey) this.#symbols.set(key, await this.made(name, found.get(key)));
  }

  async of(name: InstrumentName): Promise<SymbolOnDays> {
    if (this.known(name) === undefined) await this.keep([name], await lookUpNames(this.#run.writer, [name]));
    return this.#symbols.get(nameOf(name))!;
  }

  /** The symbol of a name that was looked up; nothing was found of a damaged one. */
  async made(name: InstrumentName, found: KnownName | undefined): Promise<SymbolOnDays> {
    const former = found?.former ?? (await formerBearers(this.#run.writer, name));
    return new SymbolOnDays(name, found?.instrument, former, this.#run.request.file);
  }
}
