// The symbols of a store that may name the instrument of another one (contract 9.21).

import { rowsAmong, rowsInOrder } from './all-rows.ts';
import type { Term } from './instrument-terms.ts';
import { areAlike, placeOfAlike, splitsOf } from './schema/notations.ts';
import { type InstrumentName, instrumentTerms } from './schema/reference.ts';
import type { RowLists } from './store.ts';

const ROWS_PER_READ = 100;

/**
 * The signs that separate, or begin a suffix, in the order of their codes: ranges of the first character
 * behind a root.
 */
const signs = [
  ['#', '0'],
  ['=', '>'],
  ['^', '`'],
] as const;

export type SymbolKind = 'symbol' | 'former';

/**
 * The present and former symbols like that of a name, but for the name's own: each with the instrument that
 * has or had it.
 */
export async function symbolsLike(
  reader: RowLists,
  name: InstrumentName,
  kinds: readonly SymbolKind[] = ['symbol', 'former'],
): Promise<Term[]> {
  const { asset_schema, country_iso_code, symbol } = name;
  const place = placeOfAlike(name, symbol);
  if (place === null) return [];
  const { root, joined } = place;
  const found: Term[] = [];
  for (const kind of kinds) {
    const where = { asset_schema, country_iso_code, kind };
    if (joined.length > 0)
      found.push(...(await rowsAmong(reader, instrumentTerms, where, 'term', joined.toSorted())));
    for (const [from, to] of root === null ? [] : signs) {
      const read = {
        where,
        range: { from: root + from, to: root + to },
        order: [['term', 'asc'] as const, ['symbol', 'asc'] as const],
        limit: ROWS_PER_READ,
      };
      for await (const term of rowsInOrder(reader, instrumentTerms, read)) found.push(term);
    }
  }
  return found.filter(({ term }) => term !== symbol && areAlike(name, term, symbol));
}

/**
 * The present and former symbols that are the root of an option but for a separator, `BRK.B` for BRKB: each
 * with its instrument.
 */
export async function symbolsOfRoot(
  reader: RowLists,
  { asset_schema, country_iso_code, symbol: root }: InstrumentName,
  kinds: readonly SymbolKind[],
): Promise<Term[]> {
  const found: Term[] = [];
  for (const kind of kinds) {
    const where = { asset_schema, country_iso_code, kind };
    found.push(...(await rowsAmong(reader, instrumentTerms, where, 'term', splitsOf(root).toSorted())));
  }
  return found;
}

/**
 * One name for each instrument of some terms: its present symbol if that is among them, else a former one.
 */
export function namesOf(terms: readonly Term[]): string[] {
  const names = new Map<string, string>();
  for (const { kind, term, symbol } of terms)
    if (kind === 'symbol' || !names.has(symbol)) names.set(symbol, term);
  return [...names.values()];
}
