// The instruments of the bars that an import loads: stored ones, and new ones until their first bar.

import type { AssetSchema } from '../../contract/identifiers.ts';
import { findMarket } from '../../market/calendar/calendar.ts';
import { changeRow } from '../../runs/journal.ts';
import { type KnownName, lookUpNames, newInstrument } from '../../runs/new-instrument.ts';
import { instrumentNamed } from '../../store/instrument-terms.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import { type Instrument, type InstrumentName, instruments } from '../../store/schema/reference.ts';
import type { Writer } from '../../store/store.ts';
import type { PresentRun } from './run.ts';
import {
  contractToMake,
  instrumentFieldsOf,
  Underlyings,
  underlyingNamed,
  writeContract,
} from './symbol-contracts.ts';
import type { SymbolsOnDays } from './symbols-on-days.ts';

/** An instrument as a row names it, and its exchange, null where the file names none. */
type NamedInstrument = InstrumentName & { readonly exchange: string | null };

/**
 * An instrument that is written with its first bar: its row until then, and the underlying where it is an
 * option without its contract.
 */
type Unwritten = {
  readonly stored: Instrument | null;
  readonly row: Instrument;
  readonly underlying: Instrument | null;
};

/** The instruments of one import. */
export class LoadedInstruments {
  readonly #writer: Writer;
  readonly #run: PresentRun;
  /**
   * Instruments that the store does not know, or not as options with their contract, until their first bar.
   */
  readonly #unwritten = new Map<string, Unwritten>();
  readonly #underlyings: Underlyings;
  /** Stored underlyings of contracts of this run: the journal says that it needs them. */
  readonly #needed = new Set<string>();
  /**
   * What the store knows of names that come next, by row key: for the first use of each, because this import
   * may change it.
   */
  readonly #known = new Map<string, KnownName>();
  /**
   * The first identifier that this import gave to a new instrument: those from it on have no stored series.
   */
  #freshFrom = Number.POSITIVE_INFINITY;

  /** The currency of the file's prices, where its import says it. */
  readonly #currency: string | null;

  constructor(writer: Writer, run: PresentRun, owners: SymbolsOnDays, currency: string | null) {
    this.#currency = currency;
    this.#writer = writer;
    this.#run = run;
    this.#underlyings = new Underlyings(writer, owners);
  }

  /** Looks up names that come next, together; what is known of each, by row key. */
  async lookUp(names: readonly InstrumentName[]): Promise<ReadonlyMap<string, KnownName>> {
    const found = await lookUpNames(this.#writer, names);
    for (const [key, known] of found) this.#known.set(key, known);
    return found;
  }

  /**
   * Why bars of an option cannot be stored: nobody who is known had the symbol of its underlying when it
   * expired (contract 9.6).
   */
  async underlyingProblem(name: InstrumentName): Promise<string | null> {
    const stored = this.#known.get(rowKeyOf(instruments, name))?.instrument ?? null;
    const contract = contractToMake({ ...name, underlying_name: stored?.underlying_name ?? null });
    const owner = contract === null ? null : await this.#underlyings.of(contract);
    return owner !== null && 'reason' in owner ? owner.reason : null;
  }

  /** The instrument of a name, with its exchange and currency; new where the store does not know it. */
  async of(name: NamedInstrument, currency = this.#currency): Promise<Instrument> {
    const { asset_schema, country_iso_code, symbol } = name;
    const where = { asset_schema, country_iso_code, symbol };
    const key = rowKeyOf(instruments, where);
    const found = this.#known.get(key);
    this.#known.delete(key);
    const stored = found === undefined ? await instrumentNamed(this.#writer, where) : found.instrument;
    const unwritten = this.#unwritten.get(key);
    const known = unwritten?.row ?? stored;
    const exchange =
      name.exchange ??
      known?.exchange ??
      findMarket(asset_schema as AssetSchema, country_iso_code, known?.calendar_key)?.exchange ??
      null;
    const contract = known === null ? null : contractToMake(known);
    const isSame = known?.exchange === exchange && (currency === null || known.currency === currency);
    if (known !== null && contract === null && isSame) return known;
    const made = { ...(known ?? (await this.#made(where, found?.deleted))), exchange };
    const row = currency === null ? made : { ...made, currency };
    if (known !== null && contract === null && unwritten === undefined) {
      await changeRow(this.#writer, this.#run.runId, instruments, known, row);
      return row;
    }
    return this.#keep(key, unwritten ?? { stored, row, underlying: null }, row);
  }

  /**
   * Keeps a row until its first bar; an option that is named by its symbol alone gets the fields that its
   * contract gives.
   */
  async #keep(key: string, { stored, underlying: known }: Unwritten, row: Instrument): Promise<Instrument> {
    const contract = contractToMake(row);
    const owner = contract === null ? null : await this.#underlyings.of(contract);
    const underlying =
      owner !== null && 'symbol' in owner
        ? await this.of({ ...underlyingNamed(owner.symbol), exchange: null }, null)
        : known;
    const kept =
      contract === null || underlying === null
        ? row
        : { ...row, ...instrumentFieldsOf(contract, underlying) };
    this.#unwritten.set(key, { stored, row: kept, underlying });
    return kept;
  }

  async #made(name: InstrumentName, deleted: Instrument | null | undefined): Promise<Instrument> {
    const made = await newInstrument(this.#writer, name, this.#run.counters, { deleted });
    if (deleted === null) this.#freshFrom = Math.min(this.#freshFrom, made.instrument_id);
    return made;
  }

  /** Whether this import has made an instrument that never was before. */
  isFresh({ instrument_id }: Instrument): boolean {
    return instrument_id >= this.#freshFrom;
  }

  /**
   * Writes an instrument that is not written yet, an option with its contract and underlying; only a bar
   * makes them, a refused row does not. Gives how many instruments are new.
   */
  async write(name: InstrumentName): Promise<number> {
    if (this.#unwritten.size === 0) return 0;
    const key = rowKeyOf(instruments, name);
    const unwritten = this.#unwritten.get(key);
    if (unwritten === undefined) return 0;
    this.#unwritten.delete(key);
    const { stored, row, underlying } = unwritten;
    const made = underlying === null ? 0 : await this.#writeUnderlying(underlying);
    await changeRow(this.#writer, this.#run.runId, instruments, stored, row);
    if (underlying !== null) await writeContract(this.#writer, this.#run.runId, row);
    return made + (stored === null ? 1 : 0);
  }

  /**
   * Writes an underlying that is new, or notes that this run needs a stored one: it outlives an undo of the
   * run that made it.
   */
  async #writeUnderlying(underlying: Instrument): Promise<number> {
    const key = rowKeyOf(instruments, underlying);
    const made = await this.write(underlying);
    if (made === 0 && !this.#needed.has(key))
      await changeRow(this.#writer, this.#run.runId, instruments, underlying, underlying);
    this.#needed.add(key);
    return made;
  }
}
