// Synthetic prices and quotes for the demo as text of native files: a pure function of instrument and moment.
// They are not market data.
import { DAY_MS, dayOf, formatDay, formatInstantZ, MINUTE_MS, parseDay } from '../../base/instant.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import { calendarOf } from '../../market/calendar/calendar.ts';
import type { Session } from '../../market/calendar/session.ts';

/**
 * An instrument of `examples/instruments.csv`: the price around which it moves, its usual move in a day as a
 * share, the volume of a minute (0: it has none), decimals of both. It has minutes for the last `minuteDays`,
 * and days before.
 */
type Sample = {
  readonly name: readonly [assetSchema: AssetSchema, country: string, symbol: string];
  readonly price: number;
  readonly move: number;
  readonly minuteVolume: number;
  readonly decimals: readonly [price: number, volume: number];
  readonly minuteDays: number;
};

/** A split in the raw prices: before this day they are so many times as high. */
export type DemoSplit = { readonly symbol: string; readonly day: number; readonly ratio: number };

/** The first day of the demo, in days before today. */
const DAYS = 3 * 365 + 1;

/** Days of minutes: two years of one stock, and a few weeks of the others, so that the demo starts soon. */
const FEW_DAYS = 42;
const MANY_DAYS = 2 * 365 + 1;

const table = [
  [['stock', 'US', 'AAPL'], 190, 0.014, 140_000, [2, 0], MANY_DAYS],
  [['stock', 'US', 'MSFT'], 410, 0.012, 55_000, [2, 0], FEW_DAYS],
  [['stock', 'US', 'SPY'], 560, 0.008, 150_000, [2, 0], FEW_DAYS],
  [['crypto', 'GLOBAL', 'BTCUSD'], 68_000, 0.024, 9, [2, 6], FEW_DAYS],
  [['forex', 'GLOBAL', 'EURUSD'], 1.09, 0.004, 0, [5, 0], FEW_DAYS],
] as const;
const samples: readonly Sample[] = table.map(([name, price, move, minuteVolume, decimals, minuteDays]) => {
  return { name, price, move, minuteVolume, decimals, minuteDays };
});

/**
 * The faults of one stock that findings report, by sessions counted from the last one: one is missing, one
 * lacks half an hour (minutes of regular hours), and the DAY bar of one has a false low.
 */
const faults = { symbol: 'MSFT', missing: 4, part: 2, fromMinute: 90, toMinute: 120, falseLow: 60 };

/** The walks of all prices begin here, so that a day has the same prices in the demos of all later days. */
const START = dayOf(2020, 1, 1);

/** Parts of a walk: of the overnight move, of what stocks have in common, of the way back to the price. */
const GAP = 0.5;
const COMMON = 0.6;
const BACK = 0.01;

/** GARCH(1,1): the weights of the usual, of the last and of the former variance. */
const [USUAL, LAST, FORMER] = [0.025, 0.06, 0.9];

/** Pre- and post-market: the share of minutes that trade; moves and volume beside those of regular hours. */
const EXTENDED_SHARE = 0.25;
const EXTENDED_MOVE = 0.3;
const EXTENDED_VOLUME = 0.03;

/** A small generator of numbers in [0, 1): mulberry32, seeded by text and number. */
function seeded(text: string, number: number): () => number {
  let state = number;
  for (const letter of text) state = Math.imul(state ^ letter.codePointAt(0)!, 0x5bd1e995) + 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Nearly normal numbers of mean 0 and deviation 1, of numbers in [0, 1): sums of three. */
const normalOf =
  (next: () => number): (() => number) =>
  () =>
    2 * (next() + next() + next() - 1.5);

/** A session: the close before it, its open and close, the deviation of its move, its share of the volume. */
type Day = {
  readonly session: Session;
  readonly before: number;
  readonly open: number;
  readonly close: number;
  readonly deviation: number;
  readonly activity: number;
};

/** The sessions up to the day before `today`: a walk that returns to the price, with clustered volatility. */
function daysOf({ name: [schema, country, symbol], price, move }: Sample, today: number): Day[] {
  let last = { close: price, closeMs: 0, variance: move ** 2 };
  return calendarOf(schema, country)
    .sessions(START, today)
    .map((session) => {
      const { close: before, closeMs, variance } = last;
      const normal = normalOf(seeded(symbol, session.day));
      const deviation = Math.sqrt(variance);
      const gap = session.openMs > closeMs ? GAP * deviation * normal() : 0;
      const own = Math.sqrt(1 - COMMON ** 2) * normal();
      const moved = deviation * (COMMON * normalOf(seeded(schema, session.day))() + own);
      const open = before * Math.exp(gap);
      const close = open * Math.exp(moved - BACK * Math.log(open / price));
      const square = Math.log(close / before) ** 2;
      last = {
        close,
        closeMs: session.closeMs,
        variance: USUAL * move ** 2 + LAST * square + FORMER * variance,
      };
      const activity =
        (deviation / move) * (0.6 + (0.5 * Math.abs(moved)) / deviation) * Math.exp(0.25 * normal());
      return { session, before, open, close, deviation, activity };
    });
}

/** The activity of a market in each of some steps: a U for stocks, a wave for those that never close. */
const activityOf = (schema: AssetSchema, steps: number): number[] =>
  Array.from({ length: steps }, (_, at) => {
    const share = (at + 0.5) / steps;
    if (schema === 'stock') return 0.6 + 2 * (2 * share - 1) ** 4;
    return 1 + 0.5 * Math.cos(2 * Math.PI * (share - 0.6));
  });

/** The closes of a walk from one price to another, which moves more where the market is busier. */
function walk(
  busy: readonly number[],
  from: number,
  to: number,
  deviation: number,
  normal: () => number,
): Float64Array {
  const closes = new Float64Array(busy.length);
  const size = from * deviation * Math.sqrt(1 / busy.length);
  let price = from;
  for (let at = 0; at < busy.length; at++) closes[at] = price += size * Math.sqrt(busy[at]!) * normal();
  const drift = (to - price) / busy.length;
  for (let at = 0; at < busy.length; at++) closes[at]! += drift * (at + 1);
  return closes;
}

/** The bars of one session as lines: raw prices are `ratio` times as high, and none closes after `nowMs`. */
function linesOf(
  { name, minuteVolume, decimals }: Sample,
  interval: '1M' | 'DAY',
  { session, before, open, close, deviation, activity }: Day,
  { ratio, nowMs, fault }: { ratio: number; nowMs: number; fault: 'part' | 'falseLow' | null },
): string {
  const next = seeded(name[2] + interval, session.day);
  const normal = normalOf(next);
  const start = name.join();
  const price = (value: number): string => (value * ratio).toFixed(decimals[0]);
  const line = (
    time: string,
    first: number,
    high: number,
    low: number,
    last: number,
    minutes: number,
  ): string => {
    const volume = (minuteVolume * minutes * activity) / ratio;
    const amounts =
      minuteVolume === 0 ? ',' : `${volume.toFixed(decimals[1])},${price((high + low + last) / 3)}`;
    return `${start},${time},${price(first)},${price(high)},${price(low)},${price(last)},${amounts}\n`;
  };
  if (interval === 'DAY') {
    const closes = walk(activityOf(name[0], 26), open, close, deviation, normal);
    const low = Math.min(open, ...closes) * (fault === 'falseLow' ? 0.75 : 1);
    const minutes = (session.closeMs - session.openMs) / MINUTE_MS;
    return line(formatDay(session.day), open, Math.max(open, ...closes), low, close, minutes);
  }
  let text = '';
  let last = Math.sqrt(before * open);
  for (const { kind, openMs, closeMs } of session.segments) {
    const isRegular = kind === 'regular';
    if (isRegular) last = open;
    const busy = activityOf(name[0], (closeMs - openMs) / MINUTE_MS);
    const moves = isRegular ? deviation : EXTENDED_MOVE * deviation;
    const closes = walk(busy, last, kind === 'pre' ? open : close, moves, normal);
    const wick = (0.6 * moves * open) / Math.sqrt(busy.length);
    for (let at = 0; at < busy.length; at++) {
      // Post-market of yesterday may go on: until 01:00 UTC in New York.
      if (openMs + (at + 1) * MINUTE_MS > nowMs) break;
      if (!isRegular && next() > EXTENDED_SHARE) continue;
      const price = closes[at]!;
      const high = Math.max(last, price) + wick * next();
      const low = Math.min(last, price) - wick * next();
      const isLost = fault === 'part' && isRegular && at >= faults.fromMinute && at < faults.toMinute;
      const time = formatInstantZ(openMs + at * MINUTE_MS);
      if (!isLost)
        text += line(
          time,
          last,
          high,
          low,
          price,
          (isRegular ? busy[at]! : EXTENDED_VOLUME) * (0.4 - 0.6 * Math.log(1 - next())),
        );
      last = price;
    }
  }
  return text;
}

/** The factor from today's prices to the raw prices of a day. */
const ratioOn = (symbol: string, day: number, splits: readonly DemoSplit[]): number =>
  splits
    .filter((split) => split.symbol === symbol && day < split.day)
    .reduce((product, { ratio }) => product * ratio, 1);

/**
 * The text of a file of bars of an interval, as a demo that is made at a moment has it: of the sessions up to
 * yesterday, those that have closed.
 */
export function* demoBars(
  interval: '1M' | 'DAY',
  nowMs: number,
  splits: readonly DemoSplit[],
): Generator<string> {
  const today = Math.floor(nowMs / DAY_MS);
  yield 'asset_schema,country_iso_code,symbol,datetime,open,high,low,close,volume,vwap\n';
  for (const sample of samples) {
    const symbol = sample.name[2];
    const since = today - sample.minuteDays;
    const days = daysOf(sample, today);
    for (const [at, one] of days.entries()) {
      const { day } = one.session;
      if (day < today - DAYS || day < since !== (interval === 'DAY')) continue;
      const fromLast = symbol === faults.symbol ? days.length - at : 0;
      if (fromLast === faults.missing) continue;
      const fault = fromLast === faults.part ? 'part' : fromLast === faults.falseLow ? 'falseLow' : null;
      yield linesOf(sample, interval, one, { ratio: ratioOn(symbol, day, splits), nowMs, fault });
    }
  }
}

/** The yearly interest by which options are priced. */
const INTEREST = 0.04;

const density = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** The normal distribution, to 7 decimals (Abramowitz and Stegun 26.2.17). */
function below(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const weights = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153];
  const tail = density(x) * weights.reduce((sum, weight) => (sum + weight) * t, 0);
  return x > 0 ? 1 - tail : tail;
}

/** The quote of a contract at the close of its underlying's last session, by Black and Scholes, as cells. */
function quoteOf(
  symbol: string,
  type: string,
  strike: number,
  expiry: number,
  { session, ...day }: Day,
): string {
  const next = seeded(symbol, session.day);
  const price = day.close;
  const years = Math.max(1, expiry - session.day) / 365;
  const away = Math.log(strike / price);
  const volatility = day.deviation * Math.sqrt(252) * (1.1 - 0.6 * away + 1.5 * away ** 2);
  const spread = volatility * Math.sqrt(years);
  const high = (-away + INTEREST * years) / spread + spread / 2;
  const low = high - spread;
  const side = type === 'call' ? 1 : -1;
  const paid = strike * Math.exp(-INTEREST * years);
  const value = side * (price * below(side * high) - paid * below(side * low));
  const theta =
    (-price * density(high) * volatility) / (2 * Math.sqrt(years)) -
    side * INTEREST * paid * below(side * low);
  const half = 0.01 + 0.01 * value;
  const interest = 20_000 * Math.exp(-60 * away ** 2) * next();
  const figures: readonly (readonly [figure: number, decimals: number])[] = [
    [Math.max(0, value - half), 2],
    [value + half, 2],
    [Math.max(0.01, value), 2],
    [interest * next() * 0.3, 0],
    [interest, 0],
    [volatility, 4],
    [side * below(side * high), 4],
    [density(high) / (price * spread), 4],
    [theta / 365, 4],
    [(price * density(high) * Math.sqrt(years)) / 100, 4],
    [(side * years * paid * below(side * low)) / 100, 4],
  ];
  return [
    ...figures.map(([figure, decimals]) => figure.toFixed(decimals)),
    formatInstantZ(session.closeMs),
  ].join();
}

/** A file of contracts with the quotes that a demo made at a moment has; expired contracts have none. */
export function withQuotes(contracts: string, nowMs: number): string {
  const today = Math.floor(nowMs / DAY_MS);
  const [header, ...rows] = contracts.trimEnd().split('\n');
  const lastOf = new Map(
    samples.map((sample) => [
      sample.name[2],
      daysOf(sample, today).findLast(({ session }) => session.closeMs <= nowMs)!,
    ]),
  );
  const quoted = rows.map((row) => {
    const [, symbol, , underlying, type, strike, date, status] = row.split(',');
    if (status !== 'active') return `${row}${','.repeat(12)}`;
    return `${row},${quoteOf(symbol!, type!, Number(strike), parseDay(date!)!, lastOf.get(underlying!)!)}`;
  });
  const columns =
    'bid,ask,last,volume,open_interest,implied_volatility,delta,gamma,theta,vega,rho,quote_datetime';
  return [`${header},${columns}`, ...quoted, ''].join('\n');
}
