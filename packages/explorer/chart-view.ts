// A chart of one instrument: its bars as far back as one scrolls, what they are at the pointer, what is
// stored where there are none, and the request for them.
import { type ComponentChild, h } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AssetSchema, IntervalCode, Row } from '../client/index.ts';
import { Empty, Failure, hashAt, useAnswer, useConnection, useMoment } from './asking.ts';
import { type BarChoice, type ChartBar, firstIndex, hasLabels, optionsOf, useBars } from './bar-feed.ts';
import { Toolbar } from './controls.ts';
import { changeText, countText, digitsOf, priceText } from './figures.ts';
import { clockOf, dateText, dayOf, dayText, type MarketClock } from './market-clock.ts';
import { drawnOf, NotesPanel, useNotes } from './marks.ts';
import { hashOf, type Place } from './place.ts';
import { PriceChart } from './price-chart.ts';
import { RequestPanel } from './request-panel.ts';
import { onTheme } from './theme.ts';

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

/** When a bar was: its session, or its open in the market's time. */
function timeText({ label, openMs }: ChartBar, interval: string, clock: MarketClock): string {
  if (hasLabels(interval)) return dayText(label);
  return `${dayText(dayOf(clock.localMs(openMs)))} ${clock.time(openMs)} ${clock.name(openMs)}`;
}

const figure = (name: string, value: string, direction = ''): ComponentChild =>
  h('span', { class: direction }, h('b', null, name), value);

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 });

/** A volume, such as `54.89M`. */
const volumeText = (value: number): string => compact.format(value);

/** The line above a chart: the pointed bar, or the newest one. */
function Legend(props: {
  bar: ChartBar | undefined;
  bars: readonly ChartBar[];
  interval: string;
  clock: MarketClock;
  reasons: readonly string[];
}): ComponentChild {
  const { bar, bars, interval, clock, reasons } = props;
  const why = reasons.map((reason) => h('span', { class: 'why', key: reason }, reason));
  if (bar === undefined) return h('div', { class: 'legend' }, why);
  const digits = digitsOf(bars.slice(-50).map(({ close }) => close));
  const direction = bar.close >= bar.open ? 'up' : 'down';
  const price = (name: string, value: number): ComponentChild =>
    figure(name, priceText(value, digits), direction);
  return h(
    'div',
    { class: 'legend' },
    h('span', { class: 'when' }, timeText(bar, interval, clock)),
    price('O', bar.open),
    price('H', bar.high),
    price('L', bar.low),
    price('C', bar.close),
    h('span', { class: direction }, changeText(bar.open, bar.close)),
    bar.volume !== null && figure('Vol', volumeText(bar.volume)),
    why,
  );
}

/** A chart without bars: what is stored of the instrument instead, one press away. */
function NoBars({ choice, place }: { choice: BarChoice; place: Place }): ComponentChild {
  const { bourse } = useConnection();
  const { day } = useMoment();
  const { asset, symbol, interval } = choice;
  const [country, name] = symbol.split(':');
  const { value } = useAnswer(
    async (asking) => {
      const options = { country_iso_code: country, query: name, limit: 50, ...asking };
      const rows = await bourse.coverage(asset, options).toArray();
      return rows.filter((row) => row.symbol === name);
    },
    [asset, symbol],
  );
  const when = day === '' ? '' : ` as of ${dateText(Date.parse(day))}`;
  return h(
    Empty,
    { title: `No bars of ${interval}${when}` },
    value?.length === 0 && h('p', null, `No bars of this instrument are stored${when}.`),
    value !== undefined &&
      value.length > 0 &&
      h(
        'ul',
        { class: 'plain' },
        value.map((row) =>
          h(
            'li',
            { key: row.interval },
            h('a', { href: hashOf([asset, symbol, row.interval], place.query) }, row.interval),
            ` is stored from ${dateText(Date.parse(row.first_datetime))} to ${dateText(Date.parse(row.last_datetime))}: ${countText(row.bars)} bars`,
          ),
        ),
      ),
    day !== '' &&
      h('p', null, h('a', { href: hashAt('', place.path, place.query) }, 'Show what is known now')),
  );
}

/** The bar of a point in seconds. */
function barOf(bars: readonly ChartBar[], time: number): ChartBar | undefined {
  const bar = bars[firstIndex(bars, (one) => one.time >= time)];
  return bar?.time === time ? bar : undefined;
}

/** The chart with its controls. */
export function ChartView(props: {
  place: Place;
  reference: Row<'instrumentReference'>;
  interval: string;
}): ComponentChild {
  const { place, reference, interval } = props;
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<PriceChart | null>(null);
  /** The point that the crosshair is at, in seconds. */
  const [pointed, setPointed] = useState<number | null>(null);
  const zone = reference.time_zone ?? 'UTC';
  const clock = useMemo(() => clockOf(zone), [zone]);
  const choice: BarChoice = {
    asset: reference.asset_schema as AssetSchema,
    symbol: place.path[1]!,
    interval: interval as IntervalCode,
    isEth: place.query.eth === '1',
    adjust: place.query.adjust ?? '',
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
    const unlisten = onTheme(() => {
      made.restyle();
      // Marks and shades take the colours of the page too.
      setLook((count) => count + 1);
    });
    return () => {
      unlisten();
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
  const shownFeed = useRef<typeof feed>(null);
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
  const range = bars.length === 0 ? null : { from: bars[0]!.label, to: bars.at(-1)!.label };
  const asked = { schema_asset: asset, country_symbol: symbol, interval, ...range, ...optionsOf(choice) };
  return h(
    'section',
    { class: 'chart-view', 'aria-label': 'Chart' },
    h(Toolbar, { place, interval, isStock: asset === 'stock' }),
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
      h(Failure, { error }),
      !isWaiting && error === null && range === null && h(NoBars, { choice, place }),
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
    range !== null &&
      h(RequestPanel, { asked: { name: 'historicalBars', values: asked }, file: symbol.replace(':', '-') }),
    // Last: notes come after the bars, and would push away what someone is about to press.
    h(NotesPanel, { notes, bars, clock, point: (time) => chart.current?.pointTo(time) }),
  );
}
