// Bars, historical (spec 4.10) and latest (spec 4.11): range, page, rendering.
import { valueColumns } from '../bars/bars.ts';
import { sliceTimed, type TimedBars } from '../bars/grid.ts';
import { END_MS, FIRST_MS } from '../base/instant.ts';
import { type BarRange, barRange, inOrder } from '../calendar/bar-range.ts';
import { historicalBars, type latestBars } from '../contract/bars.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { barStream } from './bar-plan.ts';
import { type BarStream, concatTimed, type StreamRange } from './bar-stream.ts';
import type { Found } from './lookup.ts';
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

type BarParameters = ParametersOf<typeof latestBars>;

function streamOf(
  context: QueryContext,
  found: Found,
  parameters: BarParameters,
  range: StreamRange,
  nowMs: number,
): BarStream {
  const extended = parameters.is_eth && found.calendar.hasExtendedHours;
  const { calendar } = found;
  return barStream(
    { reader: context.reader, calendar, interval: parameters.interval, extended },
    found,
    range,
    nowMs,
  );
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
  const fingerprint = [
    'historicalBars',
    found.instrument.asset_schema,
    found.instrument.country_iso_code,
    found.instrument.symbol,
    parameters.interval,
    from.text,
    to.text,
    parameters.is_eth,
    sort,
  ].join('|');
  const place = parameters.next_page_key
    ? context.pageKeys.verify(fingerprint, parameters.next_page_key)
    : null;
  const nowMs = place === null ? context.request.nowMs : (place.pinned[0] as number);
  const range = barRange(parameters.interval, found.calendar, from, to);
  const lastMs = place === null ? null : (place.position[0] as number);
  const rest: StreamRange = {
    descending,
    fromMs: Math.max(range.fromMs, FIRST_MS, lastMs === null || descending ? FIRST_MS : lastMs + 1),
    toMs: Math.min(range.toMs, END_MS, lastMs === null || !descending ? END_MS : lastMs),
  };
  const taken = await take(streamOf(context, found, parameters, rest, nowMs), limit + 1, range, descending);
  const surplus = taken.bars.count - limit;
  const timed =
    surplus <= 0 ? taken : descending ? sliceTimed(taken, surplus, limit + 1) : sliceTimed(taken, 0, limit);
  if (descending) reverse(timed);
  const key =
    surplus <= 0
      ? null
      : context.pageKeys.sign(fingerprint, { position: [timed.bars.keyMs[limit - 1]!], pinned: [nowMs] });
  return render(timed, found, parameters, context, {
    key,
    address: key === null ? '' : addressOf(historicalBars, parameters),
  });
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
  const stream = streamOf(context, found, parameters, everything, context.request.nowMs);
  const timed = await take(stream, parameters.limit, everything, true);
  return render(timed, found, parameters, context, null);
};

function render(
  timed: TimedBars,
  found: Found,
  parameters: BarParameters,
  context: QueryContext,
  paging: { readonly key: string | null; readonly address: string } | null,
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
