// The chart: candles and volume by lightweight-charts, moved by mouse, touch and keys. Its time axis is in
// the market's own time: a day of it begins with its session, not at midnight in UTC.
import {
  CandlestickSeries,
  ColorType,
  CrosshairMode,
  createChartEx,
  createSeriesMarkers,
  defaultHorzScaleBehavior,
  HistogramSeries,
  type IChartApiBase,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type MouseEventParams,
  type SeriesMarker,
  type Time,
} from 'lightweight-charts';
import { type ChartBar, hasLabels } from './bar-feed.ts';
import { digitsOf } from './figures.ts';
import { clockOf, dateText, type MarketClock } from './market-clock.ts';
import { type Blank, type Mark, type Shade, Shades } from './marks.ts';
import { faint, solid } from './theme.ts';

/**
 * The days of the axis: the label date of a point in seconds; absent for a point that belongs to no
 * session.
 */
type Labels = { readonly clock: MarketClock; readonly labelOf: (time: number) => string | undefined };

// The weights that lightweight-charts has for tick marks: the greater, the rather a mark is shown.
const weights = { minute: 20, minutes5: 21, minutes30: 22, hour: 30, hours3: 31, hours6: 32 } as const;
const DAY = 50;
const MONTH = 60;
const YEAR = 70;

const MINUTE = 60;
const HOUR = 3_600;

function weightInDay(localSeconds: number): number {
  if (localSeconds % (6 * HOUR) === 0) return weights.hours6;
  if (localSeconds % (3 * HOUR) === 0) return weights.hours3;
  if (localSeconds % HOUR === 0) return weights.hour;
  if (localSeconds % (30 * MINUTE) === 0) return weights.minutes30;
  return localSeconds % (5 * MINUTE) === 0 ? weights.minutes5 : weights.minute;
}

function weightBetween(before: string, label: string, localSeconds: number): number {
  if (before.slice(0, 4) !== label.slice(0, 4)) return YEAR;
  if (before.slice(0, 7) !== label.slice(0, 7)) return MONTH;
  return before === label ? weightInDay(localSeconds) : DAY;
}

type Behavior = InstanceType<ReturnType<typeof defaultHorzScaleBehavior>>;
type Points = Parameters<Behavior['fillWeightsForPoints']>[0];

/** A time scale on which days, months and years begin with the sessions that their labels name. */
class MarketTimeScale extends defaultHorzScaleBehavior() {
  labels: Labels | null = null;

  override fillWeightsForPoints(points: Points, startIndex: number): void {
    const { labels } = this;
    if (labels === null) {
      super.fillWeightsForPoints(points, startIndex);
      return;
    }
    const timeOf = (index: number): number => Number(points[index]!.originalTime);
    const labelAt = (time: number): string =>
      labels.labelOf(time) ?? new Date(labels.clock.localMs(time * 1_000)).toISOString().slice(0, 10);
    for (
      let index = startIndex, before = startIndex > 0 ? labelAt(timeOf(startIndex - 1)) : null;
      index < points.length;
      index++
    ) {
      const time = timeOf(index);
      const label = labelAt(time);
      const weight = weightBetween(before ?? label, label, labels.clock.localMs(time * 1_000) / 1_000);
      (points[index] as { timeWeight: number }).timeWeight = before === null ? DAY : weight;
      before = label;
    }
  }

  override formatTickmark(
    mark: Parameters<Behavior['formatTickmark']>[0],
    localization: Parameters<Behavior['formatTickmark']>[1],
  ): string {
    const { labels } = this;
    if (labels === null) return super.formatTickmark(mark, localization);
    const ms = Number(mark.originalTime) * 1_000;
    if (mark.weight < DAY) return labels.clock.time(ms);
    const label = labels.labelOf(ms / 1_000);
    const [day, month, year] = dateText(
      label === undefined ? labels.clock.localMs(ms) : Date.parse(label),
    ).split(' ');
    if (mark.weight >= YEAR) return year!;
    return mark.weight >= MONTH ? month! : `${day} ${month}`;
  }
}

/** The content of the chart. */
type ChartContent = {
  readonly bars: readonly ChartBar[];
  readonly interval: string;
  readonly clock: MarketClock;
  /** Sessions without bars: a point in seconds and the label of each. */
  readonly blanks: readonly Blank[];
};

/** The events that a chart reports. */
type ChartEvents = {
  /** The crosshair is at another point, of a bar or blank, in seconds; null where it is at none. */
  readonly onPoint: (time: number | null) => void;
  /** The left edge of the window is near the first bar. */
  readonly onEdge: () => void;
};

/** Bars before the left edge at which more are asked for. */
const AHEAD_BARS = 300;
/** The part of the height that volume has. */
const VOLUME_TOP = 0.82;

/** Room for prices such as 12,345.67, in CSS pixels. */
const PRICES_WIDTH = 72;

/** A chart in an element, until it is removed. */
export class PriceChart {
  readonly #scale = new MarketTimeScale();
  readonly #chart: IChartApiBase<Time>;
  readonly #candles: ISeriesApi<'Candlestick', Time>;
  readonly #volume: ISeriesApi<'Histogram', Time>;
  readonly #markers: ISeriesMarkersPluginApi<Time>;
  readonly #shades = new Shades();
  readonly #events: ChartEvents;
  #content: ChartContent | null = null;
  #byTime = new Map<number, number>();
  /** The point that the crosshair is at. It stays at its place in the window, whatever bars come there. */
  #pointed: number | null = null;
  /** The bar that keys move it to with the next frame; what the chart tells before is of where it was. */
  #aim: number | null = null;
  /** Bars and blank points. */
  #length = 0;

  constructor(element: HTMLElement, events: ChartEvents) {
    this.#events = events;
    this.#chart = createChartEx<Time, MarketTimeScale>(element, this.#scale, {
      autoSize: true,
      // Its logo would bring a style sheet of its own; a line below the chart names and links TradingView
      // instead.
      layout: { attributionLogo: false },
      crosshair: { mode: CrosshairMode.Normal },
      // Where prices of another width change the width of the chart, all of its canvases are made anew.
      rightPriceScale: { minimumWidth: PRICES_WIDTH },
      timeScale: {
        timeVisible: true,
        secondsVisible: false,
        rightOffset: 4,
        minBarSpacing: 0.05,
      },
      localization: { timeFormatter: (time: Time) => this.#timeText(Number(time)) },
    });
    this.#candles = this.#chart.addSeries(CandlestickSeries, { borderVisible: false });
    this.#candles.attachPrimitive(this.#shades);
    this.#volume = this.#chart.addSeries(HistogramSeries, {
      priceFormat: { type: 'volume' },
      priceScaleId: '',
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.#volume.priceScale().applyOptions({ scaleMargins: { top: VOLUME_TOP, bottom: 0 } });
    this.#candles.priceScale().applyOptions({ scaleMargins: { top: 0.12, bottom: 1 - VOLUME_TOP + 0.02 } });
    this.#markers = createSeriesMarkers(this.#candles, []);
    this.#chart.subscribeCrosshairMove((event) => this.#onMove(event));
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range !== null && range.from < AHEAD_BARS) this.#events.onEdge();
    });
    this.restyle();
  }

  #timeText(seconds: number): string {
    const { clock, interval } = this.#content!;
    if (hasLabels(interval)) return dateText(seconds * 1_000);
    return `${clock.dateTime(seconds * 1_000)} ${clock.name(seconds * 1_000)}`;
  }

  /** Takes the colours of the page anew. */
  restyle(): void {
    const [ink, quiet, line] = [solid('ink'), solid('quiet'), faint('line', 0.55)];
    this.#chart.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: 'transparent' },
        textColor: quiet,
        fontFamily: getComputedStyle(document.body).fontFamily,
        fontSize: 11,
      },
      grid: { vertLines: { visible: false }, horzLines: { color: line } },
      crosshair: {
        vertLine: { color: quiet, labelBackgroundColor: ink },
        horzLine: { color: quiet, labelBackgroundColor: ink },
      },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line },
    });
    const [up, down] = [solid('up'), solid('down')];
    this.#candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down });
    this.#shades.lineColor = faint('quiet', 0.22);
    if (this.#content !== null) this.show(this.#content);
  }

  /** Shows bars; what was in sight stays there when bars come before them. */
  show(content: ChartContent): void {
    const { bars, blanks, clock, interval } = content;
    const before = this.#content;
    this.#content = content;
    this.#byTime = new Map(bars.map(({ time }, index) => [time, index]));
    if (this.#aim !== null && !this.#byTime.has(this.#aim)) this.#aim = null;
    const blankLabels = new Map(blanks.map(({ time, label }) => [time, label]));
    const labelOf = (time: number): string | undefined =>
      blankLabels.get(time) ?? bars[this.#byTime.get(time) ?? -1]?.label;
    this.#scale.labels = { clock: hasLabels(interval) ? clockOf('UTC') : clock, labelOf };
    const digits = digitsOf(bars.slice(-50).map(({ close }) => close));
    this.#candles.applyOptions({
      priceFormat: { type: 'price', precision: digits, minMove: 10 ** -digits },
    });
    const points: { time: Time }[] = bars as unknown as { time: Time }[];
    const spaced = blanks.length === 0 ? points : withBlanks(points, blanks);
    const scale = this.#chart.timeScale();
    const range = before?.bars.length ? scale.getVisibleLogicalRange() : null;
    const grown = spaced.length - this.#length;
    this.#length = spaced.length;
    this.#candles.setData(spaced);
    const [up, down] = [faint('up', 0.35), faint('down', 0.35)];
    this.#volume.setData(
      bars
        .filter(({ volume }) => volume !== null)
        .map(({ time, volume, open, close }) => ({
          time: time as Time,
          value: volume!,
          color: close >= open ? up : down,
        })),
    );
    if (range !== null && grown > 0)
      scale.setVisibleLogicalRange({ from: range.from + grown, to: range.to + grown });
    this.#shades.lines = hasLabels(interval)
      ? []
      : bars
          .filter(({ label }, index) => index > 0 && label !== bars[index - 1]!.label)
          .map(({ time }) => time);
    this.#shades.update();
  }

  /** Shows the newest bars, as many as are readable. */
  showNewest(): void {
    const width = Math.max(this.#chart.timeScale().width(), 320);
    const to = this.#end;
    this.#chart.timeScale().setVisibleLogicalRange({ from: to - Math.round(width / 7), to });
  }

  /** Marks bars and stretches. */
  mark(marks: readonly Mark[], shades: readonly Shade[]): void {
    this.#markers.setMarkers(
      marks.map(
        ({ time, letter, color, isAbove }): SeriesMarker<Time> => ({
          time: time as Time,
          position: isAbove ? 'aboveBar' : 'belowBar',
          shape: isAbove ? 'arrowDown' : 'circle',
          color,
          text: letter,
        }),
      ),
    );
    this.#shades.shades = shades;
    this.#shades.update();
  }

  /**
   * The crosshair, or what is beneath it, has moved: by the pointer, or because other bars or another window
   * are shown.
   */
  #onMove({ time, sourceEvent }: MouseEventParams<Time>): void {
    if (sourceEvent !== undefined) this.#aim = null;
    if (this.#aim === null) this.#point(time === undefined ? null : Number(time));
  }

  #point(seconds: number | null): void {
    if (seconds === this.#pointed) return;
    this.#pointed = seconds;
    this.#events.onPoint(seconds);
  }

  /** Moves the pointed bar by so many; the first press points to the last one in sight. */
  step(count: number): void {
    const bars = this.#content?.bars ?? [];
    if (bars.length === 0) return;
    const at = this.#pointed === null ? undefined : this.#byTime.get(this.#pointed);
    const next = (at ?? bars.length - 1 - count) + count;
    this.pointTo(bars[Math.min(Math.max(next, 0), bars.length - 1)]!.time);
  }

  /** Points to a bar, and brings it into sight. */
  pointTo(time: number): void {
    const index = this.#byTime.get(time);
    if (index === undefined) return;
    this.#aim = time;
    const scale = this.#chart.timeScale();
    const logical = scale.timeToIndex(time as Time, true) ?? index;
    const range = scale.getVisibleLogicalRange();
    if (range !== null && (logical < range.from || logical > range.to)) {
      const half = (range.to - range.from) / 2;
      scale.setVisibleLogicalRange({ from: logical - half, to: logical + half });
    }
    this.#point(time);
    // The window has moved by the next frame only.
    requestAnimationFrame(() => {
      if (this.#aim !== time) return;
      this.#aim = null;
      const { close } = this.#content!.bars[this.#byTime.get(time)!]!;
      this.#chart.setCrosshairPosition(close, time as Time, this.#candles);
    });
  }

  /** Shows more bars, or fewer, around the right edge. */
  zoom(factor: number): void {
    const scale = this.#chart.timeScale();
    const range = scale.getVisibleLogicalRange();
    if (range !== null)
      scale.setVisibleLogicalRange({ from: range.to - (range.to - range.from) * factor, to: range.to });
  }

  /** Moves the window by a part of its width, as far as there are bars; negative is back in time. */
  scroll(part: number): void {
    const scale = this.#chart.timeScale();
    const range = scale.getVisibleLogicalRange();
    if (range === null) return;
    const width = range.to - range.from;
    const [first, last] = [Math.min(0, range.from), Math.max(this.#end - width, range.from)];
    const from = Math.min(Math.max(range.from + width * part, first), last);
    scale.setVisibleLogicalRange({ from, to: from + width });
  }

  /** The right edge of a window that shows the newest bars. */
  get #end(): number {
    return this.#length + 3;
  }

  remove(): void {
    this.#chart.remove();
  }
}

/** Bars and blank points together, in order of time. */
function withBlanks(
  points: readonly { readonly time: Time }[],
  blanks: ChartContent['blanks'],
): { time: Time }[] {
  const all = [...points, ...blanks.map(({ time }) => ({ time: time as Time }))];
  return all.sort((one, other) => Number(one.time) - Number(other.time));
}
