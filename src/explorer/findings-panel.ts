// What is wrong with the bars of a chart, in words: findings, and sessions that are not whole.
import { type ComponentChild, h } from 'preact';
import { useState } from 'preact/hooks';
import type { ChartBar } from './bar-feed.ts';
import { dateText, dayText, type MarketClock } from './market-clock.ts';
import { actionText, barAt, findingText, sessionText } from './marks.ts';
import type { Notes } from './notes.ts';

/** One line: when, what, and where the chart has it. */
type Line = { readonly when: string; readonly ms: number; readonly text: string; readonly kind: string };

/** Lines that are shown before one asks for all. */
const SHOWN = 8;

const newestFirst = (lines: Line[]): Line[] => lines.sort((one, other) => other.ms - one.ms);

function problems({ findings, sessions }: Notes, clock: MarketClock): Line[] {
  const ofFindings = findings.map((finding) => {
    const ms = Date.parse(finding.from_datetime);
    const isDay = /^(?:DAY|WEEK|MON)$/.test(finding.interval);
    const when = isDay ? dateText(clock.localMs(ms)) : clock.dateTime(ms);
    return {
      when,
      ms,
      text: `${findingText(finding)} (bars of ${finding.interval})`,
      kind: finding.severity,
    };
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
    isWhole || lines.length <= SHOWN
      ? null
      : h('button', { type: 'button', onClick: () => setIsWhole(true) }, `Show all ${lines.length}`),
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
    wrong.length === 0 ? null : h(Lines, { title: 'What to look at', lines: wrong, bars, point }),
    actions.length === 0 ? null : h(Lines, { title: 'Dividends and splits', lines: actions, bars, point }),
  );
}
