// Instrument search as of a moment: by the symbols of then, without instruments that were listed later
// (contract 9.2, 9.8).
import type { AssetSchema } from '../contract/identifiers.ts';
import type { Term } from '../store/instrument-terms.ts';
import type { FormerSymbol, Instrument } from '../store/schema/reference.ts';
import {
  COMPARED_MAX,
  hasWords,
  type InstrumentSearch,
  longestOf,
  separatedTerms,
  type TermKind,
  termsWith,
} from '../store/term-search.ts';
import { instrumentRows } from './instrument-rows.ts';
import { dayOf, isListedOn, rowOn } from './known-instrument.ts';
import type { AsOf, QueryContext } from './query.ts';

/**
 * A term of an instrument that was listed at the moment, its stored row, and the date of the moment in its
 * market.
 */
type Seen = { readonly term: Term; readonly row: Instrument; readonly day: number };

/** Some terms, of instruments that were listed. */
async function* seenTerms(
  { reader }: QueryContext,
  asOf: AsOf,
  search: InstrumentSearch,
  some: AsyncIterable<readonly Term[]>,
): AsyncGenerator<Seen> {
  for await (const terms of some) {
    const rows = await instrumentRows(reader, search.assetSchema, terms);
    for (const [at, row] of rows.entries()) {
      const day = dayOf(asOf, search.assetSchema as AssetSchema, row.country_iso_code);
      if (isListedOn(row, day)) yield { term: terms[at]!, row, day };
    }
  }
}

/** Whether a term was the symbol of its instrument. */
const isSymbol = ({ term, row, day }: Seen): boolean => rowOn(row, day).symbol === term.term;

/** Whether a term had been the symbol of its instrument before. */
const wasSymbol = ({ term, row, day }: Seen): boolean =>
  ((row.former_symbols ?? []) as FormerSymbol[]).some(
    ({ symbol, to_day }) => symbol === term.term && to_day < day,
  );

const comesFirst = ({ term: a }: Seen, { term: b }: Seen): boolean =>
  a.term < b.term || (a.term === b.term && a.country_iso_code <= b.country_iso_code);

/** Two walks as one, in the order of both. */
async function* merged(one: AsyncGenerator<Seen>, other: AsyncGenerator<Seen>): AsyncGenerator<Seen> {
  let [a, b] = [await one.next(), await other.next()];
  while (!a.done || !b.done) {
    if (b.done || (!a.done && comesFirst(a.value, b.value))) {
      yield (a as { value: Seen }).value;
      a = await one.next();
    } else {
      yield (b as { value: Seen }).value;
      b = await other.next();
    }
  }
}

/** All that a search finds, in its order; instruments may come several times. */
async function* found(context: QueryContext, asOf: AsOf, search: InstrumentSearch): AsyncGenerator<Seen> {
  const { symbol, words } = search;
  const { reader } = context;
  const terms = (kind: TermKind, beginning: string) =>
    seenTerms(context, asOf, search, termsWith(reader, search, kind, beginning));
  if (symbol !== null) {
    let count = 0;
    for await (const one of merged(terms('symbol', symbol), terms('former', symbol)))
      if (isSymbol(one) && ++count) yield one;
    for await (const one of terms('former', symbol)) if (wasSymbol(one) && ++count) yield one;
    for (const kind of ['symbol', 'former'] as const) {
      const separated = separatedTerms(reader, search, kind, symbol, count === 0);
      for await (const one of seenTerms(context, asOf, search, separated)) if (isSymbol(one)) yield one;
    }
  }
  if (words.length > 0) yield* terms('name', words.join(' '));
  if (words.length > 1) yield* inAnyOrder(words, terms('name', longestOf(words)));
}

/** Those of some names that have all words. */
async function* inAnyOrder(words: readonly string[], names: AsyncIterable<Seen>): AsyncGenerator<Seen> {
  let compared = 0;
  for await (const one of names) {
    if (hasWords(one.term, words)) yield one;
    if (++compared >= COMPARED_MAX) return;
  }
}

/** The rows of the first `limit` instruments that a search finds, as they were at the moment. */
export async function searchKnown(
  context: QueryContext,
  asOf: AsOf,
  search: InstrumentSearch,
): Promise<Instrument[]> {
  const rows = new Map<number, Instrument>();
  for await (const { row, day } of found(context, asOf, search)) {
    rows.set(row.instrument_id, rowOn(row, day));
    if (rows.size >= search.limit) break;
  }
  return [...rows.values()];
}
