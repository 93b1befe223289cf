// What a store knows of many names of instruments, looked up together: a read for each took a third of an
// import of new ones.

import { rowsAmong } from '../store/all-rows.ts';
import { unlessDamaged } from '../store/damage.ts';
import { type FormerBearer, formerBearers, refuseLost } from '../store/instrument-terms.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import {
  type Instrument,
  type InstrumentName,
  instruments,
  instrumentTerms,
} from '../store/schema/reference.ts';
import type { Writer } from '../store/store.ts';
import { deletedNamed } from './new-instrument.ts';

/** The store's knowledge of one name. */
export type KnownName = {
  /** Its row; null where none has it. */
  readonly instrument: Instrument | null;
  /** Of a name without a row, the instrument that had it last and was deleted; null without one. */
  readonly deleted: Instrument | null;
  /** The instruments that had its symbol before (contract 9.6). */
  readonly former: readonly FormerBearer[];
};

/**
 * Looks up names, each under its row key. A name whose row is damaged or lost is left out: whoever uses it
 * meets that, and a file in which nobody does is imported.
 */
export async function lookUpNames(
  writer: Writer,
  names: readonly InstrumentName[],
): Promise<Map<string, KnownName>> {
  const found = new Map<string, KnownName>();
  const marketOf = ({ asset_schema, country_iso_code }: InstrumentName): string =>
    `${asset_schema} ${country_iso_code}`;
  for (const group of Map.groupBy(names, marketOf).values()) {
    if ((await unlessDamaged(lookUpGroup(writer, group, found))) !== null) continue;
    for (const name of group) await unlessDamaged(lookUpGroup(writer, [name], found));
  }
  return found;
}

/**
 * Looks up names of one asset type and country. @throws DamagedData as `instrumentNamed` and `formerBearers`
 * do
 */
async function lookUpGroup(
  writer: Writer,
  names: readonly InstrumentName[],
  found: Map<string, KnownName>,
): Promise<ReadonlyMap<string, KnownName>> {
  const { asset_schema, country_iso_code } = names[0]!;
  const market = { asset_schema, country_iso_code };
  const symbols = [...new Set(names.map(({ symbol }) => symbol))];
  const termsOf = async (kind: string, terms: readonly string[]): Promise<ReadonlySet<string>> => {
    const rows = await rowsAmong(writer, instrumentTerms, { ...market, kind }, 'term', terms);
    return new Set(rows.map(({ term }) => term));
  };
  const rows = await rowsAmong(writer, instruments, market, 'symbol', symbols);
  const bySymbol = new Map(rows.map((row) => [row.symbol, row]));
  const unknown = symbols.filter((symbol) => !bySymbol.has(symbol));
  for (const symbol of await termsOf('symbol', unknown)) await refuseLost(writer, { ...market, symbol });
  const deleted = await deletedNamed(
    writer,
    unknown.map((symbol) => ({ ...market, symbol })),
  );
  const deletedBySymbol = new Map(unknown.map((symbol, at) => [symbol, deleted[at]!]));
  const had = await termsOf('former', symbols);
  for (const symbol of symbols) {
    const name = { ...market, symbol };
    found.set(rowKeyOf(instruments, name), {
      instrument: bySymbol.get(symbol) ?? null,
      deleted: deletedBySymbol.get(symbol) ?? null,
      former: had.has(symbol) ? await formerBearers(writer, name) : [],
    });
  }
  return found;
}
