// Bars, historical (spec 4.10) and latest (spec 4.11): range, page, rendering.
import { emptyBars, reserve } from '../bars/bars.ts';
import type { TimedBars } from '../bars/grid.ts';
import { DAY_MS, dayOf, type ParsedInstant, YEAR_MAX, YEAR_MIN } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, periodEnd, periodStart } from '../calendar/period.ts';
import { historicalBars, type latestBars } from '../contract/bars.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { barStream } from './bar-plan.ts';
import type { BarStream, StreamRange } from './bar-stream.ts';
import type { Found } from './lookup.ts';
import type { Query, QueryContext } from './query.ts';
import { addressOf } from './render/address.ts';
import type { BarConstants } from './render/bars.ts';
import { writeCsv, writeJsonRows } from './render/bars.ts';
import { renderList } from './render/list.ts';

const FIRST_MS = dayOf(YEAR_MIN, 1, 1) * DAY_MS;
const END_MS = dayOf(YEAR_MAX + 1, 1, 1) * DAY_MS;

/** Bounds of the wire as half-open bounds of keys, and what a key alone cannot tell. */
type BarRange = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether a bar with this open and label lies in the range. */
  readonly holds: (openMs: number, day: number) => boolean;
};

/** Days by which the open of a bar may lie from the day its key names: the longest closing, generously. */
const KEY_SLACK_DAYS = 20;

/** Whether a bound speaks of a label date: a date alone, or midnight without an offset (contract 2.3). */
function isLabel(bound: ParsedInstant): boolean {
  return bound.kind === 'date' || (!bound.hasOffset && bound.ms === bound.day * DAY_MS);
}

const startOfDay = (calendar: Calendar, day: number): number => calendar.dateZone.instantOf(day, 0);

/** The first and the last instant that bounds mean on intraday bars (contract 2.2, 2.3). */
function instantBounds(
  calendar: Calendar,
  from: ParsedInstant,
  to: ParsedInstant,
): { fromMs: number; toMs: number } {
  return {
    fromMs: from.kind === 'date' ? startOfDay(calendar, from.day) : from.ms,
    toMs: to.kind === 'date' ? startOfDay(calendar, to.day + 1) : to.ms + 1,
  };
}

function rangeOf(interval: string, calendar: Calendar, from: ParsedInstant, to: ParsedInstant): BarRange {
  const { fromMs, toMs } = instantBounds(calendar, from, to);
  if (!isPeriod(interval)) return { fromMs, toMs, holds: () => true };
  const fromLabel = isLabel(from);
  const toLabel = isLabel(to);
  const firstDay = fromLabel ? from.day : calendar.zone.dayAt(fromMs) - KEY_SLACK_DAYS;
  const lastDay = toLabel ? to.day : calendar.zone.dayAt(toMs) + KEY_SLACK_DAYS;
  return {
    fromMs: periodStart(interval, firstDay) * DAY_MS,
    toMs: periodEnd(interval, periodStart(interval, lastDay)) * DAY_MS,
    holds: (openMs, day) =>
      (fromLabel ? day >= from.day : openMs >= fromMs) && (toLabel ? day <= to.day : openMs < toMs),
  };
}

function checkOrder(
  interval: string,
  calendar: Calendar,
  from: ParsedInstant,
  to: ParsedInstant,
  fromText: string,
  toText: string,
): void {
  const { fromMs, toMs } = instantBounds(calendar, from, to);
  const labels = isPeriod(interval) && isLabel(from) && isLabel(to);
  if (labels ? from.day <= to.day : fromMs < toMs) return;
  throw new Refusal('invalid_parameter', {
    message: `from_date lies after to_date: ${fromText} is later than ${toText}.`,
    param: 'from_date',
    got: fromText,
    hint: 'Exchange the two dates.',
  });
}

/** Up to `count` bars of a stream that the range holds, in the stream's direction, each with its key. */
async function take(
  stream: BarStream,
  count: number,
  range: BarRange,
  descending: boolean,
): Promise<TimedBars> {
  const taken = {
    bars: emptyBars(),
    openMs: new Float64Array(count),
    closeMs: new Float64Array(count),
    day: new Int32Array(count),
  };
  reserve(taken.bars, count);
  while (taken.bars.count < count) {
    const step = await stream.next(count - taken.bars.count);
    if (step === null) break;
    for (let index = 0; index < step.bars.count && taken.bars.count < count; index++) {
      const row = descending ? step.bars.count - 1 - index : index;
      if (range.holds(step.openMs[row]!, step.day[row]!)) copyRow(taken, step, row);
    }
  }
  return taken;
}

const valueColumns = ['keyMs', 'open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

function copyRow(target: TimedBars, source: TimedBars, row: number): void {
  const at = target.bars.count++;
  for (const column of valueColumns) target.bars[column][at] = source.bars[column][row]!;
  target.openMs[at] = source.openMs[row]!;
  target.closeMs[at] = source.closeMs[row]!;
  target.day[at] = source.day[row]!;
}

function reverse(timed: TimedBars): void {
  const { count } = timed.bars;
  for (const column of valueColumns) timed.bars[column].subarray(0, count).reverse();
  timed.openMs.subarray(0, count).reverse();
  timed.closeMs.subarray(0, count).reverse();
  timed.day.subarray(0, count).reverse();
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
  );
  checkOrder(parameters.interval, found.calendar, from, to, from.text, to.text);
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
  const range = rangeOf(parameters.interval, found.calendar, from, to);
  const lastMs = place === null ? null : (place.position[0] as number);
  const rest: StreamRange = {
    descending,
    fromMs: Math.max(range.fromMs, FIRST_MS, lastMs === null || descending ? FIRST_MS : lastMs + 1),
    toMs: Math.min(range.toMs, END_MS, lastMs === null || !descending ? END_MS : lastMs),
  };
  const timed = await take(streamOf(context, found, parameters, rest, nowMs), limit + 1, range, descending);
  const more = timed.bars.count > limit;
  if (more) timed.bars.count = limit;
  const key = more
    ? context.pageKeys.sign(fingerprint, { position: [timed.bars.keyMs[limit - 1]!], pinned: [nowMs] })
    : null;
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
    holds: () => true,
  };
  const stream = streamOf(context, found, parameters, everything, context.request.nowMs);
  const timed = await take(stream, parameters.limit, everything, true);
  reverse(timed);
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
    count: timed.bars.count,
    paging,
    writeJson: (sink) => writeJsonRows(sink, timed, constants, parameters.session_date),
    writeCsv: (sink) => writeCsv(sink, timed, constants, parameters.session_date),
  });
}
