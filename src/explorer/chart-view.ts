// A chart of one instrument: its bars as far back as one scrolls, what they are at the pointer, and the
// request for them.
import { type ComponentChild, h } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from '../client/index.ts';
import { Failure, isOfKey, isPassing, TRY_AGAIN_MS } from './answer.ts';
import { type BarChoice, BarFeed, type ChartBar, hasLabels, optionsOf } from './bar-feed.ts';
import { useConnection } from './connection.ts';
import { downloadBars } from './download.ts';
import { countText } from './figures.ts';
import { NotesPanel } from './findings-panel.ts';
import { Legend } from './legend.ts';
import { clockOf, dateText } from './market-clock.ts';
import { barOf, drawnOf } from './marks.ts';
import { NoBars } from './no-bars.ts';
import { useNotes } from './notes.ts';
import type { Place } from './place.ts';
import { PriceChart } from './price-chart.ts';
import { RequestPanel } from './request-panel.ts';
import { asOfInstant, Toolbar } from './toolbar.ts';

/** Pages of the first look, and those that each look further back reads: more, the more there are already. */
const FIRST_PAGES = 1;
const pagesAfter = (bars: number): number => (bars > 20_000 ? 8 : bars > 4_000 ? 3 : 1);

type Loaded = {
  readonly feed: BarFeed | null;
  readonly bars: readonly ChartBar[];
  readonly error: unknown;
  readonly isWaiting: boolean;
};

/** The bars of a choice, and a way to read older ones. */
function useBars(choice: BarChoice, zone: string): Loaded & { readonly older: () => void } {
  const { bourse, refuse } = useConnection();
  const [state, setState] = useState<Loaded>({ feed: null, bars: [], error: null, isWaiting: true });
  const reading = useRef(false);
  const current = useRef<BarFeed | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const read = async (feed: BarFeed, pages: number): Promise<void> => {
    if (reading.current || feed.isWhole) return;
    reading.current = true;
    let error: unknown = null;
    try {
      await feed.older(pages);
    } catch (caught) {
      error = caught;
    }
    if (current.current !== feed) return;
    reading.current = false;
    if (isOfKey(error)) refuse(error.message);
    if (isPassing(error)) timer.current = setTimeout(() => void read(feed, pages), TRY_AGAIN_MS);
    setState({ feed, bars: feed.bars, error, isWaiting: false });
  };
  const { asset, symbol, interval, isEth, adjust, asOf } = choice;
  // A layout effect runs at once: a usual one waits for the next frame, before the request and again before
  // the drawing.
  useLayoutEffect(() => {
    const ender = new AbortController();
    const feed = new BarFeed(bourse, choice, clockOf(zone), ender.signal);
    current.current = feed;
    reading.current = false;
    setState((before) => ({ ...before, isWaiting: true }));
    void read(feed, FIRST_PAGES);
    return () => {
      current.current = null;
      clearTimeout(timer.current);
      ender.abort();
    };
  }, [bourse, asset, symbol, interval, isEth, adjust, asOf, zone]);
  const older = (): void => {
    const feed = current.current;
    if (feed !== null && feed.bars.length > 0) void read(feed, pagesAfter(feed.bars.length));
  };
  return { ...state, older };
}

const moves: Readonly<Record<string, (chart: PriceChart, isWide: boolean) => void>> = {
  ArrowLeft: (chart, isWide) => chart.step(isWide ? -10 : -1),
  ArrowRight: (chart, isWide) => chart.step(isWide ? 10 : 1),
  PageUp: (chart) => chart.scroll(-0.8),
  PageDown: (chart) => chart.scroll(0.8),
  End: (chart) => chart.showNewest(),
  '+': (chart) => chart.zoom(0.7),
  '=': (chart) => chart.zoom(0.7),
  '-': (chart) => chart.zoom(1.4),
};

/** The request for the bars that were loaded. */
function requestOf(choice: BarChoice, bars: readonly ChartBar[]) {
  const [from, to] = [bars[0]!.label, bars.at(-1)!.label];
  const { asset, symbol, interval } = choice;
  return {
    name: 'historicalBars',
    values: {
      schema_asset: asset,
      country_symbol: symbol,
      interval,
      from_date: from,
      to_date: to,
      ...optionsOf(choice),
    },
  } as const;
}

/** The chart with its controls. */
export function ChartView(props: {
  place: Place;
  reference: Row<'instrumentReference'>;
  interval: string;
}): ComponentChild {
  const { place, reference, interval } = props;
  const connection = useConnection();
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<PriceChart | null>(null);
  /** The point that the crosshair is at, in seconds. */
  const [pointed, setPointed] = useState<number | null>(null);
  const zone = reference.time_zone ?? 'UTC';
  const clock = useMemo(() => clockOf(zone), [zone]);
  const choice: BarChoice = {
    asset: reference.asset_schema as BarChoice['asset'],
    symbol: place.path[1]!,
    interval,
    isEth: place.query.eth === '1',
    adjust: place.query.adjust ?? '',
    asOf: asOfInstant(place.query.as_of),
  };
  const { feed, bars, error, isWaiting, older } = useBars(choice, zone);
  const olderRef = useRef(older);
  olderRef.current = older;
  useLayoutEffect(() => {
    const made = new PriceChart(element.current!, {
      onPoint: setPointed,
      onEdge: () => olderRef.current(),
    });
    chart.current = made;
    const restyle = (): void => {
      made.restyle();
      // Marks and shades take the colours of the page too.
      setLook((count) => count + 1);
    };
    addEventListener('bourse-theme', restyle);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', restyle);
    return () => {
      removeEventListener('bourse-theme', restyle);
      dark.removeEventListener('change', restyle);
      made.remove();
    };
  }, []);
  const hasPostMarket = (reference.trading_hours?.post_market_trading ?? []).length > 0;
  const notes = useNotes(choice, bars, feed);
  const [look, setLook] = useState(0);
  const drawn = useMemo(
    () => drawnOf(notes, bars, feed?.choice.interval ?? interval, { clock, hasPostMarket }),
    [notes, bars, clock, hasPostMarket, look],
  );
  const shownFeed = useRef<BarFeed | null>(null);
  useLayoutEffect(() => {
    if (feed === null || chart.current === null) return;
    chart.current.show({ bars, interval: feed.choice.interval, clock, blanks: drawn.blanks });
    chart.current.mark(drawn.marks, drawn.shades);
    if (shownFeed.current !== feed) chart.current.showNewest();
    shownFeed.current = feed;
  }, [feed, drawn, clock]);
  const onKey = (event: KeyboardEvent): void => {
    const move = moves[event.key];
    if (move === undefined || chart.current === null || event.ctrlKey || event.metaKey || event.altKey)
      return;
    event.preventDefault();
    move(chart.current, event.shiftKey);
  };
  const { asset, symbol } = choice;
  const [country, ...rest] = symbol.split(':');
  const isEmpty = !isWaiting && error === null && bars.length === 0;
  const range = bars.length === 0 ? null : { from: bars[0]!.label, to: bars.at(-1)!.label };
  const download = (format: 'csv' | 'parquet') => ({
    name: format === 'csv' ? 'CSV' : 'Parquet',
    save: () =>
      downloadBars(
        {
          schema_asset: asset,
          country_iso_code: country!,
          symbol: rest.join(':'),
          interval,
          ...range!,
          ...optionsOf(choice),
        },
        format,
        connection,
      ),
  });
  return h(
    'section',
    { class: 'chart-view', 'aria-label': 'Chart' },
    h(Toolbar, {
      place,
      interval,
      // Pre- and post-market, or a closing auction; elsewhere the switch would change nothing.
      hasExtended: asset === 'stock',
      hasActions: asset === 'stock',
    }),
    h(
      'div',
      { class: isWaiting ? 'chart waiting' : 'chart' },
      h(Legend, {
        bar: pointed === null ? bars.at(-1) : barOf(bars, pointed),
        bars,
        interval: feed?.choice.interval ?? interval,
        clock,
        reasons: pointed === null ? [] : (drawn.reasons.get(pointed) ?? []),
      }),
      h('div', {
        ref: element,
        class: 'canvas',
        role: 'application',
        tabIndex: 0,
        'aria-label': `${symbol} ${interval}: arrows move from bar to bar, Page Up goes back, plus and minus zoom`,
        onKeyDown: onKey,
      }),
      error === null ? null : h(Failure, { error }),
      isEmpty ? h(NoBars, { choice, place }) : null,
    ),
    h(
      'p',
      { class: 'chart-foot quiet' },
      range === null
        ? h('span', null, isWaiting ? 'Loading …' : '')
        : h(
            'span',
            { role: 'status' },
            `${countText(bars.length)} bars since ${dateText(Date.parse(range.from))}`,
            feed?.isWhole ? ', all there are' : '; scroll back for more',
            hasLabels(interval) ? '' : ` · times in ${zone}`,
          ),
      h(
        'a',
        { href: 'https://www.tradingview.com/', target: '_blank', rel: 'noopener noreferrer' },
        'Charts by TradingView Lightweight Charts™',
      ),
    ),
    range === null
      ? null
      : h(RequestPanel, {
          asked: requestOf(choice, bars),
          file: symbol.replace(':', '-'),
          downloads: [download('csv'), download('parquet')],
        }),
    // Last: notes come after the bars, and would push away what someone is about to press.
    h(NotesPanel, { notes, bars, clock, point: (time) => chart.current?.pointTo(time) }),
  );
}
