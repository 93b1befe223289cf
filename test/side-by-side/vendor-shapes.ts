// Bars in the shapes of vendors' files, as their own documentation and downloads have them.
import { gzipSync } from 'node:zlib';
import { zipOf } from '../zip.ts';
import type { Timed, Values } from './bars-by-hand.ts';

/** A day by its date. */
export type Dated = readonly [date: string, values: Values];

const MINUTE_MS = 60_000;
const textOf = (...lines: readonly string[]): string => [...lines, ''].join('\n');

/** Massive's flat file of minutes: nanoseconds, and close before high and low. */
export const massive = (ticker: string, minutes: readonly Timed[]): Buffer =>
  gzipSync(
    textOf(
      'ticker,volume,open,close,high,low,window_start,transactions',
      ...minutes.map(({ atMs, open, high, low, close, volume }) =>
        [ticker, volume, open, close, high, low, BigInt(atMs) * 1_000_000n, 1].join(),
      ),
    ),
  );

/**
 * Binance's klines of so many minutes: no header, milliseconds, and the quote volume, from which the vwap
 * comes.
 */
export const binance = (bars: readonly Timed[], count = 1): string =>
  textOf(
    ...bars.map(({ atMs, open, high, low, close, volume, vwap }) => {
      const quote = (volume! * (vwap ?? 0)).toFixed(8);
      return [
        atMs,
        open,
        high,
        low,
        close,
        volume!.toFixed(8),
        atMs + count * MINUTE_MS - 1,
        quote,
        1,
        0,
        0,
        0,
      ].join();
    }),
  );

/** Yahoo's page of historical prices. */
export const yahoo = (days: readonly Dated[]): string =>
  textOf(
    'Date,Open,High,Low,Close,Adj Close,Volume',
    ...days.map(([date, { open, high, low, close, volume }]) =>
      [date, open, high, low, close, close - 1, volume].join(),
    ),
  );

/** TradingView's "Export chart data": seconds. */
export const tradingview = (minutes: readonly Timed[]): string =>
  textOf(
    'time,open,high,low,close,Volume',
    ...minutes.map(({ atMs, open, high, low, close, volume }) =>
      [atMs / 1000, open, high, low, close, volume].join(),
    ),
  );

/** A native file whose instants have an offset, `+09:00`. */
export const native = (minutes: readonly Timed[], offset: string): string =>
  textOf(
    'datetime,open,high,low,close,volume,vwap',
    ...minutes.map(({ atMs, open, high, low, close, volume, vwap }) => {
      const localMs = atMs + Number(offset.slice(0, 3)) * 60 * MINUTE_MS;
      const local = new Date(localMs).toISOString().slice(0, 19);
      return [`${local}${offset}`, open, high, low, close, volume, vwap].join();
    }),
  );

/** A native file whose instants are of a local clock. */
export const withoutOffset = (text: string): string => text.replaceAll(/[+-]\d\d:00,/g, ',');

const zipped = (name: string, lines: readonly string[]): Buffer =>
  zipOf({ name, bytes: Buffer.from(textOf(...lines)) });

/** LEAN's minutes of a US stock: ten-thousandths, milliseconds since New York's midnight. */
export const leanTrades = (midnight: string, minutes: readonly Timed[]): Buffer =>
  zipped(
    'minute_trade.csv',
    minutes.map(({ atMs, open, high, low, close, volume }) =>
      [
        atMs - Date.parse(midnight),
        ...[open, high, low, close].map((price) => Math.round(price * 10_000)),
        volume,
      ].join(),
    ),
  );

/** Bids and asks, each without a size. */
const quotes = ({ open, high, low, close }: Values): string => {
  const prices = [open, high, low, close];
  return [...prices, 0, ...prices.map((price) => price + 1), 0].join();
};

/** OANDA's minutes as LEAN has them: quotes, milliseconds since midnight in UTC. */
export const oandaMinutes = (date: string, minutes: readonly Timed[]): Buffer =>
  zipped(
    'minute_quote.csv',
    minutes.map((one) => `${one.atMs - Date.parse(date)},${quotes(one)}`),
  );

/** OANDA's days as LEAN has them: quotes of dates in UTC, Sundays included. */
export const oandaDays = (days: readonly Dated[]): Buffer =>
  zipped(
    'daily.csv',
    days.map(([date, one]) => `${date.replaceAll('-', '')} 00:00,${quotes(one)}`),
  );
