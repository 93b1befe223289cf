// A plain reading of contract 3 (3.9 above all) and of coverage (9.9): from all files, anew for each moment,
// without any part of the service. It knows what the year has: instruments of one interval each, which trade
// in regular hours or around them, and no flags that say a span.
import { DAY_MS, dateOf, type Market, MINUTE_MS, periodOf, type Session } from './calendar.ts';
import { type Facts, type FileRun, type Instrument, type Row, stepOf, type Values } from './facts.ts';
import { type Finding, findingsOf } from './findings.ts';

const HOUR_MS = 60 * MINUTE_MS;

export type Span = { readonly fromMs: number; readonly toMs: number };

/**
 * A bar that is stored: `isFinished` where it had closed when a run that holds it began (contract 3.9 (5)).
 */
export type StoredBar = {
  readonly keyMs: number;
  readonly closeMs: number;
  readonly day: number;
  readonly values: Values;
  readonly isFinished: boolean;
};

type Served = {
  readonly openMs: number;
  readonly closeMs: number;
  readonly day: number;
  readonly values: Values;
};

/** Bars of a file that replaced others: which of two runs gave other values for which bars. */
export type Conflict = {
  readonly former: FileRun;
  readonly later: FileRun;
  readonly pairs: { readonly bar: Row; readonly before: Values }[];
};

export type Series = {
  readonly instrument: Instrument;
  /** In order. */
  readonly bars: readonly StoredBar[];
  readonly finished: readonly StoredBar[];
  readonly byDay: ReadonlyMap<number, readonly StoredBar[]>;
  readonly conflicts: readonly Conflict[];
  /** Live runs that hold it. */
  readonly runs: readonly FileRun[];
  /** What they cover, in order, without overlaps. */
  readonly covered: readonly Span[];
};

/** The label of an instant in answers. */
const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`;

function union(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = found.at(-1);
    if (last === undefined || span.fromMs > last.toMs) found.push(span);
    else found[found.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, span.toMs) };
  }
  return found;
}

const common = <T>(one: ReadonlySet<T>, other: ReadonlySet<T>): number =>
  [...one].filter((item) => other.has(item)).length;

function folded(session: Session, openMs: number, closeMs: number, bars: readonly StoredBar[]): Served {
  const all = bars.map(({ values }) => values);
  return {
    ...{ openMs, closeMs, day: session.day },
    values: [
      all[0]![0],
      Math.max(...all.map(([, high]) => high)),
      Math.min(...all.map(([, , low]) => low)),
      all.at(-1)![3],
      all.reduce((sum, [, , , , volume]) => sum + volume, 0),
    ],
  };
}

/** What the files so far say at a moment. */
export class Reading {
  readonly nowMs: number;
  readonly splits: Facts['splits'];
  readonly #facts: Facts;
  readonly #files: readonly FileRun[];
  readonly #begunMs = new Map<FileRun, number>();
  readonly #series = new Map<Instrument, Series>();
  readonly #findings = new Map<Series, readonly Finding[]>();
  /** Files of a market and interval by the sessions that they have bars in, and all of them. */
  readonly #filesOn = new Map<string, FileRun[]>();
  readonly #spans = new Map<FileRun, Span | null>();

  constructor(facts: Facts, nowMs: number) {
    this.nowMs = nowMs;
    this.splits = facts.splits;
    this.#facts = facts;
    this.#files = facts.live.filter((one) => one.kind === 'file');
    const firstOf = new Map<string, number>();
    for (const run of this.#files) {
      // "Rows whose bytes a live run brought before count as begun then."
      if (!firstOf.has(run.text)) firstOf.set(run.text, run.startMs);
      this.#begunMs.set(run, firstOf.get(run.text)!);
      for (const day of new Set(run.rows.map((row) => row.day))) {
        const key = `${run.market.schema} ${run.interval} ${day}`;
        this.#filesOn.set(key, [...(this.#filesOn.get(key) ?? []), run]);
      }
    }
    for (const run of this.#files) this.#spans.set(run, this.#spanOf(run));
    for (const instrument of facts.instruments) this.#series.set(instrument, this.#store(instrument));
  }

  /** All series that have bars. */
  get series(): Series[] {
    return [...this.#series.values()].filter(({ bars }) => bars.length > 0);
  }

  /** The series that are stored beside one in its market and interval, itself included. */
  membersOf({ instrument: { market, interval } }: Series): Series[] {
    return this.series.filter(
      (one) => one.instrument.market === market && one.instrument.interval === interval,
    );
  }

  #filesOnDay(instrument: Pick<Instrument, 'market' | 'interval'>, day: number): readonly FileRun[] {
    return this.#filesOn.get(`${instrument.market.schema} ${instrument.interval} ${day}`) ?? [];
  }

  /** What a file covers (contract 3.9 (1)). */
  #spanOf(run: FileRun): Span | null {
    const begunMs = this.#begunMs.get(run)!;
    // A bar that is not finished "counts for no span" (5).
    const rows = run.rows.filter(({ closeMs }) => closeMs <= begunMs);
    if (rows.length === 0) return null;
    const [first, last] = [rows[0]!, rows.at(-1)!];
    const [from, to] = [first, last].map(({ day }) => run.market.sessionOn(day)!);
    const openMs = run.interval === 'DAY' ? from!.openMs : first.keyMs;
    const toMs = begunMs < to!.toMs ? last.closeMs : to!.toMs;
    return { fromMs: this.#beginsInside(run, openMs, from!) ? openMs : from!.fromMs, toMs };
  }

  /** Whether a file began in the middle of the session of its first bar. */
  #beginsInside(run: FileRun, openMs: number, session: Session): boolean {
    if (openMs <= session.openMs + 15 * MINUTE_MS) return false;
    if ([...run.holds.keys()].every(({ listing }) => listing === session.day)) return false;
    const hasEarlier = this.#filesOnDay(run, session.day).some(
      (other) =>
        other.look !== run.look && other.rows.some((row) => row.day === session.day && row.keyMs < openMs),
    );
    if (hasEarlier || run.interval === 'DAY') return hasEarlier;
    const step = stepOf(run.interval);
    return [
      ...Map.groupBy(
        run.rows.filter(({ day }) => day === session.day),
        (row) => row.instrument,
      ).values(),
    ].some((own) => {
      const [firstMs, lastMs] = [own[0]!.keyMs, own.at(-1)!.keyMs];
      const cells = this.cells(session, 'all', step).filter(
        ({ fromMs }) => firstMs <= fromMs && fromMs <= lastMs,
      );
      return own.length >= 3 && own.length >= 0.8 * cells.length;
    });
  }

  /** The cells of some length in a session (contract 3.3). */
  cells({ segments }: Session, scope: 'regular' | 'all', stepMs: number): Span[] {
    return segments
      .filter(({ kind }) => scope === 'all' || kind === 'regular')
      .flatMap(({ fromMs, toMs }) =>
        Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, (_, at) => ({
          fromMs: fromMs + at * stepMs,
          toMs: Math.min(fromMs + (at + 1) * stepMs, toMs),
        })),
      );
  }

  #store(instrument: Instrument): Series {
    type Held = { readonly row: Row; readonly run: FileRun; readonly begunMs: number[] };
    const found = new Map<number, Held>();
    const conflicts = new Map<string, Conflict>();
    let runs: FileRun[] = [];
    let covering: FileRun[] = [];
    for (const run of this.#facts.live) {
      if (run.kind === 'deletion') {
        if (run.instrument !== instrument) continue;
        found.clear();
        covering = [];
        continue;
      }
      const rows = run.holds.get(instrument);
      if (rows === undefined) continue;
      runs = [...runs, run];
      covering = [...covering, run];
      const begunMs = this.#begunMs.get(run)!;
      for (const row of rows) {
        const known = found.get(row.keyMs);
        if (known?.row.values.every((value, at) => value === row.values[at])) known.begunMs.push(begunMs);
        else {
          if (known !== undefined) {
            const name = `${this.#files.indexOf(known.run)} ${this.#files.indexOf(run)}`;
            const conflict = conflicts.get(name) ?? { former: known.run, later: run, pairs: [] };
            conflicts.set(name, conflict);
            // The former had the beginning of the bar alone.
            if (row.closeMs <= known.run.startMs) conflict.pairs.push({ bar: row, before: known.row.values });
          }
          found.set(row.keyMs, { row, run, begunMs: [begunMs] });
        }
      }
    }
    const bars = [...found.values()]
      .map(({ row: { keyMs, closeMs, day, values }, begunMs }) => ({
        ...{ keyMs, closeMs, day, values },
        isFinished: begunMs.some((ms) => closeMs <= ms),
      }))
      .sort((a, b) => a.keyMs - b.keyMs);
    const finished = bars.filter(({ isFinished }) => isFinished);
    return {
      ...{ instrument, bars, finished, byDay: Map.groupBy(finished, ({ day }) => day), runs },
      conflicts: [...conflicts.values()].filter(({ pairs }) => pairs.length > 0),
      // (a) "by the live runs that hold it, together", (4) without what a deletion took out since.
      covered: union(covering.flatMap((run) => this.#spans.get(run) ?? [])),
    };
  }

  /** Whether all of a span inside a session is covered for a series (contract 3.9 (3)). */
  isCovered(series: Series, session: Session, spans: readonly Span[]): boolean {
    if (spans.every(({ toMs }) => toMs <= this.nowMs) === false) return false;
    const covered = union([...series.covered, ...this.#withoutTrade(series, session)]);
    return spans.every((span) =>
      covered.some(({ fromMs, toMs }) => fromMs <= span.fromMs && span.toMs <= toMs),
    );
  }

  #withoutTrade(series: Series, session: Session): Span[] {
    const { instrument, bars, runs } = series;
    const { listing, delisting, market } = instrument;
    // (c)
    if (listing !== null && session.day < listing) return [session];
    if (delisting !== null && session.day > delisting) return [session];
    const spans: Span[] = [];
    const last = bars.at(-1);
    if (delisting !== null && last !== undefined) {
      const between = market.sessions.filter(({ day }) => last.day < day && day <= delisting).length;
      const isKnown = runs.some(({ startMs }) => startMs >= (delisting + 1) * DAY_MS + 5 * HOUR_MS);
      if (between <= 60 && isKnown) spans.push({ fromMs: last.closeMs, toMs: session.toMs });
    }
    // (b)
    if (bars.some(({ day }) => day === session.day)) {
      const lastInside = bars.findLast(({ day }) => day === session.day)!;
      return [...spans, ...this.#vouched(series, session, lastInside.keyMs)];
    }
    return [...spans, ...this.#vouched(series, session, Number.NEGATIVE_INFINITY)];
  }

  /**
   * What runs without a series cover for it in a session, where nothing of it is stored from their first bar
   * there on.
   */
  #vouched(series: Series, session: Session, lastKeyMs: number): Span[] {
    const { instrument } = series;
    const groups = Map.groupBy(this.#filesOnDay(instrument, session.day), ({ look }) => look);
    return [...groups.values()].flatMap((group) => {
      const inside = group.flatMap(({ rows }) => rows.filter(({ day }) => day === session.day));
      if (inside.some((row) => row.instrument === instrument)) return [];
      const firstMs = Math.min(...inside.map(({ keyMs }) => keyMs));
      const held = new Set(group.flatMap(({ holds }) => [...holds.keys()]));
      if (lastKeyMs >= firstMs || held.size < 2 || this.#isDeletedAfter(group.at(-1)!, instrument)) return [];
      if (!series.runs.toReversed().some((run) => this.#areAlike(held, session.day, run, instrument)))
        return [];
      return group.flatMap((run) => this.#spans.get(run) ?? []);
    });
  }

  #isDeletedAfter(run: FileRun, instrument: Instrument): boolean {
    const { live } = this.#facts;
    return live
      .slice(live.indexOf(run))
      .some((one) => one.kind === 'deletion' && one.instrument === instrument);
  }

  /**
   * Whether each holds two thirds of the other's, of what is listed at both times, one instrument left out.
   */
  #areAlike(held: ReadonlySet<Instrument>, day: number, run: FileRun, without: Instrument): boolean {
    const mates = this.#files.filter(
      ({ look, market, interval }) => look === run.look && market === run.market && interval === run.interval,
    );
    return [[run], mates].some((some) => {
      const otherDay = run.rows.at(-1)!.day;
      const isListed = ({ listing, delisting }: Instrument): boolean =>
        [day, otherDay].every((at) => (listing ?? at) <= at && at <= (delisting ?? at));
      const counted = (all: Iterable<Instrument>): Set<Instrument> =>
        new Set([...all].filter((one) => one !== without && isListed(one)));
      const [ones, others] = [counted(held), counted(some.flatMap(({ holds }) => [...holds.keys()]))];
      const shared = common(ones, others);
      return shared > 0 && 3 * shared >= 2 * ones.size && 3 * shared >= 2 * others.size;
    });
  }

  /** Whether a session is finished for a series: its regular hours, or all of them. */
  isComplete(series: Series, session: Session, isEth = false): boolean {
    return this.isCovered(series, session, [
      isEth ? session : { fromMs: session.openMs, toMs: session.closeMs },
    ]);
  }

  /** The DAY bars of a series. */
  days(series: Series, isEth = false): Served[] {
    const { instrument, byDay } = series;
    return [...byDay].flatMap(([day, bars]) => {
      const session = instrument.market.sessionOn(day)!;
      if (instrument.interval === 'DAY') return [folded(session, session.openMs, session.closeMs, bars)];
      const regular = bars.filter(({ keyMs }) => session.openMs <= keyMs && keyMs < session.closeMs);
      if (regular.length === 0 || !this.isComplete(series, session, isEth)) return [];
      return [
        isEth
          ? folded(session, session.fromMs, session.toMs, bars)
          : folded(session, session.openMs, session.closeMs, regular),
      ];
    });
  }

  /** Bars of a series at an interval, in order. */
  #served(series: Series, interval: string, isEth: boolean): Served[] {
    const { instrument, byDay } = series;
    const isExtended = isEth && instrument.market.schema === 'stock' && instrument.interval !== 'DAY';
    if (interval === 'DAY') return this.days(series, isExtended);
    if (interval === 'WEEK' || interval === 'MON') return this.#periods(series, interval, isExtended);
    if (instrument.interval === 'DAY') return [];
    const [step, own] = [Number.parseInt(interval, 10) * MINUTE_MS, stepOf(instrument.interval)];
    return [...byDay].flatMap(([day, bars]) => {
      const session = instrument.market.sessionOn(day)!;
      let at = 0;
      return this.cells(session, isExtended ? 'all' : 'regular', step).flatMap((cell) => {
        while (at < bars.length && bars[at]!.keyMs < cell.fromMs) at++;
        const from = at;
        while (at < bars.length && bars[at]!.keyMs < cell.toMs) at++;
        const inside = bars.slice(from, at);
        if (inside.length === 0 || (own !== step && !this.isCovered(series, session, [cell]))) return [];
        return [folded(session, cell.fromMs, cell.toMs, inside)];
      });
    });
  }

  #periods(series: Series, unit: 'WEEK' | 'MON', isEth: boolean): Served[] {
    const { market } = series.instrument;
    const days = this.days(series, isEth);
    return [...Map.groupBy(days, ({ day }) => periodOf(unit, day))].flatMap(([start, bars]) => {
      const sessions = market.sessions.filter(({ day }) => periodOf(unit, day) === start);
      const [first, last] = [sessions[0]!, sessions.at(-1)!];
      if (!sessions.every((session) => this.isComplete(series, session, isEth))) return [];
      const stored = bars.map(({ values, day }) => ({ values, keyMs: 0, closeMs: 0, day, isFinished: true }));
      return [
        isEth
          ? folded(first, first.fromMs, last.toMs, stored)
          : folded(first, first.openMs, last.closeMs, stored),
      ];
    });
  }

  /** The rows of a bulk answer in CSV about some symbols. */
  bulk(market: Market, interval: string, isEth: boolean, symbols: readonly string[]): string[] {
    const { schema, country, exchange } = market;
    const wanted = this.series.filter(
      ({ instrument }) => instrument.market === market && symbols.includes(instrument.symbol),
    );
    return wanted
      .toSorted((a, b) => (a.instrument.symbol < b.instrument.symbol ? -1 : 1))
      .flatMap((series) => {
        const head = `${schema.toUpperCase()},${interval},${country},${exchange},${series.instrument.symbol}`;
        return this.#served(series, interval, isEth)
          .filter(({ closeMs }) => closeMs <= this.nowMs)
          .map(({ openMs, closeMs, values }) => `${head},${iso(openMs)},${iso(closeMs)},${values.join()},`);
      });
  }

  /** The findings of a series. */
  findings(series: Series): readonly Finding[] {
    const known = this.#findings.get(series) ?? findingsOf(this, series);
    this.#findings.set(series, known);
    return known;
  }

  /** As lines: kind, severity, interval, span, value, what was expected. */
  findingLines(series: Series): string[] {
    return this.findings(series)
      .map(({ kind, severity, fromMs, toMs, value, expected }) =>
        [kind, severity, series.instrument.interval, iso(fromMs), iso(toMs), value, expected].join(),
      )
      .sort();
  }

  /** Sessions of coverage: date, interval, source, condition, bars, expected, first, last, longest gap. */
  coverageLines(series: Series): string[] {
    const { finished, byDay, instrument } = series;
    const { market, interval, delisting } = instrument;
    const endedMs = delisting === null ? Number.POSITIVE_INFINITY : (delisting + 1) * DAY_MS;
    if (finished.length === 0) return [];
    const [first, last] = [finished[0]!.day, finished.at(-1)!.day];
    const sessions = market.sessions.filter(
      ({ day, openMs }) => day >= first && (day <= last || (openMs <= this.nowMs && openMs < endedMs)),
    );
    return sessions.map((session) => {
      const regular = (byDay.get(session.day) ?? []).filter(
        ({ keyMs }) => interval === 'DAY' || (session.openMs <= keyMs && keyMs < session.closeMs),
      );
      const { fromMs, toMs } = { fromMs: session.openMs, toMs: session.closeMs };
      let longestMs = 0;
      let endMs = fromMs;
      for (const { keyMs, closeMs } of [...regular, { keyMs: toMs, closeMs: toMs }]) {
        longestMs = Math.max(longestMs, keyMs - endMs);
        endMs = closeMs;
      }
      const instants = [regular[0], regular.at(-1)].map((bar) =>
        bar === undefined ? '' : iso(interval === 'DAY' ? session.openMs : bar.keyMs),
      );
      const expected = interval === 'DAY' ? 1 : this.cells(session, 'regular', stepOf(interval)).length;
      return [
        ...[dateOf(session.day), interval, 'stored', this.#conditionOf(series, session, last)],
        ...[regular.length, expected, ...instants, interval === 'DAY' ? '' : longestMs / MINUTE_MS],
      ].join();
    });
  }

  #conditionOf(series: Series, session: Session, lastDay: number): string {
    const { byDay, instrument } = series;
    const lies = (holds: (finding: Finding) => boolean): boolean =>
      this.findings(series).some(
        (one) => holds(one) && one.fromMs < session.toMs && one.toMs > session.fromMs,
      );
    if (byDay.has(session.day)) {
      if (!this.isComplete(series, session)) return 'pending';
      return lies(({ severity }) => severity !== 'info') ? 'degraded' : 'available';
    }
    if (session.closeMs > this.nowMs) return 'pending';
    const isMissed = lies(({ kind }) => kind === 'missing_session' || kind === 'identity_break');
    if (this.isComplete(series, session) && !isMissed) return 'untraded';
    if (session.day <= lastDay) return 'missing';
    if (!this.isActive(instrument)) return 'untraded';
    return session.day <= this.reached(series) ? 'missing' : 'pending';
  }

  /** Whether an instrument has not been delisted. */
  isActive({ delisting }: Instrument): boolean {
    return delisting === null || this.nowMs < (delisting + 1) * DAY_MS + 5 * HOUR_MS;
  }

  /** The newest session that at least half of the series of a market reach. */
  reached(series: Series): number {
    const newest = this.membersOf(series).flatMap(({ finished }) => finished.at(-1)?.day ?? []);
    return newest.sort((a, b) => b - a)[Math.ceil(newest.length / 2) - 1]!;
  }

  /**
   * The list of coverage of a market, of finished bars alone: symbol, interval, bars, first, last, complete
   * through, runs.
   */
  listLines(market: Market): string[] {
    return this.series
      .filter(({ instrument, finished }) => instrument.market === market && finished.length > 0)
      .map(({ instrument, finished: bars, covered, runs }) => {
        const [first, last] = [bars[0]!, bars.at(-1)!].map(({ keyMs, day }) =>
          iso(instrument.interval === 'DAY' ? market.sessionOn(day)!.openMs : keyMs),
        );
        const through = covered.length === 0 ? '' : iso(covered.at(-1)!.toMs);
        return [
          instrument.symbol,
          instrument.interval,
          bars.length,
          first,
          last,
          through,
          runs.length,
        ].join();
      })
      .sort();
  }
}
