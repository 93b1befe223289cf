// Instrument search: symbols that begin with a text, then names that contain its words (contract 9.2).
import { parseSymbol } from '../contract/identifiers.ts';
import { instrumentRecord, type instrumentSearch } from '../contract/reference.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { marketOf } from '../series/calendars.ts';
import { type FoundName, searchInstruments, wordsOf } from '../store/instrument-terms.ts';
import type { Reader } from '../store/store.ts';
import type { Query } from './query.ts';
import { recordOf } from './reference.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

const nameOf = ({ country_iso_code, symbol }: FoundName): string => `${country_iso_code}:${symbol}`;

/** The rows of instruments, in the given order. One read for each country is many times as fast as one for each row. */
async function rowsOf(
  reader: Reader,
  assetSchema: string,
  found: readonly FoundName[],
): Promise<Instrument[]> {
  const rows = new Map<string, Instrument>();
  for (const [country, members] of Map.groupBy(found, ({ country_iso_code }) => country_iso_code)) {
    const where = { asset_schema: assetSchema, country_iso_code: country };
    const symbols = members.map(({ symbol }) => symbol);
    for (const row of await reader.among(instruments, where, 'symbol', symbols)) rows.set(nameOf(row), row);
  }
  return found.map((one) => rows.get(nameOf(one))!);
}

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
  const rows = await rowsOf(context.reader, assetSchema, found);
  const records: WireRecord[] = [];
  for (const row of rows)
    records.push(recordOf(row, await marketOf(context.reader, row), context.request.nowMs));
  return renderRecords(context, { record: instrumentRecord }, records, 'json', null);
};
