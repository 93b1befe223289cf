// The terms that find instruments: symbols, former symbols and the words of names, kept beside the
// instruments' rows; and the search of instruments by them.
import { allRows, rowsAmong, rowsInOrder, rowsWith, rowWith } from './all-rows.ts';
import { type Damage, DamagedData, keyWords } from './damage.ts';
import type { RowOf } from './schema/dataset.ts';
import { areAlike, isPair, placeOfAlike, plainOf, splitsOf } from './schema/notations.ts';
import {
  type FormerSymbol,
  type Instrument,
  type InstrumentName,
  instruments,
  instrumentTerms,
} from './schema/reference.ts';
import type { RowLists, RowWriter } from './store.ts';

/** One term of one instrument. */
export type Term = RowOf<typeof instrumentTerms>;

/** Only the first characters and words of a name are searched. */
const NAME_CHARACTERS_MAX = 200;
const NAME_WORDS_MAX = 12;

/** Letters that Unicode does not take apart, without their marks: CLDR's transliteration Latin-ASCII. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ĸ: 'q' },
};

const MARKED = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g');

const withoutMarks = (folded: string): string => folded.replace(MARKED, (letter) => plainLetters[letter]!);

/** The words of a text, folded: lower case, no marks of letters, no punctuation; `Macy's` is one word. */
export function wordsOf(text: string): string[] {
  const folded = text
    .slice(0, NAME_CHARACTERS_MAX)
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}|['’](?=s(?![\p{L}\p{N}]))/gu, '');
  return (withoutMarks(folded).match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, NAME_WORDS_MAX);
}

const formerSymbols = (instrument: Instrument | null): readonly FormerSymbol[] =>
  (instrument?.former_symbols ?? []) as FormerSymbol[];

/**
 * The terms of one instrument. A name gives one term for each of its words: the name rotated to begin with
 * that word.
 */
export function termsOf(instrument: Instrument | null): Term[] {
  if (instrument === null) return [];
  const { asset_schema, country_iso_code, symbol, name } = instrument;
  const own = { asset_schema, country_iso_code, symbol };
  const termOf = (kind: string, term: string): Term => ({ ...own, kind, term });
  const words = wordsOf(name ?? '');
  return [
    termOf('symbol', symbol),
    ...formerSymbols(instrument).map((one) => termOf('former', one.symbol)),
    ...words.map((_, at) => termOf('name', [...words.slice(at), ...words.slice(0, at)].join(' '))),
  ];
}

/** An instrument before a change and after it; null means no row. */
type Changed = { readonly before: Instrument | null; readonly after: Instrument | null };

/** Replaces the terms of instruments, each changed once, by those of their new rows. */
export async function putInstrumentTerms(writer: RowWriter, changed: readonly Changed[]): Promise<void> {
  const pairs = changed.map(({ before, after }) => [termsOf(before), termsOf(after)] as const);
  const lacking = (terms: readonly Term[], others: readonly Term[]): Term[] =>
    terms.filter((one) => !others.some((other) => other.kind === one.kind && other.term === one.term));
  const gone = pairs.flatMap(([old, fresh]) => lacking(old, fresh));
  const added = pairs.flatMap(([old, fresh]) => lacking(fresh, old));
  await writer.remove(instrumentTerms, gone);
  await writer.upsert(instrumentTerms, added);
}

/** The damage of an instrument whose terms remain. */
const lostRow = (name: InstrumentName): Damage => ({
  dataset: instruments.name,
  place: keyWords(instruments, name),
  problem: 'the row is lost',
});

/** The error for an instrument that a term names and no row has. */
const lostInstrument = (name: InstrumentName): DamagedData => new DamagedData(lostRow(name));

/**
 * The row of a name; null where none has it. @throws DamagedData for a row that is lost: its terms tell that
 * it was written
 */
export async function instrumentNamed(reader: RowLists, name: InstrumentName): Promise<Instrument | null> {
  const { asset_schema, country_iso_code, symbol } = name;
  const row = await rowWith(reader, instruments, { asset_schema, country_iso_code, symbol });
  if (row === null) await refuseLost(reader, name);
  return row;
}

/** The rows of some names; null where none has one. @throws DamagedData for a row that is lost */
export async function instrumentRows(
  reader: RowLists,
  names: readonly InstrumentName[],
): Promise<(Instrument | null)[]> {
  const keys = names.map(({ asset_schema, country_iso_code, symbol }) => ({
    ...{ asset_schema, country_iso_code, symbol },
  }));
  const rows = await rowsWith(reader, instruments, keys);
  for (const [at, row] of rows.entries()) if (row === null) await refuseLost(reader, names[at]!);
  return rows;
}

/** The rows of the instruments that some terms name. @throws DamagedData for one that is lost */
export async function rowsOfTerms(
  reader: RowLists,
  terms: readonly InstrumentName[],
): Promise<readonly Instrument[]> {
  return (await instrumentRows(reader, terms)).map((row, at) => {
    if (row === null) throw lostInstrument(terms[at]!);
    return row;
  });
}

/** The terms that are symbols of a name. */
const symbolOf = ({ asset_schema, country_iso_code, symbol: term }: InstrumentName, kind: string) => ({
  asset_schema,
  country_iso_code,
  kind,
  term,
});

/** True for the name of every instrument that was written and not deleted, be its row damaged or lost. */
export const hasOwnTerm = async (reader: RowLists, name: InstrumentName): Promise<boolean> =>
  (await rowWith(reader, instrumentTerms, symbolOf(name, 'symbol'))) !== null;

/** For a name that no row has. @throws DamagedData where one had it and is lost */
export async function refuseLost(reader: RowLists, name: InstrumentName): Promise<void> {
  if (await hasOwnTerm(reader, name)) throw lostInstrument(name);
}

/** Folds the names again that programs before layout 15 stored with marks. */
export async function refoldInstrumentTerms(writer: RowWriter): Promise<void> {
  for await (const old of allRows(writer, instrumentTerms)) {
    const term = old.kind === 'name' ? withoutMarks(old.term) : old.term;
    if (term === old.term) continue;
    await writer.remove(instrumentTerms, [old]);
    await writer.upsert(instrumentTerms, [{ ...old, term }]);
  }
}

/** An instrument that had a symbol from one day to another, and has another symbol now. */
export type FormerBearer = {
  readonly symbol: string;
  readonly fromDay: number;
  readonly toDay: number;
};

/** No symbol belonged to more instruments. */
const BEARERS_MAX = 100;

/**
 * The instruments that had a symbol on some days, the latest first (contract 9.6). @throws DamagedData for
 * one whose row is lost
 */
export async function formerBearers(reader: RowLists, name: InstrumentName): Promise<FormerBearer[]> {
  const { asset_schema, country_iso_code, symbol: term } = name;
  const market = { asset_schema, country_iso_code };
  const terms = await reader.rows(instrumentTerms, {
    where: symbolOf(name, 'former'),
    order: [['symbol', 'asc']],
    limit: BEARERS_MAX,
  });
  const bearers: FormerBearer[] = [];
  for (const { symbol } of terms) {
    const instrument = await rowWith(reader, instruments, { ...market, symbol });
    if (instrument === null) throw lostInstrument({ ...market, symbol });
    for (const former of formerSymbols(instrument))
      if (former.symbol === term) bearers.push({ symbol, fromDay: former.from_day, toDay: former.to_day });
  }
  return bearers.sort((a, b) => b.fromDay - a.fromDay);
}

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
