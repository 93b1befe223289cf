// What is drawn behind the bars: stretches that a colour and a reason mark, and the lines at which sessions
// begin.
import type { IChartApiBase, ISeriesPrimitive, SeriesAttachedParameter, Time } from 'lightweight-charts';

/** A stretch of bars, from the first to the last point in seconds, both included. */
export type Shade = {
  readonly from: number;
  readonly to: number;
  readonly color: string;
  /** Short; drawn where there is room. Empty for none. */
  readonly text: string;
  readonly textColor: string;
};

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
