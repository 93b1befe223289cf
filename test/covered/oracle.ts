// A direct reading of contract 3.9: what is covered, which stored bars are finished, and which bars are
// served. Nothing here is fast, and nothing is shared with the service but the calendar. Streams (rule 2) do
// not exist yet: there is nothing here about them. Where the clause can be read in two ways, a comment that
// begins with "Read as" says which one is taken.
import { DAY_MS, MINUTE_MS } from '../../src/base/instant.ts';
import type { Calendar } from '../../src/market/calendar/calendar.ts';
import { periodEnd, periodStart } from '../../src/market/calendar/period.ts';
import {
  patternHours,
  type SegmentScope,
  type Session,
  scopeKinds,
} from '../../src/market/calendar/session.ts';
import { type Zone, zoneOf } from '../../src/market/calendar/zone.ts';
import {
  closeOf,
  common,
  type Deletion,
  type Facts,
  type FileBar,
  type FileRun,
  hoursOf,
  openOf,
  type Span,
  type Stored,
  sessionOf,
  stepOf,
  union,
  without,
} from './facts.ts';

const HOUR_MS = 60 * MINUTE_MS;
const LONG_SESSION_MS = 20 * HOUR_MS;
const UTC = zoneOf('UTC');

/** The intervals that are asked for. */
export type Asked = '5M' | '30M' | '60M' | 'DAY' | 'WEEK';

/** A bar as it is served. */
export type ServedBar = {
  readonly openMs: number;
  readonly closeMs: number;
  readonly first: number;
  readonly high: number;
  readonly low: number;
  readonly last: number;
  readonly volume: number;
};

/** A bar that is stored now, and whether it is finished. */
export type StoredBar = { readonly keyMs: number; readonly price: number; readonly isFinished: boolean };

type Intraday = Exclude<Stored, 'DAY'>;

/** Some files that count as one run. */
type Group = { readonly files: readonly FileRun[]; readonly session: Session };
/** A group as of a day. */
type OnDay = { readonly files: readonly FileRun[]; readonly session: Pick<Session, 'day'> };

export class Oracle {
  readonly #kept = new Map<string, unknown>();
  /** Live runs in the order of the journal. An undo leaves all as if the run had never been. */
  readonly #live: readonly (FileRun | Deletion)[];
  readonly #files: readonly FileRun[];
  readonly #facts: Facts;

  constructor(facts: Facts) {
    this.#facts = facts;
    this.#live = facts.runs.filter(({ isUndone }) => !isUndone).map(({ run }) => run);
    this.#files = this.#live.filter((run) => run.kind === 'file');
  }

  /** What is worked out once: nothing changes in the life of an oracle. */
  #once<T>(name: string, make: () => T): T {
    if (!this.#kept.has(name)) this.#kept.set(name, make());
    return this.#kept.get(name) as T;
  }

  #runName(run: FileRun): string {
    return String(this.#files.indexOf(run));
  }

  /**
   * "Rows whose bytes a live run brought before count as begun then": the start of the first live run of
   * these bytes.
   */
  #begunMs({ sha }: FileRun): number {
    return this.#files.find((run) => run.sha === sha)!.startMs;
  }

  #holds(run: FileRun, symbol: string): boolean {
    return run.named.includes(symbol) || run.bars.some((bar) => bar.symbol === symbol);
  }

  #seriesOf(run: FileRun, market: string): string[] {
    const all = new Set([...run.named, ...run.bars.map(({ symbol }) => symbol)]);
    return [...all].filter((symbol) => this.#facts.instrumentOf(symbol).market === market);
  }

  /** The bars that a run holds in a market, in order. */
  #heldBy(run: FileRun, market: string): FileBar[] {
    return this.#once(`held ${this.#runName(run)} ${market}`, () =>
      run.bars
        .filter(({ symbol }) => this.#facts.instrumentOf(symbol).market === market)
        .toSorted((a, b) => a.keyMs - b.keyMs),
    );
  }

  /** Those of them that had closed when it began: a bar that is not finished "counts for no span" (5). */
  #barsOf(run: FileRun, market: string, calendar: Calendar): FileBar[] {
    const begunMs = this.#begunMs(run);
    return this.#once(`bars ${this.#runName(run)} ${market}`, () =>
      this.#heldBy(run, market).filter(({ keyMs }) => closeOf(calendar, run.interval, keyMs) <= begunMs),
    );
  }

  /** What a run covers in a market, by a calendar; null for nothing (contract 3.9 (1)). */
  spanOf(run: FileRun, market: string, calendar: Calendar): Span | null {
    return this.#once(`span ${this.#runName(run)} ${market}`, () => this.#spanOf(run, market, calendar));
  }

  #spanOf(run: FileRun, market: string, calendar: Calendar): Span | null {
    const bars = this.#barsOf(run, market, calendar);
    const fromMs = run.fromMs ?? (bars.length === 0 ? null : this.#spanStart(run, bars, market, calendar));
    const toMs = this.#spanEnd(run, bars, calendar);
    return fromMs === null || toMs === null || fromMs >= toMs ? null : { fromMs, toMs };
  }

  #spanStart(run: FileRun, bars: readonly FileBar[], market: string, calendar: Calendar): number {
    const { interval } = run;
    const openMs = openOf(calendar, interval, bars[0]!.keyMs);
    const session = sessionOf(calendar, interval, bars[0]!.keyMs);
    // Read as: a bar outside every session, of a day that was closed since, bounds the file by its own open
    // and close.
    if (session === null) return openMs;
    // Read as: a cut by date takes the place of the other exceptions; else files of neighbouring days would
    // leave holes between them. "a file cut by date": its first bar opens within the hour after a midnight,
    // or at it.
    const cutMs = this.#cuts(run, session, calendar, (midnightMs, isLong) =>
      isLong ? midnightMs <= openMs && openMs <= midnightMs + HOUR_MS : openMs === midnightMs,
    ).at(-1);
    if (cutMs !== undefined) return cutMs;
    if (openMs > session.openMs + 15 * MINUTE_MS) {
      const isFirstDayOfAll = this.#seriesOf(run, market).every(
        (symbol) => this.#facts.instrumentOf(symbol).listing === session.day,
      );
      // Read as: files of one command are one run here too, or a stock of its own file that is seldom traded
      // would never have a day.
      const hasEarlier = this.#files.some(
        (other) =>
          other.command !== run.command &&
          other.interval === interval &&
          this.#heldBy(other, market).some(
            ({ keyMs }) =>
              sessionOf(calendar, interval, keyMs)?.day === session.day &&
              openOf(calendar, interval, keyMs) < openMs,
          ),
      );
      const shows =
        hasEarlier ||
        this.#hasDense(run, bars, session, calendar) ||
        this.#commandBeginsLate(run, market, session, calendar);
      if (!isFirstDayOfAll && shows) return openMs;
    }
    return hoursOf(session).fromMs;
  }

  /**
   * Read as: files of one command are one run, so all of them began late where the first bar of all is late,
   * and one of their series is dense.
   */
  #commandBeginsLate(run: FileRun, market: string, session: Session, calendar: Calendar): boolean {
    const { fromMs, toMs } = hoursOf(session);
    const files = this.#files.filter(
      (other) =>
        other.command === run.command &&
        other.interval === run.interval &&
        this.#heldBy(other, market).some(({ keyMs }) => fromMs <= keyMs && keyMs < toMs),
    );
    return (
      run.interval !== 'DAY' &&
      files.every((other) => this.#heldBy(other, market)[0]!.keyMs > session.openMs + 15 * MINUTE_MS) &&
      files.some((other) => this.#hasDense(other, this.#heldBy(other, market), session, calendar))
    );
  }

  /**
   * Whether a series has at least three bars in a session, in 80 % of the intervals from its first to its
   * last.
   */
  #hasDense({ interval }: FileRun, bars: readonly FileBar[], session: Session, calendar: Calendar): boolean {
    if (interval === 'DAY') return false;
    const inside = bars.filter(({ keyMs }) => sessionOf(calendar, interval, keyMs)?.day === session.day);
    return [...Map.groupBy(inside, ({ symbol }) => symbol).values()].some((own) => {
      const [firstMs, lastMs] = [own[0]!.keyMs, own.at(-1)!.keyMs];
      const cells = cellsOf(session, 'all', stepOf(interval)).filter(
        ({ fromMs }) => firstMs <= fromMs && fromMs <= lastMs,
      );
      return own.length >= 3 && own.length >= 0.8 * cells.length;
    });
  }

  #spanEnd(run: FileRun, bars: readonly FileBar[], calendar: Calendar): number | null {
    // A span said by flags is capped by the start of the run that says it; no file covers anything beyond its
    // start.
    if (run.throughMs !== null) return Math.min(run.throughMs, run.startMs);
    const last = bars.at(-1);
    if (last === undefined) return null;
    const begunMs = this.#begunMs(run);
    const closeMs = closeOf(calendar, run.interval, last.keyMs);
    const session = sessionOf(calendar, run.interval, last.keyMs);
    if (session === null) return closeMs;
    const [cutMs] = this.#cuts(run, session, calendar, (midnightMs, isLong) => {
      if (begunMs < midnightMs) return false;
      return isLong ? midnightMs - HOUR_MS <= closeMs && closeMs <= midnightMs : closeMs === midnightMs;
    });
    if (cutMs !== undefined) return cutMs;
    return begunMs < hoursOf(session).toMs ? closeMs : hoursOf(session).toMs;
  }

  /** The midnights of UTC and of the file's zone inside a session at which a file is cut, in order. */
  #cuts(
    run: FileRun,
    session: Session,
    calendar: Calendar,
    isCutAt: (midnightMs: number, isLong: boolean) => boolean,
  ): number[] {
    // Rows of DAY have dates, no instants.
    if (run.interval === 'DAY') return [];
    const { fromMs, toMs } = hoursOf(session);
    const isLong = toMs - fromMs >= LONG_SESSION_MS;
    const sessions = new Set(run.bars.map(({ keyMs }) => sessionOf(calendar, run.interval, keyMs)?.day));
    const series = new Set(run.bars.map(({ symbol }) => symbol));
    if (!isLong && sessions.size < 2 && series.size < 2) return [];
    return [UTC, ...(run.zone === null ? [] : [zoneOf(run.zone)])]
      .flatMap((zone) => midnightsInside(zone, { fromMs, toMs }))
      .filter((midnightMs) => isCutAt(midnightMs, isLong))
      .toSorted((a, b) => a - b);
  }

  /** The time that a deletion takes out of what covers a series (4). */
  #removed({ range }: Deletion, interval: Stored, session: Session, calendar: Calendar): Span {
    const hours = hoursOf(session);
    if ('fromMs' in range) return common(range, hours);
    const { fromDay, toDay } = range;
    if (interval === 'DAY')
      return fromDay <= session.day && session.day <= toDay ? hours : { fromMs: 0, toMs: 0 };
    const [fromMs, toMs] = [fromDay, toDay + 1].map((day) => calendar.dateZone.instantOf(day, 0));
    return common({ fromMs: fromMs!, toMs: toMs! }, hours);
  }

  /** The deletions of a series after one of the live runs. */
  #deletionsAfter(run: FileRun, symbol: string, interval: Stored): Deletion[] {
    return this.#live
      .slice(this.#live.indexOf(run) + 1)
      .filter((one) => one.kind === 'deletion')
      .filter((one) => one.symbol === symbol && (one.interval === null || one.interval === interval));
  }

  /** The spans of a session that are covered for a series (contract 3.9 (3)). */
  coveredIn(symbol: string, interval: Stored, session: Session): Span[] {
    return this.#once(`covered ${symbol} ${interval} ${session.day}`, () =>
      this.#coveredIn(symbol, interval, session),
    );
  }

  #coveredIn(symbol: string, interval: Stored, session: Session): Span[] {
    const { market, calendar } = this.#facts.instrumentOf(symbol);
    const hours = hoursOf(session);
    const covered: Span[] = this.#withoutRuns(symbol, interval, session);
    const add = (run: FileRun): void => {
      const span = this.spanOf(run, market, calendar);
      if (span === null) return;
      let left = [common(span, hours)];
      for (const deletion of this.#deletionsAfter(run, symbol, interval)) {
        const hole = this.#removed(deletion, interval, session, calendar);
        left = left.flatMap((one) => without(one, hole));
      }
      covered.push(...left);
    };
    const files = this.#files.filter((run) => run.interval === interval);
    // (a) "by the live runs that hold it, together".
    for (const run of files) if (this.#holds(run, symbol)) add(run);
    // (b) by runs that hold others.
    for (const group of this.#groupsIn(files, market, session, calendar))
      if (this.#vouches(group, files, symbol, interval)) for (const run of group.files) add(run);
    return union(covered);
  }

  /** (c) What is covered for a series whatever runs hold. */
  #withoutRuns(symbol: string, interval: Stored, session: Session): Span[] {
    const { listing, delisting, isInactive, calendar } = this.#facts.instrumentOf(symbol);
    const hours = hoursOf(session);
    if (listing !== null && session.day < listing) return [hours];
    if (delisting !== null && session.day > delisting) return [hours];
    // Read as: a bar that is not finished is one too, here and in (b): it shows that there was trading.
    const last = this.stored(symbol, interval).at(-1);
    if (last === undefined) return [];
    const afterLast = { ...hours, fromMs: Math.max(hours.fromMs, closeOf(calendar, interval, last.keyMs)) };
    if (delisting === null) return isInactive ? [afterLast] : [];
    const endMs = calendar.zone.instantOf(delisting + 1, 0);
    const lastDay = sessionOf(calendar, interval, last.keyMs)?.day ?? calendar.zone.dayAt(last.keyMs);
    const isNear = calendar.sessions(lastDay + 1, delisting + 1).length <= 60;
    // Read as: after the delisting date, by the market's clock.
    const isKnown = this.#files.some(
      (run) => run.interval === interval && this.#holds(run, symbol) && run.startMs >= endMs,
    );
    return isNear && isKnown ? [afterLast] : [];
  }

  /** Whether a file has bars of a market in a session. */
  #hasBarsIn(run: FileRun, market: string, session: Session, calendar: Calendar): boolean {
    return this.#heldBy(run, market).some(
      ({ keyMs }) => sessionOf(calendar, run.interval, keyMs)?.day === session.day,
    );
  }

  /**
   * The files as the runs that they count as in a session: those of one command that have bars in it are one.
   * Read as: a file without bars in it is a run of its own.
   */
  #groupsIn(files: readonly FileRun[], market: string, session: Session, calendar: Calendar): Group[] {
    const having = files.filter((run) => this.#hasBarsIn(run, market, session, calendar));
    const lacking = files.filter((run) => !having.includes(run));
    return [...Map.groupBy(having, ({ command }) => command).values(), ...lacking.map((run) => [run])].map(
      (some) => ({ files: some, session }),
    );
  }

  #vouches(run: Group, files: readonly FileRun[], symbol: string, interval: Stored): boolean {
    const { market, calendar } = this.#facts.instrumentOf(symbol);
    const { session } = run;
    const inSession = run.files.flatMap((file) =>
      this.#heldBy(file, market).filter(
        ({ keyMs }) => sessionOf(calendar, interval, keyMs)?.day === session.day,
      ),
    );
    if (inSession.some((bar) => bar.symbol === symbol)) return false;
    const series = this.#seriesOfGroup(run, market);
    if (series.size < 2) return false;
    // Read as: of a run without a bar in the session, from its beginning.
    // "in that session from that run's first bar there on"
    const fromMs = Math.min(...inSession.map(({ keyMs }) => openOf(calendar, interval, keyMs)));
    const rest = { ...hoursOf(session), ...(inSession.length > 0 && { fromMs }) };
    const isStored = this.stored(symbol, interval).some(
      ({ keyMs }) =>
        sessionOf(calendar, interval, keyMs)?.day === session.day &&
        openOf(calendar, interval, keyMs) >= rest.fromMs,
    );
    if (isStored) return false;
    const isDeleted = this.#deletionsAfter(run.files.at(-1)!, symbol, interval).some((deletion) => {
      const hole = common(this.#removed(deletion, interval, session, calendar), rest);
      return hole.fromMs < hole.toMs;
    });
    if (isDeleted) return false;
    // Read as: the run that holds this series has bars in other sessions. It is a file by itself, or all
    // those of its command.
    const commands = [...Map.groupBy(files, ({ command }) => command).values()];
    return files
      .filter((file) => this.#holds(file, symbol))
      .some((file) =>
        [[file], commands.find((all) => all.includes(file))!].some((all) => {
          const day = this.#lastDay(file, calendar);
          return day !== null && this.#areAlike(run, { files: all, session: { day } }, symbol);
        }),
      );
  }

  /**
   * The day of the last bar of a file; null without bars. Read as: of a bar outside every session, the
   * market's day.
   */
  #lastDay(run: FileRun, calendar: Calendar): number | null {
    const last = run.bars.toSorted((a, b) => a.keyMs - b.keyMs).at(-1);
    if (last === undefined) return null;
    return sessionOf(calendar, run.interval, last.keyMs)?.day ?? calendar.zone.dayAt(last.keyMs);
  }

  #seriesOfGroup({ files }: OnDay, market: string): Set<string> {
    return new Set(files.flatMap((run) => this.#seriesOf(run, market)));
  }

  /**
   * "each of the two holds at least two thirds of the other's series (this one left out, only those listed at
   * both times counted)".
   */
  #areAlike(one: OnDay, other: OnDay, symbol: string): boolean {
    const { market } = this.#facts.instrumentOf(symbol);
    const isListedAt = (series: string, { day }: OnDay['session']): boolean => {
      const { listing, delisting } = this.#facts.instrumentOf(series);
      return (listing === null || listing <= day) && (delisting === null || day <= delisting);
    };
    const [ones, others] = [one, other].map(
      (group) =>
        new Set(
          [...this.#seriesOfGroup(group, market)].filter(
            (series) =>
              series !== symbol && isListedAt(series, one.session) && isListedAt(series, other.session),
          ),
        ),
    );
    const shared = [...ones!].filter((series) => others!.has(series)).length;
    return shared > 0 && 3 * shared >= 2 * ones!.size && 3 * shared >= 2 * others!.size;
  }

  /** Whether spans of time in one session are covered for a series. */
  isCovered(symbol: string, interval: Stored, session: Session, spans: readonly Span[]): boolean {
    const covered = this.coveredIn(symbol, interval, session);
    return spans.every((span) =>
      covered.some(({ fromMs, toMs }) => fromMs <= span.fromMs && span.toMs <= toMs),
    );
  }

  /**
   * The stored bars of a series in order: those of the last live run that changed each, unless they were
   * deleted since (5, 10).
   */
  stored(symbol: string, interval: Stored): StoredBar[] {
    return this.#once(`stored ${symbol} ${interval}`, () => this.#stored(symbol, interval));
  }

  #stored(symbol: string, interval: Stored): StoredBar[] {
    const { calendar } = this.#facts.instrumentOf(symbol);
    const found = new Map<number, { readonly price: number; readonly begunMs: number[] }>();
    for (const run of this.#live) {
      if (run.kind === 'deletion') {
        if (run.symbol !== symbol || (run.interval !== null && run.interval !== interval)) continue;
        for (const keyMs of [...found.keys()])
          if (isInRange(run.range, interval, keyMs, calendar)) found.delete(keyMs);
      } else if (run.interval === interval) {
        const begunMs = this.#begunMs(run);
        for (const { keyMs, price } of run.bars.filter((bar) => bar.symbol === symbol)) {
          const known = found.get(keyMs);
          // A run that holds the bar as it is leaves it that of the run that brought it.
          if (known?.price === price) known.begunMs.push(begunMs);
          else found.set(keyMs, { price, begunMs: [begunMs] });
        }
      }
    }
    return [...found]
      .toSorted(([a], [b]) => a - b)
      .map(([keyMs, { price, begunMs }]) => {
        const closeMs = closeOf(calendar, interval, keyMs);
        // Runs of the same bytes count as begun with the first of them: only one of other bytes can have
        // begun later.
        return { keyMs, price, isFinished: begunMs.some((ms) => closeMs <= ms) };
      });
  }

  /** Whether a symbol has stored bars of an interval, or of any, in a range of deletions. */
  hasIn(symbol: string, interval: Stored | null, range: Deletion['range']): boolean {
    const { calendar } = this.#facts.instrumentOf(symbol);
    return (['1M', '5M', '30M', '60M', 'DAY'] as const).some(
      (one) =>
        (interval === null || interval === one) &&
        this.stored(symbol, one).some(({ keyMs }) => isInRange(range, one, keyMs, calendar)),
    );
  }

  /** The stored bars of a series that are finished, in order (5). */
  finished(symbol: string, interval: Stored): StoredBar[] {
    return this.stored(symbol, interval).filter(({ isFinished }) => isFinished);
  }

  /** The bars of a symbol that are served at a moment, in order. Of intraday intervals it has one at most. */
  served(symbol: string, asked: Asked, isEth: boolean, nowMs: number): ServedBar[] {
    const intraday = (['60M', '30M', '5M', '1M'] as const).find(
      (interval) => this.stored(symbol, interval).length > 0,
    );
    return this.#all(symbol, asked, intraday, isEth).filter(({ closeMs }) => closeMs <= nowMs);
  }

  #all(symbol: string, asked: Asked, intraday: Intraday | undefined, isEth: boolean): ServedBar[] {
    if (asked !== 'DAY' && asked !== 'WEEK')
      return intraday === undefined ? [] : this.#minutes(symbol, intraday, asked, isEth);
    // Where a market has neither pre- nor post-market `is_eth` changes nothing (3.5).
    const isExtended = isEth && this.#facts.instrumentOf(symbol).calendar.hasBeyond('day');
    return asked === 'DAY'
      ? [...this.#days(symbol, intraday, isExtended).values()]
      : this.#weeks(symbol, intraday, isExtended);
  }

  /** The sessions of the bars of a series. */
  #sessionsOf(symbol: string, interval: Stored): Session[] {
    const { calendar } = this.#facts.instrumentOf(symbol);
    const found = this.finished(symbol, interval).map(({ keyMs }) => sessionOf(calendar, interval, keyMs));
    return [...new Map(found.flatMap((one) => (one === null ? [] : [[one.day, one]]))).values()];
  }

  #minutes(symbol: string, interval: Intraday, asked: Intraday, isEth: boolean): ServedBar[] {
    const bars = this.finished(symbol, interval);
    const [step, askedStep] = [stepOf(interval), stepOf(asked)];
    if (askedStep < step) return [];
    return this.#sessionsOf(symbol, interval).flatMap((session) => {
      const covered = this.coveredIn(symbol, interval, session);
      return cellsOf(session, isEth ? 'all' : 'regular', askedStep).flatMap(({ fromMs, toMs }) => {
        const inside = bars.filter(({ keyMs }) => fromMs <= keyMs && keyMs < toMs);
        // Read as: a bar that is not finished feeds nothing, and hides no derived bar whose time another file
        // covers. A stored bar needs nothing but to be finished; a derived one the time that it is made of,
        // open to close.
        const isServed =
          inside.length > 0 &&
          (step === askedStep || covered.some((one) => one.fromMs <= fromMs && toMs <= one.toMs));
        return isServed ? [folded(fromMs, toMs, inside)] : [];
      });
    });
  }

  /** A session as bars of minutes make it; null where they make no bar, `open` where it is not covered. */
  #dayOfMinutes(
    symbol: string,
    interval: Intraday,
    session: Session,
    isEth: boolean,
  ): ServedBar | 'open' | null {
    const segments = session.segments.filter(({ kind }) => scopeKinds[isEth ? 'all' : 'day'].includes(kind));
    const isIn = (some: Session['segments'], keyMs: number): boolean =>
      some.some(({ openMs, closeMs }) => openMs <= keyMs && keyMs < closeMs);
    const inside = this.finished(symbol, interval).filter(({ keyMs }) => isIn(segments, keyMs));
    // With extended hours a session is derived "where regular bars are in it" (3.6).
    const regular = session.segments.filter(({ kind }) => kind === 'regular');
    if (inside.length === 0 || (isEth && !inside.some(({ keyMs }) => isIn(regular, keyMs)))) return null;
    const hours = segments.map(({ openMs, closeMs }) => ({ fromMs: openMs, toMs: closeMs }));
    if (!this.isCovered(symbol, interval, session, hours)) return 'open';
    const fromMs = isEth ? hoursOf(session).fromMs : session.openMs;
    return folded(fromMs, isEth ? hoursOf(session).toMs : session.dayCloseMs, inside);
  }

  /** DAY bars by label date, in order. */
  #days(symbol: string, intraday: Intraday | undefined, isEth: boolean) {
    const { calendar } = this.#facts.instrumentOf(symbol);
    const rows = this.finished(symbol, 'DAY');
    const found = new Map<number, ServedBar>();
    for (const row of rows) {
      const day = row.keyMs / DAY_MS;
      const session = calendar.sessionOn(day);
      const openMs = session?.openMs ?? patternHours(calendar.market, calendar.zone, day).openMs;
      found.set(day, folded(openMs, closeOf(calendar, 'DAY', row.keyMs), [row]));
    }
    if (intraday !== undefined) {
      const bars = this.finished(symbol, intraday);
      for (const session of this.#sessionsOf(symbol, intraday)) {
        const isStored = found.has(session.day);
        // "either no DAY bar is stored for it or their stored span holds the whole regular session" (3.6)
        const [firstMs, lastMs] = [bars[0]!.keyMs, closeOf(calendar, intraday, bars.at(-1)!.keyMs)];
        const holdsSession = firstMs <= session.openMs && session.closeMs <= lastMs;
        if (isStored && !(isEth && holdsSession)) continue;
        const made = this.#dayOfMinutes(symbol, intraday, session, isEth);
        if (made === null) continue;
        if (made === 'open') found.delete(session.day);
        else found.set(session.day, made);
      }
    }
    return new Map([...found].toSorted(([a], [b]) => a - b));
  }

  /**
   * Weeks of a symbol that has one series, folded from its DAY bars (3.6). Of stored days there are none with
   * extended hours.
   */
  #weeks(symbol: string, intraday: Intraday | undefined, isEth: boolean): ServedBar[] {
    const { calendar } = this.#facts.instrumentOf(symbol);
    const interval = intraday ?? 'DAY';
    const scope: SegmentScope = isEth && interval !== 'DAY' ? 'all' : 'day';
    const days = this.#days(symbol, intraday, isEth);
    return [...Map.groupBy(days, ([day]) => periodStart('WEEK', day))].flatMap(([start, entries]) => {
      const bars = entries.map(([, bar]) => bar);
      const sessions = calendar.sessions(start, periodEnd('WEEK', start));
      if (sessions.length === 0) return [];
      const isCovered = sessions.every((session) =>
        this.isCovered(
          symbol,
          interval,
          session,
          session.segments
            .filter(({ kind }) => scopeKinds[scope].includes(kind))
            .map(({ openMs, closeMs }) => ({ fromMs: openMs, toMs: closeMs })),
        ),
      );
      const [first, last] = [sessions[0]!, sessions.at(-1)!];
      const openMs = scope === 'all' ? hoursOf(first).fromMs : first.openMs;
      const closeMs = scope === 'all' ? hoursOf(last).toMs : last.dayCloseMs;
      // A DAY bar of a closed date "enters no WEEK or MON that closes before it does" (3.10).
      const inside = bars.filter((bar) => bar.closeMs <= closeMs);
      if (!isCovered || inside.length === 0) return [];
      return [
        {
          openMs,
          closeMs,
          first: inside[0]!.first,
          high: Math.max(...inside.map(({ high }) => high)),
          low: Math.min(...inside.map(({ low }) => low)),
          last: inside.at(-1)!.last,
          volume: inside.reduce((sum, { volume }) => sum + volume, 0),
        },
      ];
    });
  }
}

const folded = (openMs: number, closeMs: number, bars: readonly StoredBar[]): ServedBar => ({
  openMs,
  closeMs,
  first: bars[0]!.price,
  high: Math.max(...bars.map(({ price }) => price)),
  low: Math.min(...bars.map(({ price }) => price)),
  last: bars.at(-1)!.price,
  volume: bars.length,
});

/**
 * The cells of some length in the segments of a scope, from the open of each and cut at its end (contract
 * 3.3).
 */
export function cellsOf({ segments }: Session, scope: SegmentScope, stepMs: number): Span[] {
  const cells: Span[] = [];
  for (const { kind, openMs, closeMs } of segments)
    if (scopeKinds[scope].includes(kind))
      for (let fromMs = openMs; fromMs < closeMs; fromMs += stepMs)
        cells.push({ fromMs, toMs: Math.min(fromMs + stepMs, closeMs) });
  return cells;
}

/** The instants of 00:00 of a zone that lie inside a span, not at its ends. */
function midnightsInside(zone: Zone, { fromMs, toMs }: Span): number[] {
  const found: number[] = [];
  for (let day = zone.dayAt(fromMs); day <= zone.dayAt(toMs); day++) {
    const ms = zone.instantOf(day, 0);
    if (fromMs < ms && ms < toMs) found.push(ms);
  }
  return found;
}

/**
 * Whether a deletion removes a bar: a range is of opens, one of dates of label dates at DAY (contract 2.2,
 * 2.3).
 */
function isInRange(range: Deletion['range'], interval: Stored, keyMs: number, calendar: Calendar): boolean {
  const openMs = openOf(calendar, interval, keyMs);
  if ('fromMs' in range) return range.fromMs <= openMs && openMs < range.toMs;
  const { fromDay, toDay } = range;
  if (interval === 'DAY') return fromDay <= keyMs / DAY_MS && keyMs / DAY_MS <= toDay;
  const { dateZone } = calendar;
  return dateZone.instantOf(fromDay, 0) <= keyMs && keyMs < dateZone.instantOf(toDay + 1, 0);
}
