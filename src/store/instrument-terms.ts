// The terms that find instruments: symbols, former symbols and the words of names, kept beside the
// instruments' rows.
import { allRows, rowsAmong, rowsInOrder, rowsWith, rowWith } from './all-rows.ts';
import { type Damage, DamagedData, keyWords } from './damage.ts';
import type { RowOf } from './schema/dataset.ts';
import { areAlike, placeOfAlike, splitsOf } from './schema/notations.ts';
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
