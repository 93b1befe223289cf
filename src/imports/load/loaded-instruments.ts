// The instruments of the bars that an import loads: stored ones, and new ones until their first bar. Option
// contracts that bars name by symbols of OCC alone are made with their instruments (contract 1.4, 11).
import { type AssetSchema, type OptionSymbol, parseOptionSymbol } from '../../contract/identifiers.ts';
import { findMarket } from '../../market/calendar/calendar.ts';
import { changeRows } from '../../runs/journal.ts';
import { nameOf } from '../../runs/new-instrument.ts';
import { rowWith } from '../../store/all-rows.ts';
import type { Values } from '../../store/schema/dataset.ts';
import { indexOfRoot, optionContracts, plainRoot } from '../../store/schema/options.ts';
import type { Instrument, InstrumentName } from '../../store/schema/reference.ts';
import type { Writer } from '../../store/store.ts';
import { contractOf } from './options.ts';
import { OwnNames } from './own-names.ts';
import { rowWithValues } from './particulars.ts';
import type { PresentRun } from './run.ts';
import { RunInstruments } from './run-instruments.ts';
import type { RowOwner, SymbolsOnDays } from './symbols-on-days.ts';

/** The asset type of every underlying: stocks, funds and indices. */
const UNDERLYING = 'stock';

/** The name of an underlying. */
const underlyingNamed = (symbol: string): InstrumentName => ({
  asset_schema: UNDERLYING,
  country_iso_code: 'US',
  symbol,
});

/**
 * The contract of an instrument whose row does not say it; null where its symbol tells none, or no
 * underlying.
 */
function contractToMake({
  asset_schema,
  country_iso_code,
  symbol,
  underlying_name,
}: InstrumentName & Pick<Instrument, 'underlying_name'>): OptionSymbol | null {
  if (asset_schema !== 'option' || country_iso_code !== 'US' || underlying_name !== null) return null;
  const contract = parseOptionSymbol(symbol);
  return contract === null || plainRoot(contract.root) === null ? null : contract;
}

/**
 * Finds the underlyings of contracts. A root has no separator before the class of a share: `BRKB` is BRK.B
 * where that is known.
 */
class Underlyings {
  readonly #owners: SymbolsOnDays;
  readonly #names: OwnNames;

  constructor(writer: Writer, owners: SymbolsOnDays) {
    this.#owners = owners;
    this.#names = new OwnNames(writer, true);
  }

  /**
   * The present symbol of a contract's underlying, which the store may not know; or why that is nobody's who
   * is known.
   */
  async of({ root: written, expirationDay }: OptionSymbol): Promise<RowOwner> {
    const root = plainRoot(written) ?? written;
    const name = underlyingNamed(indexOfRoot(root) ?? root);
    await this.#names.lookUp([name]);
    const own = this.#names.of(name);
    if ('reason' in own) return own;
    return (await this.#owners.of(underlyingNamed(own.symbol))).on(expirationDay);
  }
}

/** An instrument as a row names it, and its exchange, null where the file names none. */
type NamedInstrument = InstrumentName & { readonly exchange: string | null };

/** An instrument that is written with its first bar: its row until then. */
type Unwritten = {
  readonly stored: Instrument | null;
  readonly row: Instrument;
  /**
   * Of an option without its contract: the underlying, and the row of the contract but for its identifiers.
   */
  readonly option: { readonly underlying: Instrument; readonly contract: Values } | null;
};

/** The instruments of one import. */
export class LoadedInstruments extends RunInstruments {
  /**
   * Instruments that the store does not know, or not as options with their contract, until their first bar.
   */
  readonly #unwritten = new Map<string, Unwritten>();
  readonly #underlyings: Underlyings;

  constructor(run: PresentRun, owners: SymbolsOnDays) {
    super(run);
    this.#underlyings = new Underlyings(run.writer, owners);
  }

  /**
   * Why bars of an option cannot be stored: nobody who is known had the symbol of its underlying when it
   * expired (contract 9.6).
   */
  async underlyingProblem(name: InstrumentName, stored: Instrument | null): Promise<string | null> {
    const contract = contractToMake({ ...name, underlying_name: stored?.underlying_name ?? null });
    const owner = contract === null ? null : await this.#underlyings.of(contract);
    return owner !== null && 'reason' in owner ? owner.reason : null;
  }

  /** The instrument of a name, with its exchange and currency; new where the store does not know it. */
  async ofBars(name: NamedInstrument, currency = this.run.request.currency ?? null): Promise<Instrument> {
    const key = nameOf(name);
    const unwritten = this.#unwritten.get(key);
    const known = unwritten?.row ?? (await this.find(name));
    const market = findMarket(name.asset_schema as AssetSchema, name.country_iso_code, known?.calendar_key);
    const exchange = name.exchange ?? known?.exchange ?? market?.exchange ?? null;
    const contract = known === null ? null : contractToMake(known);
    const isSame = known?.exchange === exchange && (currency === null || known.currency === currency);
    if (known !== null && contract === null && isSame) return known;
    // A market that is not built in has the zone of the file (contract 11).
    const zone = known === null && market === null ? this.run.request.zone : null;
    const made = {
      ...(known ?? (await this.made(name))),
      exchange,
      ...(zone && { time_zone: zone.name }),
    };
    const row = currency === null ? made : { ...made, currency };
    if (known !== null && contract === null && unwritten === undefined) {
      await this.record(known, row);
      return row;
    }
    const kept = await this.#withContract(unwritten ?? { stored: known, row, option: null }, row);
    this.#unwritten.set(key, kept);
    return kept.row;
  }

  /**
   * A row that is not written yet; an option that is named by its symbol alone gets the fields of its
   * contract.
   */
  async #withContract({ stored, option }: Unwritten, row: Instrument): Promise<Unwritten> {
    const contract = contractToMake(row);
    const owner = contract === null ? null : await this.#underlyings.of(contract);
    if (contract === null || owner === null || 'reason' in owner) return { stored, row, option };
    const underlying = await this.ofBars({ ...underlyingNamed(owner.symbol), exchange: null }, null);
    const read = {
      country_iso_code: row.country_iso_code,
      symbol: row.symbol,
      parent_asset_schema: UNDERLYING,
      underlying_name: underlying.symbol,
      option_type: contract.optionType,
      expiration_date: contract.expirationDay,
      strike_price: contract.strikePrice,
    };
    const made = contractOf(read, underlying);
    return { stored, row: { ...row, ...made.fields }, option: { underlying, contract: made.row } };
  }

  /**
   * Writes an instrument that is not written yet, an option with its contract and underlying; only a bar
   * makes them, a refused row does not.
   */
  async write(name: InstrumentName): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const key = nameOf(name);
    const unwritten = this.#unwritten.get(key);
    if (unwritten === undefined) return;
    this.#unwritten.delete(key);
    const { stored, row, option } = unwritten;
    if (option !== null) {
      // An underlying is new, or stored and needed by the run.
      await this.write(option.underlying);
      await this.need(option.underlying);
    }
    await this.record(stored, row);
    if (option !== null) await this.#writeContract(row, option.contract);
  }

  /** Blocks of bars are written one by one, so an instrument is written before its own. */
  protected override async record(before: Instrument | null, row: Instrument): Promise<void> {
    await super.record(before, row);
    await this.writeRecorded();
  }

  /** Writes the contract of an instrument, unless the store has it. */
  async #writeContract({ instrument_id, asset_id }: Instrument, contract: Values): Promise<void> {
    const row = rowWithValues(optionContracts, { ...contract, instrument_id, asset_id });
    const { country_iso_code, symbol } = row;
    const stored = await rowWith(this.run.writer, optionContracts, { country_iso_code, symbol });
    if (stored === null)
      await changeRows(this.run.writer, this.run.runId, optionContracts, [{ before: null, after: row }]);
  }
}
