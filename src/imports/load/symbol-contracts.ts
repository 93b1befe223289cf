// Option contracts that bars name by symbols of OCC alone (contract 1.4, 11): each is made with its
// instrument.
import { type OptionSymbol, parseOptionSymbol } from '../../contract/option-symbol.ts';
import { changeRow } from '../../runs/journal.ts';
import { rowWith } from '../../store/all-rows.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import {
  ADJUSTED,
  indexOfRoot,
  isAdjustedRoot,
  optionContracts,
  plainRoot,
  termsOfRoot,
} from '../../store/schema/options.ts';
import type { Instrument, InstrumentName } from '../../store/schema/reference.ts';
import type { Writer } from '../../store/store.ts';
import { OwnNames } from './own-names.ts';
import type { RowOwner, SymbolsOnDays } from './symbols-on-days.ts';

/** The asset type of every underlying: stocks, funds and indices. */
const UNDERLYING = 'stock';

/** The name of an underlying. */
export const underlyingNamed = (symbol: string): InstrumentName => ({
  asset_schema: UNDERLYING,
  country_iso_code: 'US',
  symbol,
});

/**
 * The contract of an instrument whose row does not say it; null where its symbol tells none, or no
 * underlying.
 */
export function contractToMake({
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
export class Underlyings {
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

/** The fields of a contract, and of its instrument, that its root gives. */
function fieldsOfRoot({ root }: OptionSymbol): Partial<Pick<Instrument, 'is_indices' | 'contract_type'>> {
  const { is_indices } = termsOfRoot(root);
  return { ...(is_indices && { is_indices }), ...(isAdjustedRoot(root) && { contract_type: ADJUSTED }) };
}

/** The fields of an option's instrument that its contract gives. */
export const instrumentFieldsOf = (contract: OptionSymbol, underlying: Instrument) => ({
  ...fieldsOfRoot(contract),
  underlying_name: underlying.symbol,
  parent_schema_instrument_id: `${UNDERLYING}_${underlying.instrument_id}`,
  contract_value: '100',
});

/** Writes the contract that an instrument's symbol names, unless the store has it. */
export async function writeContract(writer: Writer, runId: number, instrument: Instrument): Promise<void> {
  const { country_iso_code, symbol, instrument_id, asset_id, underlying_name } = instrument;
  const contract = parseOptionSymbol(symbol);
  const stored = await rowWith(writer, optionContracts, { country_iso_code, symbol });
  if (contract === null || stored !== null) return;
  const { root, expirationDay, optionType, strikePrice } = contract;
  const blank = Object.fromEntries(Object.keys(optionContracts.columns).map((column) => [column, null]));
  const given = {
    ...{ country_iso_code, symbol, instrument_id, asset_id, underlying_name },
    parent_asset_schema: UNDERLYING,
    option_type: optionType,
    expiration_date: expirationDay,
    strike_price: strikePrice,
    exercise_style: termsOfRoot(root).exercise_style ?? 'american',
    status: 'active',
    contract_value: 100,
    ...fieldsOfRoot(contract),
  };
  const row = { ...blank, ...given } as RowOf<typeof optionContracts>;
  await changeRow(writer, runId, optionContracts, null, row);
}
