// What is known about the bars of a chart beside their prices: actions, the sessions' coverage, findings.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Bourse, Row } from '../client/index.ts';
import { isPassing, TRY_AGAIN_MS } from './answer.ts';
import { type BarChoice, type ChartBar, hasLabels } from './bar-feed.ts';
import { useConnection } from './connection.ts';
import { dayOf } from './market-clock.ts';

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

const DAY_MS = 86_400_000;

/** Findings of a stretch that are shown; a series with more has another problem than these. */
const FINDINGS_MAX = 1_000;

/**
 * Bars are shown without notes if the notes are refused, such as for prices that hold a split after the
 * moment.
 */
const orNone = <T>(rows: Promise<T[]>): Promise<T[]> =>
  rows.catch((error: unknown) => {
    if (isPassing(error)) throw error;
    return [];
  });

async function askNotes(
  bourse: Bourse,
  { asset, symbol, interval, asOf }: BarChoice,
  range: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<Notes> {
  const options = { ...range, ...(asOf !== '' && { as_of: asOf }), signal };
  const sessionInterval = hasLabels(interval) ? 'DAY' : interval;
  const [actions, sessions, findings] = await Promise.all([
    asset === 'stock' ? orNone(bourse.actions(symbol, options).toArray()) : [],
    interval === 'WEEK' || interval === 'MON'
      ? []
      : orNone(bourse.sessions(asset, symbol, { ...options, interval: sessionInterval as 'DAY' }).toArray()),
    orNone(bourse.findings(asset, symbol, { ...options, limit: FINDINGS_MAX }).toArray()),
  ]);
  return { actions, sessions, findings };
}

const before = (older: Notes, newer: Notes): Notes => ({
  actions: [...older.actions, ...newer.actions],
  sessions: [...older.sessions, ...newer.sessions],
  findings: [...older.findings, ...newer.findings],
});

/** The notes about bars. They come after the bars, and those about older bars when these were read. */
export function useNotes(choice: BarChoice, bars: readonly ChartBar[], subject: unknown): Notes {
  const { bourse } = useConnection();
  const [notes, setNotes] = useState<Notes>(none);
  const covered = useRef<{ subject: unknown; from: string } | null>(null);
  const first = bars[0]?.label;
  const last = bars.at(-1)?.label;
  useEffect(() => {
    if (first === undefined || last === undefined) {
      setNotes(none);
      return;
    }
    const known = covered.current?.subject === subject ? covered.current : null;
    if (known !== null && known.from <= first) return;
    const to = known === null ? last : dayOf(Date.parse(known.from) - DAY_MS);
    const ender = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (): void =>
      void askNotes(bourse, choice, { from: first, to }, ender.signal).then(
        (found) => {
          if (ender.signal.aborted) return;
          covered.current = { subject, from: first };
          setNotes((newer) => (known === null ? found : before(found, newer)));
        },
        () => {
          if (!ender.signal.aborted) timer = setTimeout(ask, TRY_AGAIN_MS);
        },
      );
    ask();
    return () => {
      ender.abort();
      clearTimeout(timer);
    };
  }, [subject, first]);
  return covered.current?.subject === subject ? notes : none;
}
