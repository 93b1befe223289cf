// What happened in the markets of the year, and which files of it arrive when: by the evening of the day, or
// late, short, doubled, corrected.
import { Random } from '../fuzz/random.ts';
import { DAY_MS, dateOf, dayOf, type Market, MINUTE_MS, markets, newYork, type Session } from './calendar.ts';
import type { Interval } from './facts.ts';

export type File = { readonly name: string; readonly text: string };

/** What becomes of the file of one day. */
const kinds = ['usual', 'late', 'noon', 'short', 'doubled', 'corrected', 'touched', 'lacking'] as const;
export type Kind = (typeof kinds)[number];

/** How many of a hundred files are of a kind. */
const shares: Readonly<Record<Kind, number>> = {
  ...{ usual: 68, late: 6, noon: 5, short: 4, doubled: 4, corrected: 5, touched: 5, lacking: 3 },
};

/** The series that one vendor's files have. Those who trade seldom are named apart. */
type Feed = {
  readonly name: string;
  readonly market: Market;
  readonly interval: Interval;
  readonly symbols: readonly string[];
  readonly seldom: readonly string[];
};

const words = (text: string): string[] => text.split(' ');

export const feeds: readonly Feed[] = [
  {
    ...{ name: 'a', market: markets.stock, interval: '30M', seldom: [] },
    symbols: words('AAR ABT ACE ADM AES AFL AGN AIG AKS ALL'),
  },
  {
    ...{ name: 'b', market: markets.stock, interval: '30M', seldom: words('BTU BXP') },
    symbols: words('BAX BBY BDX BEN BIG BLL BMS BSX BTU BXP'),
  },
  { name: 'd', market: markets.stock, interval: 'DAY', symbols: words('DAL DHI DOV DTE'), seldom: [] },
  {
    ...{ name: 'x', market: markets.crypto, interval: '60M', seldom: [] },
    symbols: words('BTC/USD ETH/USD SOL/USD'),
  },
  {
    ...{ name: 'f', market: markets.forex, interval: '60M', seldom: [] },
    symbols: words('EUR/USD GBP/USD USD/JPY'),
  },
];

/** At which sessions of the year, counted from its beginning, something happens once. */
export type Turns = {
  /** A split of AFL that nobody announced, and when it is recorded. */
  readonly split: number;
  readonly recorded: number;
  /** From here on ACE is ACX. */
  readonly renamed: number;
  /** The last session of AIG, and the first of another company that has its symbol. */
  readonly delisted: number;
  readonly reused: number;
};

export const sessions: readonly Session[] = markets.stock.sessions.filter(
  ({ day }) => dayOf('2025-01-01') <= day && day <= dayOf('2025-12-31'),
);
/** The date of a session of the year. */
export const dayAt = (at: number): number => sessions[at]?.day ?? Number.POSITIVE_INFINITY;

/** When files arrive on the date of a session, and when all is compared. */
export const moments = {
  morning: (day: number): number => newYork(day, 8),
  check: (day: number): number => newYork(day, 9),
  noon: (day: number): number => newYork(day, 13, 10),
  evening: (day: number): number => newYork(day, 20, 30),
};

const HEAD = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume';

type Line = {
  readonly symbol: string;
  readonly keyMs: number;
  readonly closeMs: number;
  readonly values: readonly number[];
};

/** A file that comes at a moment; `mark` tells it from others of its session. */
type Coming = { readonly ms: number; readonly mark?: string; readonly lines: readonly Line[] };

function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return (sum ^ (sum >>> 15)) >>> 0;
}
/** From 0 (included) to 1 (not), always the same for one text. */
const part = (text: string): number => (hash(text) % 10_007) / 10_007;
const cents = (value: number): number => Math.round(value * 100) / 100;

export class World {
  readonly #seed: number;
  readonly #turns: Turns;
  /** The files that arrive at a moment. */
  readonly #arrivals = new Map<number, File[]>();
  readonly tally: Record<Kind, number> = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<
    Kind,
    number
  >;

  /** The first sessions of the year. */
  constructor(seed: number, count: number, turns: Turns) {
    this.#seed = seed;
    this.#turns = turns;
    const random = new Random(seed);
    for (let at = 0; at < count; at++)
      for (const feed of feeds)
        for (const session of this.#newSessions(feed, at)) this.#schedule(random, feed, session, at);
  }

  /** The sessions of a feed that ended since the evening before. */
  #newSessions({ market }: Feed, at: number): Session[] {
    const untilMs = moments.evening(dayAt(at));
    const sinceMs = at === 0 ? sessions[0]!.fromMs - DAY_MS : moments.evening(dayAt(at - 1));
    return market.sessions.filter(({ toMs }) => sinceMs < toMs && toMs <= untilMs);
  }

  #schedule(random: Random, feed: Feed, session: Session, at: number): void {
    const kind = this.#kindOf(random, feed);
    this.tally[kind]++;
    const name = `${feed.name}-${dateOf(session.day)}`;
    for (const { ms, mark = '', lines } of this.#coming(random, feed, session, { kind, at }))
      if (lines.length > 0) this.arrive(ms, { name: `${name}${mark}.csv`, text: textOf(feed, lines) });
  }

  /** What comes of a session of a feed, and when. */
  #coming(
    random: Random,
    feed: Feed,
    session: Session,
    { kind, at }: { readonly kind: Kind; readonly at: number },
  ): Coming[] {
    const lines = this.#lines(feed, session);
    const later = dayAt(at + random.between(1, 2));
    const ms = moments.evening(dayAt(at));
    switch (kind) {
      case 'usual':
        return [{ ms, lines }];
      case 'late':
        return [{ ms: moments.evening(dayAt(at + random.between(1, 3))), lines }];
      case 'noon': {
        const noonMs = moments.noon(dayAt(at));
        const begun = lines.filter(({ keyMs }) => keyMs <= noonMs);
        const early = begun.map((line) => (line.closeMs <= noonMs ? line : forming(line)));
        return [
          { ms: noonMs, mark: '-noon', lines: early },
          { ms, lines },
        ];
      }
      case 'short': {
        const endMs = session.openMs + 0.6 * (session.closeMs - session.openMs);
        return [
          { ms, lines: lines.filter(({ keyMs }) => keyMs < endMs) },
          { ms: moments.morning(later), mark: '-whole', lines },
        ];
      }
      case 'doubled':
        return [
          { ms, lines },
          { ms: moments.morning(later), mark: '-again', lines },
        ];
      case 'lacking': {
        const lost = [0, 1].map(() => this.#nameOf(random.pick(feed.symbols), session.day));
        const isLost = ({ symbol }: Line): boolean => lost.includes(symbol);
        return [
          { ms, lines: lines.filter((line) => !isLost(line)) },
          { ms: moments.evening(later), mark: '-rest', lines: lines.filter(isLost) },
        ];
      }
      case 'corrected':
      case 'touched': {
        const some = new Set(Array.from({ length: 4 }, () => random.below(lines.length)));
        const all = lines.map((line, index) => (some.has(index) ? corrected(line) : line));
        // Of sessions round the clock a file is whole.
        const isWhole = kind === 'corrected' || feed.market !== markets.stock;
        const again = isWhole ? all : all.filter((_, index) => some.has(index));
        return [
          { ms, lines },
          { ms: moments.morning(dayAt(at + 1)), mark: '-corrected', lines: again },
        ];
      }
    }
  }

  #kindOf(random: Random, { interval, market }: Feed): Kind {
    let left = random.below(100);
    const kind = kinds.find((one) => {
      left -= shares[one];
      return left < 0;
    })!;
    if (kind === 'short' && interval === 'DAY') return 'usual';
    return kind === 'noon' && market !== markets.stock ? 'usual' : kind;
  }

  /** Has a file arrive at a moment. */
  arrive(ms: number, file: File): void {
    this.#arrivals.set(ms, [...(this.#arrivals.get(ms) ?? []), file]);
  }

  /** The files that arrive at a moment. */
  filesAt(ms: number): readonly File[] {
    return this.#arrivals.get(ms) ?? [];
  }

  /** The symbol of a company on a day. */
  #nameOf(symbol: string, day: number): string {
    return symbol === 'ACE' && day >= dayAt(this.#turns.renamed) ? 'ACX' : symbol;
  }

  #lines(feed: Feed, session: Session): Line[] {
    return feed.symbols.flatMap((symbol) => this.#ofSymbol(feed, symbol, session));
  }

  #ofSymbol({ interval, seldom }: Feed, symbol: string, session: Session): Line[] {
    const { day, openMs, closeMs, segments } = session;
    if (symbol === 'AIG' && dayAt(this.#turns.delisted) < day && day < dayAt(this.#turns.reused)) return [];
    const name = this.#nameOf(symbol, day);
    const line = (keyMs: number, endMs: number): Line => ({
      ...{ symbol: name, keyMs, closeMs: endMs, values: this.#values(symbol, day, keyMs) },
    });
    if (interval === 'DAY') return [line(day * DAY_MS, closeMs)];
    const stepMs = Number.parseInt(interval, 10) * MINUTE_MS;
    const isSeldom = seldom.includes(symbol);
    if (isSeldom && part(`${this.#seed} ${symbol} ${day}`) < 0.45) return [];
    const found: Line[] = [];
    for (const { kind, fromMs, toMs } of segments)
      for (let keyMs = fromMs; keyMs < toMs; keyMs += stepMs) {
        // Of extended hours the half hours beside the regular ones.
        const isNear = kind === 'regular' || (openMs - stepMs <= keyMs && keyMs < closeMs + 2 * stepMs);
        if (!isNear || (isSeldom && (kind !== 'regular' || part(`${this.#seed} ${symbol} ${keyMs}`) < 0.55)))
          continue;
        found.push(line(keyMs, Math.min(keyMs + stepMs, toMs)));
      }
    return found;
  }

  #values(symbol: string, day: number, keyMs: number): number[] {
    const own = part(`${this.#seed} ${symbol}`);
    const isSplit = symbol === 'AFL' && day >= dayAt(this.#turns.split);
    const middle = (40 + 160 * own) * (1 + 0.15 * Math.sin(day / 20 + 6 * own)) * (isSplit ? 0.25 : 1);
    const [open, close] = ['open', 'close'].map((word) =>
      cents(middle * (0.998 + 0.004 * part(`${this.#seed} ${symbol} ${keyMs} ${word}`))),
    );
    const high = cents(Math.max(open!, close!) + 0.02);
    const low = cents(Math.min(open!, close!) - 0.01);
    return [open!, high, low, close!, 100 + (hash(`${this.#seed} ${symbol} ${keyMs} volume`) % 900)];
  }

  /** All bars of a company from the beginning through a session, as one file under a symbol of then. */
  history(symbol: string, through: number): File {
    const feed = feeds.find(({ symbols }) => symbols.includes(symbol))!;
    const lines = sessions.slice(0, through + 1).flatMap((session) => this.#ofSymbol(feed, symbol, session));
    return { name: `history-${symbol}.csv`, text: textOf(feed, lines) };
  }
}

function textOf({ market, interval }: Feed, lines: readonly Line[]): string {
  const rows = lines.map(({ symbol, keyMs, values }) => {
    const time = new Date(keyMs).toISOString();
    const datetime = interval === 'DAY' ? time.slice(0, 10) : time;
    return [market.schema, market.country, symbol, interval, datetime, ...values].join();
  });
  return `${[HEAD, ...rows].join('\n')}\n`;
}

/** A bar that is going on. */
const forming = (line: Line): Line => ({ ...line, values: line.values.with(4, line.values[4]! - 1) });

/** A bar with another close and volume. */
function corrected(line: Line): Line {
  const [open, high, low, close, volume] = line.values;
  return { ...line, values: [open!, cents(high! + 0.05), low!, cents(close! + 0.01), volume! + 7] };
}
