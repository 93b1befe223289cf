// The real days: LEAN's minutes, hours and days of SPY, OANDA's days, and GOOG's and BTCUSD's minutes in the
// shapes of other vendors.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedData } from '../service.ts';
import { textInZip } from '../zip.ts';
import { forexDays, periodsOf, sessionsOf, type Timed, type Values, withoutVwap } from './bars-by-hand.ts';
import { type Case, global, stock } from './case.ts';
import { binance, type Dated, massive } from './vendor-shapes.ts';

export const lean = join(sharedData, 'lean');
export const hasRealDays = existsSync(lean);

/** The records of a CSV file of the shared data. */
export function recordsOf(...names: readonly string[]): Record<string, string>[] {
  const [header = '', ...lines] = readFileSync(join(sharedData, ...names), 'utf8')
    .trim()
    .split(/\r?\n/);
  const columns = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [columns[at]!, cell])));
}

/** Prices and volume of a row's cells; prices of LEAN's stocks are ten-thousandths. */
function valuesOf(cells: readonly string[], exponent = 0): Values {
  const [open, high, low, close] = cells.map((cell) => Number(`${cell}e${exponent}`));
  return { open: open!, high: high!, low: low!, close: close!, volume: Number(cells[4]), vwap: null };
}

/** The real minutes of a file, with the typical price as vwap where they traded, as the answers have it. */
export const realMinutes = (name: string): Timed[] =>
  recordsOf('bars', `${name}.csv`).map(({ open_utc, open, high, low, close, volume }) => {
    const values = valuesOf([open!, high!, low!, close!, volume!]);
    const vwap = values.volume === 0 ? null : (values.high + values.low + values.close) / 3;
    return { ...values, atMs: Date.parse(open_utc!), vwap };
  });

/** The rows of a zip of LEAN: date, time, values. */
const leanRows = (exponent: number, ...names: readonly string[]): (readonly [string, string, Values])[] =>
  textInZip(readFileSync(join(lean, ...names)))
    .trim()
    .split('\n')
    .map((line) => {
      const [at = '', ...cells] = line.split(',');
      const date = `${at.slice(0, 4)}-${at.slice(4, 6)}-${at.slice(6, 8)}`;
      return [date, at.slice(9), valuesOf(cells, exponent)];
    });

const spyFolder = 'equity/usa';
const spyDays = (): Map<string, Values[]> =>
  new Map(leanRows(-4, spyFolder, 'daily/spy.zip').map(([date, , values]) => [date, [values]]));
/** The hours of the days beside those of the minutes, on New York's summer clock. */
const spyHours = (): Timed[] =>
  leanRows(-4, spyFolder, 'hour/spy.zip')
    .filter(([date]) => date === '2013-10-03' || date === '2013-10-08')
    .map(([date, clock, values]) => ({ ...values, atMs: Date.parse(`${date}T${clock}:00-04:00`) }));
const oandaRows = (): Dated[] =>
  leanRows(0, 'forex/oanda/daily/gbpusd.zip').map(([date, , bid]) => [date, { ...bid, volume: null }]);

export const spyName = 'SPY_1M_2013-10-04_07';
/** The zips of SPY's minutes. */
const spyMinutes = (): string[] =>
  readdirSync(join(lean, spyFolder, 'minute/spy')).map((name) => join(lean, spyFolder, 'minute/spy', name));

/** SPY's two days. */
export const spy = (): Case => ({
  ...{ named: stock('US', 'SPY'), from: '2013-10-03', to: '2013-10-08' },
  known: {
    sessions: sessionsOf(`
      2013-10-03 pre 10-03T08:00 regular 10-03T13:30 post 10-03T20:00 end 10-04T00:00
      2013-10-04 pre 10-04T08:00 regular 10-04T13:30 post 10-04T20:00 end 10-05T00:00
      2013-10-07 pre 10-07T08:00 regular 10-07T13:30 post 10-07T20:00 end 10-08T00:00
      2013-10-08 pre 10-08T08:00 regular 10-08T13:30 post 10-08T20:00 end 10-09T00:00`),
    periods: periodsOf(`
      WEEK 2013-09-30 2013-10-04 09-30T13:30 10-04T20:00 09-30T08:00 10-05T00:00
      WEEK 2013-10-07 2013-10-11 10-07T13:30 10-11T20:00 10-07T08:00 10-12T00:00
      MON 2013-10-01 2013-10-31 10-01T13:30 10-31T20:00 10-01T08:00 11-01T00:00`),
    minutes: withoutVwap(realMinutes(spyName)),
    hours: spyHours(),
    days: spyDays(),
  },
  files: [
    [join(lean, spyFolder, 'hour/spy.zip'), null],
    [join(lean, spyFolder, 'daily/spy.zip'), null],
    ...spyMinutes().map((name) => [name, null] as const),
  ],
});

export const googName = 'GOOG_1M_2015-12-24';
function goog(): Case {
  const minutes = withoutVwap(realMinutes(googName));
  return {
    ...{ named: stock('US', 'GOOG'), from: '2015-12-24', to: '2015-12-24' },
    known: {
      sessions: sessionsOf('2015-12-24 pre 12-24T09:00 regular 12-24T14:30 post 12-24T18:00 end 12-24T22:00'),
      periods: periodsOf(`
        WEEK 2015-12-21 2015-12-24 12-21T14:30 12-24T18:00 12-21T09:00 12-24T22:00
        MON 2015-12-01 2015-12-31`),
      minutes,
    },
    files: [['2015-12-24.csv.gz', massive('GOOG', minutes)]],
  };
}

export const btcName = 'BTCUSD_1M_2018-04-05';
function btc(): Case {
  const minutes = realMinutes(btcName);
  return {
    ...{ named: global('crypto', 'BTCUSD'), from: '2018-04-05', to: '2018-04-05' },
    known: {
      sessions: sessionsOf('2018-04-05 regular 04-05T00:00 end 04-06T00:00'),
      periods: periodsOf(`
        WEEK 2018-04-02 2018-04-08
        MON 2018-04-01 2018-04-30`),
      minutes,
    },
    files: [['BTCUSD-1m-2018-04-05.csv', binance(minutes)]],
  };
}

const gbpusd = (): Case => ({
  ...{ named: global('forex', 'GBPUSD'), from: '2014-05-02', to: '2014-05-05' },
  known: {
    sessions: sessionsOf(`
      2014-05-02 regular 05-01T21:00 end 05-02T21:00
      2014-05-05 regular 05-04T21:00 end 05-05T21:00`),
    periods: periodsOf(`
      WEEK 2014-04-28 2014-05-02 04-27T21:00 05-02T21:00
      WEEK 2014-05-05 2014-05-09 05-04T21:00 05-09T21:00
      MON 2014-05-01 2014-05-30 04-30T21:00 05-30T21:00`),
    minutes: [],
    days: forexDays(oandaRows()),
  },
  files: [[join(lean, 'forex/oanda/daily/gbpusd.zip'), null]],
});

/** The real days by what they are. */
export const realDays: Readonly<Record<string, () => Case>> = {
  "SPY's two days of LEAN's minutes, between days of its hours, beside its days": spy,
  "GOOG's early close in Massive's shape": goog,
  "BTCUSD's day in Binance's shape": btc,
  "OANDA's GBPUSD over a Sunday": gbpusd,
};
