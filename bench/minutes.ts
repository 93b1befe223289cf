// A CSV of minute bars to import: random walks over real US sessions, ordered by symbol or by time.
// Deterministic.
import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs';
import { dayOf, formatInstant, MINUTE_MS } from '../src/base/instant.ts';
import { calendarOf } from '../src/market/calendar/calendar.ts';

/** Minutes of an ordinary session of US stocks. */
export const SESSION_MINUTES = 390;

/** The year that minutes usually begin in. */
export const FIRST_YEAR = 2015;

/**
 * What a file holds: as many minutes of every symbol, from the first session of a year on or some minutes
 * after it.
 */
export type MinuteFile = {
  readonly path: string;
  readonly rows: number;
  readonly order: 'symbol' | 'time';
  readonly symbols: number;
  /** The number of the first symbol. */
  readonly firstSymbol?: number;
  readonly firstMinute?: number;
  readonly firstYear?: number;
};

/** A small generator of numbers in [0, 1): mulberry32. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The symbol of a number. */
export const symbolOf = (index: number): string => `B${index.toString(36).toUpperCase().padStart(4, '0')}`;

/** Texts of the open instants of regular minutes from a year on. */
export function minuteTexts(count: number, firstYear = FIRST_YEAR): string[] {
  const texts: string[] = [];
  for (const session of calendarOf('stock', 'US').sessions(dayOf(firstYear, 1, 1), dayOf(2030, 1, 1))) {
    for (let ms = session.openMs; ms < session.closeMs; ms += MINUTE_MS) {
      if (texts.length === count) return texts;
      texts.push(formatInstant(ms).replace('+00:00', 'Z'));
    }
  }
  return texts;
}

/** Writes the file, unless an earlier run left it. */
export function writeMinutes(minutes: MinuteFile): void {
  const { path, rows, order, symbols, firstSymbol = 0, firstMinute = 0, firstYear } = minutes;
  if (existsSync(path)) return;
  const perSymbol = Math.ceil(rows / symbols);
  const texts = minuteTexts(firstMinute + perSymbol, firstYear).slice(firstMinute);
  const next = random(7);
  const cents = Float64Array.from({ length: symbols }, (_, index) => 2_000 + (index % 400) * 100);
  const fresh = `${path}.new`;
  const file = openSync(fresh, 'w');
  let lines = ['symbol,datetime,open,high,low,close,volume,vwap\n'];
  for (let row = 0; row < rows; row++) {
    const symbol = order === 'symbol' ? Math.floor(row / perSymbol) : row % symbols;
    const minute = order === 'symbol' ? row % perSymbol : Math.floor(row / symbols);
    const open = cents[symbol]!;
    const close = Math.max(100, open + Math.round((next() - 0.5) * 12));
    const high = Math.max(open, close) + Math.floor(next() * 6);
    const low = Math.min(open, close) - Math.floor(next() * 6);
    cents[symbol] = close;
    const vwap = (high + low + close) / 300;
    lines.push(
      `${symbolOf(firstSymbol + symbol)},${texts[minute]},${open / 100},${high / 100},${low / 100},${close / 100},${Math.floor(next() * 20_000)},${vwap.toFixed(4)}\n`,
    );
    if (lines.length < 20_000) continue;
    writeSync(file, lines.join(''));
    lines = [];
  }
  writeSync(file, lines.join(''));
  closeSync(file);
  renameSync(fresh, path);
}
