// Option contracts: what a file may say of one, and the instruments that it names: its own and its underlying (contract 11, spec 2.6).
import { parseDay } from '../base/instant.ts';
import type { Zone } from '../calendar/zone.ts';
import { type AssetSchema, symbolAllowed } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { optionContracts } from '../datasets/options.ts';
import type { instruments } from '../datasets/reference.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { ImportReport } from '../history/import-report.ts';
import type { ImportRequest } from '../history/run.ts';
import type { FieldNames } from '../mapping/column-mapping.ts';
import {
  anyNumberRule,
  dayRule,
  exchangeRule,
  type FieldRule,
  instantRule,
  numberRule,
  symbolRule,
  underlyingSchemaRule,
  wordRule,
} from '../mapping/field-rules.ts';
import type { Store } from '../store/store.ts';
import type { NamedInstruments } from './named-instruments.ts';
import { instrumentRules } from './reference.ts';
import { importRows, type NamedOnDay, type RowImport, type Values } from './rows.ts';

type ContractRow = RowOf<typeof optionContracts>;
type Instrument = RowOf<typeof instruments>;

/** Fields that a contract shares with the instrument that it is. */
const sharedFields = [
  'exchange',
  'calendar_key',
  'session_template',
  'status',
  'daily_minute_count',
  'is_indices',
  'trading_codes',
  'contract_type',
  'price_precision',
  'quantity_precision',
  'min_initial_open_quantity',
  'tick_size',
  'lot_size',
  'listing_date',
] as const;

/** The fields of an option-contracts file (contract 11). Identifiers are given out by the store alone; flags name the underlying. */
export const optionContractFields: FieldNames = {
  required: [
    'symbol',
    'country_iso_code',
    'parent_asset_schema',
    'underlying_name',
    'strike_price',
    'expiration_date',
    'option_type',
  ],
  optional: ['expiration_datetime', 'exercise_style', 'contract_value', 'option_exchange', ...sharedFields],
  flags: {
    parent_asset_schema: '--schema',
    country_iso_code: '--country',
    underlying_name: '--symbol',
    exchange: '--exchange',
  },
};

const flagOf: Readonly<Record<string, string>> = {
  asset_schema: 'parent_asset_schema',
  symbol: 'underlying_name',
};

const types: Readonly<Record<string, string>> = { call: 'call', put: 'put', c: 'call', p: 'put' };

const rules: Readonly<Record<string, FieldRule>> = {
  ...Object.fromEntries(
    [...sharedFields, 'country_iso_code'].map((field) => [field, instrumentRules[field]!]),
  ),
  // Some files pad the root with spaces to six characters (contract 1.4).
  symbol: {
    parse: (text) => symbolRule.parse(text.replaceAll(' ', '')),
    reason: `must be ${symbolAllowed}, such as SPY250919C00450000`,
  },
  parent_asset_schema: underlyingSchemaRule('the asset type of the underlying'),
  underlying_name: {
    parse: symbolRule.parse,
    reason: `must be the symbol of the underlying, ${symbolAllowed}`,
  },
  strike_price: anyNumberRule,
  expiration_date: dayRule,
  option_type: {
    parse: (text) => (Object.hasOwn(types, text.toLowerCase()) ? types[text.toLowerCase()] : undefined),
    reason: 'must be call or put',
  },
  exercise_style: wordRule(['american', 'european']),
  contract_value: numberRule((number) => number > 0, 'must be a number above 0, such as 100'),
  option_exchange: exchangeRule,
};

const expirationRule = (zone: Zone | null): FieldRule =>
  instantRule(
    zone,
    Math.floor,
    zone === null
      ? 'must be an instant with its offset, such as 2025-07-18T20:00:00Z; for local times give --zone'
      : 'must be an instant, or a local time that the zone has, and once',
  );

/** Root, expiration, type and strike of a symbol (contract 1.4). */
const OPTION_SYMBOL = /^.+\d{6}([CP])\d{8}$/;

/** What is wrong with a contract whose cells are right each for itself. */
function problemOf(values: Values): RowProblem | null {
  const { symbol, option_type: type, strike_price: strike, parent_asset_schema: schema } = values;
  // As with prices: those of futures may be zero and negative.
  if ((strike as number) <= 0 && schema !== 'future')
    return { column: 'strike_price', reason: `a strike must be positive, not ${String(strike)}` };
  const letter = OPTION_SYMBOL.exec(symbol as string)?.[1];
  if (letter !== undefined && (letter === 'C') !== (type === 'call'))
    return { column: 'option_type', reason: `is ${String(type)}, and ${String(symbol)} says otherwise` };
  return null;
}

const defaults = { exercise_style: 'american', status: 'active', contract_value: 100 };

const nothing = Object.fromEntries(Object.keys(optionContracts.columns).map((column) => [column, null]));

/** The row of a contract; the instruments that it names are made where they are not known. */
export async function optionContractRow(values: Values, named: NamedInstruments): Promise<ContractRow> {
  const row = { ...nothing, ...defaults, ...values } as ContractRow;
  const { country_iso_code, symbol, underlying_name, parent_asset_schema } = row;
  const underlying = await named.of({
    asset_schema: parent_asset_schema as AssetSchema,
    country_iso_code,
    symbol: underlying_name,
  });
  const own = await named.of(
    { asset_schema: 'option', country_iso_code, symbol },
    {
      ...saidOf(values),
      underlying_name,
      parent_schema_instrument_id: `${parent_asset_schema}_${underlying.instrument_id}`,
      contract_value: String(row.contract_value),
    },
  );
  return { ...row, instrument_id: own.instrument_id, asset_id: own.asset_id };
}

const saidOf = (values: Values): Partial<Instrument> =>
  Object.fromEntries(
    sharedFields.filter((field) => values[field] !== undefined).map((field) => [field, values[field]]),
  );

/** The symbol by which a contract names its underlying, on the day of its listing where that is known. */
export function symbolOfUnderlying(values: Values): NamedOnDay {
  const { parent_asset_schema, country_iso_code, underlying_name, expiration_date, listing_date } =
    values as ContractRow;
  const name = { asset_schema: parent_asset_schema, country_iso_code, symbol: underlying_name };
  const listed = listing_date === undefined || listing_date === null ? null : parseDay(listing_date);
  return { field: 'underlying_name', name, day: listed ?? expiration_date };
}

const kindOf = (zone: Zone | null): RowImport<typeof optionContracts> => ({
  dataset: optionContracts,
  fields: optionContractFields,
  rules: { ...rules, expiration_datetime: expirationRule(zone) },
  keyOf: ({ country_iso_code, symbol }) => ({ country_iso_code, symbol }) as Partial<ContractRow>,
  repeated: { column: 'symbol', reason: 'the file has this contract already, with other values' },
  problemOf,
  symbolOf: symbolOfUnderlying,
  rowOf: (values, _known, _writer, named) => optionContractRow(values, named),
});

/** Imports one file of option contracts; `zone` is that of times without an offset. @throws FileProblem when nothing of it can be imported */
export async function importOptionContracts(store: Store, request: ImportRequest): Promise<ImportReport> {
  const flags = new Map([...request.flags].map(([field, value]) => [flagOf[field] ?? field, value]));
  const { newRows: _, ...report } = await importRows(
    store,
    { ...request, flags },
    kindOf(request.zone ?? null),
  );
  return report;
}
