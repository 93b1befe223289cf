// Instrument search: symbols that begin like a text, then names that have its words (contract 9.2).
import { parseSymbol } from '../contract/identifiers.ts';
import { instrumentRecord, type instrumentSearch } from '../contract/reference.ts';
import { searchInstruments, wordsOf } from '../store/instrument-terms.ts';
import { renderRecords } from './list.ts';
import type { Query } from './query.ts';
import { findRecord } from './reference.ts';
import type { WireRecord } from './render/records.ts';

/** `GET …/reference/search` */
export const answerInstrumentSearch: Query<typeof instrumentSearch> = async (parameters, context) => {
  const { schema_asset: assetSchema, query, country_iso_code: country, limit } = parameters;
  const found = await searchInstruments(context.reader, {
    assetSchema,
    country: country ?? null,
    symbol: parseSymbol(query.trim()),
    words: wordsOf(query),
    limit,
  });
  const records: WireRecord[] = [];
  for (const { country_iso_code, symbol } of found) {
    const { record } = await findRecord(context, assetSchema, { country: country_iso_code, symbol });
    if (record !== null) records.push(record);
  }
  return renderRecords(context, { record: instrumentRecord }, records, 'json', null);
};
