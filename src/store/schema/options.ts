// Option contracts. A column that no file gave is null, and its value comes from the market when it is
// read (contract 11). And the roots of US option symbols that are not the symbol of a stock: those of
// options on indices, and those that a corporate action adjusted.
import { plainOptionSymbol, symbolAllowed } from '../../contract/identifiers.ts';
import {
  anyNumber,
  asText,
  countryField,
  dataset,
  dayRule,
  exchangeRule,
  type Field,
  type FieldRule,
  type Fields,
  numberRule,
  optional,
  required,
  symbolRule,
  underlyingSchemaRule,
  wordRule,
} from './dataset.ts';
import { instrumentFields, isListedOn, tradingColumns } from './reference.ts';

/** Options on an index: it, when they may be exercised, and by which price of their last day they settle. */
type IndexRoot = {
  readonly index: string;
  readonly style: 'american' | 'european';
  readonly settles: 'open' | 'close';
};

const atOpen = (index: string): IndexRoot => ({ index, style: 'european', settles: 'open' });
const atClose = (index: string): IndexRoot => ({ index, style: 'european', settles: 'close' });

/**
 * By root, from the product specifications of Cboe (cboe.com/tradable_products: such as
 * ftse_russell/russell_1000_index_options) and Nasdaq (nasdaq.com/nasdaq-100-index-options). What settles on
 * the open has a settlement value with a symbol of its own: SET of SPX, RLS of RUT, DJS of DJX, NDS and later
 * XQO of NDX, RIR of RUI, RLR of RLG, RVS of RLV, VRO of VIX and VIXW (OCC's memorandum 39341 lists those of
 * a day).
 */
const indexRoots: Readonly<Record<string, IndexRoot>> = {
  DJX: atOpen('DJX'),
  // A tenth of the Nasdaq-100, formerly.
  MNX: atOpen('MNX'),
  // Mini-Russell 2000: a tenth of the index.
  MRUT: atClose('MRUT'),
  NDX: atOpen('NDX'),
  NDXP: atClose('NDX'),
  // A fifth of the Nasdaq-100.
  NQX: atClose('NQX'),
  // The only ones that may be exercised before their expiration.
  OEX: { index: 'OEX', style: 'american', settles: 'close' },
  RLG: atOpen('RLG'),
  RLV: atOpen('RLV'),
  RUI: atOpen('RUI'),
  RUT: atOpen('RUT'),
  RUTW: atClose('RUT'),
  SPX: atOpen('SPX'),
  // Third Fridays until 2017, since then under SPXW.
  SPXPM: atClose('SPX'),
  SPXW: atClose('SPX'),
  VIX: atOpen('VIX'),
  VIXW: atOpen('VIX'),
  XEO: atClose('OEX'),
  // A hundredth of the Nasdaq-100.
  XND: atClose('XND'),
  XSP: atClose('XSP'),
};

const indexRootOf = (root: string): IndexRoot | null =>
  Object.hasOwn(indexRoots, root) ? indexRoots[root]! : null;

/** The index of a root; null for the root of a stock's options. */
export const indexOfRoot = (root: string): string | null => indexRootOf(root)?.index ?? null;

/** The roots of options on indices, each with its index. */
export const indices: readonly (readonly [root: string, index: string])[] = Object.entries(indexRoots).map(
  ([root, { index }]) => [root, index],
);

/** The terms of contracts on an index, by their root: index and exercise style. None for other roots. */
export function termsOfRoot(root: string): {
  readonly exercise_style?: IndexRoot['style'];
  readonly is_indices?: true;
} {
  const known = indexRootOf(root);
  return known === null ? {} : { exercise_style: known.style, is_indices: true };
}

/** The root of a symbol: without separators and marks, `BRKB` of BRK.B and `SPX` of ^SPX. */
const rootOf = (symbol: string): string => symbol.replaceAll(/[^A-Z0-9]/g, '');

/** The roots, in order, of contracts on an index that settle in the morning (contract 8.5). */
export function morningRoots(symbol: string): readonly string[] {
  const index = indexOfRoot(rootOf(symbol));
  const all = Object.entries(indexRoots).filter(([, one]) => one.index === index && one.settles === 'open');
  return all.map(([one]) => one).sort();
}

/**
 * The `contract_type` of contracts that a corporate action adjusted: they deliver something else than the
 * underlying.
 */
export const ADJUSTED = 'adjusted';

const ADJUSTED_ROOT = /^[A-Z]+\d$/;

/** True if a root has the form of adjusted ones: `AAPL7`. */
export const isAdjustedRoot = (root: string): boolean => ADJUSTED_ROOT.test(root);

/**
 * The root without the digit of an adjusted one; null for another root with a digit at an end, such as that
 * of FLEX contracts (`2SPX`).
 */
export function plainRoot(root: string): string | null {
  if (isAdjustedRoot(root)) return root.slice(0, -1);
  return /^\d|\d$/.test(root) ? null : root;
}

/** True if a root is an adjusted one of an underlying, by the symbols that this has or had. */
export function isAdjustedOf(root: string, symbols: readonly string[]): boolean {
  const letters = root.slice(0, -1);
  const names = symbols.map(rootOf);
  return isAdjustedRoot(root) && (names.includes(letters) || names.includes(indexOfRoot(letters) ?? letters));
}

/** The market of a contract at a moment, as the newest file says it (contract 9.22). */
export const optionQuotes = dataset({
  name: 'option_quotes',
  columns: {
    country_iso_code: 'text',
    symbol: 'text',
    bid: 'real null',
    ask: 'real null',
    last: 'real null',
    volume: 'real null',
    open_interest: 'real null',
    implied_volatility: 'real null',
    delta: 'real null',
    gamma: 'real null',
    theta: 'real null',
    vega: 'real null',
    rho: 'real null',
    /** Null: older than each that is known. */
    quote_datetime: 'instant null',
  },
  key: ['country_iso_code', 'symbol'],
  knownBy: ({ quote_datetime: at }, { ms }) => ((at ?? Number.POSITIVE_INFINITY) as number) <= ms,
});

const notNegative: FieldRule = {
  ...numberRule((number) => number >= 0, 'must be a number from 0 on'),
  oddIsMissing: true,
};

/** Only what cannot be is refused: with negative rates the delta of an option on a future is above 1. */
const fieldsOfQuotes: Fields = {
  bid: optional(notNegative),
  ask: optional(notNegative),
  last: optional(notNegative),
  volume: optional(notNegative),
  open_interest: optional(notNegative),
  implied_volatility: optional(notNegative),
  delta: optional(anyNumber),
  gamma: optional(anyNumber),
  theta: optional(anyNumber),
  vega: optional(anyNumber),
  rho: optional(anyNumber),
  quote_datetime: optional({ unit: 'millisecond' }),
};

/** Fields that a contract shares with its own instrument. */
export const sharedFields = [
  ...['exchange', 'calendar_key', 'session_template', 'status', 'daily_minute_count', 'is_indices'],
  ...['trading_codes', ...Object.keys(tradingColumns)],
];

const optionTypes: Readonly<Record<string, string>> = { call: 'call', put: 'put', c: 'call', p: 'put' };

/** An active contract is exported without a status: an import would set it as the instrument's status too. */
const status: Field = {
  ...instrumentFields.status!,
  ...asText((row) => (row.status === 'active' ? null : (row.status as string))),
};

export const optionContracts = dataset({
  name: 'option_contracts',
  columns: {
    country_iso_code: 'text',
    symbol: 'text',
    /** Asset type and symbol of the underlying, which has the contract's country. */
    parent_asset_schema: 'text',
    underlying_name: 'text',
    /** `call` or `put`. */
    option_type: 'text',
    expiration_date: 'day',
    /** Null: the close of the last session on or before the date, or its open (contract 8.5). */
    expiration_datetime: 'instant null',
    strike_price: 'real',
    /** `american` or `european`. */
    exercise_style: 'text',
    /** `active` or `inactive`. */
    status: 'text',
    /** The identifiers of the contract's own instrument, of asset type `option`. */
    instrument_id: 'integer',
    asset_id: 'integer',
    contract_value: 'real',
    exchange: 'text null',
    option_exchange: 'text null',
    calendar_key: 'text null',
    session_template: 'text null',
    daily_minute_count: 'integer null',
    is_indices: 'boolean null',
    trading_codes: 'text null',
    ...tradingColumns,
  },
  key: ['country_iso_code', 'symbol'],
  // One side of one underlying by expiration, with every column that a search sorts by: it covers the search
  // (spec 4.6).
  indexes: [
    [
      'country_iso_code',
      'parent_asset_schema',
      'underlying_name',
      'option_type',
      'expiration_date',
      'expiration_datetime',
      'strike_price',
      'symbol',
      'instrument_id',
      'status',
      'exercise_style',
    ],
  ],
  knownBy: (row, { dayIn }) =>
    isListedOn(row, dayIn(row.parent_asset_schema as string, row.country_iso_code as string)),
  parts: [
    { kind: 'symbol', of: [{ is: 'option' }, 'country_iso_code', 'symbol'] },
    { kind: 'symbol', of: ['parent_asset_schema', 'country_iso_code', 'underlying_name'] },
  ],
  file: {
    fields: {
      // Some files pad the root with spaces to six characters, others have Massive's prefix (contract 1.4,
      // 1.7).
      symbol: required({
        parse: (text) => symbolRule.parse(plainOptionSymbol(text.replaceAll(' ', ''))),
        reason: `must be ${symbolAllowed}, such as SPY250919C00450000`,
      }),
      country_iso_code: countryField,
      parent_asset_schema: required(underlyingSchemaRule('the asset type of the underlying'), {
        flag: '--schema',
      }),
      underlying_name: required(
        { parse: symbolRule.parse, reason: `must be the symbol of the underlying, ${symbolAllowed}` },
        { flag: '--symbol' },
      ),
      strike_price: required(anyNumber),
      expiration_date: required(dayRule),
      option_type: required({
        parse: (text) =>
          Object.hasOwn(optionTypes, text.toLowerCase()) ? optionTypes[text.toLowerCase()] : undefined,
        reason: 'must be call or put',
        words: ['call', 'put'],
      }),
      expiration_datetime: optional({ unit: 'millisecond' }),
      exercise_style: optional(wordRule(['american', 'european'])),
      contract_value: optional(numberRule((number) => number > 0, 'must be a number above 0, such as 100')),
      option_exchange: optional(exchangeRule),
      ...Object.fromEntries(sharedFields.map((field) => [field, instrumentFields[field]!])),
      status,
      ...fieldsOfQuotes,
    },
    time: 'expiration_date',
    subject: ['country_iso_code', 'parent_asset_schema', 'underlying_name'],
    beside: { dataset: optionQuotes, newest: 'quote_datetime' },
    names: [
      {
        assetSchema: { column: 'parent_asset_schema' },
        symbol: 'underlying_name',
        on: ['listing_date', 'expiration_date'],
      },
      { assetSchema: 'option', symbol: 'symbol', isOwn: true },
    ],
    repeated: { column: 'symbol', reason: 'the file has this contract already, with other values' },
    deletion: {
      about: 'Delete option contracts, and their own instruments if nothing else needs them.',
      rows: 'contracts',
      needs: ['--country'],
      flags: {
        '--country': 'its country, such as US',
        '--symbol': 'the underlying',
        '--schema': 'the asset type of the underlying, if several have the symbol',
      },
      selectors: {
        '--contract': {
          column: 'symbol',
          takes: 'symbol',
          about: 'one contract, in place of an underlying',
          isAlone: true,
        },
      },
      examples: [
        '--symbol SPY --country US --to 2024-12-31 --dry-run',
        '--contract SPY250919C00450000 --country US',
      ],
    },
  },
});
