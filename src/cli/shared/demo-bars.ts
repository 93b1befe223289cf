// Synthetic bars for the demo as text of native files: a pure function of instrument and day. They are not
// market data.
import { DAY_MS, formatDay, formatInstantZ, MINUTE_MS } from '../../base/instant.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import { calendarOf } from '../../market/calendar/calendar.ts';
import type { Session } from '../../market/calendar/session.ts';

/**
 * An instrument of `examples/instruments.csv`: the price around which it moves, the volume of a minute (0: it
 * has none), and decimals. It has minutes for the last `minuteDays`, and days before; with `hasGaps` a
 * session and 25 minutes of another are missing.
 */
type Sample = {
  readonly name: readonly [assetSchema: AssetSchema, country: string, symbol: string];
  readonly price: number;
  readonly priceDecimals: number;
  readonly minuteVolume: number;
  readonly volumeDecimals: number;
  readonly minuteDays: number;
  readonly hasGaps?: boolean;
};

/** A split in the raw prices: before this day they are so many times as high. */
export type DemoSplit = { readonly symbol: string; readonly day: number; readonly ratio: number };

/** The first day of the demo, in days before today. */
const DAYS = 3 * 365 + 1;

/**
 * Days of minutes: of one stock for as long as intraday charts are looked at, of the others a few weeks, so
 * that the demo is made in seconds.
 */
const FEW_DAYS = 42;
const MANY_DAYS = 2 * 365 + 1;

/**
 * The gaps: which session from the last one lacks all minutes, which one some, and which minutes of regular
 * hours.
 */
const GAPS = { session: 4, part: 2, fromMinute: 90, toMinute: 115 };

const stock = { priceDecimals: 2, volumeDecimals: 0, minuteDays: FEW_DAYS };
const samples: readonly Sample[] = [
  { name: ['stock', 'US', 'AAPL'], price: 190, minuteVolume: 140_000, ...stock, minuteDays: MANY_DAYS },
  { name: ['stock', 'US', 'MSFT'], price: 410, minuteVolume: 55_000, ...stock, hasGaps: true },
  { name: ['stock', 'US', 'SPY'], price: 560, minuteVolume: 150_000, ...stock },
  {
    name: ['crypto', 'GLOBAL', 'BTCUSD'],
    price: 68_000,
    priceDecimals: 2,
    minuteVolume: 9,
    volumeDecimals: 6,
    minuteDays: FEW_DAYS,
  },
  {
    name: ['forex', 'GLOBAL', 'EURUSD'],
    price: 1.09,
    priceDecimals: 5,
    minuteVolume: 0,
    volumeDecimals: 0,
    minuteDays: FEW_DAYS,
  },
];

/** How far a price moves within a bar, as a share of it. */
const moves = { '1M': 0.0003, DAY: 0.006 };

/** The share of pre- and post-market minutes that trade, and their volume beside that of regular ones. */
const EXTENDED_SHARE = 0.25;
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

/** The price at the end of a day: slow waves, and a step of its own for every day. */
function levelOf({ name: [schema, , symbol], price }: Sample, day: number): number {
  const phase = seeded(symbol, 1)() * 2 * Math.PI;
  const waves = 0.09 * Math.sin(day / 97 + phase) + 0.04 * Math.sin(day / 23 + 2 * phase);
  const step = 0.012 * (seeded(symbol, day)() - 0.5);
  return price * Math.exp((schema === 'forex' ? 0.25 : 1) * (waves + step));
}

/** How many times as high the raw prices of a day are as those of today. */
const ratioOn = (symbol: string, day: number, splits: readonly DemoSplit[]): number =>
  splits
    .filter((split) => split.symbol === symbol && day < split.day)
    .reduce((product, { ratio }) => product * ratio, 1);

/**
 * One session's bars as lines: a walk that is drawn back to the line between two days' levels, thin before
 * and after regular hours.
 */
function linesOf(
  sample: Sample,
  session: Session,
  interval: keyof typeof moves,
  nowMs: number,
  splits: readonly DemoSplit[],
): string {
  const { name, minuteVolume, priceDecimals, volumeDecimals } = sample;
  const { day, segments } =
    interval === 'DAY' ? { ...session, segments: [{ ...session, kind: 'regular' }] } : session;
  const startMs = segments[0]!.openMs;
  const lengthMs = segments.at(-1)!.closeMs - startMs;
  const stepMs = interval === 'DAY' ? lengthMs : MINUTE_MS;
  const next = seeded(name[2] + interval, day);
  const [from, to] = [levelOf(sample, day - 1), levelOf(sample, day)];
  const strayed = (most: number): number => most * moves[interval] * from * next();
  const ratio = ratioOn(name[2], day, splits);
  const price = (value: number): string => (value * ratio).toFixed(priceDecimals);
  let text = '';
  let walked = 0;
  let open = from;
  // Post-market of yesterday may go on: until 01:00 UTC in New York.
  for (const { kind, openMs, closeMs } of segments)
    for (let ms = openMs; ms < closeMs && ms + stepMs <= nowMs; ms += stepMs) {
      walked = walked * 0.995 + strayed(1) - strayed(1);
      if (kind !== 'regular' && next() > EXTENDED_SHARE) continue;
      const close = from + ((to - from) * (ms + stepMs - startMs)) / lengthMs + walked;
      const high = Math.max(open, close) + strayed(0.5);
      const low = Math.min(open, close) - strayed(0.5);
      const share = kind === 'regular' ? stepMs / MINUTE_MS : EXTENDED_VOLUME;
      const volume = ((minuteVolume * share * (0.2 + 1.6 * next())) / ratio).toFixed(volumeDecimals);
      const time = interval === 'DAY' ? formatDay(day) : formatInstantZ(ms);
      const amounts = minuteVolume === 0 ? ',' : `${volume},${price((high + low + close) / 3)}`;
      text += `${name.join(',')},${time},${price(open)},${price(high)},${price(low)},${price(close)},${amounts}\n`;
      open = close;
    }
  return text;
}

/** A session without some of its minutes. */
function withoutSome(session: Session): Session {
  const segments = session.segments.flatMap((segment) => {
    if (segment.kind !== 'regular') return [segment];
    const [fromMs, toMs] = [GAPS.fromMinute, GAPS.toMinute].map(
      (minute) => segment.openMs + minute * MINUTE_MS,
    );
    return [
      { ...segment, closeMs: fromMs! },
      { ...segment, openMs: toMs! },
    ];
  });
  return { ...session, segments };
}

/** The sessions of an instrument that the file of an interval has bars of, up to the day before `today`. */
function sessionsOf(
  { name, minuteDays, hasGaps }: Sample,
  interval: keyof typeof moves,
  today: number,
): Session[] {
  const [fromDay, toDay] =
    interval === 'DAY' ? [today - DAYS, today - minuteDays] : [today - minuteDays, today];
  const sessions = [...calendarOf(name[0], name[1]).sessions(fromDay, toDay)];
  if (interval === 'DAY' || hasGaps !== true) return sessions;
  const [missing, part] = [sessions.length - GAPS.session, sessions.length - GAPS.part];
  return sessions.flatMap((session, at) =>
    at === missing ? [] : [at === part ? withoutSome(session) : session],
  );
}

/**
 * The text of a file of bars of an interval, as a demo that is made at a moment has it: of the sessions up to
 * yesterday, those that have closed.
 */
export function* demoBars(
  interval: keyof typeof moves,
  nowMs: number,
  splits: readonly DemoSplit[],
): Generator<string> {
  const today = Math.floor(nowMs / DAY_MS);
  yield 'asset_schema,country_iso_code,symbol,datetime,open,high,low,close,volume,vwap\n';
  for (const sample of samples)
    for (const session of sessionsOf(sample, interval, today))
      yield linesOf(sample, session, interval, nowMs, splits);
}
