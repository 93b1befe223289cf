// Synthetic bars for the demo as text of native files: a pure function of instrument and day. They are not market data.
import { formatDay, formatInstantZ, MINUTE_MS } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import type { Session } from '../calendar/session.ts';
import type { AssetSchema } from '../contract/identifiers.ts';

/** An instrument of `examples/instruments.csv`: the price around which it moves, the volume of a minute (0: it has none), and decimals. */
type Sample = {
  readonly name: readonly [assetSchema: AssetSchema, country: string, symbol: string];
  readonly price: number;
  readonly priceDecimals: number;
  readonly minuteVolume: number;
  readonly volumeDecimals: number;
};

const stock = { priceDecimals: 2, volumeDecimals: 0 };
const samples: readonly Sample[] = [
  { name: ['stock', 'US', 'AAPL'], price: 190, minuteVolume: 140_000, ...stock },
  { name: ['stock', 'US', 'MSFT'], price: 410, minuteVolume: 55_000, ...stock },
  { name: ['stock', 'US', 'SPY'], price: 560, minuteVolume: 150_000, ...stock },
  {
    name: ['crypto', 'GLOBAL', 'BTCUSD'],
    price: 68_000,
    priceDecimals: 2,
    minuteVolume: 9,
    volumeDecimals: 6,
  },
  { name: ['forex', 'GLOBAL', 'EURUSD'], price: 1.09, priceDecimals: 5, minuteVolume: 0, volumeDecimals: 0 },
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

/** One session's bars as lines: a walk that is drawn back to the line between two days' levels, thin before and after regular hours. */
function linesOf(sample: Sample, session: Session, interval: keyof typeof moves): string {
  const { name, minuteVolume, priceDecimals, volumeDecimals } = sample;
  const { day, segments } =
    interval === 'DAY' ? { ...session, segments: [{ ...session, kind: 'regular' }] } : session;
  const startMs = segments[0]!.openMs;
  const lengthMs = segments.at(-1)!.closeMs - startMs;
  const stepMs = interval === 'DAY' ? lengthMs : MINUTE_MS;
  const next = seeded(name[2] + interval, day);
  const [from, to] = [levelOf(sample, day - 1), levelOf(sample, day)];
  const strayed = (most: number): number => most * moves[interval] * from * next();
  const price = (value: number): string => value.toFixed(priceDecimals);
  let text = '';
  let walked = 0;
  let open = from;
  for (const { kind, openMs, closeMs } of segments)
    for (let ms = openMs; ms < closeMs; ms += stepMs) {
      walked = walked * 0.995 + strayed(1) - strayed(1);
      if (kind !== 'regular' && next() > EXTENDED_SHARE) continue;
      const close = from + ((to - from) * (ms + stepMs - startMs)) / lengthMs + walked;
      const high = Math.max(open, close) + strayed(0.5);
      const low = Math.min(open, close) - strayed(0.5);
      const share = kind === 'regular' ? stepMs / MINUTE_MS : EXTENDED_VOLUME;
      const volume = (minuteVolume * share * (0.2 + 1.6 * next())).toFixed(volumeDecimals);
      const time = interval === 'DAY' ? formatDay(day) : formatInstantZ(ms);
      const amounts = minuteVolume === 0 ? ',' : `${volume},${price((high + low + close) / 3)}`;
      text += `${name.join(',')},${time},${price(open)},${price(high)},${price(low)},${price(close)},${amounts}\n`;
      open = close;
    }
  return text;
}

/** The text of a file of bars of an interval, of the sessions labelled `[fromDay, toDay)`. */
export function* demoBars(interval: keyof typeof moves, fromDay: number, toDay: number): Generator<string> {
  yield 'asset_schema,country_iso_code,symbol,datetime,open,high,low,close,volume,vwap\n';
  for (const sample of samples)
    for (const session of calendarOf(sample.name[0], sample.name[1]).sessions(fromDay, toDay))
      yield linesOf(sample, session, interval);
}
