// Findings: what may be wrong with the stored data of one instrument (contract 9.10).
import { formatInstant } from '../base/instant.ts';
import type { findings as endpoint } from '../contract/findings.ts';
import type { Keep } from '../series/calendars.ts';
import type { Finding } from './findings/finding.ts';
import { comparePlaces, findingOrder, findingsOf } from './findings/instrument-findings.ts';
import { MarketFacts } from './findings/market-facts.ts';
import { instrumentOf } from './known-instrument.ts';
import { priceCheck } from './known-prices.ts';
import type { Found } from './lookup.ts';
import { openWalk } from './pages/page-walk.ts';
import { barsCounted, dayBounds, goodUntil, keepOf, type Query, type QueryContext } from './query.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

/** The runs of a record are named as they are stored: nothing dates them for a moment (contract 9.8). */
export const UNDATED_RUNS = 'runs and their files';

/** The facts of markets that a request sees. */
export function marketFacts(context: QueryContext, onBars: (count: number) => void): MarketFacts {
  const { reader, lookup, moment } = context;
  return new MarketFacts({
    reader,
    calendars: lookup.calendars(reader),
    keep: keepIn(context),
    onBars,
    moment,
  });
}

/**
 * Every finding of an instrument, in their order; kept until what they were read from is changed. As of a
 * moment its series are those of sessions that were over. @throws TooDear
 */
function instrumentFindings(context: QueryContext, found: Found): Promise<readonly Finding[]> {
  const { reader, request } = context;
  const { nowMs } = request;
  const onBars = barsCounted(context);
  const facts = marketFacts(context, onBars);
  return keepIn(context)(nameIn('of', found, nowMs), () =>
    findingsOf({ reader, facts, nowMs, onBars }, found),
  );
}

/**
 * Gives the value that `make` makes of the findings of an instrument; it is kept under a name as long as
 * they are.
 * @throws TooDear
 */
export function keptFindings<T>(
  context: QueryContext,
  found: Found,
  name: string,
  make: (findings: readonly Finding[]) => T,
): Promise<T> {
  return keepIn(context)(nameIn(name, found, context.request.nowMs), async () =>
    make(await instrumentFindings(context, found)),
  );
}

const keepIn = (context: QueryContext): Keep => {
  const keep = keepOf(context);
  return (name, make) => keep(`findings|${name}`, make);
};

/** The name of something about an instrument, which is another once it has ended. */
const nameIn = (what: string, { instrument, endedMs }: Found, nowMs: number): string =>
  `${what}|${instrument.instrument_id}|${endedMs !== null && endedMs <= nowMs}`;

/** From which instant findings begin to be another answer without a commit; infinite where none does. */
const changesAtMs = ({ endedMs }: Found, nowMs: number): number =>
  endedMs === null || endedMs <= nowMs ? Number.POSITIVE_INFINITY : endedMs;

const recordOf = ({
  fromMs,
  toMs,
  runId,
  kind,
  severity,
  interval,
  value,
  expected,
  message,
}: Finding): WireRecord => ({
  ...{ kind, severity, interval, from_datetime: formatInstant(fromMs), to_datetime: formatInstant(toMs) },
  ...{ value, expected, message, run_id: runId },
});

/**
 * Names what the findings of an instrument may hold of a later time. @throws Refusal where its prices do hold
 * some (contract 9.8)
 */
async function checkPrices(context: QueryContext, found: Found, interval: string | undefined): Promise<void> {
  const onUse = await priceCheck(context, found);
  for (const series of found.series)
    if (interval === undefined || series.interval === interval) onUse?.(series);
  context.undated.add(UNDATED_RUNS);
}

/** `GET …/findings/…` */
export const answerFindings: Query<typeof endpoint> = async (parameters, context) => {
  const { schema_asset, country_symbol, interval, kind, severity, sort, limit } = parameters;
  const { from, to } = dayBounds(parameters.from_date, parameters.to_date);
  const found = await instrumentOf(context, schema_asset, country_symbol, 'over');
  await checkPrices(context, found, interval);
  const { country_iso_code, symbol } = found.instrument;
  const walk = openWalk(context, parameters, { country_symbol: `${country_iso_code}|${symbol}` });
  const { dateZone } = found.calendar;
  const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : dateZone.instantOf(from, 0);
  const toMs = to === undefined ? Number.POSITIVE_INFINITY : dateZone.instantOf(to, 0);
  const all = await instrumentFindings(context, found);
  const asked = all.filter(
    (one) =>
      (interval === undefined || one.interval === interval) &&
      (kind === undefined || one.kind === kind) &&
      (severity === undefined || one.severity === severity) &&
      one.toMs > fromMs &&
      one.fromMs < toMs,
  );
  const ordered = sort === 'asc' ? asked : asked.toReversed();
  const place = walk.place?.position as readonly number[] | undefined;
  const direction = sort === 'asc' ? 1 : -1;
  const rest =
    place === undefined
      ? ordered
      : ordered.filter((one) => direction * comparePlaces(findingOrder(one), place) > 0);
  const page = rest.slice(0, limit);
  const end = rest.length <= limit ? null : { position: findingOrder(page.at(-1)!), pinned: [] };
  const answer = renderRecords(context, page.map(recordOf), walk.paging(end));
  return goodUntil(answer, changesAtMs(found, context.request.nowMs));
};
