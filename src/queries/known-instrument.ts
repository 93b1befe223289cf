// The instrument that a symbol names: now, or at the moment of a request, with what was known of its series
// then (contract 9.6, 9.8).
import { formatDay } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';
import type { AssetSchema, CountrySymbol } from '../contract/identifiers.ts';
import { overThroughMs } from '../market/calendar/bar-end.ts';
import { knownSeries, tradedOtherwise } from '../series/read-stored.ts';
import { endOf, type Series } from '../series/series.ts';
import { type FormerBearer, namesOf, symbolsLike } from '../store/instrument-terms.ts';
import { always, type KnownMoment } from '../store/schema/dataset.ts';
import { type Instrument, isDelistedAfter, isListedOn, symbolOn } from '../store/schema/reference.ts';
import { queryLimits } from './limits.ts';
import {
  chosenBearer,
  type DayRange,
  type Found,
  findInstrument,
  hadWithin,
  unknownInstrument,
} from './lookup.ts';
import type { Answer, QueryContext } from './query.ts';

/** The part of a context that finds instruments. */
type Finding = Pick<QueryContext, 'reader' | 'known' | 'lookup' | 'moment'>;

type Owner = Pick<Instrument, 'asset_schema' | 'country_iso_code'>;

/** The date of a moment in the market of an instrument. */
const dayOf = ({ dayIn }: KnownMoment, { asset_schema, country_iso_code }: Owner): number =>
  dayIn(asset_schema, country_iso_code);

/** An instrument as it was on a day: its symbol, and that it traded where it was delisted later. */
const rowOn = (row: Instrument, day: number): Instrument => ({
  ...row,
  symbol: symbolOn(row, day),
  ...(isDelistedAfter(row, day) && { status: 'active' }),
});

/** An instrument as a request sees it. */
export const shownRow = ({ moment }: Pick<QueryContext, 'moment'>, instrument: Instrument): Instrument =>
  rowOn(instrument, dayOf(moment, instrument));

/** The symbol under which a request sees an instrument. */
export const shownSymbol = ({ moment }: Pick<QueryContext, 'moment'>, instrument: Instrument): string =>
  symbolOn(instrument, dayOf(moment, instrument));

/** Who had a symbol at a moment, who had had it before, and who was to have it later. */
type Bearers = {
  readonly now: Found | null;
  /** By their symbols at the moment, the latest first. */
  readonly former: readonly (FormerBearer & { readonly found: Found })[];
  readonly later: Found | null;
};

async function bearersAt(
  { reader, lookup, moment }: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
): Promise<Bearers> {
  const { country, symbol } = named;
  const day = moment.dayIn(assetSchema, country);
  const present = await lookup.instrumentOrNull(reader, assetSchema, named, null);
  const held: (FormerBearer & { found: Found })[] = [];
  for (const one of await lookup.former(reader, assetSchema, named)) {
    const found = await lookup.instrumentOrNull(reader, assetSchema, { country, symbol: one.symbol }, null);
    if (found !== null && isListedOn(found.instrument, day)) held.push({ ...one, found });
  }
  const isNamed = (found: Found): boolean => symbolOn(found.instrument, day) === symbol;
  const isListed = present !== null && isListedOn(present.instrument, day);
  const later = isListed && !isNamed(present) ? present : null;
  return {
    now: held.find(({ found }) => isNamed(found))?.found ?? (isListed && later === null ? present : null),
    former: held
      .filter(({ toDay }) => toDay < day)
      .map((one) => ({ ...one, symbol: symbolOn(one.found.instrument, day) })),
    later,
  };
}

/**
 * The bars that a request sees of an instrument: all that had closed, or those of sessions that were over
 * alone.
 */
type Seen = 'closed' | 'over';

/**
 * An instrument as it was known at a moment. What is covered is judged by all runs, because bars are imported
 * long after they closed (contract 3.9).
 */
function knownAt({ reader, lookup, moment }: Finding, { instrument }: Found, seen: Seen): Promise<Found> {
  const { ms } = moment;
  const { instrument_id, asset_schema, country_iso_code: country, symbol } = instrument;
  const assetSchema = asset_schema as AssetSchema;
  return lookup.found(reader, `as of ${ms}|${seen}|${instrument_id}`, async () => {
    const found = await lookup.instrument(reader, assetSchema, { country, symbol });
    const calendar = found.calendar.knownAt(ms);
    const throughMs = seen === 'closed' ? ms : overThroughMs(calendar, ms);
    const calendars = { calendar: found.calendar, known: calendar };
    const day = moment.dayIn(assetSchema, country);
    const row = rowOn(found.instrument, day);
    const known = await knownSeries(reader, calendars, found.series, throughMs);
    const series: Series[] = [];
    for (const one of known)
      series.push(
        isDelistedAfter(row, day)
          ? await tradedOtherwise(reader, found.calendar, one, { ...row, endMs: null })
          : one,
      );
    return { ...found, calendar, series, endedMs: await endOf(reader, row, calendar) };
  });
}

/**
 * The instrument that a symbol names, as `Lookup.instrumentOrNull` finds it; at the moment of the request
 * where it has one.
 */
export async function instrumentOrNull(
  context: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
  days: DayRange | null,
  seen: Seen = 'closed',
): Promise<Found | null> {
  const { reader, lookup, moment } = context;
  if (moment === always) return lookup.instrumentOrNull(reader, assetSchema, named, days);
  const { now, former } = await bearersAt(context, assetSchema, named);
  const before = days === null ? undefined : chosenBearer(former, now !== null, days);
  const found = before?.found ?? now;
  return found === null ? null : knownAt(context, found, seen);
}

/** The stored row of the instrument that a symbol names at the moment of the request. */
export async function rowNamed(
  context: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
): Promise<Instrument | null> {
  if (context.moment === always) return findInstrument(context.reader, assetSchema, named);
  return (await instrumentOrNull(context, assetSchema, named, null))?.instrument ?? null;
}

/** True if no instrument has a symbol now: rows that are stored under the symbol are of whatever they say. */
export const isNobodys = async (
  { reader, lookup }: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
): Promise<boolean> => (await lookup.instrumentOrNull(reader, assetSchema, named, null)) === null;

/** The instruments that had a symbol before, the latest first, by the symbols that the request sees. */
async function formerOf(
  context: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
): Promise<readonly FormerBearer[]> {
  const { reader, lookup, moment } = context;
  if (moment === always) return lookup.former(reader, assetSchema, named);
  return (await bearersAt(context, assetSchema, named)).former;
}

/**
 * A parameter names an instrument by an alias: the query runs again with the instrument's own symbol
 * (contract 9.21).
 */
export class NamedOtherwise extends Error {
  override readonly name = 'NamedOtherwise';
  readonly #param: string;
  readonly #symbol: string;

  constructor(param: string, symbol: string) {
    super(`${param} is an alias of ${symbol}`);
    this.#param = param;
    this.#symbol = symbol;
  }

  /** The parameters with the own symbol. */
  renamed<P extends object>(parameters: P): P {
    const named = (parameters as Readonly<Record<string, object>>)[this.#param];
    return { ...parameters, [this.#param]: { ...named, symbol: this.#symbol } };
  }
}

/**
 * The own symbol of the only instrument that a symbol which nothing bears, or ever bore, is like; null
 * without one.
 */
export async function aliasedSymbol(
  { reader, known, lookup, moment }: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
): Promise<string | null> {
  const { country: country_iso_code, symbol } = named;
  const alike =
    moment === always
      ? await lookup.alike(reader, assetSchema, named)
      : await symbolsLike(known, { asset_schema: assetSchema, country_iso_code, symbol });
  const names = namesOf(alike);
  if (names.length !== 1) return null;
  if ((await lookup.instrumentOrNull(reader, assetSchema, named, null)) !== null) return null;
  return (await lookup.former(reader, assetSchema, named)).length > 0 ? null : names[0]!;
}

/**
 * The refusal of a symbol that names nothing. It names the instrument that gets the symbol only after the
 * moment. `NamedOtherwise` where it is an alias.
 */
export async function unknownSymbol(
  context: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
  param: 'country_symbol' | 'full_symbol' | 'symbols' = 'country_symbol',
): Promise<Refusal | NamedOtherwise> {
  const { reader, moment } = context;
  const alias = param === 'symbols' ? null : await aliasedSymbol(context, assetSchema, named);
  if (alias !== null) return new NamedOtherwise(param, alias);
  if (moment === always) return unknownInstrument(reader, assetSchema, named, param);
  const { later } = await bearersAt(context, assetSchema, named);
  const name = `${param === 'full_symbol' ? `${assetSchema}:` : ''}${named.country}:${named.symbol}`;
  const hint =
    later === null
      ? 'It may have been listed later. Check the country, the symbol and the asset type.'
      : `${named.symbol} is today the symbol of ${shownSymbol(context, later.instrument)}.`;
  const message = `${name} was not known at that moment.`;
  return new Refusal('unknown_instrument', { message, param, got: name, hint });
}

/** As `instrumentOrNull`. @throws Refusal `unknown_instrument` */
export async function instrumentOf(
  context: Finding,
  assetSchema: AssetSchema,
  named: CountrySymbol,
  seen: Seen = 'closed',
): Promise<Found> {
  const found = await instrumentOrNull(context, assetSchema, named, null, seen);
  if (found === null) throw await unknownSymbol(context, assetSchema, named);
  return found;
}

/** A requested instrument: a symbol on some days. */
type Asked = CountrySymbol & { readonly assetSchema: AssetSchema; readonly days: DayRange };

const termOf = ({ symbol, fromDay, toDay }: FormerBearer): string =>
  `${symbol} from ${formatDay(fromDay)} to ${formatDay(toDay)}`;

/**
 * The answer with `X-Symbol-History` where former bearers of the symbol had it on some days of the range and
 * none on all of them: their present symbols and dates, the latest first, and the symbol `answered` of the
 * instrument that the answer has.
 */
export async function tellingHistory(
  context: QueryContext,
  { assetSchema, days, ...named }: Asked,
  answered: string,
  answer: Answer,
): Promise<Answer> {
  if (answer.kind === 'refusal') return answer;
  const former = await formerOf(context, assetSchema, named);
  // An instrument may have its old symbol again.
  const others = former.filter(({ symbol }) => symbol !== named.symbol);
  const some = others.filter((one) => hadWithin(one, days) !== 'none');
  if (some.length === 0 || some.some((one) => hadWithin(one, days) === 'all')) return answer;
  const told = some.slice(0, queryLimits.formerBearersMax).map(termOf).join(', ');
  const history = `${named.symbol} was ${told}; this answer has ${answered}`;
  return { ...answer, headers: { ...answer.headers, 'X-Symbol-History': history } };
}
