// The bars of one chart, newest first by page keys, kept in order of time.
import type { Bourse, Page, Row } from '../client/index.ts';
import type { Argument } from '../client/sent.ts';
import { dayOf, type MarketClock } from './market-clock.ts';

/** Which bars a chart shows. */
export type BarChoice = {
  readonly asset: Argument<'historicalBars', 'schema_asset'>;
  readonly symbol: string;
  readonly interval: string;
  readonly isEth: boolean;
  readonly adjust: string;
  /** An instant or a date; empty for now. */
  readonly asOf: string;
};

/**
 * A bar as the chart draws it. `time` is in seconds: the open, of DAY and above midnight of the label date.
 */
export type ChartBar = {
  readonly time: number;
  readonly openMs: number;
  readonly closeMs: number;
  readonly label: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number | null;
};

/** True if bars of an interval are whole sessions, labelled by dates. */
export const hasLabels = (interval: string): boolean => /^(?:DAY|WEEK|MON)$/i.test(interval);

/** Before every stored bar. */
const BEGINNING = '1900-01-01';
const DAY_MS = 86_400_000;

/** The options of the wire that a choice comes to; those with their default are absent. */
export const optionsOf = ({ isEth, adjust, asOf }: BarChoice) => ({
  is_eth: isEth || undefined,
  adjust: adjust === '' ? undefined : (adjust as 'all'),
  as_of: asOf === '' ? undefined : asOf,
});

function chartBar(bar: Row<'historicalBars'>, isLabelled: boolean): ChartBar {
  const openMs = Date.parse(bar.datetime);
  const label = bar.session_date ?? bar.datetime.slice(0, 10);
  return {
    time: (isLabelled ? Date.parse(label) : openMs) / 1_000,
    openMs,
    closeMs: Date.parse(bar.close_datetime),
    label,
    open: bar.open,
    high: bar.high,
    low: bar.low,
    close: bar.close,
    volume: bar.volume,
  };
}

/** The bars of a choice, as far back as they were asked for. */
export class BarFeed {
  readonly choice: BarChoice;
  readonly #bourse: Bourse;
  readonly #signal: AbortSignal;
  readonly #clock: MarketClock;
  #pages: AsyncGenerator<Page<Row<'historicalBars'>>> | null = null;
  #bars: readonly ChartBar[] = [];
  #isWhole = false;

  constructor(bourse: Bourse, choice: BarChoice, clock: MarketClock, signal: AbortSignal) {
    this.choice = choice;
    this.#bourse = bourse;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** All bars that were read, ascending. */
  get bars(): readonly ChartBar[] {
    return this.#bars;
  }

  /** Whether there are none before them. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The last instant to ask for: before the first bar, where a walk was cut and goes on. */
  #end(): string {
    const first = this.#bars[0];
    if (first !== undefined && !hasLabels(this.choice.interval))
      return new Date(first.openMs - 1_000).toISOString();
    if (first !== undefined) return dayOf(Date.parse(first.label) - DAY_MS);
    return dayOf(this.#clock.localMs(Date.now()) + DAY_MS);
  }

  #begin() {
    const { asset, symbol, interval } = this.choice;
    const options = { from: BEGINNING, to: this.#end(), sort: 'desc', session_date: true } as const;
    return this.#bourse
      .bars(asset, symbol, interval as 'DAY', {
        ...options,
        ...optionsOf(this.choice),
        signal: this.#signal,
      })
      .pages();
  }

  /**
   * Reads so many pages before the bars that are there. @throws BourseError; the next call goes on after the
   * last page that came
   */
  async older(pages: number): Promise<void> {
    const isLabelled = hasLabels(this.choice.interval);
    const found: ChartBar[][] = [];
    try {
      for (let count = 0; count < pages && !this.#isWhole; count++) {
        this.#pages ??= this.#begin();
        const { done, value } = await this.#pages.next();
        this.#isWhole = done === true || value.next_page_key === null;
        if (!done) found.push(value.data.map((bar) => chartBar(bar, isLabelled)).reverse());
      }
    } catch (error) {
      this.#pages = null;
      throw error;
    } finally {
      this.#bars = [...found.reverse().flat(), ...this.#bars];
    }
  }
}
