// Searches instruments by their terms: symbols, former symbols, and the words of names.
import { rowsAmong } from './all-rows.ts';
import type { Term } from './instrument-terms.ts';
import { isPair, plainOf, splitsOf } from './schema/notations.ts';
import { type InstrumentName, instrumentTerms } from './schema/reference.ts';
import type { RowLists } from './store.ts';

const ROWS_PER_READ = 100;
/** The most rows that one search compares with further words: this bounds its time. */
const COMPARED_MAX = 2_000;

/** A search for instruments of one asset type, in one country or in all. */
export type InstrumentSearch = {
  readonly assetSchema: string;
  readonly country: string | null;
  /** The beginning of a symbol; null where the text cannot be one. */
  readonly symbol: string | null;
  readonly words: readonly string[];
  readonly limit: number;
};

/**
 * The first `limit` instruments in this order: the symbol begins with `symbol`, a former symbol does, the
 * symbol does but for separators, the name has the words in a row, the name has the words in any order. The
 * last word may be the beginning of one; in any order each word may.
 */
export async function searchInstruments(
  reader: RowLists,
  search: InstrumentSearch,
): Promise<InstrumentName[]> {
  const { symbol, words, limit } = search;
  const found = new Map<string, InstrumentName>();
  const take: Take = ({ asset_schema, country_iso_code, symbol: name }) => {
    found.set(`${country_iso_code}:${name}`, { asset_schema, country_iso_code, symbol: name });
    return found.size < limit;
  };
  if (symbol !== null) {
    await walk(reader, search, 'symbol', symbol, take);
    if (found.size < limit) await walk(reader, search, 'former', symbol, take);
    if (found.size < limit)
      await taken(separatedTerms(reader, search, 'symbol', symbol, found.size === 0), take);
  }
  if (words.length > 0 && found.size < limit) await walk(reader, search, 'name', words.join(' '), take);
  if (words.length > 1 && found.size < limit) await walkAnyOrder(reader, search, take);
  return [...found.values()];
}

/** Receives a found term; false where the search has enough. */
type Take = (term: Term) => boolean;

/** The longest of some words, which is probably the rarest. */
const longestOf = (words: readonly string[]): string =>
  words.reduce((one, other) => (other.length > one.length ? other : one));

/** True if a name has all words, in any order, each at the beginning of a word of its own. */
const hasWords = ({ term }: Term, words: readonly string[]): boolean =>
  words.every((word) => ` ${term}`.includes(` ${word}`));

/** Walks the names that have the longest word, which is probably the rarest, and compares the other words. */
async function walkAnyOrder(reader: RowLists, search: InstrumentSearch, take: Take): Promise<void> {
  const { words } = search;
  let compared = 0;
  await walk(reader, search, 'name', longestOf(words), (term) => {
    const goesOn = !hasWords(term, words) || take(term);
    return goesOn && ++compared < COMPARED_MAX;
  });
}

/** Gives `take` the terms of a kind with this beginning, in order, until it has enough. */
async function walk(
  reader: RowLists,
  search: InstrumentSearch,
  kind: TermKind,
  beginning: string,
  take: Take,
): Promise<void> {
  await taken(termsWith(reader, search, kind, beginning), take);
}

/** Gives `take` some terms, until it has enough. */
async function taken(some: AsyncIterable<readonly Term[]>, take: Take): Promise<void> {
  for await (const terms of some) for (const term of terms) if (!take(term)) return;
}

type TermKind = 'symbol' | 'former' | 'name';

type Market = Pick<InstrumentSearch, 'assetSchema' | 'country'>;

/** The terms of a kind with a beginning, in order: by term, country and symbol. */
const termsWith = (
  reader: RowLists,
  market: Market,
  kind: TermKind,
  beginning: string,
): AsyncGenerator<readonly Term[]> =>
  termsBetween(reader, market, kind, { from: beginning, to: `${beginning}\u{10ffff}` });

/** Longest beginning of a symbol behind which a separator is looked for: bounds the number of reads. */
const SEPARATED_AT_MAX = 12;

/** Ranges of the separators behind a beginning: `-`, `.` and `/` follow each other. */
const separators = [
  ['-', '0'],
  ['_', '`'],
] as const;

/**
 * The symbols that are like a text but for separators, `BRK.B` for BRKB and BRK-B; with `isBeginning` those
 * that begin so, which takes a read for each of its characters: for a text with which nothing begins as it is
 * written.
 */
async function* separatedTerms(
  reader: RowLists,
  market: Market,
  kind: 'symbol' | 'former',
  beginning: string,
  isBeginning: boolean,
): AsyncGenerator<readonly Term[]> {
  const plain = plainOf(beginning);
  const isFound = ({ term }: Term): boolean => plainOf(term).startsWith(plain) && !term.startsWith(beginning);
  if (plain === '') return;
  if (!isBeginning) {
    const { assetSchema: asset_schema } = market;
    // Without a country, where most are: no engine finds some terms of all countries in one read.
    const country_iso_code = market.country ?? (isPair({ asset_schema }) ? 'GLOBAL' : 'US');
    const where = { asset_schema, country_iso_code, kind };
    const others = [plain, ...splitsOf(plain)].filter((one) => !one.startsWith(beginning));
    if (others.length > 0) yield await rowsAmong(reader, instrumentTerms, where, 'term', others.toSorted());
    return;
  }
  const ranges = plain === beginning ? [] : [{ from: plain, to: `${plain}\u{10ffff}` }];
  for (let at = 1; at < Math.min(plain.length, SEPARATED_AT_MAX); at++)
    for (const [from, to] of separators)
      ranges.push({ from: plain.slice(0, at) + from, to: plain.slice(0, at) + to });
  for (const range of ranges)
    for await (const terms of termsBetween(reader, market, kind, range)) yield terms.filter(isFound);
}

async function* termsBetween(
  reader: RowLists,
  { assetSchema, country }: Market,
  kind: TermKind,
  range: { readonly from: string; readonly to: string },
): AsyncGenerator<readonly Term[]> {
  const columns = ['term', ...(country === null ? ['country_iso_code'] : []), 'symbol'] as (keyof Term)[];
  const read = {
    where: { asset_schema: assetSchema, kind, ...(country !== null && { country_iso_code: country }) },
    range,
    order: columns.map((column) => [column, 'asc'] as const),
    limit: ROWS_PER_READ,
  };
  for (let after: string[] | undefined; ; ) {
    const terms: Term[] = await reader.rows(instrumentTerms, { ...read, ...(after && { after }) });
    yield terms;
    if (terms.length < ROWS_PER_READ) return;
    after = columns.map((column) => terms.at(-1)![column]);
  }
}
