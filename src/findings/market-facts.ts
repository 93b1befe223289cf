// What other series of a market have: it tells a fault of one series from what happened to all of them.
import { DAY_MS } from '../base/instant.ts';
import { firstWhere } from '../base/search.ts';
import { isPeriod } from '../calendar/period.ts';
import { unfinishedBars } from '../datasets/bars.ts';
import type { Calendars, Keep } from '../series/calendars.ts';
import { servedBars } from '../series/cursor.ts';
import type { Series, StoredInstrument } from '../series/series.ts';
import type { Reader } from '../store/store.ts';
import type { OthersThen } from './dense-sessions.ts';
import { isolatedWicks, type Wick } from './isolated-wick.ts';
import { findingLimits } from './limits.ts';
import { type MarketMoment, type Member, type Members, marketMembers, memberKey } from './market-members.ts';
import type { Hole } from './minute-sessions.ts';
import { RunSources } from './run-sources.ts';
import { periodBars, runOf } from './stored-bars.ts';

/** What is kept of another series of DAY and above. */
type Witness = {
  readonly member: Member;
  /** Label dates of its bars, ascending. */
  readonly days: Int32Array;
  readonly wicks: ReadonlySet<string>;
};

/** A series that has bars on a session, and the run that brought them. */
type Presence = { readonly member: Member; readonly runId: number };

const wickKey = ({ keyMs, side }: Pick<Wick, 'keyMs' | 'side'>): string => `${keyMs} ${side}`;

/** One series of one instrument. */
export type Subject = { readonly stored: StoredInstrument; readonly series: Series };

/**
 * Tools of the facts, as of a moment or of all that is stored. `keep` may keep what was read until it is changed; `onBars` is told how many
 * bars are about to be read.
 */
export type FactTools = {
  readonly reader: Reader;
  readonly calendars: Calendars;
  readonly keep: Keep;
  readonly onBars: (count: number) => void;
  readonly moment: MarketMoment | null;
};

/** The facts of all markets in one state of a store. */
export class MarketFacts {
  /** The moment as of which markets are judged; null where all that is stored counts. */
  readonly moment: MarketMoment | null;
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
   * Whether a series lacks a session that others of its market and source have, and none of the runs that brought those vouches for it:
   * where one does, the series did not trade (contract 9.9).
   */
  async isMissed(subject: Subject, day: number): Promise<boolean> {
    const { series } = subject;
    const source = await this.#runs.sourceOf(series);
    let isMissed = false;
    for (const { member, runId } of await this.#present(subject, day)) {
      if ((await this.#runs.sourceOf(member.row)) !== source) continue;
      if (await this.#runs.vouches(runId, series)) return false;
      isMissed = true;
    }
    return isMissed;
  }

  /** What other series of minutes have in some time of a session. */
  othersThen(subject: Subject): OthersThen {
    return {
      goOn: async (hole) => {
        const source = await this.#runs.sourceOf(subject.series);
        for await (const { member } of this.#membersIn(subject, hole))
          if ((await this.#runs.sourceOf(member.row)) === source) return true;
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
  #present(subject: Subject, day: number): Promise<readonly Presence[]> {
    const { keep, reader } = this.#tools;
    return keep(`present|${keyOf(subject)}|${day}`, async () => {
      const found: Presence[] = [];
      for await (const { member, keyMs } of this.#membersOn(subject, day)) {
        const runId = await runOf(reader, member.row, keyMs);
        if (runId !== null) found.push({ member, runId });
        if (found.length === findingLimits.presencesMax) break;
      }
      return found;
    });
  }

  /** The series that have bars on a session, with the key of one of them. */
  async *#membersOn(subject: Subject, day: number): AsyncGenerator<{ member: Member; keyMs: number }> {
    if (isPeriod(subject.series.interval)) {
      for (const { member, days } of await this.#witnesses(subject))
        if (days[firstWhere(days.length, (at) => days[at]! >= day)] === day)
          yield { member, keyMs: day * DAY_MS };
      return;
    }
    const session = subject.stored.calendar.sessionOn(day);
    if (session !== null) yield* this.#membersIn(subject, { fromMs: session.openMs, toMs: session.closeMs });
  }

  /** The other series of minutes, of the first by symbol, that have bars in `[fromMs, toMs)`, with the key of one of them. */
  async *#membersIn(
    subject: Subject,
    { fromMs, toMs }: Hole,
  ): AsyncGenerator<{ member: Member; keyMs: number }> {
    const range = { fromMs, toMs, descending: false };
    for (const member of await this.#first(subject)) {
      const { first_ms, last_ms, series_id } = member.row;
      if (last_ms < fromMs || first_ms >= toMs || series_id === subject.series.series_id) continue;
      const bars = await servedBars(this.#tools.reader, await this.#seriesOf(member), range).next(1);
      if (bars !== null) yield { member, keyMs: bars.keyMs[0]! };
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
        const bars = await periodBars({ reader, calendar }, await this.#seriesOf(member));
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

  async #seriesOf(member: Member): Promise<Series> {
    const unfinished = await this.#tools.reader.group(unfinishedBars, { series_id: member.row.series_id });
    unfinished.sort((a, b) => a.first_ms - b.first_ms);
    return { ...member.row, unfinished };
  }
}

/** The name of the series of a subject's market and interval. */
const keyOf = ({ stored: { market }, series: { interval } }: Subject): string => memberKey(market, interval);
