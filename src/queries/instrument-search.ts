// Instrument search: symbols that begin with a text, then names that contain its words (contract 9.2).
import { parseSymbol } from '../contract/identifiers.ts';
import { instrumentRecord, type instrumentSearch } from '../contract/reference.ts';
import { marketOf } from '../series/calendars.ts';
import { searchInstruments, wordsOf } from '../store/instrument-terms.ts';
import { instrumentRows } from './instrument-rows.ts';
import { UNDATED_FIELDS } from './known-instrument.ts';
import { searchKnown } from './known-search.ts';
import type { Query } from './query.ts';
import { recordOf } from './reference.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

/** `GET …/reference/search` */
export const answerInstrumentSearch: Query<typeof instrumentSearch> = async (parameters, context) => {
  const { schema_asset: assetSchema, query, country_iso_code: country, limit } = parameters;
  const search = {
    assetSchema,
    country: country ?? null,
    symbol: parseSymbol(query.trim()),
    words: wordsOf(query),
    limit,
  };
  const { reader, asOf } = context;
  const rows =
    asOf === null
      ? await instrumentRows(reader, assetSchema, await searchInstruments(reader, search))
      : await searchKnown(context, asOf, search);
  asOf?.limits.add(UNDATED_FIELDS);
  const records: WireRecord[] = [];
  for (const row of rows) records.push(recordOf(row, await marketOf(reader, row), context.request.nowMs));
  return renderRecords(context, { record: instrumentRecord }, records, 'json', null);
};
