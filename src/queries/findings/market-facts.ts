// The other series of a market: the first of them by symbol, how far half of them reach, and what they
// have: it tells a fault of one series from what happened to all of them.
import { decodeIds, firstWhere } from '../../base/ascending.ts';
import { DAY_MS } from '../../base/instant.ts';
import { keysInSession, overThroughMs, sessionOfBar } from '../../market/calendar/bar-end.ts';
import { isPeriod } from '../../market/calendar/period.ts';
import type { Calendars, Keep } from '../../series/calendars.ts';
import { servedBars } from '../../series/cursor.ts';
import { knownSeries } from '../../series/read-stored.ts';
import { ownRuns, SeriesRuns } from '../../series/run-spans.ts';
import { asStored, coarseness, marketName, type Series, type StoredInstrument } from '../../series/series.ts';
import { finishedSeries, lastFinished } from '../../series/unfinished.ts';
import { allRows, rowsAmong, rowWith } from '../../store/all-rows.ts';
import { series, series as seriesDataset } from '../../store/schema/bars.ts';
import { always, isKnown, type KnownMoment } from '../../store/schema/dataset.ts';
import { importRuns } from '../../store/schema/internal.ts';
import { type Instrument, instruments, symbolOn } from '../../store/schema/reference.ts';
import type { Reader } from '../../store/store.ts';
import { isolatedWicks, type Wick } from './bar-values.ts';
import type { OthersThen } from './judged-minutes.ts';
import { findingLimits } from './limits.ts';
import type { Hole } from './minute-sessions.ts';
import { periodBars } from './stored-bars.ts';

/** One series of a market up to its last finished bar; as of a moment the part which was known. */
type Member = {
  readonly instrument: Instrument;
  readonly symbol: string;
  readonly row: Series;
};

/** The series of one interval of a market. */
type Members = {
  /** The first by symbol. */
  readonly first: readonly Member[];
  /** The label date of the newest session that at least half of all reach. */
  readonly reachedDay: number;
};

/** The name of the series of a market at an interval: `stock/US_STOCK DAY`. */
const memberKey = (market: string, interval: string): string => `${market} ${interval}`;

type Growing = { readonly first: Member[]; readonly newestDays: number[] };

/**
 * Tools to read them, as of a moment or with all that is stored. `onBars` is called with the cost of a
 * reading, in bars.
 */
type MemberTools = {
  readonly reader: Reader;
  readonly calendars: Calendars;
  readonly onBars: (count: number) => void;
  readonly moment: KnownMoment;
};

/** Puts a member among the first by symbol. */
function addFirst(first: Member[], member: Member): void {
  const at = firstWhere(first.length, (index) => first[index]!.symbol > member.symbol);
  first.splice(at, 0, member);
  if (first.length > findingLimits.witnessesMax) first.pop();
}

async function addMembers(
  { reader, calendars, onBars, moment }: MemberTools,
  some: readonly Instrument[],
  { growing, runs }: { readonly growing: Map<string, Growing>; readonly runs: SeriesRuns },
): Promise<void> {
  // As of a moment the blocks around it are read too.
  onBars(some.length * findingLimits.barsPerMember * (moment === always ? 1 : 2));
  const ids = some.map(({ instrument_id }) => instrument_id);
  const all = await rowsAmong(reader, seriesDataset, {}, 'instrument_id', ids);
  await runs.read(all);
  const rows = Map.groupBy(all, ({ instrument_id }) => instrument_id);
  for (const instrument of some) {
    if (!isKnown(instruments, instrument, moment)) continue;
    const symbol = symbolOn(instrument, moment.dayIn(instrument.asset_schema, instrument.country_iso_code));
    const { calendar: whole, market } = await calendars.read(reader, instrument);
    const calendar = whole.knownAt(moment.ms);
    const calendarsOf = { calendar: whole, known: calendar };
    const throughMs = overThroughMs(calendar, moment.ms);
    for (const stored of rows.get(instrument.instrument_id) ?? []) {
      if (stored.bar_count === 0) continue;
      const [known] = await knownSeries(reader, calendarsOf, [asStored(stored)], throughMs);
      // By the calendar of the present bars close.
      const last_ms = known === undefined ? null : await lastFinished(reader, whole, known, runs.of(stored));
      if (last_ms === null) continue;
      const row: Series = { ...known!, last_ms };
      const { interval } = row;
      const key = memberKey(marketName(instrument, market), interval);
      const { first, newestDays } = growing.get(key) ?? { first: [], newestDays: [] };
      growing.set(key, { first, newestDays });
      newestDays.push(sessionOfBar(calendar, interval, last_ms));
      addFirst(first, { instrument, symbol, row });
    }
  }
}

/**
 * The newest session that at least half of some series reach, by their newest label dates; null without any.
 */
function reachedByHalf(newestDays: readonly number[]): number | null {
  const descending = [...newestDays].sort((a, b) => b - a);
  return descending[Math.ceil(descending.length / 2) - 1] ?? null;
}

/** The series of an asset type and country that have bars, by market and interval. */
async function marketMembers(
  tools: MemberTools,
  { asset_schema, country_iso_code }: Pick<Instrument, 'asset_schema' | 'country_iso_code'>,
): Promise<ReadonlyMap<string, Members>> {
  const growing = new Map<string, Growing>();
  const found = { growing, runs: new SeriesRuns(tools.reader) };
  let some: Instrument[] = [];
  for await (const instrument of allRows(tools.reader, instruments, { asset_schema, country_iso_code })) {
    some.push(instrument);
    if (some.length < findingLimits.instrumentsPerRead) continue;
    await addMembers(tools, some, found);
    some = [];
  }
  await addMembers(tools, some, found);
  return new Map(
    Array.from(growing, ([key, { first, newestDays }]) => [
      key,
      { first, reachedDay: reachedByHalf(newestDays)! },
    ]),
  );
}

/** The runs of one state of a store. */
class RunSources {
  readonly #reader: Reader;
  /** The source of each import that was asked for; undefined of another run. */
  readonly #sources = new Map<number, string | null | undefined>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The source of the newest import that holds a series; null without one. */
  async sourceOf({ series_id }: { readonly series_id: number }): Promise<string | null> {
    const row = await rowWith(this.#reader, series, { series_id });
    for (const runId of row === null ? [] : decodeIds(row.runs).reverse()) {
      const source = await this.#read(runId);
      if (source !== undefined) return source;
    }
    return null;
  }

  async #read(run_id: number): Promise<string | null | undefined> {
    if (this.#sources.has(run_id)) return this.#sources.get(run_id);
    const run = await rowWith(this.#reader, importRuns, { run_id });
    const source = run?.kind === 'import' ? run.source : undefined;
    this.#sources.set(run_id, source);
    return source;
  }
}

/** What is kept of another series of DAY and above. */
type Witness = {
  readonly member: Member;
  /** Label dates of its bars, ascending. */
  readonly days: Int32Array;
  readonly wicks: ReadonlySet<string>;
};

const wickKey = ({ keyMs, side }: Pick<Wick, 'keyMs' | 'side'>): string => `${keyMs} ${side}`;

/** One series of one instrument. */
export type Subject = { readonly stored: StoredInstrument; readonly series: Series };

/**
 * Tools of the facts, as of a moment or of all that is stored. `keep` may keep what was read until it is
 * changed; `onBars` is called before bars are read, with their number.
 */
type FactTools = {
  readonly reader: Reader;
  readonly calendars: Calendars;
  readonly keep: Keep;
  readonly onBars: (count: number) => void;
  readonly moment: KnownMoment;
};

/** The facts of all markets in one state of a store. */
export class MarketFacts {
  /** The moment as of which markets are judged. */
  readonly moment: KnownMoment;
  readonly #tools: FactTools;
  readonly #runs: RunSources;

  constructor(tools: FactTools) {
    this.moment = tools.moment;
    this.#tools = tools;
    this.#runs = new RunSources(tools.reader);
  }

  /** The newest session that at least half of the series of a series' market and interval reach. */
  async reachedDay(subject: Subject): Promise<number | null> {
    return (await this.#members(subject))?.reachedDay ?? null;
  }

  /** How many other series have a wick on the same side of the same bar. */
  async othersWithWick(subject: Subject, wick: Wick): Promise<number> {
    const witnesses = await this.#witnesses(subject);
    const key = wickKey(wick);
    return witnesses.filter(
      ({ member, wicks }) => member.row.series_id !== subject.series.series_id && wicks.has(key),
    ).length;
  }

  /**
   * Whether another series of the market and source of one has bars on a session, of which its instrument has
   * none in any series.
   */
  async isMissed(subject: Subject, day: number): Promise<boolean> {
    const others = subject.stored.series.filter((one) => one !== subject.series);
    if ((await this.withBars(subject.stored, others, day)) !== undefined) return false;
    const source = await this.#runs.sourceOf(subject.series);
    for (const { row } of await this.#present(subject, day))
      if ((await this.#runs.sourceOf(row)) === source) return true;
    return false;
  }

  /**
   * The first of some series of an instrument, up to DAY, that has bars on a session; undefined where none
   * has.
   */
  async withBars(
    { calendar }: Pick<StoredInstrument, 'calendar'>,
    some: readonly Series[],
    day: number,
  ): Promise<Series | undefined> {
    const session = calendar.sessionOn(day);
    if (session === null) return undefined;
    for (const one of some) {
      if (coarseness(one) > coarseness({ interval: 'DAY' })) continue;
      const range = { ...keysInSession(calendar, one.interval, session), descending: false };
      if ((await servedBars(this.#tools.reader, one, range).next(1)) !== null) return one;
    }
    return undefined;
  }

  /** What other series of minutes have in some time of a session. */
  othersThen(subject: Subject): OthersThen {
    return {
      goOn: async (hole) => {
        const source = await this.#runs.sourceOf(subject.series);
        for await (const { row } of this.#membersIn(subject, hole))
          if ((await this.#runs.sourceOf(row)) === source) return true;
        return false;
      },
      pause: async (hole, session) => {
        for await (const _ of this.#membersIn(subject, hole)) return false;
        for await (const _ of this.#membersIn(subject, session)) return true;
        return false;
      },
    };
  }

  /** The first series by symbol that have bars on a session. */
  #present(subject: Subject, day: number): Promise<readonly Member[]> {
    return this.#tools.keep(`present|${keyOf(subject)}|${day}`, async () => {
      const found: Member[] = [];
      for await (const member of this.#membersOn(subject, day)) {
        found.push(member);
        if (found.length === findingLimits.presencesMax) break;
      }
      return found;
    });
  }

  /** The series that have bars on a session. */
  async *#membersOn(subject: Subject, day: number): AsyncGenerator<Member> {
    if (isPeriod(subject.series.interval)) {
      for (const { member, days } of await this.#witnesses(subject))
        if (days[firstWhere(days.length, (at) => days[at]! >= day)] === day) yield member;
      return;
    }
    const session = subject.stored.calendar.sessionOn(day);
    if (session !== null) yield* this.#membersIn(subject, { fromMs: session.openMs, toMs: session.closeMs });
  }

  /** The other series of minutes, of the first by symbol, that have bars in `[fromMs, toMs)`. */
  async *#membersIn(subject: Subject, { fromMs, toMs }: Hole): AsyncGenerator<Member> {
    const range = { fromMs, toMs, descending: false };
    for (const member of await this.#first(subject)) {
      const { first_ms, last_ms, series_id } = member.row;
      if (last_ms < fromMs || first_ms >= toMs || series_id === subject.series.series_id) continue;
      const series = await this.#seriesOf(member);
      if (series !== null && (await servedBars(this.#tools.reader, series, range).next(1)) !== null)
        yield member;
    }
  }

  /** The first other series by symbol, wholly read. */
  #witnesses(subject: Subject): Promise<readonly Witness[]> {
    const { keep, onBars, reader, calendars } = this.#tools;
    return keep(`witnesses|${keyOf(subject)}`, async () => {
      const found: Witness[] = [];
      for (const member of await this.#first(subject)) {
        onBars(member.row.bar_count);
        const calendar = await calendars.of(reader, member.instrument);
        const series = await this.#seriesOf(member);
        if (series === null) continue;
        const bars = await periodBars({ reader, calendar }, series);
        const days = Int32Array.from(bars.keyMs.subarray(0, bars.count), (keyMs) => keyMs / DAY_MS);
        found.push({ member, days, wicks: new Set(isolatedWicks(bars).map(wickKey)) });
      }
      return found;
    });
  }

  /** The series of the same market and interval. */
  async #members(subject: Subject): Promise<Members | undefined> {
    const { instrument } = subject.stored;
    const name = `members|${instrument.asset_schema}|${instrument.country_iso_code}`;
    const all = await this.#tools.keep(name, () => marketMembers(this.#tools, instrument));
    return all.get(keyOf(subject));
  }

  async #first(subject: Subject): Promise<readonly Member[]> {
    return (await this.#members(subject))?.first ?? [];
  }

  /** The finished bars of a member, as far as it is known; null where there are none. */
  async #seriesOf({ instrument, row }: Member): Promise<Series | null> {
    const { reader, calendars } = this.#tools;
    const calendar = await calendars.of(reader, instrument);
    return finishedSeries(reader, calendar, row, (await ownRuns(reader, row)).files);
  }
}

/** The name of the series of a subject's market and interval. */
const keyOf = ({ stored: { market }, series: { interval } }: Subject): string => memberKey(market, interval);
