// The line above a chart: what the pointed bar is.
import { type ComponentChild, h } from 'preact';
import { type ChartBar, hasLabels } from './bar-feed.ts';
import { changeText, digitsOf, priceText, volumeText } from './figures.ts';
import { dayText, type MarketClock } from './market-clock.ts';

/** When a bar was: its session, or its open in the market's time. */
function timeText({ label, openMs }: ChartBar, interval: string, clock: MarketClock): string {
  if (hasLabels(interval)) return dayText(label);
  return `${dayText(new Date(clock.localMs(openMs)).toISOString().slice(0, 10))} ${clock.time(openMs)} ${clock.name(openMs)}`;
}

const figure = (name: string, value: string, direction = ''): ComponentChild =>
  h('span', { class: direction }, h('b', null, name), value);

/** The pointed bar, or the newest one. */
export function Legend(props: {
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
  const price = (value: number): string => priceText(value, digits);
  return h(
    'div',
    { class: 'legend' },
    h('span', { class: 'when' }, timeText(bar, interval, clock)),
    figure('O', price(bar.open), direction),
    figure('H', price(bar.high), direction),
    figure('L', price(bar.low), direction),
    figure('C', price(bar.close), direction),
    h('span', { class: direction }, changeText(bar.open, bar.close)),
    bar.volume === null ? null : figure('Vol', volumeText(bar.volume)),
    why,
  );
}
