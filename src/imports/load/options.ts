// Option contracts: their defaults, and the two instruments that each names: its own and its underlying
// (contract 11, spec 2.6).
import { parseOptionSymbol } from '../../contract/identifiers.ts';
import type { Values } from '../../store/schema/dataset.ts';
import { ADJUSTED, isAdjustedOf, sharedFields, termsOfRoot } from '../../store/schema/options.ts';
import type { FormerSymbol, Instrument } from '../../store/schema/reference.ts';
import type { Particulars, RowContext } from './particulars.ts';
import type { RowProblem } from './refused-rows.ts';

/** Root, expiration, type and strike of a symbol (contract 1.4). */
const OPTION_SYMBOL = /^.+\d{6}([CP])\d{8}$/;

function problemOf(values: Values): RowProblem | null {
  const { symbol, option_type: type, strike_price: strike, parent_asset_schema: schema } = values;
  // Strikes on futures may be zero and negative, as their prices.
  if ((strike as number) <= 0 && schema !== 'future')
    return { column: 'strike_price', reason: `a strike must be positive, not ${String(strike)}` };
  const letter = OPTION_SYMBOL.exec(symbol as string)?.[1];
  if (letter !== undefined && (letter === 'C') !== (type === 'call'))
    return { column: 'option_type', reason: `is ${String(type)}, and ${String(symbol)} says otherwise` };
  return null;
}

const defaults = { exercise_style: 'american', status: 'active', contract_value: 100 };

const ADJUSTED_CONTRACTS = `${ADJUSTED} by a corporate action, so that they deliver something other than their underlying: stored, and found by their own symbols or by searches with ${ADJUSTED}=true`;

/**
 * The row of a contract but for the identifiers of its own instrument, and the fields that it gives this one.
 */
export function contractOf(read: Values, underlying: Instrument) {
  const { country_iso_code, symbol, underlying_name, parent_asset_schema } = read as Record<string, string>;
  const isOcc = country_iso_code === 'US' && parent_asset_schema === 'stock';
  const root = (isOcc && parseOptionSymbol(symbol!)?.root) || '';
  const former = ((underlying.former_symbols ?? []) as FormerSymbol[]).map((one) => one.symbol);
  const isAdjusted = isAdjustedOf(root, [underlying.symbol, ...former]);
  // A file's own words about options on indices win; the kind of a contract follows from its root.
  const values = { ...termsOfRoot(root), ...read, ...(isAdjusted && { contract_type: ADJUSTED }) } as Values;
  const row: Values = { ...defaults, ...values };
  const given = sharedFields.filter((field) => values[field] !== undefined);
  const fields: Partial<Instrument> = {
    ...Object.fromEntries(given.map((field) => [field, values[field]])),
    underlying_name: underlying_name!,
    parent_schema_instrument_id: `${parent_asset_schema}_${underlying.instrument_id}`,
    contract_value: String(row.contract_value),
  };
  return { row, fields, isAdjusted };
}

/** The row of a contract; makes the instruments that it names, where they are unknown. */
async function rowOf(read: Values, _known: Values | null, { named, warn }: RowContext): Promise<Values> {
  const { country_iso_code, symbol, underlying_name, parent_asset_schema } = read as Record<string, string>;
  const country = { country_iso_code: country_iso_code! };
  const parent = { ...country, asset_schema: parent_asset_schema!, symbol: underlying_name! };
  const { row, fields, isAdjusted } = contractOf(read, await named.of(parent));
  if (isAdjusted) warn(ADJUSTED_CONTRACTS);
  const own = await named.of({ ...country, asset_schema: 'option', symbol: symbol! }, fields);
  return { ...row, instrument_id: own.instrument_id, asset_id: own.asset_id };
}

/** The particulars of option contracts. */
export const contracts: Particulars = { problemOf, rowOf };
