// What instruments are found by: their symbols, former symbols and the words of their names, kept beside their rows.
import type { RowOf } from '../datasets/dataset.ts';
import { type FormerSymbol, instruments, instrumentTerms } from '../datasets/reference.ts';
import { allRows } from './all-rows.ts';
import type { RowReader, RowWriter } from './store.ts';

type Instrument = RowOf<typeof instruments>;
type Term = RowOf<typeof instrumentTerms>;

/** The part of a name that is searched. */
const NAME_CHARACTERS_MAX = 200;
const NAME_WORDS_MAX = 12;

/** Rows of one read; and the most rows that one search compares with further words, which bounds its time. */
const ROWS_PER_READ = 100;
const COMPARED_MAX = 2_000;

/** The words of a text, folded: lower case, no accents, no punctuation; `Macy's` is one word. */
export function wordsOf(text: string): string[] {
  const folded = text
    .slice(0, NAME_CHARACTERS_MAX)
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}|['’](?=s(?![\p{L}\p{N}]))/gu, '');
  return (folded.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, NAME_WORDS_MAX);
}

/** The terms of one instrument. A name gives one term for each of its words: the name rotated to begin with that word. */
function termsOf(instrument: Instrument): Term[] {
  const { asset_schema, country_iso_code, symbol, name } = instrument;
  const words = wordsOf(name ?? '');
  const former = (instrument.former_symbols ?? []) as FormerSymbol[];
  const terms = [
    ['symbol', symbol],
    ...former.map((one) => ['former', one.symbol]),
    ...words.map((_, at) => ['name', [...words.slice(at), ...words.slice(0, at)].join(' ')]),
  ] as const;
  return terms.map(([kind, term]) => ({
    asset_schema,
    country_iso_code,
    kind: kind!,
    term: term!,
    symbol,
  }));
}

/** Replaces the terms of an instrument by those of its new row; a row is null where there is none. */
export async function putInstrumentTerms(
  writer: RowWriter,
  before: Instrument | null,
  after: Instrument | null,
): Promise<void> {
  const [old, fresh] = [before, after].map((one) => (one === null ? [] : termsOf(one))) as [Term[], Term[]];
  const lacking = (terms: readonly Term[], others: readonly Term[]): Term[] =>
    terms.filter((one) => !others.some((other) => other.kind === one.kind && other.term === one.term));
  await writer.remove(instrumentTerms, lacking(old, fresh));
  await writer.upsert(instrumentTerms, lacking(fresh, old));
}

/** Makes the terms of all instruments, where none has any yet. */
export async function fillInstrumentTerms(writer: RowWriter): Promise<void> {
  for await (const instrument of allRows(writer, instruments))
    await putInstrumentTerms(writer, null, instrument);
}

/** Which instruments are looked for: those of one asset type, in one country or in all. */
export type InstrumentSearch = {
  readonly assetSchema: string;
  readonly country: string | null;
  /** The beginning of a symbol; null where the text can be none. */
  readonly symbol: string | null;
  readonly words: readonly string[];
  readonly limit: number;
};

/** An instrument that was found. */
export type FoundName = Pick<Term, 'country_iso_code' | 'symbol'>;

/**
 * The first `limit` instruments in this order: those whose symbol begins so, those whose former symbol does, those whose name has the words
 * in a row, the last one begun, and those that have them in any order, each one begun.
 */
export async function searchInstruments(reader: RowReader, search: InstrumentSearch): Promise<FoundName[]> {
  const { symbol, words, limit } = search;
  const found = new Map<string, FoundName>();
  const take = (term: Term): boolean => {
    const { country_iso_code, symbol: called } = term;
    found.set(`${country_iso_code}:${called}`, { country_iso_code, symbol: called });
    return found.size < limit;
  };
  if (symbol !== null) {
    await walk(reader, search, 'symbol', symbol, take);
    if (found.size < limit) await walk(reader, search, 'former', symbol, take);
  }
  if (words.length > 0 && found.size < limit) await walk(reader, search, 'name', words.join(' '), take);
  if (words.length > 1 && found.size < limit) await walkAnyOrder(reader, search, take);
  return [...found.values()];
}

/** Walks the names that have the longest word, which is likely the rarest, and compares the other words. */
async function walkAnyOrder(
  reader: RowReader,
  search: InstrumentSearch,
  take: (term: Term) => boolean,
): Promise<void> {
  const longest = search.words.reduce((one, other) => (other.length > one.length ? other : one));
  let compared = 0;
  await walk(reader, search, 'name', longest, (term) => {
    const padded = ` ${term.term}`;
    const goesOn = !search.words.every((word) => padded.includes(` ${word}`)) || take(term);
    return goesOn && ++compared < COMPARED_MAX;
  });
}

/** Gives `take` the terms of a kind that begin so, in order, until it has enough. */
async function walk(
  reader: RowReader,
  { assetSchema, country }: InstrumentSearch,
  kind: string,
  beginning: string,
  take: (term: Term) => boolean,
): Promise<void> {
  const market = { asset_schema: assetSchema, kind };
  const columns =
    country === null ? (['term', 'country_iso_code', 'symbol'] as const) : (['term', 'symbol'] as const);
  let after: string[] | null = null;
  for (;;) {
    const terms: Term[] = await reader.rows(instrumentTerms, {
      where: country === null ? market : { ...market, country_iso_code: country },
      range: { from: beginning, to: `${beginning}\u{10ffff}` },
      order: columns.map((column) => [column, 'asc'] as const),
      ...(after === null ? {} : { after }),
      limit: ROWS_PER_READ,
    });
    for (const term of terms) if (!take(term)) return;
    const last = terms.at(-1);
    if (terms.length < ROWS_PER_READ || last === undefined) return;
    after = columns.map((column) => last[column]);
  }
}

/** An instrument that had a symbol, and has another one now. */
export type FormerBearer = {
  readonly symbol: string;
  readonly fromDay: number;
  readonly toDay: number;
};

/** No symbol was more instruments'. */
const BEARERS_MAX = 100;

/** The instruments that had a symbol on some days, the latest first (contract 9.6). */
export async function formerBearers(
  reader: RowReader,
  named: Pick<Instrument, 'asset_schema' | 'country_iso_code' | 'symbol'>,
): Promise<FormerBearer[]> {
  const { symbol: term, ...market } = named;
  const terms = await reader.rows(instrumentTerms, {
    where: {
      asset_schema: market.asset_schema,
      country_iso_code: market.country_iso_code,
      kind: 'former',
      term,
    },
    order: [['symbol', 'asc']],
    limit: BEARERS_MAX,
  });
  const bearers: FormerBearer[] = [];
  for (const { symbol } of terms) {
    const read = { where: { ...market, symbol }, order: [['symbol', 'asc']], limit: 1 } as const;
    const [instrument] = await reader.rows(instruments, read);
    for (const former of (instrument?.former_symbols ?? []) as FormerSymbol[]) {
      const { from_day: fromDay, to_day: toDay } = former;
      if (former.symbol === term) bearers.push({ symbol, fromDay, toDay });
    }
  }
  return bearers.sort((a, b) => b.fromDay - a.fromDay);
}
