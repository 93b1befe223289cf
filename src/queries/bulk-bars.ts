// Bars in bulk (contract 9.11), one step of the answer at a time. A step has a snapshot of its own, so that
// none is held while a caller reads; it gives what the first step's state of the store would give, or is
// refused (docs/decisions/0037).
import { END_MS, FIRST_MS } from '../base/instant.ts';
import type { bulkBars } from '../contract/bars.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import type { TimedBars } from '../market/bars/grid.ts';
import { barRange, dayOfBound, inOrder } from '../market/calendar/bar-range.ts';
import { calendarOf } from '../market/calendar/calendar.ts';
import { isPeriod } from '../market/calendar/period.ts';
import { barStream, explained } from '../series/bar-stream.ts';
import { always } from '../store/schema/dataset.ts';
import { instrumentTerms } from '../store/schema/reference.ts';
import type { DataState } from '../store/store.ts';
import {
  adjust,
  adjustingOf,
  barMoment,
  checkAdjustDay,
  constantsOf,
  noBarsText,
  streamContextOf,
  take,
} from './bars.ts';
import { aliasedSymbol, instrumentOrNull, unknownSymbol } from './known-instrument.ts';
import { nameMarketPrices, namePrices } from './known-prices.ts';
import { queryLimits } from './limits.ts';
import type { Found } from './lookup.ts';
import {
  type Answer,
  type NoBars,
  noActions,
  type Query,
  type QueryContext,
  type StepPlace,
  wrongOrder,
} from './query.ts';
import { formOf, type StepPart } from './render/bar-records.ts';
import { stepFormats } from './render/bulk-formats.ts';

type BulkParameters = ParametersOf<typeof bulkBars>;

/** The days of a request's range, both ends included. */
function daysOf({ schema_asset, country_iso_code: country, interval, ...range }: BulkParameters): number {
  const [from, to] = [range.from_date, range.to_date].map((bound) =>
    dayOfBound(calendarOf(schema_asset, country), bound, interval),
  ) as [number, number];
  return to - from + 1;
}

/** @throws Refusal where a request is for more than one answer may have */
function checkSize({ interval, symbols }: BulkParameters, days: number): void {
  const { bulkSymbolDaysMax, bulkMarketSymbols, bulkPeriodFactor } = queryLimits;
  if (symbols !== undefined && symbols.length > limits.symbolsMax)
    throw new Refusal('invalid_parameter', {
      message: `symbols names ${symbols.length} symbols: one request may name ${limits.symbolsMax}.`,
      param: 'symbols',
      hint: 'Split the list; or leave symbols out, for the whole market.',
    });
  const count = symbols?.length ?? bulkMarketSymbols;
  const max = bulkSymbolDaysMax * (isPeriod(interval) ? bulkPeriodFactor : 1);
  if (count * days <= max) return;
  const who = symbols === undefined ? 'a whole market' : `${count} symbols`;
  const daysMax = Math.floor(max / count);
  throw new Refusal('invalid_parameter', {
    message: `to_date is too far from from_date: a request for ${interval} bars of ${who} may have ${daysMax} days, this one has ${days}.`,
    param: 'to_date',
    allowed: `at most ${daysMax} days`,
    hint: `Split the range into requests of at most ${daysMax} days${symbols === undefined ? ', or name symbols' : ', or name fewer symbols'}.`,
  });
}

/**
 * Checks what a request asks for as a whole: its range, its size and its symbols. Gives the symbols of which
 * one is an alias by their instruments' own ones (contract 9.21). @throws Refusal
 */
async function check(
  parameters: BulkParameters,
  context: QueryContext,
): Promise<readonly string[] | undefined> {
  const { schema_asset, country_iso_code: country, interval, from_date: from, to_date: to } = parameters;
  if (!inOrder(interval, calendarOf(schema_asset, country), from, to)) throw wrongOrder(from.text, to.text);
  checkSize(parameters, daysOf(parameters));
  checkAdjustDay(context, schema_asset, country, parameters);
  const { symbols = [] } = parameters;
  const own = [...symbols];
  for (const [at, symbol] of symbols.entries()) {
    const named = { country, symbol };
    if ((await instrumentOrNull(context, schema_asset, named, null)) !== null) continue;
    const alias = await aliasedSymbol(context, schema_asset, named);
    if (alias === null) throw await unknownSymbol(context, schema_asset, named, 'symbols');
    own[at] = alias;
  }
  return own.some((symbol, at) => symbol !== symbols[at]) ? [...new Set(own)].sort() : undefined;
}

/**
 * Names what the data do not date of the whole answer: it is told before the rows are read, so it is what
 * they may hold (contract 9.8).
 */
async function nameLimits(parameters: BulkParameters, context: QueryContext): Promise<void> {
  const { schema_asset, country_iso_code: country, interval, symbols } = parameters;
  if (symbols === undefined) return nameMarketPrices(context, interval, schema_asset, country);
  for (const symbol of symbols) {
    const found = await instrumentOrNull(context, schema_asset, { country, symbol }, null);
    if (found !== null) namePrices(context, interval, found);
  }
}

/** Behind every symbol. */
const LAST = '\u{10ffff}';

/** The next symbols in order, those after `after`; the one of a place in its midst first. */
async function nextSymbols(
  { schema_asset, country_iso_code, symbols }: BulkParameters,
  context: QueryContext,
  from: StepPlace | undefined,
  limit: number,
): Promise<readonly string[]> {
  const begun = from !== undefined && from.keyMs !== null ? [from.symbol] : [];
  if (symbols !== undefined) {
    const left = from === undefined ? symbols : symbols.filter((symbol) => symbol > from.symbol);
    return [...begun, ...left.slice(0, limit)];
  }
  const terms = await context.known.rows(instrumentTerms, {
    where: { asset_schema: schema_asset, country_iso_code, kind: 'symbol' },
    order: [
      ['term', 'asc'],
      ['symbol', 'asc'],
    ],
    ...(from !== undefined && { after: [from.symbol, LAST] }),
    limit,
  });
  return [...begun, ...new Set(terms.map(({ term }) => term))];
}

/** Up to `count` bars of one instrument, those after a key; and what says why there are none. */
async function read(
  parameters: BulkParameters,
  context: QueryContext,
  found: Found,
  afterMs: number | null,
  count: number,
): Promise<{
  readonly timed: TimedBars;
  readonly goodUntilMs: number;
  readonly why: () => Promise<string>;
}> {
  const { interval, from_date: from, to_date: to } = parameters;
  const range = barRange(interval, found.calendar, from, to);
  const { moment, clockMs } = context;
  const stream = await streamContextOf(context, found, parameters);
  const isPresent = moment === always;
  // As of a moment, only the end of an instrument and what came after the moment depend on the clock.
  const clock = barMoment({
    interval,
    nowMs: clockMs,
    toMs: isPresent ? range.toMs : moment.ms,
    endedMs: found.endedMs,
    isAdjusted: isPresent ? parameters.adjust !== 'none' : stream.onUse !== null,
  });
  const nowMs = isPresent ? clock.nowMs : moment.ms;
  const fromMs = Math.max(range.fromMs, FIRST_MS, afterMs === null ? FIRST_MS : afterMs + 1);
  const rest = { descending: false, fromMs, toMs: Math.min(range.toMs, END_MS) };
  const { context: reading, whyNone } = explained(stream, found, { ...rest, holds: range.holds });
  const timed = await take(barStream(reading, found, rest, nowMs), count, range, false);
  const of = `${found.instrument.symbol} `;
  // The step that began with this symbol has named its actions.
  const { adjusted } = context;
  const named = afterMs === null ? adjusted : noActions();
  const adjusting = adjustingOf(found, parameters, nowMs);
  await adjust({ ...context, adjusted: named }, found, stream, timed, adjusting, of);
  const why = () => whyNone(`between ${from.text} and ${to.text}`);
  return { timed, goodUntilMs: clock.goodUntilMs, why };
}

/**
 * The bars of one step, what says why symbols have none, the place after them, null where they are the last,
 * and whether there may be symbols after these.
 */
async function readStep(parameters: BulkParameters, context: QueryContext, data: DataState) {
  const { schema_asset, country_iso_code: country } = parameters;
  const { from } = context.request;
  const { instrumentsPerStepMax, symbolDaysPerStepMax } = queryLimits;
  const ofDays = Math.max(Math.floor(symbolDaysPerStepMax / daysOf(parameters)), 1);
  const instruments = Math.min(instrumentsPerStepMax, ofDays);
  const symbols = await nextSymbols(parameters, context, from, instruments);
  const isFull = symbols.length >= instruments;
  const parts: StepPart[] = [];
  const without: (() => Promise<string>)[] = [];
  let goodUntilMs = Number.POSITIVE_INFINITY;
  let left: number = queryLimits.barsPerStepMax;
  for (const symbol of symbols) {
    const found = await instrumentOrNull(context, schema_asset, { country, symbol }, null);
    if (found === null) continue;
    const afterMs = from?.symbol === symbol ? from.keyMs : null;
    const { timed, why, ...good } = await read(parameters, context, found, afterMs, left);
    goodUntilMs = Math.min(goodUntilMs, good.goodUntilMs);
    const { count, keyMs } = timed.bars;
    const constants = constantsOf({ ...found.instrument, symbol }, parameters.interval);
    if (count > 0) parts.push({ timed, constants });
    else without.push(async () => `${country}:${symbol}: ${await why()}`);
    left -= count;
    if (left > 0) continue;
    const rest = { data, symbol, keyMs: keyMs[count - 1]! };
    return { parts, without, goodUntilMs, rest, hasOthers: isFull || symbol !== symbols.at(-1) };
  }
  const last = symbols.at(-1);
  const rest = last === undefined ? null : { data, symbol: last, keyMs: null };
  return { parts, without, goodUntilMs, rest, hasOthers: isFull };
}

/** Why no symbol has bars, after a step without any; undefined if one has some before it. */
async function noneAfter(
  from: StepPlace | undefined,
  without: readonly (() => Promise<string>)[],
): Promise<NoBars | undefined> {
  if (from !== undefined && from.none === undefined) return undefined;
  const { reasons: before, count } = from?.none ?? { reasons: [], count: 0 };
  const reasons = [...before];
  for (const why of without.slice(0, queryLimits.missingNamedMax - before.length)) reasons.push(await why());
  return { reasons, count: count + without.length };
}

const changedMeanwhile = new Refusal('unavailable', {
  message: 'Data of this answer changed while it was sent: send the request again.',
});

/** The state that a first step is read from. @throws where damage hides it */
async function stateOf({ reader }: QueryContext): Promise<DataState> {
  const version = await reader.version();
  if (version === null) throw new Error('the version of the store is damaged');
  return { id: reader.id, version };
}

/**
 * `GET …/bulk/bars/…`: one step of it. @throws Refusal `unavailable` where a later step finds other data than
 * the first
 */
export const answerBulkBars: Query<typeof bulkBars> = async (asked, context): Promise<Answer> => {
  const { moment, request } = context;
  const { from } = request;
  const { format } = asked;
  const symbols = from === undefined ? await check(asked, context) : from.symbols;
  const parameters = symbols === undefined ? asked : { ...asked, symbols };
  const data = from?.data ?? (await stateOf(context));
  const { parts, without, goodUntilMs, rest, hasOthers } = await readStep(parameters, context, data);
  // Headers go out before the later steps are made: judging all symbols first would take as long as adjusting
  // them.
  if (hasOthers && parameters.adjust !== 'none' && parameters.schema_asset === 'stock')
    context.adjusted.readThrough = rest!.symbol;
  if (!(await context.lookup.isAsIn(context.reader, data))) throw changedMeanwhile;
  // Last: what is kept of the step must not depend on what these read.
  if (from === undefined && moment !== always) await nameLimits(parameters, context);
  const none = parts.length === 0 ? await noneAfter(from, without) : undefined;
  const text = none?.count === 0 ? 'no instrument of this market is stored' : none && noBarsText(none);
  const headers = { ...(rest === null && text !== undefined && { 'X-No-Data': text }) };
  const { contentType, write } = stepFormats[format];
  const step = { parts, form: formOf(asked), isFirst: from === undefined, isLast: rest === null };
  const body = write(step, context.allocate);
  const rows = parts.reduce((sum, { timed }) => sum + timed.bars.count, 0);
  const answer = { kind: 'answer', contentType, headers, body, next: null, rows, goodUntilMs } as const;
  if (rest === null) return answer;
  return { ...answer, rest: { ...rest, ...(none && { none }), ...(symbols && { symbols }) } };
};
