// The bars of one chart, newest first by page keys, kept in order of time.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AssetSchema, Bourse, IntervalCode, Page, Row } from '../client/index.ts';
import { type Asking, isOfKey, isPassing, TRY_AGAIN_MS, useConnection, useMoment } from './asking.ts';
import { clockOf, dayOf, type MarketClock, plusDays } from './market-clock.ts';

/** Which bars a chart shows. */
export type BarChoice = {
  readonly asset: AssetSchema;
  readonly symbol: string;
  readonly interval: IntervalCode;
  readonly isEth: boolean;
  readonly adjust: string;
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

/** The options of the wire that a choice comes to; those with their default are absent. */
export const optionsOf = ({ isEth, adjust }: BarChoice) => ({
  is_eth: isEth || undefined,
  adjust: adjust === '' ? undefined : (adjust as 'all'),
});

/**
 * The index of the first bar for which something holds that holds for all after it; the number of bars where
 * it never does.
 */
export function firstIndex(bars: readonly ChartBar[], holds: (bar: ChartBar) => boolean): number {
  let [low, high] = [0, bars.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(bars[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

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
class BarFeed {
  readonly choice: BarChoice;
  /** All bars that were read, ascending. */
  bars: readonly ChartBar[] = [];
  /** True if there are none before them. */
  isWhole = false;
  readonly #bourse: Bourse;
  readonly #asking: Asking;
  readonly #clock: MarketClock;
  #pages: AsyncGenerator<Page<Row<'historicalBars'>>> | null = null;

  constructor(bourse: Bourse, choice: BarChoice, clock: MarketClock, asking: Asking) {
    this.choice = choice;
    this.#bourse = bourse;
    this.#clock = clock;
    this.#asking = asking;
  }

  /** The last instant to ask for: before the first bar, where a walk was cut and goes on. */
  #end(): string {
    const first = this.bars[0];
    if (first !== undefined && !hasLabels(this.choice.interval))
      return new Date(first.openMs - 1_000).toISOString();
    if (first !== undefined) return plusDays(first.label, -1);
    return plusDays(dayOf(this.#clock.localMs(Date.now())), 1);
  }

  #begin() {
    const { asset, symbol, interval } = this.choice;
    const options = { from: BEGINNING, to: this.#end(), sort: 'desc', session_date: true } as const;
    const given = { ...options, ...optionsOf(this.choice), ...this.#asking };
    return this.#bourse.bars(asset, symbol, interval, given).pages();
  }

  /**
   * Reads so many pages before the bars that are there. @throws BourseError; the next call goes on after the
   * last page that came
   */
  async older(pages: number): Promise<void> {
    const isLabelled = hasLabels(this.choice.interval);
    const found: ChartBar[][] = [];
    try {
      for (let count = 0; count < pages && !this.isWhole; count++) {
        this.#pages ??= this.#begin();
        const { done, value } = await this.#pages.next();
        this.isWhole = done === true || value.next_page_key === null;
        if (!done) found.push(value.data.map((bar) => chartBar(bar, isLabelled)).reverse());
      }
    } catch (error) {
      this.#pages = null;
      throw error;
    } finally {
      this.bars = [...found.reverse().flat(), ...this.bars];
    }
  }
}

/** Pages of the first look, and those that each look further back reads: more, the more there are already. */
const FIRST_PAGES = 1;
const pagesAfter = (bars: number): number => (bars > 20_000 ? 8 : bars > 4_000 ? 3 : 1);

/** The bars of a choice as a chart has them; `feed` is null before the first of them. */
type Loaded = {
  readonly feed: BarFeed | null;
  readonly bars: readonly ChartBar[];
  readonly error: unknown;
  readonly isWaiting: boolean;
};

/** The bars of a choice, and a way to read older ones. */
export function useBars(choice: BarChoice, zone: string): Loaded & { readonly older: () => void } {
  const { bourse, refuse } = useConnection();
  const { day, known } = useMoment();
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
  const { asset, symbol, interval, isEth, adjust } = choice;
  // A layout effect runs at once: a usual one waits for the next frame, before the request and again before
  // the drawing.
  useLayoutEffect(() => {
    const ender = new AbortController();
    const feed = new BarFeed(bourse, choice, clockOf(zone), { signal: ender.signal, ...known });
    current.current = feed;
    reading.current = false;
    setState((before) => ({ ...before, isWaiting: true }));
    void read(feed, FIRST_PAGES);
    return () => {
      current.current = null;
      clearTimeout(timer.current);
      ender.abort();
    };
  }, [bourse, asset, symbol, interval, isEth, adjust, day, zone]);
  const older = (): void => {
    const feed = current.current;
    if (feed !== null && feed.bars.length > 0) void read(feed, pagesAfter(feed.bars.length));
  };
  return { ...state, older };
}
