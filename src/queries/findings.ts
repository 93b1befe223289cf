// Findings: what may be wrong with the stored data of one instrument (contract 9.10).
import { formatInstant } from '../base/instant.ts';
import { findings as endpoint } from '../contract/findings.ts';
import type { Finding } from '../findings/finding.ts';
import { comparePlaces, findingOrder, findingsOf } from '../findings/instrument-findings.ts';
import { MarketFacts } from '../findings/market-facts.ts';
import type { Keep } from '../series/calendars.ts';
import { instrumentOf } from './known-instrument.ts';
import type { Found } from './lookup.ts';
import { openWalk } from './page-walk.ts';
import { goodUntil, type Query, type QueryContext, TooDear } from './query.ts';
import { dayBounds } from './range.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

/** Every finding of an instrument, in their order; kept until what they were read from is changed. @throws TooDear */
export function instrumentFindings(context: QueryContext, found: Found): Promise<readonly Finding[]> {
  const { reader, lookup, lane, request } = context;
  const { nowMs } = request;
  let read = 0;
  const onBars = (count: number): void => {
    read += count;
    if (read > lane.baseBarsMax) throw new TooDear();
  };
  const keep = keepIn(context);
  const facts = new MarketFacts({ reader, calendars: lookup.calendars(reader), keep, onBars });
  return keep(nameIn('of', found, nowMs), () => findingsOf({ reader, facts, nowMs, onBars }, found));
}

/** What `make` makes of the findings of an instrument; kept under a name as long as they are. @throws TooDear */
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

const keepIn =
  ({ reader, lookup }: QueryContext): Keep =>
  async (name, make) =>
    (await lookup.cached(reader, `findings|${name}`, make)).value;

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

/** `GET …/findings/…` */
export const answerFindings: Query<typeof endpoint> = async (parameters, context) => {
  const { schema_asset, country_symbol, interval, kind, severity, sort, limit, format } = parameters;
  const { from, to } = dayBounds(parameters.from_date, parameters.to_date);
  const found = await instrumentOf(context, schema_asset, country_symbol);
  const { country_iso_code, symbol } = found.instrument;
  const walk = openWalk(context, 'findings', parameters, { country_symbol: `${country_iso_code}|${symbol}` });
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
  const answer = renderRecords(context, endpoint, page.map(recordOf), format, walk.paging(end));
  return goodUntil(answer, changesAtMs(found, context.request.nowMs));
};
