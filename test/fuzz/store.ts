// What the fuzzer's store is filled with.
import type { Filling } from '../importing.ts';
import {
  barNames,
  CLOSE,
  corporateActions,
  eventCodes,
  events,
  holidays,
  instruments,
  news,
  optionContracts,
  type Row,
} from './data.ts';

const MINUTES = 60;
const DAYS = ['03', '04', '05', '06', '07'];

/** Interval and time of each bar that every instrument has: minutes of two days, and days. */
const times: readonly (readonly [interval: string, datetime: string])[] = [
  ...['03', '04'].flatMap((day) =>
    Array.from({ length: MINUTES }, (_, index) => {
      const atMs = Date.parse(`2025-03-${day}T14:30:00Z`) + index * 60_000;
      return ['1M', new Date(atMs).toISOString()] as const;
    }),
  ),
  ...DAYS.map((day) => ['DAY', `2025-03-${day}`] as const),
];

const bars: readonly Row[] = barNames.flatMap((name) => {
  const [asset_schema, country_iso_code, symbol] = name.split(':') as [string, string, string];
  return times.map(([interval, datetime], volume) => ({
    ...{ asset_schema, country_iso_code, symbol, interval, datetime },
    ...{ open: 1, high: 3.5, low: 0.5, close: CLOSE, volume },
  }));
});

/** Rows of every dataset. */
export const fillings: readonly Filling[] = [
  ['instruments', instruments],
  ['bars', bars],
  ['corporate-actions', corporateActions.map(([row]) => row)],
  ['news', news],
  ['option-contracts', optionContracts.map(([row]) => row)],
  ['holidays', holidays],
  ['economic-events', events.map(([row]) => row)],
  ['economic-event-codes', eventCodes],
];
