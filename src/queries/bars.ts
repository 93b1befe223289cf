// Bars, historical (spec 4.10) and latest (spec 4.11), and from which moment a request sees them (contract
// 3.9, 4.1).
import { DAY_MS, END_MS, FIRST_MS, formatDay, MINUTE_MS } from '../base/instant.ts';
import type { historicalBars, latestBars, latestOfMany } from '../contract/bars.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import type { AssetSchema, CountrySymbol } from '../contract/identifiers.ts';
import type { Interval } from '../contract/interval.ts';
import { valueColumns } from '../market/bars/columns.ts';
import { concatTimed, filterTimed, sliceTimed, type TimedBars } from '../market/bars/grid.ts';
import { type BarRange, barRange, dayOfBound, inOrder } from '../market/calendar/bar-range.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import { segmentScope } from '../market/calendar/period.ts';
import { type Adjusting, adjustBars } from '../series/adjust/adjusting.ts';
import { barStream, explained } from '../series/bar-stream.ts';
import type { StreamRange } from '../series/cursor.ts';
import { baseBarsFor } from '../series/plan.ts';
import type { BarStream, StreamContext } from '../series/stream.ts';
import { TrackedReader } from '../store/known-changes.ts';
import { always } from '../store/schema/dataset.ts';
import {
  aliasedSymbol,
  instrumentOf,
  instrumentOrNull,
  shownSymbol,
  tellingHistory,
  unknownSymbol,
} from './known-instrument.ts';
import { priceCheck } from './known-prices.ts';
import { queryLimits } from './limits.ts';
import type { Found } from './lookup.ts';
import { foreignKey } from './pages/page-key.ts';
import { openWalk } from './pages/page-walk.ts';
import {
  type Adjusted,
  type Answer,
  barsCounted,
  goodUntil,
  keepOf,
  type NoBars,
  noActions,
  type Paging,
  type Query,
  type QueryContext,
  wrongOrder,
} from './query.ts';
import {
  type BarConstants,
  formOf,
  type StepPart,
  writeCsvHeader,
  writeCsvRows,
  writeJsonRows,
} from './render/bar-records.ts';
import { renderList } from './render/list.ts';
import { csvCellOf } from './render/sink.ts';

/**
 * All bars with keys before the end of a range have closed so many days after it: weeks and months at the end
 * of their last session.
 */
const daysToClose = (interval: Interval): number => (interval === 'MON' ? 40 : interval === 'WEEK' ? 14 : 5);

/** The parameters that decide the moment of a request for bars. */
type AskedBars = {
  readonly interval: Interval;
  /** The clock. */
  readonly nowMs: number;
  /** The end of the range of keys; infinite for the newest bars. */
  readonly toMs: number;
  /** When the instrument ends: its bars are complete from then on. Null while it is traded. */
  readonly endedMs: number | null;
  readonly isAdjusted: boolean;
};

/**
 * The moment of a request, and until when one has the same. Its answer is the same for so long, unless what
 * it depends on is changed.
 */
type BarMoment = { readonly nowMs: number; readonly goodUntilMs: number };

/**
 * The moment of a request. Bars close at whole minutes, and so do the sessions that adjustments go by: the
 * clock counts in minutes. Where all bars of the range have closed, the moment is the same whenever it is
 * asked for.
 */
export function barMoment({ interval, nowMs, toMs, endedMs, isAdjusted }: AskedBars): BarMoment {
  const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const closedMs = toMs + daysToClose(interval) * DAY_MS;
  const hasEnded = endedMs !== null && endedMs <= minuteMs;
  const endsMs = endedMs === null || hasEnded ? Number.POSITIVE_INFINITY : endedMs;
  if (isAdjusted || closedMs > minuteMs)
    return { nowMs: minuteMs, goodUntilMs: Math.min(minuteMs + MINUTE_MS, endsMs) };
  return { nowMs: hasEnded ? Math.max(closedMs, endedMs) : closedMs, goodUntilMs: endsMs };
}

/** The moment that a page key pins: that of its walk. */
const pinnedMoment = (nowMs: number): BarMoment => ({ nowMs, goodUntilMs: Number.POSITIVE_INFINITY });

/** The bars of a step that are in the range. */
function heldBy(range: BarRange, step: TimedBars): TimedBars {
  const { holds } = range;
  if (holds === null) return step;
  return filterTimed(step, (row) => holds(step.openMs[row]!, step.day[row]!));
}

/**
 * Up to `count` bars from the front of a stream that are in the range, in ascending order whatever the
 * stream's direction.
 */
export async function take(
  stream: BarStream,
  count: number,
  range: BarRange,
  descending: boolean,
): Promise<TimedBars> {
  const parts: TimedBars[] = [];
  let left = count;
  while (left > 0) {
    const step = await stream.next(left);
    if (step === null) break;
    const held = heldBy(range, step);
    const { count: found } = held.bars;
    const used = Math.min(found, left);
    parts.push(descending ? sliceTimed(held, found - used, found) : sliceTimed(held, 0, used));
    left -= used;
  }
  if (parts.length === 1) return parts[0]!;
  return concatTimed(descending ? parts.reverse() : parts);
}

const columns = ['keyMs', ...valueColumns] as const;

/** Reverses timed bars in place. */
function reverse(timed: TimedBars): void {
  const { bars } = timed;
  for (const column of columns) bars[column].subarray(0, bars.count).reverse();
  timed.openMs.subarray(0, bars.count).reverse();
  timed.closeMs.subarray(0, bars.count).reverse();
  timed.day.subarray(0, bars.count).reverse();
}

/** What a request says about the bars that it wants. */
type BarParameters = Pick<ParametersOf<typeof latestBars>, 'interval' | 'is_eth' | 'adjust' | 'adjust_as_of'>;

/** The stream of the bars of a request, which checks the prices of each series that it uses. */
export async function streamContextOf(
  context: QueryContext,
  found: Found,
  parameters: BarParameters,
  onSkipped = barsCounted(context),
): Promise<StreamContext> {
  const { reader } = context;
  const { calendar } = found;
  const { interval, is_eth, adjust } = parameters;
  const extended = is_eth && calendar.hasBeyond(segmentScope(interval, false));
  const onUse = await priceCheck(context, found);
  return { reader, calendar, interval, extended, rawOnly: adjust !== 'none', onUse, onSkipped };
}

/**
 * Adjusts bars in place if the request asks for it; `of` is the stock, in an answer of several. @throws
 * Refusal if the stored bars do not allow it
 */
export async function adjust(
  context: QueryContext,
  found: Found,
  stream: StreamContext,
  timed: TimedBars,
  adjusting: Adjusting | null,
  of = '',
): Promise<void> {
  if (adjusting === null) return;
  const { adjusted } = context;
  const notes = await adjustBars(stream, found, timed, adjusting, keepOf(context));
  for (const name of notes.incomplete) adjusted.incomplete.add(of + name);
  for (const name of notes.unlisted) adjusted.unlisted.add(of + name);
}

/** Which actions adjust at a moment; null where none do. */
export function adjustingOf(
  found: Found,
  { adjust, adjust_as_of }: BarParameters,
  nowMs: number,
): Adjusting | null {
  if (adjust === 'none') return null;
  return { kind: adjust, throughDay: adjust_as_of ?? found.calendar.zone.dayAt(nowMs), nowMs };
}

/**
 * @throws Refusal where the caller asks for adjustments that the moment of the request does not know
 * (contract 9.8)
 */
export function checkAdjustDay(
  { moment }: QueryContext,
  assetSchema: AssetSchema,
  country: string,
  { adjust_as_of: asked }: BarParameters,
): void {
  const day = moment.dayIn(assetSchema, country);
  if (asked === undefined || asked <= day) return;
  throw new Refusal('invalid_parameter', {
    message: `adjust_as_of is after ${formatDay(day)}, the date of as_of in the market's time zone.`,
    param: 'adjust_as_of',
    got: formatDay(asked),
    allowed: `dates up to ${formatDay(day)}`,
  });
}

/** The moment from which a first page, or an answer without pages, sees bars. */
function momentOf(
  { request, moment }: QueryContext,
  asked: Omit<Parameters<typeof barMoment>[0], 'nowMs'>,
): BarMoment {
  return moment === always ? barMoment({ ...asked, nowMs: request.nowMs }) : pinnedMoment(moment.ms);
}

type HistoryParameters = ParametersOf<typeof historicalBars>;

/** One walk: its moment, how it adjusts, where the page before ends, and how it goes on. */
function walkOf(context: QueryContext, found: Found, parameters: HistoryParameters, { toMs }: BarRange) {
  const { instrument } = found;
  const { place, paging } = openWalk(context, parameters, {
    schema_asset: instrument.asset_schema,
    country_symbol: `${instrument.country_iso_code}|${instrument.symbol}`,
    from_date: parameters.from_date.text,
    to_date: parameters.to_date.text,
  });
  const { interval, adjust } = parameters;
  const { endedMs } = found;
  const isAdjusted = adjust !== 'none';
  const { nowMs, goodUntilMs } =
    place === null
      ? momentOf(context, { interval, toMs, endedMs, isAdjusted })
      : pinnedMoment(place.pinned[0] as number);
  const adjusting = adjustingOf(found, parameters, nowMs);
  const pinned = adjusting === null ? [nowMs] : [nowMs, adjusting.throughDay];
  if (place !== null && place.pinned[1] !== pinned[1]) throw foreignKey(parameters.next_page_key!);
  return {
    nowMs,
    goodUntilMs,
    adjusting,
    /** The key of the last bar of the page before; null on the first page. */
    lastMs: (place?.position[0] as number | undefined) ?? null,
    /** The paging of a page that ends with a bar; of the last page where there is none. */
    pagingAfter: (keyMs: number | undefined): Paging =>
      paging(
        keyMs === undefined ? null : { position: [keyMs], pinned },
        adjusting === null ? parameters : { ...parameters, adjust_as_of: adjusting.throughDay },
      ),
  };
}

/** `GET …/bars/…/from/…/to/…` */
const answerHistoricalBars: Query<typeof historicalBars> = async (parameters, context) => {
  const { schema_asset, country_symbol, from_date: from, to_date: to, sort, limit } = parameters;
  const market = calendarOf(schema_asset, country_symbol.country);
  const dayOf = (bound: typeof from): number => dayOfBound(market, bound, parameters.interval);
  const days = { from: dayOf(from), to: dayOf(to) };
  const found = await instrumentOrNull(context, schema_asset, country_symbol, days);
  // A mistake in the parameters comes before a symbol that nothing has (contract 6.4).
  if (!inOrder(parameters.interval, found?.calendar ?? market, from, to))
    throw wrongOrder(from.text, to.text);
  if (found === null) throw await unknownSymbol(context, schema_asset, country_symbol);
  checkAdjustDay(context, schema_asset, country_symbol.country, parameters);
  const descending = sort === 'desc';
  const range = barRange(parameters.interval, found.calendar, from, to);
  const { nowMs, goodUntilMs, adjusting, lastMs, pagingAfter } = walkOf(context, found, parameters, range);
  const rest: StreamRange = {
    descending,
    fromMs: Math.max(range.fromMs, FIRST_MS, lastMs === null || descending ? FIRST_MS : lastMs + 1),
    toMs: Math.min(range.toMs, END_MS, lastMs === null || !descending ? END_MS : lastMs),
  };
  const stream = await streamContextOf(context, found, parameters);
  barsCounted(context)(baseBarsFor(stream, found, rest, limit + 1));
  const { context: reading, whyNone } = explained(stream, found, { ...rest, holds: range.holds });
  const taken = await take(barStream(reading, found, rest, nowMs), limit + 1, range, descending);
  const surplus = taken.bars.count - limit;
  const start = descending ? surplus : 0;
  const timed = surplus <= 0 ? taken : sliceTimed(taken, start, start + limit);
  await adjust(context, found, stream, timed, adjusting);
  if (descending) reverse(timed);
  const paging = pagingAfter(surplus <= 0 ? undefined : timed.bars.keyMs[limit - 1]!);
  const rendered = goodUntil(render(timed, found, parameters, context, paging), goodUntilMs);
  const isNone = timed.bars.count === 0 && lastMs === null;
  const where = `between ${from.text} and ${to.text}`;
  const answer = isNone ? withReason(rendered, await whyNone(where)) : rendered;
  const asked = { assetSchema: schema_asset, ...country_symbol, days };
  return tellingHistory(context, asked, shownSymbol(context, found.instrument), answer);
};

/** Why instruments have no bars, in one line. */
export function noBarsText({ reasons, count }: NoBars): string {
  const more = count - reasons.length;
  return [...reasons, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** An answer without bars that says why (contract 9.18). */
const withReason = (answer: Answer, why: string): Answer =>
  answer.kind === 'answer' ? { ...answer, headers: { ...answer.headers, 'X-No-Data': why } } : answer;

const everything = { fromMs: FIRST_MS, toMs: END_MS, descending: true, holds: null };

/** The parameters of a request for the newest bars of an instrument. */
type NewestParameters = BarParameters & { readonly limit: number };

/** The newest bars of an instrument, until when they are, and what says why there are none. */
type Newest = {
  readonly timed: TimedBars;
  readonly goodUntilMs: number;
  readonly why: () => Promise<string>;
};

/** The newest bars of an instrument; `counted` bounds what several read together. */
async function newest(
  context: QueryContext,
  found: Found,
  parameters: NewestParameters,
  counted = barsCounted(context),
  of = '',
): Promise<Newest> {
  const { interval, limit } = parameters;
  const { nowMs, goodUntilMs } = momentOf(context, {
    interval,
    toMs: Number.POSITIVE_INFINITY,
    endedMs: found.endedMs,
    isAdjusted: parameters.adjust !== 'none',
  });
  const stream = await streamContextOf(context, found, parameters, counted);
  counted(baseBarsFor(stream, found, everything, limit));
  const { context: reading, whyNone } = explained(stream, found, everything);
  const timed = await take(barStream(reading, found, everything, nowMs), limit, everything, true);
  await adjust(context, found, stream, timed, adjustingOf(found, parameters, nowMs), of);
  return { timed, goodUntilMs, why: () => whyNone('') };
}

/** `GET …/bars/…/latest` */
const answerLatestBars: Query<typeof latestBars> = async (parameters, context) => {
  const { schema_asset, country_symbol } = parameters;
  const found = await instrumentOf(context, schema_asset, country_symbol);
  checkAdjustDay(context, schema_asset, country_symbol.country, parameters);
  const { timed, goodUntilMs, why } = await newest(context, found, parameters);
  const answer = goodUntil(render(timed, found, parameters, context, null), goodUntilMs);
  return timed.bars.count === 0 ? withReason(answer, await why()) : answer;
};

/** The newest bars of one instrument of several; without bars where it has none, or nothing bears the symbol. */
async function newestNamed(
  context: QueryContext,
  named: CountrySymbol,
  parameters: NewestParameters & { readonly schema_asset: AssetSchema },
  counted: (count: number) => void,
): Promise<Omit<Newest, 'timed'> & { readonly part: StepPart | null; readonly adjusted: Adjusted }> {
  const { schema_asset, interval } = parameters;
  // Its own notes: what is kept of it depends on none of the others, which are read meanwhile.
  const reader = new TrackedReader(context.reader);
  const adjusted = noActions();
  const known = context.known === context.reader ? reader : context.known;
  const own = { ...context, reader, known, adjusted };
  try {
    let found = await instrumentOrNull(own, schema_asset, named, null);
    const alias = found === null ? await aliasedSymbol(own, schema_asset, named) : null;
    if (alias !== null) found = await instrumentOrNull(own, schema_asset, { ...named, symbol: alias }, null);
    if (found === null)
      return { part: null, adjusted, goodUntilMs: Number.POSITIVE_INFINITY, why: async () => 'unknown' };
    const symbol = shownSymbol(own, found.instrument);
    const of = `${named.country}:${symbol} `;
    const { timed, ...rest } = await newest(own, found, parameters, counted, of);
    const constants = constantsOf({ ...found.instrument, symbol }, interval);
    return { ...rest, adjusted, part: timed.bars.count === 0 ? null : { timed, constants } };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const message = `${named.country}:${named.symbol}: ${error.facts.message}`;
    throw new Refusal(error.word, { ...error.facts, message });
  } finally {
    context.reader.note(reader.noted);
  }
}

/** Names separated by commas, as many as so many characters hold, and how many more there are. */
function namesIn(names: readonly string[], charactersMax: number): string {
  let shown = 0;
  for (let left = charactersMax; shown < names.length; shown++) {
    left -= names[shown]!.length + 1;
    if (left < 0) break;
  }
  const more = names.length - shown;
  return `${names.slice(0, shown).join()}${more > 0 ? `, and ${more} more` : ''}`;
}

/** `GET …/bars/latest` */
const answerLatestOfMany: Query<typeof latestOfMany> = async (parameters, context) => {
  const { schema_asset, symbols, format, csv_safe } = parameters;
  for (const country of new Set(symbols.map((one) => one.country)))
    checkAdjustDay(context, schema_asset, country, parameters);
  const { instrumentsAtOnce, barsPerInstrument, missingNamedMax } = queryLimits;
  const counted = barsCounted(context);
  counted(symbols.length * barsPerInstrument);
  const parts: StepPart[] = [];
  const missing: string[] = [];
  const reasons: string[] = [];
  let goodUntilMs = Number.POSITIVE_INFINITY;
  for (let from = 0; from < symbols.length; from += instrumentsAtOnce) {
    const some = symbols.slice(from, from + instrumentsAtOnce);
    // All have ended before the snapshot does.
    const ended = await Promise.allSettled(
      some.map((named) => newestNamed(context, named, parameters, counted)),
    );
    for (const [at, one] of ended.entries()) {
      if (one.status === 'rejected') throw one.reason;
      const { part, adjusted, why } = one.value;
      goodUntilMs = Math.min(goodUntilMs, one.value.goodUntilMs);
      // In the order of the symbols, whichever was read first.
      for (const name of adjusted.incomplete) context.adjusted.incomplete.add(name);
      for (const name of adjusted.unlisted) context.adjusted.unlisted.add(name);
      if (part !== null) parts.push(part);
      else {
        missing.push(`${some[at]!.country}:${some[at]!.symbol}`);
        if (missing.length <= missingNamedMax) reasons.push(`${missing.at(-1)}: ${await why()}`);
      }
    }
  }
  const form = formOf(parameters);
  const answer = renderList({
    format,
    wrapCsv: context.request.wrapCsv,
    allocate: context.allocate,
    count: parts.reduce((sum, { timed }) => sum + timed.bars.count, 0),
    paging: null,
    beside: { missing },
    writeJson: (sink) => {
      for (const [at, { timed, constants }] of parts.entries()) {
        if (at > 0) sink.text(',');
        writeJsonRows(sink, timed, constants, form);
      }
    },
    writeCsv: (sink) => {
      writeCsvHeader(sink, form);
      for (const { timed, constants } of parts)
        writeCsvRows(sink, timed, constants, form, csvCellOf(csv_safe));
    },
  });
  if (missing.length === 0 || answer.kind === 'refusal') return goodUntil(answer, goodUntilMs);
  const headers = {
    ...answer.headers,
    'X-No-Data': noBarsText({ reasons, count: missing.length }),
    'X-Missing-Symbols': namesIn(missing, queryLimits.missingCharactersMax),
  };
  return goodUntil({ ...answer, headers }, goodUntilMs);
};

/** The values that all rows of one instrument have in common. */
export function constantsOf(
  { asset_schema: assetSchema, country_iso_code, exchange, symbol }: Found['instrument'],
  interval: BarParameters['interval'],
): BarConstants {
  return { asset_schema: assetSchema.toUpperCase(), interval, country_iso_code, exchange, symbol };
}

function render(
  timed: TimedBars,
  { instrument }: Found,
  parameters: ParametersOf<typeof latestBars>,
  context: QueryContext,
  paging: Paging | null,
) {
  const form = formOf(parameters);
  const symbol = shownSymbol(context, instrument);
  const constants = constantsOf({ ...instrument, symbol }, parameters.interval);
  return renderList({
    format: parameters.format,
    wrapCsv: context.request.wrapCsv,
    allocate: context.allocate,
    count: timed.bars.count,
    paging,
    writeJson: (sink) => writeJsonRows(sink, timed, constants, form),
    writeCsv: (sink) => {
      writeCsvHeader(sink, form);
      writeCsvRows(sink, timed, constants, form, csvCellOf(parameters.csv_safe));
    },
  });
}

/** The queries of these endpoints. */
export const barQueries = {
  historicalBars: answerHistoricalBars,
  latestBars: answerLatestBars,
  latestOfMany: answerLatestOfMany,
};
