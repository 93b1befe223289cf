// Coverage: the sessions of one instrument, which have bars and which lack some (contract 9.9).

import { firstWhere } from '../base/ascending.ts';
import { DAY_MS, formatDay, formatInstant, MINUTE_MS } from '../base/instant.ts';
import type { sessionConditions, sessionCoverage } from '../contract/coverage.ts';
import type { ParametersOf } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import type { Interval } from '../contract/interval.ts';
import { lastOverDay } from '../market/calendar/bar-end.ts';
import type { Session } from '../market/calendar/session.ts';
import { Completeness } from '../series/completeness.ts';
import { labelsOf } from '../series/periods.ts';
import { candidates, DAY } from '../series/plan.ts';
import { coarseness, type Series, type Span, united } from '../series/series.ts';
import { barsToCount, runsOfSessions, type SessionBars, sessionBars } from '../series/session-bars.ts';
import type { StreamContext } from '../series/stream.ts';
import { rowWith } from '../store/all-rows.ts';
import { rowDamage } from '../store/checked-rows.ts';
import { DamagedData } from '../store/damage.ts';
import { runSpans } from '../store/schema/bars.ts';
import { importRuns } from '../store/schema/internal.ts';
import type { Finding } from './findings/finding.ts';
import type { MarketFacts } from './findings/market-facts.ts';
import { keptFindings, marketFacts, UNDATED_RUNS } from './findings.ts';
import { instrumentOf } from './known-instrument.ts';
import { namePrices } from './known-prices.ts';
import type { Found } from './lookup.ts';
import { openWalk } from './pages/page-walk.ts';
import { barsCounted, dayBounds, goodUntil, type Query, type QueryContext } from './query.ts';
import { renderRecords, type WireRecord } from './render/records.ts';

/** The kinds of findings about sessions without a bar. */
const withoutBars: ReadonlySet<string> = new Set(['missing_session', 'identity_break']);

/**
 * Tells whether a finding about the stored series of an interval lies in some time: an error or a warning
 * (`degraded`), or one about missing bars. It is kept as findings are, and apart from them: a series with a
 * finding in every session has too many to look at for each session of a page. @throws TooDear
 */
async function faultyTimes(
  context: QueryContext,
  found: Found,
  interval: Interval,
  sort: 'degraded' | 'missing',
): Promise<(time: Span) => boolean> {
  const isOfSort = ({ kind, severity }: Finding): boolean =>
    sort === 'missing' ? withoutBars.has(kind) : severity !== 'info';
  const spans = await keptFindings(context, found, `${sort} ${interval}`, (all) =>
    united(
      all.flatMap((one) =>
        one.interval === interval && isOfSort(one) ? [{ fromMs: one.fromMs, toMs: one.toMs }] : [],
      ),
      () => false,
    ),
  );
  return ({ fromMs, toMs }) => {
    const span = spans[firstWhere(spans.length, (at) => spans[at]!.toMs > fromMs)];
    return span !== undefined && span.fromMs < toMs;
  };
}

type Parameters = ParametersOf<typeof sessionCoverage>;
type Condition = (typeof sessionConditions)[number];

const DAY_COARSENESS = coarseness({ interval: DAY });

/** @throws Refusal where a bar of the interval has several sessions */
function checkInterval({ interval }: Parameters): void {
  if (interval === undefined || coarseness({ interval }) <= DAY_COARSENESS) return;
  throw new Refusal('invalid_parameter', {
    message: `interval must be DAY or minutes: a bar of ${interval} has several sessions.`,
    param: 'interval',
    got: interval,
    allowed: 'DAY, or any number of minutes up to 1440',
  });
}

/**
 * The interval of a request: the finest stored one where it names none, null where nothing is stored up to
 * DAY.
 */
function intervalOf({ interval }: Parameters, { series }: Found): Interval | null {
  if (interval !== undefined) return interval;
  const finest = series
    .filter((one) => coarseness(one) <= DAY_COARSENESS)
    .sort((a, b) => coarseness(a) - coarseness(b))[0];
  return finest?.interval ?? null;
}

/** The label dates of the first and the last stored bar that sessions of an interval are served from. */
function reachOf({ calendar }: Found, from: readonly Series[]): { first: number; last: number } {
  const labels = from.map((series) => labelsOf(calendar, series));
  return {
    first: Math.min(...labels.map(({ first }) => first)),
    last: Math.max(...labels.map(({ last }) => last)),
  };
}

/** Up to `count` sessions with label dates in `[from, to]`, from one end to the other. */
function takeSessions(
  { calendar }: Found,
  { from, to }: { from: number; to: number },
  sort: 'asc' | 'desc',
  count: number,
): Session[] {
  const found: Session[] = [];
  const isAsc = sort === 'asc';
  for (let day = isAsc ? from : to; found.length < count; ) {
    const session = isAsc ? calendar.sessionOnOrAfter(day) : calendar.sessionOnOrBefore(day);
    if (session === null || session.day < from || session.day > to) break;
    found.push(session);
    day = session.day + (isAsc ? 1 : -1);
  }
  return found;
}

/** The label date of the last session that has opened, and in which the instrument may have traded. */
function lastOpened({ calendar, endedMs }: Found, nowMs: number): number {
  const untilMs = Math.min(nowMs, endedMs === null ? nowMs : endedMs - 1);
  let session = calendar.sessionOnOrBefore(calendar.zone.dayAt(untilMs) + 1);
  while (session !== null && session.openMs > untilMs) session = calendar.sessionOnOrBefore(session.day - 1);
  return session?.day ?? Number.NEGATIVE_INFINITY;
}

/** Tells what is known of sessions. */
class Conditions {
  readonly #context: QueryContext;
  readonly #found: Found;
  readonly #nowMs: number;
  readonly #lastDay: number;
  readonly #completeness: Completeness;
  readonly #hasEnded: boolean;
  readonly #facts: MarketFacts;
  /**
   * When series of the instrument have errors and warnings, or no bars, by interval, once that is asked for.
   */
  readonly #faults = new Map<string, Awaited<ReturnType<typeof faultyTimes>>>();

  constructor(context: QueryContext, found: Found, nowMs: number, lastDay: number) {
    this.#context = context;
    this.#found = found;
    this.#nowMs = nowMs;
    this.#lastDay = lastDay;
    const onSeries = barsCounted(context);
    const checkRuns = (): Promise<void> => this.#checkRuns();
    this.#completeness = new Completeness(context.reader, found, nowMs, { onSeries, checkRuns });
    this.#facts = marketFacts(context, barsCounted(context));
    this.#hasEnded = found.endedMs !== null && found.endedMs <= nowMs;
  }

  /** The condition of a session, and the run that says that it was not traded. */
  async of({ session, series, bars }: SessionBars): Promise<{ condition: Condition; runId: number | null }> {
    const { day, dayCloseMs: closeMs } = session;
    const bar = { interval: DAY, extended: false, keyMs: day * DAY_MS, closeMs };
    const known = (condition: Condition) => ({ condition, runId: null });
    // Another series of the instrument may have the session, which is served from it or not.
    const holder =
      bars > 0 ? series : await this.#facts.withBars(this.#found, [series, ...this.#found.series], day);
    if (holder !== undefined) {
      if (!(await this.#completeness.isComplete(holder, bar))) return known('pending');
      return known((await this.#lies('degraded', session, holder)) ? 'degraded' : 'available');
    }
    if (closeMs > this.#nowMs) return known('pending');
    const by = await this.#completeness.coveredBy(series, bar);
    if (by !== undefined)
      return (await this.#isMissed(session)) ? known('missing') : { condition: 'untraded', runId: by.runId };
    if (day <= this.#lastDay) return known('missing');
    // Nothing says that a delisted or expired instrument did not trade up to its end.
    if (this.#hasEnded) return known('pending');
    return known(day <= (await this.#reachedDay(series)) ? 'missing' : 'pending');
  }

  /**
   * Refuses where a run is lost that might prove no trade; looked at again once an import, a deletion or an
   * undo has changed any.
   */
  async #checkRuns(): Promise<void> {
    const { reader, lookup } = this.#context;
    const { value } = await lookup.cached(reader, 'structure of runs', () => reader.structure(runSpans));
    if (value[0] !== undefined) throw new DamagedData(value[0]);
  }

  /** Whether a finding of a sort about a series lies in a session (contract 9.10). */
  async #lies(sort: 'degraded' | 'missing', { segments }: Session, { interval }: Series): Promise<boolean> {
    const name = `${sort} ${interval}`;
    const isFaulty =
      this.#faults.get(name) ?? (await faultyTimes(this.#context, this.#found, interval, sort));
    this.#faults.set(name, isFaulty);
    return isFaulty({ fromMs: segments[0]!.openMs, toMs: segments.at(-1)!.closeMs });
  }

  /**
   * True if a finding about missing bars of any series of the instrument lies in a session, whichever
   * interval is asked for.
   */
  async #isMissed(session: Session): Promise<boolean> {
    for (const series of this.#found.series) if (await this.#lies('missing', session, series)) return true;
    return false;
  }

  /** The label date of the newest session that half of the series of the market reach. */
  async #reachedDay(series: Series): Promise<number> {
    return (await this.#facts.reachedDay({ stored: this.#found, series })) ?? Number.NEGATIVE_INFINITY;
  }
}

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms));

/** The file of a run, and when it ended, as a record has them. */
async function runFields({ reader }: QueryContext, runId: number | undefined) {
  // A block that an undo made anew has no run.
  if (runId === undefined || runId === 0) return { run_id: null, file: null, last_modified_date: null };
  const run = await rowWith(reader, importRuns, { run_id: runId });
  if (run === null) throw new DamagedData(rowDamage(importRuns, { run_id: runId }, 'the row is lost'));
  return { run_id: runId, file: run.file, last_modified_date: instantOrNull(run.finished_ms) };
}

/** The records of neighbouring sessions in ascending order, of which there is at least one. */
async function recordsOf(
  context: QueryContext,
  found: Found,
  stream: StreamContext,
  conditions: Conditions,
  sessions: readonly Session[],
  nowMs: number,
): Promise<WireRecord[]> {
  const { interval } = stream;
  barsCounted(context)(barsToCount(stream, found, sessions));
  const counted = await sessionBars(stream, found, sessions, nowMs);
  const runs = await runsOfSessions(context.reader, interval, counted);
  const ofRun = new Map<number | undefined, Awaited<ReturnType<typeof runFields>>>();
  const records: WireRecord[] = [];
  for (const one of counted) {
    const { session, series, bars, expected, firstMs, lastMs, longestGapMs } = one;
    const judged = await conditions.of(one);
    const runId = runs.get(session.day) ?? judged.runId ?? undefined;
    if (!ofRun.has(runId)) ofRun.set(runId, await runFields(context, runId));
    records.push({
      session_date: formatDay(session.day),
      interval,
      source: series.interval === interval ? 'stored' : 'derived',
      condition: judged.condition,
      bars,
      expected_bars: expected,
      first_datetime: instantOrNull(firstMs),
      last_datetime: instantOrNull(lastMs),
      longest_gap_minutes: longestGapMs === null ? null : longestGapMs / MINUTE_MS,
      ...ofRun.get(runId),
    });
  }
  return records;
}

/**
 * `GET …/coverage/{country_symbol}`: sessions from that of the first bar to the last that has opened; as of a
 * moment, to the last one that was over.
 */
export const answerSessionCoverage: Query<typeof sessionCoverage> = async (parameters, context) => {
  const { schema_asset, country_symbol, sort, limit } = parameters;
  const { reader, request, moment } = context;
  const { from, to } = dayBounds(parameters.from_date, parameters.to_date);
  checkInterval(parameters);
  const found = await instrumentOf(context, schema_asset, country_symbol, 'over');
  const asked = intervalOf(parameters, found);
  const { instrument, calendar } = found;
  const { place, paging } = openWalk(context, parameters, {
    schema_asset: instrument.asset_schema,
    country_symbol: `${instrument.country_iso_code}|${instrument.symbol}`,
  });
  const minuteMs = Math.floor(request.nowMs / MINUTE_MS) * MINUTE_MS;
  const [nowMs, interval] = (place?.pinned ?? [minuteMs, asked]) as [number, Interval | null];
  const goodUntilMs = place === null ? minuteMs + MINUTE_MS : Number.POSITIVE_INFINITY;
  const series = interval === null ? [] : candidates(found, interval);
  if (interval === null || series.length === 0)
    return goodUntil(renderRecords(context, [], paging(null)), goodUntilMs);
  namePrices(context, interval, found);
  context.undated.add(UNDATED_RUNS);
  const reach = reachOf(found, series);
  const range = {
    from: Math.max(reach.first, from ?? reach.first),
    to: Math.min(
      Math.max(reach.last, lastOpened(found, nowMs)),
      lastOverDay(calendar, moment.ms),
      to === undefined ? Number.POSITIVE_INFINITY : to - 1,
    ),
  };
  const seen = place?.position[0] as number | undefined;
  if (seen !== undefined && sort === 'asc') range.from = Math.max(range.from, seen + 1);
  else if (seen !== undefined) range.to = Math.min(range.to, seen - 1);
  const taken = takeSessions(found, range, sort, limit + 1);
  const page = taken.slice(0, limit);
  const ascending = sort === 'asc' ? page : page.toReversed();
  const stream = { reader, calendar, interval, extended: false, rawOnly: false, onUse: null };
  const conditions = new Conditions(context, found, nowMs, reach.last);
  const records =
    page.length === 0 ? [] : await recordsOf(context, found, stream, conditions, ascending, nowMs);
  const end = taken.length <= limit ? null : { position: [page.at(-1)!.day], pinned: [nowMs, interval] };
  const rows = sort === 'asc' ? records : records.toReversed();
  return goodUntil(renderRecords(context, rows, paging(end)), goodUntilMs);
};
