// Notes on the bars of a chart: actions, the sessions' coverage, findings; in words, as lists below the
// chart, and as what the chart draws: marks at bars, shades behind them, blank room for sessions and
// minutes that have no bar.
import type { IChartApiBase, ISeriesPrimitive, SeriesAttachedParameter, Time } from 'lightweight-charts';
import { type ComponentChild, h } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Bourse, Row } from '../client/index.ts';
import { type Asking, isPassing, useAnswer, useConnection } from './asking.ts';
import { type BarChoice, type ChartBar, firstIndex, hasLabels } from './bar-feed.ts';
import { numberText } from './figures.ts';
import { dateText, dayText, type MarketClock, plusDays } from './market-clock.ts';
import { faint, solid } from './theme.ts';

type Action = Row<'corporateActions'>;
type Session = Row<'sessionCoverage'>;
type Finding = Row<'findings'>;

/** Each in the order of time. */
type Notes = {
  readonly actions: readonly Action[];
  readonly sessions: readonly Session[];
  readonly findings: readonly Finding[];
};

const none: Notes = { actions: [], sessions: [], findings: [] };

/** Findings of a stretch that are shown; a series with more has another problem than these. */
const FINDINGS_MAX = 1_000;

/**
 * Bars are shown without notes if the notes are refused, such as for prices that hold a split after the
 * moment.
 */
function orNone<T>(rows: Promise<T[]>): Promise<T[]> {
  return rows.catch((error: unknown) => {
    if (isPassing(error)) throw error;
    return [];
  });
}

async function askNotes(
  bourse: Bourse,
  { asset, symbol, interval }: BarChoice,
  options: Asking & { readonly from: string; readonly to: string },
): Promise<Notes> {
  const sessionInterval = hasLabels(interval) ? 'DAY' : interval;
  const [actions, sessions, findings] = await Promise.all([
    asset === 'stock' ? orNone(bourse.actions(symbol, options).toArray()) : [],
    interval === 'WEEK' || interval === 'MON'
      ? []
      : orNone(bourse.sessions(asset, symbol, { ...options, interval: sessionInterval }).toArray()),
    orNone(bourse.findings(asset, symbol, { ...options, limit: FINDINGS_MAX }).toArray()),
  ]);
  return { actions, sessions, findings };
}

const before = (older: Notes, newer: Notes): Notes => ({
  actions: [...older.actions, ...newer.actions],
  sessions: [...older.sessions, ...newer.sessions],
  findings: [...older.findings, ...newer.findings],
});

/** The source of bars; before those of a whole one there are none. */
type Feed = { readonly isWhole: boolean } | null;

/**
 * The notes about bars. They come after the bars, and those about older bars when these were read: a session
 * that is there in part has findings about bars still to come.
 */
export function useNotes(choice: BarChoice, bars: readonly ChartBar[], feed: Feed): Notes {
  const { bourse } = useConnection();
  const kept = useRef<{ feed: Feed; from: string; notes: Notes } | null>(null);
  const first = bars[0]?.label;
  const { value } = useAnswer(
    async (asking) => {
      if (first === undefined) return null;
      const known = kept.current?.feed === feed ? kept.current : null;
      if (known !== null && known.from <= first) return known;
      const to = known === null ? bars.at(-1)!.label : plusDays(known.from, -1);
      const found = await askNotes(bourse, choice, { from: first, to, ...asking });
      const notes = known === null ? found : before(found, known.notes);
      kept.current = { feed, from: first, notes };
      return kept.current;
    },
    [feed, first],
  );
  return useMemo(() => {
    if (!value || value.feed !== feed) return none;
    const isThere = ({ to_datetime }: Finding): boolean =>
      feed?.isWhole === true || Date.parse(to_datetime) > bars[0]!.openMs;
    return { ...value.notes, findings: value.notes.findings.filter(isThere) };
  }, [value, feed, bars]);
}

/** Conditions of sessions that there is something to say about. */
const conditions: Readonly<Record<string, { color: string; opacity: number; name: string; why: string }>> = {
  missing: {
    color: 'bad',
    opacity: 0.14,
    name: 'not loaded',
    why: 'missing: no data was imported for this day',
  },
  untraded: {
    color: 'quiet',
    opacity: 0.14,
    name: 'no trade',
    why: 'untraded: an import covered the day and had no bar, so there were no trades',
  },
  degraded: { color: 'warn', opacity: 0.1, name: '', why: 'degraded: it has a finding' },
};

/** Describes a session's coverage; null where there is nothing to say. */
function sessionText({ session_date, condition, bars, expected_bars }: Session): string | null {
  const found = conditions[condition];
  if (found === undefined) return null;
  const count = bars === 0 ? '' : `, ${bars} of ${expected_bars} bars`;
  return `${dayText(session_date)} is ${found.why}${count}`;
}

/** Describes an action. */
function actionText(action: Action): string {
  const { action_type, ex_date, cash_amount, currency, split_from, split_to } = action;
  const date = dateText(Date.parse(ex_date));
  if (action_type === 'split')
    return `Split ${numberText(split_to)} for ${numberText(split_from)} on ${date}`;
  return `Dividend ${numberText(cash_amount)}${currency === null ? '' : ` ${currency}`}, ex ${date}`;
}

/** Describes a finding; its message has the figures. */
const findingText = ({ kind, severity, message }: Finding): string =>
  `${severity}, ${kind.replaceAll('_', ' ')}: ${message}`;

/** One line: when, what, and where the chart has it. */
type Line = { readonly when: string; readonly ms: number; readonly text: string; readonly kind: string };

/** Lines that are shown before one asks for all. */
const SHOWN = 8;

const newestFirst = (lines: Line[]): Line[] => lines.sort((one, other) => other.ms - one.ms);

function problems({ findings, sessions }: Notes, clock: MarketClock): Line[] {
  const ofFindings = findings.map((finding) => {
    const ms = Date.parse(finding.from_datetime);
    const when = hasLabels(finding.interval) ? dateText(clock.localMs(ms)) : clock.dateTime(ms);
    const text = `${findingText(finding)} (bars of ${finding.interval})`;
    return { when, ms, text, kind: finding.severity };
  });
  const ofSessions = sessions
    .filter(({ condition }) => condition === 'missing' || condition === 'untraded')
    .map((session) => {
      const ms = clock.instantMs(session.session_date, 12);
      const kind = session.condition === 'missing' ? 'error' : 'info';
      return { when: dateText(Date.parse(session.session_date)), ms, text: sessionText(session)!, kind };
    });
  return newestFirst([...ofFindings, ...ofSessions]);
}

const actionLines = ({ actions }: Notes, clock: MarketClock): Line[] =>
  newestFirst(
    actions.map((action) => ({
      when: dayText(action.ex_date),
      ms: clock.instantMs(action.ex_date, 12),
      text: actionText(action),
      kind: action.action_type,
    })),
  );

/** The bar that an instant lies in, or the next one. */
const barAt = (bars: readonly ChartBar[], ms: number): ChartBar | undefined =>
  bars[firstIndex(bars, ({ closeMs }) => closeMs > ms)];

function Lines(props: {
  title: string;
  lines: readonly Line[];
  bars: readonly ChartBar[];
  point: (time: number) => void;
}): ComponentChild {
  const { title, lines, bars, point } = props;
  const [isWhole, setIsWhole] = useState(false);
  const go = (ms: number): void => {
    const bar = barAt(bars, ms) ?? bars.at(-1);
    if (bar !== undefined) point(bar.time);
  };
  return h(
    'section',
    { class: 'lines' },
    h('h2', null, `${title} `, h('span', { class: 'count' }, lines.length)),
    h(
      'ul',
      { class: 'plain' },
      (isWhole ? lines : lines.slice(0, SHOWN)).map(({ when, ms, text, kind }) =>
        h(
          'li',
          { key: `${ms} ${text}` },
          h(
            'button',
            { type: 'button', class: `line ${kind}`, onClick: () => go(ms), title: 'Show it in the chart' },
            h('span', { class: 'when' }, when),
            h('span', null, text),
          ),
        ),
      ),
    ),
    !isWhole &&
      lines.length > SHOWN &&
      h('button', { type: 'button', onClick: () => setIsWhole(true) }, `Show all ${lines.length}`),
  );
}

/** Lists below a chart; a press shows the place in it. Nothing where there is nothing to say. */
export function NotesPanel(props: {
  notes: Notes;
  bars: readonly ChartBar[];
  clock: MarketClock;
  point: (time: number) => void;
}): ComponentChild {
  const { notes, bars, clock, point } = props;
  const [wrong, actions] = [problems(notes, clock), actionLines(notes, clock)];
  if (wrong.length + actions.length === 0) return null;
  return h(
    'div',
    { class: 'notes' },
    wrong.length > 0 && h(Lines, { title: 'What to look at', lines: wrong, bars, point }),
    actions.length > 0 && h(Lines, { title: 'Dividends and splits', lines: actions, bars, point }),
  );
}

/** A mark at a bar. */
export type Mark = {
  readonly time: number;
  readonly letter: string;
  readonly color: string;
  readonly isAbove: boolean;
};

/** A stretch of bars, from the first to the last point in seconds, both included. */
export type Shade = {
  readonly from: number;
  readonly to: number;
  readonly color: string;
  /** Short; drawn where there is room. Empty for none. */
  readonly text: string;
  readonly textColor: string;
};

/** A point without a bar, in seconds. */
export type Blank = { readonly time: number; readonly label: string };

/**
 * The facts about a market that the drawing needs. `hasPostMarket`: the segment after its regular hours is
 * post-market, else a closing auction.
 */
type Market = { readonly clock: MarketClock; readonly hasPostMarket: boolean };

/** The marks that the chart draws, and their texts for the one that is pointed to. */
type Drawn = {
  readonly blanks: readonly Blank[];
  readonly marks: readonly Mark[];
  readonly shades: readonly Shade[];
  /** By point in seconds: what there is to know. */
  readonly reasons: ReadonlyMap<number, readonly string[]>;
};

/**
 * Blank points of a session of minutes without bars, and the most in one gap: they are a sign, not a measure.
 */
const SESSION_BLANKS = 5;
const GAP_BLANKS_MAX = 60;

const MINUTE_MS = 60_000;

const severityColor: Readonly<Record<string, string>> = { error: 'bad', warning: 'warn', info: 'quiet' };

class Drawing {
  readonly blanks: Blank[] = [];
  readonly marks: Mark[] = [];
  readonly shades: Shade[] = [];
  readonly reasons = new Map<number, string[]>();
  readonly #bars: readonly ChartBar[];
  readonly #times: Set<number>;
  readonly #interval: string;
  readonly #market: Market;

  constructor(bars: readonly ChartBar[], interval: string, market: Market) {
    this.#bars = bars;
    this.#interval = interval;
    this.#market = market;
    this.#times = new Set(bars.map(({ time }) => time));
  }

  #say(time: number, text: string): void {
    const said = this.reasons.get(time);
    if (said === undefined) this.reasons.set(time, [text]);
    else said.push(text);
  }

  #shade(from: number, to: number, color: string, opacity: number, text: string): void {
    this.shades.push({ from, to, color: faint(color, opacity), text, textColor: solid(color) });
  }

  #blank(time: number, label: string): void {
    if (this.#times.has(time)) return;
    this.#times.add(time);
    this.blanks.push({ time, label });
  }

  action(action: Action): void {
    const bar = this.#bars[firstIndex(this.#bars, ({ label }) => label >= action.ex_date)];
    if (bar === undefined || this.#bars[0]!.label > action.ex_date) return;
    const isSplit = action.action_type === 'split';
    this.marks.push({
      time: bar.time,
      letter: isSplit ? 'S' : 'D',
      color: solid(isSplit ? 'warn' : 'accent'),
      isAbove: false,
    });
    this.#say(bar.time, actionText(action));
  }

  session(session: Session): void {
    const found = conditions[session.condition];
    const text = sessionText(session);
    if (found === undefined || text === null) return;
    const label = session.session_date;
    if (label < this.#bars[0]!.label || label > this.#bars.at(-1)!.label) return;
    const own = this.#barsOf(label);
    const times = own.length > 0 ? own.map(({ time }) => time) : this.#emptySession(label);
    for (const time of times) this.#say(time, text);
    this.#shade(times[0]!, times.at(-1)!, found.color, found.opacity, found.name);
  }

  #barsOf(session: string): readonly ChartBar[] {
    const start = firstIndex(this.#bars, ({ label }) => label >= session);
    const end = firstIndex(this.#bars, ({ label }) => label > session);
    return this.#bars.slice(start, end);
  }

  #emptySession(label: string): number[] {
    const noon = this.#market.clock.instantMs(label, 12) / 1_000;
    const times = hasLabels(this.#interval)
      ? [Date.parse(label) / 1_000]
      : Array.from({ length: SESSION_BLANKS }, (_, index) => noon + index * 60);
    for (const time of times) this.#blank(time, label);
    return times;
  }

  /** Bars before and after the regular hours that the session's coverage has. */
  extended({ session_date, first_datetime, last_datetime }: Session): void {
    if (hasLabels(this.#interval) || first_datetime === null || last_datetime === null) return;
    const [first, last] = [Date.parse(first_datetime), Date.parse(last_datetime)];
    const own = this.#barsOf(session_date);
    const run = (part: readonly ChartBar[]): void => {
      if (part.length > 0) this.#shade(part[0]!.time, part.at(-1)!.time, 'quiet', 0.07, '');
    };
    run(own.filter(({ openMs }) => openMs < first));
    const after = own.filter(({ openMs }) => openMs > last);
    run(after);
    if (!this.#market.hasPostMarket) for (const { time } of after) this.#say(time, 'Closing auction');
  }

  finding(finding: Finding): void {
    const [fromMs, toMs] = [Date.parse(finding.from_datetime), Date.parse(finding.to_datetime)];
    const bar = barAt(this.#bars, fromMs);
    if (bar === undefined) return;
    const color = severityColor[finding.severity] ?? 'quiet';
    const text = findingText(finding);
    if (finding.kind === 'gap' && finding.interval === this.#interval)
      this.#gap(fromMs, toMs, bar.label, text);
    if (!this.reasons.get(bar.time)?.some((said) => said.includes(finding.kind.replaceAll('_', ' '))))
      this.marks.push({ time: bar.time, letter: '!', color: solid(color), isAbove: true });
    this.#say(bar.time, text);
  }

  #gap(fromMs: number, toMs: number, label: string, text: string): void {
    const step = Math.max(MINUTE_MS, Math.ceil((toMs - fromMs) / MINUTE_MS / GAP_BLANKS_MAX) * MINUTE_MS);
    const times: number[] = [];
    for (let ms = fromMs; ms < toMs; ms += step)
      if (!this.#times.has(ms / 1_000)) {
        this.#blank(ms / 1_000, label);
        times.push(ms / 1_000);
      }
    if (times.length === 0) return;
    for (const time of times) this.#say(time, text);
    this.#shade(times[0]!, times.at(-1)!, 'warn', 0.16, `${Math.round((toMs - fromMs) / MINUTE_MS)} min`);
  }
}

/** The marks to draw about bars that there are. */
export function drawnOf(
  { actions, sessions, findings }: Notes,
  bars: readonly ChartBar[],
  interval: string,
  market: Market,
): Drawn {
  const drawing = new Drawing(bars, interval, market);
  if (bars.length > 0) {
    for (const session of sessions) {
      drawing.extended(session);
      drawing.session(session);
    }
    for (const action of actions) drawing.action(action);
    for (const finding of findings) drawing.finding(finding);
    drawing.marks.sort((one, other) => one.time - other.time);
  }
  return drawing;
}

type Target = Parameters<
  NonNullable<
    ReturnType<NonNullable<ReturnType<NonNullable<ISeriesPrimitive['paneViews']>>[number]['renderer']>>
  >['draw']
>[0];

/** The narrowest stretch that has a text, in CSS pixels, and how its letters stand. */
const TEXT_WIDTH_MIN = 60;
const FONT = '11px system-ui, sans-serif';

/** Draws shades and lines behind a series. */
export class Shades implements ISeriesPrimitive<Time> {
  shades: readonly Shade[] = [];
  /** Points in seconds at which a session begins. */
  lines: readonly number[] = [];
  lineColor = '';
  #chart: IChartApiBase<Time> | null = null;
  #requestUpdate: (() => void) | null = null;

  attached({ chart, requestUpdate }: SeriesAttachedParameter<Time>): void {
    this.#chart = chart;
    this.#requestUpdate = requestUpdate;
  }

  detached(): void {
    this.#chart = null;
  }

  /** Draws again, after a change. */
  update(): void {
    this.#requestUpdate?.();
  }

  paneViews() {
    const drawBackground = (target: Target): void => this.#draw(target);
    return [{ zOrder: () => 'bottom' as const, renderer: () => ({ draw: () => undefined, drawBackground }) }];
  }

  #draw(target: Target): void {
    const scale = this.#chart?.timeScale();
    if (scale === undefined) return;
    const half = scale.options().barSpacing / 2;
    target.useMediaCoordinateSpace(({ context, mediaSize: { width, height } }) => {
      const xOf = (time: number): number | null => scale.timeToCoordinate(time as Time);
      for (const { from, to, color, text, textColor } of this.shades) {
        const [left, right] = [xOf(from), xOf(to)];
        if (left === null || right === null || right + half < 0 || left - half > width) continue;
        context.fillStyle = color;
        const wide = Math.max(right - left + 2 * half, 2);
        context.fillRect(left - half, 0, wide, height);
        if (text === '' || wide < TEXT_WIDTH_MIN) continue;
        context.fillStyle = textColor;
        context.font = FONT;
        context.fillText(text, Math.max(left - half, 0) + 4, height - 8, wide - 8);
      }
      context.fillStyle = this.lineColor;
      for (const time of this.lines) {
        const x = xOf(time);
        if (x !== null && x >= 0 && x <= width) context.fillRect(Math.round(x - half), 0, 1, height);
      }
    });
  }
}
