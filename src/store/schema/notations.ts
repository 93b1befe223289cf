// The notations in which vendors write one security: suffixes and separators, and the symbols that may name
// one instrument (contract 9.21).
import { upperAscii } from '../../contract/identifiers.ts';
import type { InstrumentName } from './reference.ts';

/**
 * A notation of the suffixes of US securities; ours is that of CMS after a point: `ABR.PRA`, `ACHR.WS`,
 * `BRK.B`.
 */
export type Notation = 'cqs' | 'nasdaq' | 'act' | 'yahoo' | 'stooq';

/** A suffix in each notation; `*` is the letter of a class or series. */
type Suffix = { readonly ours: string } & { readonly [N in Notation | 'spoken']?: string };

/**
 * - CQS, CMS, Nasdaq's integrated platform (Databento writes it for all venues:
 *   databento.com/docs/api-reference-data/basics/symbology) and
 *   ACT (otherlisted.txt): Nasdaq Trader, "Ticker Symbol Convention", nasdaqtrader.com/Trader.aspx?id=CQSSymbolConvention. ACT writes several
 *   suffixes as `.A`, `.D` or `.Z`: these are left out.
 * - CQS as Massive writes it, with a point for the slash; Lime prints the whole list:
 *   docs.lime.co/trader/appendix/CQS-symbols. Its
 *   letters in lower case tell `ABRpA` from a stock ABRPA.
 * - CMS after a point is what Alpaca writes; SpiderRock's wiki, "Stock symbology for non standard security
 *   categorizations".
 * - Yahoo, which EODHD follows: the "Symbology Rosetta",
 *   gist.github.com/prerak-proof/b7e7d68a51c653edd6f3f80e074f8de6.
 * - Stooq: as the names of its files are known to be; no page of Stooq that lists its suffixes was found.
 */
const suffixes: readonly Suffix[] = [
  { ours: '.*', cqs: '.*', nasdaq: '.*', act: '.*', yahoo: '-*', stooq: '-*' },
  { ours: '.PR', cqs: 'p', nasdaq: '-', act: '$', yahoo: '-P' },
  { ours: '.PR*', cqs: 'p*', nasdaq: '-*', act: '$*', yahoo: '-P*', stooq: '_*', spoken: '.PR.*' },
  { ours: '.WS', cqs: '.WS', nasdaq: '+', act: '.W', yahoo: '-WT', stooq: '-WS' },
  { ours: '.WS*', cqs: '.WS.*', nasdaq: '+*', yahoo: '-WT*' },
  { ours: '.RT', cqs: 'r', nasdaq: '^', act: '.R', yahoo: '-RI', stooq: '-R' },
  { ours: '.U', cqs: '.U', nasdaq: '=', act: '.U', yahoo: '-UN', stooq: '-U' },
  { ours: '.WI', cqs: 'w', nasdaq: '#', act: '.V', yahoo: '-WI' },
  { ours: '.WD', cqs: '.WD', nasdaq: '$', yahoo: '-WD' },
  { ours: '.*WI', cqs: '.*w', nasdaq: '.*#' },
  { ours: '.PRWI', cqs: 'pw', nasdaq: '-#', yahoo: '-PWI' },
  { ours: '.PR*WI', cqs: 'p*w', nasdaq: '-*#' },
  { ours: '.WSWI', cqs: '.WSw', nasdaq: '+#', yahoo: '-WTWI' },
  { ours: '.RTWI', cqs: 'rw', nasdaq: '^#', yahoo: '-RIWI' },
];

/** The written form of a suffix. The letter of its class or series is the first group. */
type Form = { readonly ours: string; readonly hasLetter: boolean; readonly of: RegExp };

const formOf = (ours: string, written: string): Form => ({
  ours,
  hasLetter: written.includes('*'),
  of: new RegExp(`^${RegExp.escape(written).replace('\\*', '([A-Z])')}$`),
});

/** A symbol with a suffix. Letters in lower case, which are CQS's, are no part of a root. */
const SUFFIXED = /^([A-Z0-9]+)([^A-Z0-9].*)$/;

/** A sign between the parts of a symbol. */
const SEPARATOR = /[ ./_-]/g;

/** A symbol with a point for each separator. */
const shapeOf = (symbol: string): string => symbol.replace(SEPARATOR, '.');

/** A symbol without separators. */
export const plainOf = (symbol: string): string => symbol.replace(SEPARATOR, '');

/**
 * Forms whose notation nobody says: separators are taken for each other, and letters are in upper case. `$`
 * is ACT's: what Nasdaq writes so trades for some days.
 */
const unsaid: readonly Form[] = suffixes.flatMap(({ ours, ...written }) =>
  [ours, ...Object.values(written)]
    .filter((form) => !/[a-z]/.test(form) && (form !== '$' || form === written.act))
    .map((form) => formOf(ours, shapeOf(form))),
);

/** The forms of one notation. */
const formsIn = (notation: Notation): Form[] =>
  suffixes.flatMap(({ ours, [notation]: written }) => (written === undefined ? [] : [formOf(ours, written)]));

/**
 * Our form of a suffix; null where the forms tell none or several. A suffix that is spelled out is no letter
 * of a class.
 */
function ourSuffix(written: string, forms: readonly Form[]): string | null {
  for (const isOfLetter of [false, true]) {
    const found = new Set<string>();
    for (const { ours, hasLetter, of } of forms) {
      const match = hasLetter === isOfLetter ? of.exec(written) : null;
      if (match !== null) found.add(ours.replace('*', match[1] ?? ''));
    }
    if (found.size > 0) return found.size === 1 ? [...found][0]! : null;
  }
  return null;
}

type Market = Pick<InstrumentName, 'asset_schema' | 'country_iso_code'>;

const isUsStock = ({ asset_schema, country_iso_code }: Market): boolean =>
  asset_schema === 'stock' && country_iso_code === 'US';

/** True if the symbols of a market are pairs of currencies, which are written with or without a separator. */
export const isPair = ({ asset_schema }: Pick<Market, 'asset_schema'>): boolean =>
  asset_schema === 'crypto' || asset_schema === 'forex';

/** Yahoo's symbol of a currency pair: `GBPUSD=X`, or `JPY=X` of the dollar in yen. */
const YAHOO_PAIR = /^([A-Z]{3})?([A-Z]{3})=X$/;

/** A symbol without what Yahoo adds to that of a currency pair. */
export function unsignedPair({ asset_schema }: Pick<Market, 'asset_schema'>, symbol: string): string {
  const match = asset_schema === 'forex' ? YAHOO_PAIR.exec(symbol) : null;
  return match === null ? symbol : `${match[1] ?? 'USD'}${match[2]}`;
}

/** Yahoo's symbols of a currency pair without a separator. */
const yahooPairsOf = ({ asset_schema }: Pick<Market, 'asset_schema'>, plain: string): string[] =>
  asset_schema !== 'forex' ? [] : [`${plain}=X`, ...(plain.startsWith('USD') ? [`${plain.slice(3)}=X`] : [])];

/** The texts by which a symbol is compared with others: two with one of them in common are alike. */
function keysOf(market: Market, symbol: string): readonly string[] {
  const shape = shapeOf(symbol);
  const [, root, suffix] = (isUsStock(market) && SUFFIXED.exec(shape)) || [];
  const ours = suffix === undefined ? null : ourSuffix(suffix, unsaid);
  return ours === null ? [shape] : [shape, root + ours];
}

/** True if two symbols of pairs differ only by a separator that one of them lacks. */
function isJoined(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long.length === short.length + 1 && plainOf(short) === short && plainOf(long) === short;
}

/**
 * True if two symbols of a market may name one instrument: they have other separators, other notations of one
 * suffix, or are one pair of currencies with a separator and without, or as Yahoo writes it. A separator of a
 * stock's symbol is never added or dropped.
 */
export function areAlike(market: Market, one: string, other: string): boolean {
  if (isPair(market)) {
    const [a, b] = [unsignedPair(market, one), unsignedPair(market, other)];
    if (a === b || isJoined(a, b)) return true;
  }
  const keys = keysOf(market, one);
  return keysOf(market, other).some((key) => keys.includes(key));
}

/**
 * A symbol of a file, in our notation where without the file's nobody could tell what it names: `ABRpA` of
 * CQS is `ABR.PRA`, for a stock may be called ABRPA. All others stay as they are.
 */
export function readNotation(market: Market, written: string, notation: Notation | undefined): string {
  if (notation === undefined || !isUsStock(market)) return written;
  const upper = upperAscii(written);
  const [, root = '', suffix = ''] = SUFFIXED.exec(notation === 'cqs' ? written : upper) ?? [];
  const ours = suffix === '' ? null : ourSuffix(suffix, formsIn(notation));
  return ours === null || areAlike(market, upper, root + ours) ? written : root + ours;
}

/** A text without separators with one at each place. */
export const splitsOf = (plain: string): string[] =>
  Array.from({ length: Math.max(plain.length - 1, 0) }, (_, at) => at + 1).flatMap((at) =>
    ['.', '/', '-', '_'].map((mark) => plain.slice(0, at) + mark + plain.slice(at)),
  );

/** The letters and digits with which a symbol begins. */
const rootOf = (symbol: string): string => /^[A-Z0-9]*/.exec(symbol)![0];

/**
 * The places of symbols that are like one: all of them begin with `root`, followed by a sign; or are among
 * `joined`, a pair with and without a separator. Null where no other symbol can be like it.
 */
export function placeOfAlike(
  market: Market,
  symbol: string,
): { readonly root: string | null; readonly joined: readonly string[] } | null {
  const pair = unsignedPair(market, symbol);
  const plain = plainOf(pair);
  const root = symbol === rootOf(symbol) || rootOf(symbol) === '' ? null : rootOf(symbol);
  const isJoinable = isPair(market) && pair.length - plain.length <= 1;
  if (root === null && !isJoinable) return null;
  const splits = plain === pair ? splitsOf(plain) : [];
  return { root, joined: isJoinable ? [plain, ...splits, ...yahooPairsOf(market, plain)] : [] };
}

/** A text under which all symbols like one are, and others too. */
export const groupOfAlike = (market: Market, symbol: string): string =>
  isPair(market) ? plainOf(unsignedPair(market, symbol)) : rootOf(symbol);
