// Bars, historical (spec 4.10) and latest (spec 4.11): range, page, rendering.
import { valueColumns } from '../bars/bars.ts';
import { concatTimed, sliceTimed, type TimedBars } from '../bars/grid.ts';
import { END_MS, FIRST_MS } from '../base/instant.ts';
import { type BarRange, barRange, inOrder } from '../calendar/bar-range.ts';
import { historicalBars, type latestBars } from '../contract/bars.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { type Adjusting, adjustBars, type Keep } from '../series/adjusting.ts';
import { barStream } from '../series/bar-stream.ts';
import type { StreamRange } from '../series/cursor.ts';
import type { BarStream, StreamContext } from '../series/stream.ts';
import { refusingAdjust } from './adjust-refusals.ts';
import type { Found } from './lookup.ts';
import { foreignKey } from './page.ts';
import type { Query, QueryContext } from './query.ts';
import { wrongOrder } from './range.ts';
import { addressOf } from './render/address.ts';
import type { BarConstants } from './render/bars.ts';
import { writeCsv, writeJsonRows } from './render/bars.ts';
import { csvCellOf } from './render/csv-cell.ts';
import { renderList } from './render/list.ts';

/** The bars of a step that the range holds. */
function heldBy(range: BarRange, step: TimedBars): TimedBars {
  const { holds } = range;
  if (holds === null) return step;
  const rows: TimedBars[] = [];
  for (let row = 0; row < step.bars.count; row++) {
    if (holds(step.openMs[row]!, step.day[row]!)) rows.push(sliceTimed(step, row, row + 1));
  }
  return rows.length === step.bars.count ? step : concatTimed(rows);
}

/** Up to `count` bars from the front of a stream that the range holds, in ascending order whatever the stream's direction. */
async function take(
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

/** Turns timed bars round, in place. */
function reverse(timed: TimedBars): void {
  const { bars } = timed;
  for (const column of columns) bars[column].subarray(0, bars.count).reverse();
  timed.openMs.subarray(0, bars.count).reverse();
  timed.closeMs.subarray(0, bars.count).reverse();
  timed.day.subarray(0, bars.count).reverse();
}

type Paging = { readonly key: string | null; readonly address: string };

type BarParameters = ParametersOf<typeof latestBars>;

function streamContextOf({ reader }: QueryContext, found: Found, parameters: BarParameters): StreamContext {
  const { calendar } = found;
  const extended = parameters.is_eth && calendar.hasExtendedHours;
  return { reader, calendar, interval: parameters.interval, extended, rawOnly: parameters.adjust !== 'none' };
}

/** Adjusts bars in place where that is asked for. @throws Refusal where the stored bars do not allow it */
async function adjust(
  { reader, lookup }: QueryContext,
  found: Found,
  stream: StreamContext,
  timed: TimedBars,
  adjusting: Adjusting | null,
): Promise<void> {
  if (adjusting === null) return;
  const keep: Keep = async (name, make) => (await lookup.kept(reader, name, make)).value;
  await refusingAdjust(found, () => adjustBars(stream, found, timed, adjusting, keep));
}

/** Which actions adjust at a moment; null where none are to. */
function adjustingOf(found: Found, { adjust, adjust_as_of }: BarParameters, nowMs: number): Adjusting | null {
  if (adjust === 'none') return null;
  return { kind: adjust, asOfDay: adjust_as_of ?? found.calendar.zone.dayAt(nowMs), nowMs };
}

function constantsOf(found: Found, parameters: BarParameters): BarConstants {
  const { instrument } = found;
  return {
    asset_schema: instrument.asset_schema.toUpperCase(),
    interval: parameters.interval,
    country_iso_code: instrument.country_iso_code,
    exchange: instrument.exchange,
    symbol: instrument.symbol,
  };
}

type HistoryParameters = ParametersOf<typeof historicalBars>;

/** What a page key belongs to (contract 4.1). */
function fingerprintOf({ instrument }: Found, parameters: HistoryParameters): string {
  const { interval, from_date, to_date, is_eth, sort, adjust } = parameters;
  return [
    'historicalBars',
    instrument.asset_schema,
    instrument.country_iso_code,
    instrument.symbol,
    interval,
    from_date.text,
    to_date.text,
    is_eth,
    sort,
    ...(adjust === 'none' ? [] : [adjust]),
  ].join('|');
}

/** One walk: where it stands, what it took from the moment, and how its next page is named. */
function walkOf({ pageKeys, request }: QueryContext, found: Found, parameters: HistoryParameters) {
  const { next_page_key: given } = parameters;
  const fingerprint = fingerprintOf(found, parameters);
  const place = given ? pageKeys.verify(fingerprint, given) : null;
  const nowMs = (place?.pinned[0] as number | undefined) ?? request.nowMs;
  const adjusting = adjustingOf(found, parameters, nowMs);
  const pinned = adjusting === null ? [nowMs] : [nowMs, adjusting.asOfDay];
  if (place !== null && place.pinned[1] !== pinned[1]) throw foreignKey(given!);
  return {
    nowMs,
    adjusting,
    /** The key of the last bar given; null before the first page. */
    lastMs: (place?.position[0] as number | undefined) ?? null,
    /** The page after a bar; none where there is no bar. */
    after: (keyMs: number | undefined): Paging => {
      if (keyMs === undefined) return { key: null, address: '' };
      const filled = adjusting === null ? parameters : { ...parameters, adjust_as_of: adjusting.asOfDay };
      return {
        key: pageKeys.sign(fingerprint, { position: [keyMs], pinned }),
        address: addressOf(historicalBars, filled),
      };
    },
  };
}

/** `GET …/bars/…/from/…/to/…` */
export const answerHistoricalBars: Query<typeof historicalBars> = async (parameters, context) => {
  const { from_date: from, to_date: to, sort, limit } = parameters;
  const found = await context.lookup.instrument(
    context.reader,
    parameters.schema_asset,
    parameters.country_symbol,
    { from: from.day, to: to.day },
  );
  if (!inOrder(parameters.interval, found.calendar, from, to)) throw wrongOrder(from.text, to.text);
  const descending = sort === 'desc';
  const { nowMs, adjusting, lastMs, after } = walkOf(context, found, parameters);
  const range = barRange(parameters.interval, found.calendar, from, to);
  const rest: StreamRange = {
    descending,
    fromMs: Math.max(range.fromMs, FIRST_MS, lastMs === null || descending ? FIRST_MS : lastMs + 1),
    toMs: Math.min(range.toMs, END_MS, lastMs === null || !descending ? END_MS : lastMs),
  };
  const stream = streamContextOf(context, found, parameters);
  const taken = await refusingAdjust(found, () =>
    take(barStream(stream, found, rest, nowMs), limit + 1, range, descending),
  );
  const surplus = taken.bars.count - limit;
  const timed =
    surplus <= 0 ? taken : descending ? sliceTimed(taken, surplus, limit + 1) : sliceTimed(taken, 0, limit);
  await adjust(context, found, stream, timed, adjusting);
  if (descending) reverse(timed);
  const paging = after(surplus <= 0 ? undefined : timed.bars.keyMs[limit - 1]!);
  return render(timed, found, parameters, context, paging);
};

/** `GET …/bars/…/latest` */
export const answerLatestBars: Query<typeof latestBars> = async (parameters, context) => {
  const found = await context.lookup.instrument(
    context.reader,
    parameters.schema_asset,
    parameters.country_symbol,
  );
  const everything: StreamRange & BarRange = {
    fromMs: FIRST_MS,
    toMs: END_MS,
    descending: true,
    holds: null,
  };
  const { nowMs } = context.request;
  const stream = streamContextOf(context, found, parameters);
  const timed = await refusingAdjust(found, () =>
    take(barStream(stream, found, everything, nowMs), parameters.limit, everything, true),
  );
  const adjusting = adjustingOf(found, parameters, nowMs);
  await adjust(context, found, stream, timed, adjusting);
  return render(timed, found, parameters, context, null);
};

function render(
  timed: TimedBars,
  found: Found,
  parameters: BarParameters,
  context: QueryContext,
  paging: Paging | null,
) {
  const constants = constantsOf(found, parameters);
  return renderList({
    format: parameters.format,
    wrapCsv: context.request.wrapCsv,
    allocate: context.allocate,
    count: timed.bars.count,
    paging,
    writeJson: (sink) => writeJsonRows(sink, timed, constants, parameters.session_date),
    writeCsv: (sink) =>
      writeCsv(sink, timed, constants, parameters.session_date, csvCellOf(parameters.csv_safe)),
  });
}
