// Instruments: what a file may say of one, and how that becomes its row; what is missing comes from the market.
import { parseDay } from '../base/instant.ts';
import { findZone } from '../calendar/zone.ts';
import { parseFlag } from '../contract/flag.ts';
import { parseSymbol } from '../contract/identifiers.ts';
import type { ColumnKind } from '../datasets/dataset.ts';
import { type FormerSymbol, instruments } from '../datasets/reference.ts';
import type { Store } from '../store/store.ts';
import { numberOf } from './check.ts';
import { assetSchemaRule, countryRule, exchangeRule, symbolRule } from './field-rules.ts';
import type { FieldMap, FieldNames } from './mapping.ts';
import { type InstrumentName, newInstrument } from './new-instrument.ts';
import type { ImportReport } from './report.ts';
import { type FieldRule, importRows, type RowImport, type Values } from './rows.ts';
import type { ImportRequest } from './run.ts';

const given = ['instrument_id', 'asset_id'];
const names = ['asset_schema', 'country_iso_code', 'symbol'];
const fieldsOfDataset = Object.keys(instruments.columns).filter((column) => !given.includes(column));

/** The fields of an instruments file (contract 11). Identifiers are given out by the store alone. */
export const instrumentFields: FieldNames = {
  required: names,
  optional: fieldsOfDataset.filter((column) => !names.includes(column)),
  flags: {
    asset_schema: '--schema',
    country_iso_code: '--country',
    symbol: '--symbol',
    exchange: '--exchange',
  },
};

function parseNumber(kind: 'integer' | 'real', text: string): number | undefined {
  const number = numberOf(text);
  if (number === null || !Number.isFinite(number)) return undefined;
  return kind === 'integer' && !Number.isSafeInteger(number) ? undefined : number;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What a cell may hold by the kind of its column alone. */
function ruleOfKind(kind: ColumnKind): FieldRule {
  if (kind === 'boolean') return { parse: parseFlag, reason: 'is not a boolean' };
  if (kind === 'json') return { parse: parseJson, reason: 'is not JSON' };
  if (kind === 'integer' || kind === 'real')
    return { parse: (text) => parseNumber(kind, text), reason: `is not a ${kind}` };
  return { parse: (text) => text, reason: '' };
}

const heldBy = (holds: (text: string) => boolean, reason: string): FieldRule => ({
  parse: (text) => (holds(text) ? text : undefined),
  reason,
});

const RANGE = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d-([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;
const hoursKeys = ['regular_trading', 'pre_market_trading', 'post_market_trading'];

const isRanges = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((range) => typeof range === 'string' && RANGE.test(range));

/** Trading hours as the record has them (spec 2.3): lists of ranges of clock times. */
function parseHours(text: string): unknown {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const isRight = Object.entries(value).every(([key, ranges]) => hoursKeys.includes(key) && isRanges(ranges));
  return isRight ? value : undefined;
}

const FORMER = /^([^:]+):(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/;

/** Former symbols, each with its first and last day, parted by spaces (contract 9.6). */
function parseFormerSymbols(text: string): FormerSymbol[] | undefined {
  const found = text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, name = '', from = '', to = ''] = FORMER.exec(part) ?? [];
      return { symbol: parseSymbol(name), from_day: parseDay(from), to_day: parseDay(to) };
    });
  const isRight = found.every(
    ({ symbol, from_day, to_day }) =>
      symbol !== null && from_day !== null && to_day !== null && from_day <= to_day,
  );
  return isRight ? (found as FormerSymbol[]) : undefined;
}

const clock = heldBy((text) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text), 'must be a time HH:MM:SS');

/** Rules of single fields beyond their kind. */
const ownRules: Readonly<Record<string, FieldRule>> = {
  asset_schema: assetSchemaRule,
  country_iso_code: countryRule,
  symbol: symbolRule,
  status: heldBy((text) => text === 'active' || text === 'inactive', 'must be active or inactive'),
  time_zone: heldBy((text) => findZone(text) !== null, 'is not a time zone'),
  listing_date: heldBy((text) => parseDay(text) !== null, 'must be a date YYYY-MM-DD'),
  exchange: exchangeRule,
  open_time: clock,
  close_time: clock,
  trading_hours: {
    parse: parseHours,
    reason: `must be JSON with lists of ranges such as 09:30:00-16:00:00 under ${hoursKeys.join(', ')}`,
  },
  former_symbols: {
    parse: parseFormerSymbols,
    reason:
      'must be symbols with their first and last day, such as FB:2012-05-18..2022-06-08, parted by spaces',
  },
};

/** What a cell of each field of an instrument may hold. */
export const instrumentRules: Readonly<Record<string, FieldRule>> = Object.fromEntries(
  fieldsOfDataset.map((field) => [
    field,
    ownRules[field] ?? ruleOfKind(instruments.columns[field as keyof typeof instruments.columns].kind),
  ]),
);

const nameOf = (values: Values): InstrumentName =>
  Object.fromEntries(names.map((name) => [name, values[name]])) as InstrumentName;

const kind: RowImport<typeof instruments> = {
  dataset: instruments,
  fields: instrumentFields,
  rules: instrumentRules,
  keyOf: nameOf,
  repeated: { column: 'symbol', reason: 'the file has this instrument already, with other values' },
  rowOf: async (values, known, writer) => ({
    ...(known ?? (await newInstrument(writer, nameOf(values)))),
    ...values,
  }),
};

/** Imports one file of instruments. @throws FileProblem when nothing of it can be imported */
export async function importInstruments(
  store: Store,
  request: ImportRequest & { readonly map: FieldMap },
): Promise<ImportReport> {
  const { newRows, ...report } = await importRows(store, request, kind);
  return { ...report, newInstruments: newRows };
}
