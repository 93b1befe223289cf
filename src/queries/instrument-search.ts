// Instrument search: symbols that begin with a text, then names that contain its words (contract 9.2).
import { type AssetSchema, parseAskedSymbol } from '../contract/identifiers.ts';
import type { instrumentSearch } from '../contract/reference.ts';
import { marketOf } from '../series/calendars.ts';
import { rowsOfTerms, wordsOf } from '../store/instrument-terms.ts';
import { unsignedPair } from '../store/schema/notations.ts';
import type { Instrument } from '../store/schema/reference.ts';
import { type InstrumentSearch, searchInstruments } from '../store/term-search.ts';
import { aliasedSymbol, instrumentOrNull, shownRow, UNDATED_FIELDS } from './known-instrument.ts';
import type { Query, QueryContext } from './query.ts';
import { recordOf } from './reference.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

/** Words of more characters are no symbol with spaces. */
const SPACED_MAX = 8;

/** A text as a symbol: `ABRpA` of CQS too, and `BRK B`. */
function symbolIn(text: string): string | null {
  if (text.includes(' ') && text.length > SPACED_MAX) return null;
  return parseAskedSymbol(text.replace(/(?<=[A-Z0-9])p(?=[A-Z]$)/, '.PR'));
}

/**
 * The stock, or currency pair, that a whole symbol names in another notation (contract 9.21). Separators of
 * pairs are searched anyway.
 */
async function aliasIn(
  context: QueryContext,
  assetSchema: AssetSchema,
  { country, symbol }: InstrumentSearch,
): Promise<Instrument | null> {
  if (symbol === null) return null;
  const isPair = unsignedPair({ asset_schema: assetSchema }, symbol) !== symbol;
  if (assetSchema !== 'stock' && !isPair) return null;
  const named = { country: country ?? (isPair ? 'GLOBAL' : 'US'), symbol };
  const own = await aliasedSymbol(context, assetSchema, named);
  const found =
    own === null ? null : await instrumentOrNull(context, assetSchema, { ...named, symbol: own }, null);
  return found && shownRow(context, found.instrument);
}

/** `GET …/reference/search` */
export const answerInstrumentSearch: Query<typeof instrumentSearch> = async (parameters, context) => {
  const { schema_asset: assetSchema, query, country_iso_code: country, limit } = parameters;
  const search = {
    assetSchema,
    country: country ?? null,
    symbol: symbolIn(query.trim()),
    words: wordsOf(query),
    limit,
  };
  const { reader, known } = context;
  const stored = await rowsOfTerms(reader, await searchInstruments(known, search));
  const found = stored.map((row) => shownRow(context, row));
  const alias = await aliasIn(context, assetSchema, search);
  const others = alias === null ? found : found.filter((row) => row.instrument_id !== alias.instrument_id);
  const rows = (alias === null ? found : [alias, ...others]).slice(0, limit);
  context.undated.add(UNDATED_FIELDS);
  const records: WireRecord[] = [];
  for (const row of rows) records.push(recordOf(row, await marketOf(reader, row), context.request.nowMs));
  return renderRecords(context, records, null);
};
