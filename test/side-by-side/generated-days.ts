// The generated days, one kind each: prices walk in whole ticks, some minutes and stretches have no trade,
// and some trades lie outside every session.
import {
  forexDays,
  nextDate,
  periodsOf,
  type Session,
  sessionsOf,
  type Timed,
  type Values,
  withoutVwap,
} from './bars-by-hand.ts';
import { type Case, global, stock } from './case.ts';
import {
  binance,
  type Dated,
  leanTrades,
  massive,
  native,
  oandaDays,
  oandaMinutes,
  tradingview,
  withoutOffset,
  yahoo,
} from './vendor-shapes.ts';

/** Whole numbers from a congruential sequence. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
}

/** Bars that walk from a price in ticks of so many decimals. */
function walk(startTicks: number, decimals = 2): () => Values {
  const some = sequence(Math.abs(startTicks));
  const priced = (ticks: number): number => Number(`${ticks}e-${decimals}`);
  let last = startTicks;
  return () => {
    const open = last + some(9) - 4;
    const close = open + some(21) - 10;
    const [high, low] = [Math.max(open, close) + some(5), Math.min(open, close) - some(5)];
    last = close;
    return {
      ...{ open: priced(open), high: priced(high), low: priced(low), close: priced(close) },
      ...{ volume: 1 + some(5000), vwap: priced((open + close) / 2) },
    };
  };
}

/**
 * Bars of sessions, one in so many minutes of each segment unless nothing trades; and one at each instant
 * outside.
 */
function minutesOf(
  sessions: readonly Session[],
  next: () => Values,
  outside: readonly string[] = [],
): Timed[] {
  const instants = sessions.flatMap(({ segments }) =>
    segments.flatMap(({ openMs, closeMs }, at) =>
      Array.from({ length: (closeMs - openMs) / 60_000 }, (_, minute) => minute)
        .filter((minute) => (minute + 3 * at) % 11 !== 4 && (minute < 40 || minute % 97 > 20))
        .map((minute) => openMs + minute * 60_000),
    ),
  );
  return [...instants, ...outside.map((text) => Date.parse(text))]
    .sort((a, b) => a - b)
    .map((atMs) => ({ ...next(), atMs }));
}

/** Days of the dates that a rule chooses. */
function daysOf(
  first: string,
  last: string,
  next: () => Values,
  isDay: (weekday: number) => boolean,
): Dated[] {
  const days: Dated[] = [];
  for (let date = first; date <= last; date = nextDate(date))
    if (isDay(new Date(date).getUTCDay())) days.push([date, next()]);
  return days;
}

/** The bars from one instant to another. */
const between = (bars: readonly Timed[], from: string, to = '9'): Timed[] =>
  bars.filter(({ atMs }) => {
    const at = new Date(atMs).toISOString();
    return from <= at && at < to;
  });

const ofStock = (country: string): string[] => ['--schema', 'stock', '--country', country];
const ofMinutes = (symbol: string): string[] => ['--symbol', symbol, '--interval', '1M'];

function earlyClose(): Case {
  const sessions = sessionsOf(`
    2024-11-27 pre 11-27T09:00 regular 11-27T14:30 post 11-27T21:00 end 11-28T01:00
    2024-11-29 pre 11-29T09:00 regular 11-29T14:30 post 11-29T18:00 end 11-29T22:00`);
  const periods = periodsOf(`
    WEEK 2024-11-25 2024-11-29 11-25T14:30 11-29T18:00 11-25T09:00 11-29T22:00
    MON 2024-11-01 2024-11-29 11-01T13:30 11-29T18:00 11-01T08:00 11-29T22:00`);
  const outside = ['2024-11-28T15:00Z', '2024-11-29T08:59Z', '2024-11-29T22:00Z'];
  const minutes = withoutVwap(minutesOf(sessions, walk(25_000), outside));
  const file = (date: string, from: string, to?: string) =>
    [
      `us_stocks_sip/minute_aggs_v1/2024/11/${date}.csv.gz`,
      massive('TURKEY', between(minutes, from, to)),
    ] as const;
  return {
    ...{ named: stock('US', 'TURKEY'), from: '2024-11-27', to: '2024-11-29' },
    known: { sessions, periods, minutes },
    files: [
      file('2024-11-27', '2024-11-27', '2024-11-28T05'),
      file('2024-11-28', '2024-11-28T05', '2024-11-29T05'),
      file('2024-11-29', '2024-11-29T05'),
    ],
  };
}

function springOfTheNorth(): Case {
  const sessions = sessionsOf(`
    2024-03-08 pre 03-08T09:00 regular 03-08T14:30 post 03-08T21:00 end 03-09T01:00
    2024-03-11 pre 03-11T08:00 regular 03-11T13:30 post 03-11T20:00 end 03-12T00:00`);
  const periods = periodsOf(`
    WEEK 2024-03-04 2024-03-08 03-04T14:30 03-08T21:00 03-04T09:00 03-09T01:00
    WEEK 2024-03-11 2024-03-15
    MON 2024-03-01 2024-03-28`);
  const minutes = withoutVwap(minutesOf(sessions, walk(9_900)));
  const folder = 'equity/usa/minute/spring';
  const [friday, monday] = [between(minutes, '2024-03-08', '2024-03-10'), between(minutes, '2024-03-10')];
  return {
    ...{ named: stock('US', 'SPRING'), from: '2024-03-08', to: '2024-03-11' },
    known: { sessions, periods, minutes },
    files: [
      [`${folder}/20240308_trade.zip`, leanTrades('2024-03-08T05:00Z', friday)],
      [`${folder}/20240311_trade.zip`, leanTrades('2024-03-11T04:00Z', monday)],
    ],
  };
}

function springOfTheSouth(): Case {
  const sessions = sessionsOf(`
    2024-10-03 regular 10-03T00:00 auction 10-03T06:00 end 10-03T06:12
    2024-10-04 regular 10-04T00:00 auction 10-04T06:00 end 10-04T06:12
    2024-10-07 regular 10-06T23:00 auction 10-07T05:00 end 10-07T05:12
    2024-10-08 regular 10-07T23:00 auction 10-08T05:00 end 10-08T05:12`);
  const periods = periodsOf(`
    WEEK 2024-09-30 2024-10-04 09-30T00:00 10-04T06:12
    WEEK 2024-10-07 2024-10-11 10-06T23:00 10-11T05:12
    MON 2024-10-01 2024-10-31 10-01T00:00 10-31T05:12`);
  const minutes = minutesOf(sessions.slice(1, 3), walk(4_250));
  const days = daysOf('2024-09-02', '2024-10-31', walk(4_200), (weekday) => weekday % 6 !== 0);
  const [friday, monday] = [between(minutes, '2024-10-04', '2024-10-05'), between(minutes, '2024-10-05')];
  const flags = [...ofStock('AU'), ...ofMinutes('KOALA.AX')];
  return {
    ...{ named: stock('AU', 'KOALA.AX'), from: '2024-10-03', to: '2024-10-08' },
    known: {
      ...{ sessions, periods, minutes },
      days: new Map(days.map(([date, values]) => [date, [{ ...values, vwap: null }]])),
    },
    files: [
      ['KOALA.AX.csv', yahoo(days), ...ofStock('AU')],
      ['friday.csv', native(friday, '+10:00'), ...flags],
      ['monday.csv', native(monday, '+11:00'), ...flags],
    ],
  };
}

function dayOf23Hours(): Case {
  const sessions = sessionsOf('2024-09-29 regular 09-28T12:00 end 09-29T11:00');
  const periods = periodsOf(`
    WEEK 2024-09-23 2024-09-29 09-22T12:00 09-29T11:00
    MON 2024-09-01 2024-09-30`);
  const minutes = minutesOf(sessions, walk(55_500));
  return {
    ...{ named: stock('NZ', 'KIWI'), zone: 'Pacific/Auckland', from: '2024-09-29', to: '2024-09-29' },
    known: { sessions, periods, minutes },
    files: [['kiwi.csv', native(minutes, '+12:00'), ...ofStock('NZ'), ...ofMinutes('KIWI')]],
  };
}

function dayOf25Hours(): Case {
  const sessions = sessionsOf('2024-11-03 regular 11-03T04:00 end 11-04T05:00');
  const periods = periodsOf(`
    WEEK 2024-10-28 2024-11-03 10-28T04:00 11-04T05:00
    MON 2024-11-01 2024-11-30`);
  const minutes = minutesOf(sessions, walk(77_700));
  const [summer, winter] = [
    between(minutes, '2024-11-03', '2024-11-03T06'),
    between(minutes, '2024-11-03T06'),
  ];
  const [first, second] = [withoutOffset(native(summer, '-04:00')), withoutOffset(native(winter, '-05:00'))];
  return {
    ...{ named: stock('BS', 'CONCH'), zone: 'America/New_York', from: '2024-11-03', to: '2024-11-03' },
    known: { sessions, periods, minutes },
    files: [
      [
        'conch.csv',
        first + second.slice(second.indexOf('\n') + 1),
        ...[...ofStock('BS'), ...ofMinutes('CONCH'), '--zone', 'America/New_York'],
      ],
    ],
  };
}

function dayOfUtc(): Case {
  const sessions = sessionsOf('2024-03-10 regular 03-10T00:00 end 03-11T00:00');
  const periods = periodsOf(`
    WEEK 2024-03-04 2024-03-10 03-04T00:00 03-11T00:00
    MON 2024-03-01 2024-03-31`);
  const fractional = (bar: Timed): Timed => ({ ...bar, volume: Number(`${bar.volume! * 1_234_567}e-8`) });
  const minutes = minutesOf(sessions, walk(6_900_000)).map(fractional);
  // Another walk, so that a bar of hours is told from one of minutes; one hour is missing.
  const next = walk(6_800_000);
  const gridHours = Array.from({ length: 24 }, (_, hour) => hour)
    .filter((hour) => hour !== 13)
    .map((hour) => fractional({ ...next(), atMs: sessions[0]!.segments[0]!.openMs + hour * 3_600_000 }));
  return {
    ...{ named: global('crypto', 'NIGHTUSDT'), from: '2024-03-10', to: '2024-03-10' },
    known: { sessions, periods, minutes, gridHours },
    files: [
      ['NIGHTUSDT-1m-2024-03-10.csv', binance(minutes)],
      ['NIGHTUSDT-1h-2024-03-10.csv', binance(gridHours, 60), '--complete-from', '2024-03-04T00:00:00Z'],
    ],
  };
}

function lunchBreak(): Case {
  const sessions = sessionsOf(`
    2024-11-01 regular 11-01T00:00 auction 11-01T02:30 break 11-01T02:31 regular 11-01T03:30 auction 11-01T06:00 end 11-01T06:01
    2024-11-05 regular 11-05T00:00 auction 11-05T02:30 break 11-05T02:31 regular 11-05T03:30 auction 11-05T06:30 end 11-05T06:31`);
  // The 4th is a holiday.
  const periods = periodsOf(`
    WEEK 2024-10-28 2024-11-01 10-28T00:00 11-01T06:01
    WEEK 2024-11-05 2024-11-08 11-05T00:00 11-08T06:31
    MON 2024-11-01 2024-11-29`);
  const outside = ['2024-11-01T02:45Z', '2024-11-01T06:05Z', '2024-11-05T02:31Z', '2024-11-05T06:31Z'];
  const minutes = minutesOf(sessions, walk(777_700, 1), outside);
  const flags = [...ofStock('JP'), ...ofMinutes('7777'), '--complete-through', '2024-11-09T00:00:00Z'];
  return {
    ...{ named: stock('JP', '7777'), from: '2024-11-01', to: '2024-11-05' },
    known: { sessions, periods, minutes },
    files: [['7777.csv', native(minutes, '+09:00'), ...flags]],
  };
}

function earlyAuction(): Case {
  const sessions = sessionsOf(`
    2024-12-23 regular 12-23T08:00 auction 12-23T16:30 end 12-23T16:52
    2024-12-24 regular 12-24T08:00 auction 12-24T12:30 end 12-24T12:52`);
  const periods = periodsOf(`
    WEEK 2024-12-23 2024-12-27 12-23T08:00 12-27T16:52
    MON 2024-12-02 2024-12-31 12-02T08:00 12-31T12:52`);
  const outside = ['2024-12-23T07:59Z', '2024-12-24T12:52Z', '2024-12-24T16:35Z'];
  const minutes = withoutVwap(minutesOf(sessions, walk(31_415), outside));
  const flags = [...ofStock('UK'), '--complete-through', '2025-01-01T00:00:00Z'];
  return {
    ...{ named: stock('UK', 'GOOSE'), from: '2024-12-23', to: '2024-12-24' },
    known: { sessions, periods, minutes },
    files: [['LSE_GOOSE, 1.csv', tradingview(minutes), ...flags]],
  };
}

function overASunday(): Case {
  const sessions = sessionsOf(`
    2024-10-31 regular 10-30T21:00 end 10-31T21:00
    2024-11-01 regular 10-31T21:00 end 11-01T21:00
    2024-11-04 regular 11-03T22:00 end 11-04T22:00
    2024-11-05 regular 11-04T22:00 end 11-05T22:00`);
  const periods = periodsOf(`
    WEEK 2024-10-28 2024-11-01 10-27T21:00 11-01T21:00
    WEEK 2024-11-04 2024-11-08 11-03T22:00 11-08T22:00
    MON 2024-11-01 2024-11-29 10-31T21:00 11-29T22:00`);
  const outside = ['2024-11-01T21:00Z', '2024-11-02T12:00Z', '2024-11-03T21:59Z'];
  const minutes = minutesOf(sessions.slice(1, 3), walk(108_765, 5), outside).map((one) => ({
    ...one,
    volume: null,
    vwap: null,
  }));
  const days = daysOf('2024-10-27', '2024-11-29', walk(108_700, 5), (weekday) => weekday !== 6);
  const dates = ['2024-10-31', '2024-11-01', '2024-11-02', '2024-11-03', '2024-11-04'];
  return {
    ...{ named: global('forex', 'EURUSD'), from: '2024-10-31', to: '2024-11-05' },
    known: { sessions, periods, minutes, days: forexDays(days) },
    files: [
      ['forex/oanda/daily/eurusd.zip', oandaDays(days)],
      ...dates.map(
        (date) =>
          [
            `forex/oanda/minute/eurusd/${date.replaceAll('-', '')}_quote.zip`,
            oandaMinutes(date, between(minutes, date, nextDate(date))),
          ] as const,
      ),
    ],
  };
}

function belowZero(): Case {
  const sessions = sessionsOf(`
    2020-04-20 regular 04-19T22:00 end 04-20T21:00
    2020-04-21 regular 04-20T22:00 end 04-21T21:00`);
  const periods = periodsOf(`
    WEEK 2020-04-20 2020-04-24 04-19T22:00 04-24T21:00
    MON 2020-04-01 2020-04-30 03-31T22:00 04-30T21:00`);
  const minutes = minutesOf(sessions, walk(-15), ['2020-04-20T21:00Z', '2020-04-20T21:59Z']);
  const flags = ['--schema', 'future', '--country', 'US', ...ofMinutes('CLK20')];
  return {
    ...{ named: { ...stock('US', 'CLK20'), asset_schema: 'future' }, from: '2020-04-19', to: '2020-04-21' },
    known: { sessions, periods, minutes },
    files: [['CLK20.csv', native(minutes, '-05:00'), ...flags, '--complete-through', '2020-05-01T00:00:00Z']],
  };
}

/** The generated days by their kind. */
export const generatedDays: Readonly<Record<string, () => Case>> = {
  "an early close: New York's day after Thanksgiving, minutes in Massive's shape": earlyClose,
  "daylight saving of the north: New York's Friday and Monday, LEAN's zips of minutes": springOfTheNorth,
  "daylight saving of the south: Sydney's Friday and Monday, Yahoo's days beside native minutes":
    springOfTheSouth,
  'a day of 23 hours in Auckland, a market without a calendar: native minutes': dayOf23Hours,
  "a day of 25 hours on New York's clock, a market without a calendar: local times without offset":
    dayOf25Hours,
  "a coin's day of UTC when New York's clocks change: Binance's hours beside its minutes": dayOfUtc,
  "a lunch break: Tokyo's last shorter and first longer day, native minutes": lunchBreak,
  "an auction's early close: London's Christmas Eve, minutes in TradingView's shape": earlyAuction,
  "foreign exchange over a Sunday: OANDA's days of LEAN beside its minutes": overASunday,
  "a future's negative prices over its daily pause: native minutes of Chicago's clock": belowZero,
};
