// Notes on the bars of a chart: actions, the sessions' coverage, findings; in
// words, and as lists below the chart.
import { type ComponentChild, h } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Bourse, Row } from '../client/index.ts';
import { type Asking, isPassing, useAnswer, useConnection } from './asking.ts';
import { type BarChoice, barAt, type ChartBar, hasLabels } from './bar-feed.ts';
import { numberText } from './figures.ts';
import { dateText, dayText, type MarketClock, plusDays } from './market-clock.ts';

export type Action = Row<'corporateActions'>;
export type Session = Row<'sessionCoverage'>;
export type Finding = Row<'findings'>;

/** Each in the order of time. */
export type Notes = {
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
export const conditions: Readonly<
  Record<string, { color: string; opacity: number; name: string; why: string }>
> = {
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
export function sessionText({ session_date, condition, bars, expected_bars }: Session): string | null {
  const found = conditions[condition];
  if (found === undefined) return null;
  const count = bars === 0 ? '' : `, ${bars} of ${expected_bars} bars`;
  return `${dayText(session_date)} is ${found.why}${count}`;
}

/** Describes an action. */
export function actionText(action: Action): string {
  const { action_type, ex_date, cash_amount, currency, split_from, split_to } = action;
  const date = dateText(Date.parse(ex_date));
  if (action_type === 'split')
    return `Split ${numberText(split_to)} for ${numberText(split_from)} on ${date}`;
  return `Dividend ${numberText(cash_amount)}${currency === null ? '' : ` ${currency}`}, ex ${date}`;
}

/** Describes a finding; its message has the figures. */
export const findingText = ({ kind, severity, message }: Finding): string =>
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
