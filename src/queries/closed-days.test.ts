// DAY rows of dates on which the market is closed: served for themselves, or merged into the session that
// their evening opens (contract 3.10).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AskedBars, type Named, type ServedBar } from '../../test/asked-bars.ts';
import { Vendor } from '../../test/presets/vendor.ts';
import { fc, times } from '../../test/seed.ts';
import { sharedData, Workshop } from '../../test/service.ts';
import { barsOf } from '../../test/stored.ts';
import { formatDay, parseDay } from '../base/instant.ts';
import { Calendars } from '../series/calendars.ts';
import { latestPrice } from '../series/closes.ts';
import { readStored } from '../series/read-stored.ts';
import { rowWith } from '../store/all-rows.ts';
import { openStore } from '../store/engines.ts';
import { instruments } from '../store/schema/reference.ts';

const stock: Named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'ACME' };
const pair: Named = { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'GBPUSD' };
const future: Named = { asset_schema: 'future', country_iso_code: 'US', symbol: 'ES' };
const coin: Named = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };

type Daily = {
  readonly datetime: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number | null;
  readonly vwap?: number | null;
};

const stores: AskedBars[] = [];
after(async () => {
  for (const one of stores) await one.close();
});

async function storeOf(named: Named, rows: readonly Daily[]): Promise<AskedBars> {
  const asked = new AskedBars(named);
  stores.push(asked);
  if (rows.length > 0) await asked.import(rows.map((row) => ({ interval: 'DAY', ...row })));
  return asked;
}

/** A flat row of a date, of ten pieces. */
const flat = (datetime: string, price: number): Daily => ({
  datetime,
  open: price,
  high: price,
  low: price,
  close: price,
  volume: 10,
});

const opens = (bars: readonly ServedBar[]): string[] => bars.map(({ datetime }) => datetime.slice(0, 16));
const hours = (bars: readonly ServedBar[]): string[] =>
  bars.map(
    (bar) =>
      `${bar.session_date} ${bar.datetime.slice(5, 16)} ${bar.close_datetime.slice(5, 16)} ${bar.close}`,
  );

test('a DAY bar of a closed date has the regular hours of its own date (contract 3.10)', async () => {
  const asked = await storeOf(stock, [flat('2024-12-24', 1), flat('2024-12-25', 2), flat('2024-12-28', 3)]);
  assert.deepEqual(hours(await asked.latest('DAY')), [
    '2024-12-24 12-24T14:30 12-24T18:00 1',
    '2024-12-25 12-25T14:30 12-25T21:00 2',
    '2024-12-28 12-28T14:30 12-28T21:00 3',
  ]);
});

test('a DAY bar of a closed date is found by the open it is served with (contract 2.2, 3.10)', async () => {
  const asked = await storeOf(stock, [flat('2025-02-14', 1), flat('2025-02-17', 2), flat('2025-02-18', 3)]);
  const at = async (from: string, to: string): Promise<number[]> =>
    (await asked.history('DAY', from, to)).map(({ close }) => close);
  assert.deepEqual(await at('2025-02-14T14:30:00Z', '2025-02-14T14:30:00Z'), [1]);
  assert.deepEqual(await at('2025-02-17T14:30:00Z', '2025-02-17T14:30:00Z'), [2]);
  assert.deepEqual(await at('2025-02-17T14:30:01Z', '2025-02-18T14:30:00Z'), [3]);
});

test('a DAY bar of a closed date is in no WEEK or MON that closes before it does (contract 3.10)', async () => {
  // Good Friday ends its week; the Saturday and the Sunday after it end the month too.
  const dates = ['2024-03-28', '2024-03-29', '2024-03-30', '2024-03-31'];
  const asked = await storeOf(
    stock,
    dates.map((date, at) => flat(date, at + 1)),
  );
  for (const is_eth of ['false', 'true']) {
    assert.deepEqual(hours(await asked.latest('WEEK', { is_eth })), ['2024-03-25 03-25T13:30 03-28T20:00 1']);
    assert.deepEqual(hours(await asked.latest('MON', { is_eth })), ['2024-03-01 03-01T14:30 03-28T20:00 1']);
  }
  // Independence Day of 2024 was a Thursday: the week closes after it.
  const july = await storeOf(
    stock,
    ['2024-07-03', '2024-07-04', '2024-07-05'].map((date, at) => flat(date, at + 1)),
  );
  assert.deepEqual(
    (await july.latest('WEEK')).map(({ close, volume }) => [close, volume]),
    [[3, 30]],
  );
});

test('a Sunday row is merged into the session of Monday, and into its week and month (contract 3.10)', async () => {
  const asked = await storeOf(pair, [
    flat('2014-05-01', 5),
    { ...flat('2014-05-02', 6), close: 6.5, high: 6.5 },
    { datetime: '2014-05-04', open: 7, high: 9, low: 6, close: 7.5, volume: 1 },
    { datetime: '2014-05-05', open: 7.5, high: 8, low: 5, close: 5.5, volume: 2 },
  ]);
  const [, friday, monday, ...more] = await asked.latest('DAY');
  assert.deepEqual(hours([friday!]), ['2014-05-02 05-01T21:00 05-02T21:00 6.5']);
  assert.deepEqual(hours([monday!]), ['2014-05-05 05-04T21:00 05-05T21:00 5.5']);
  assert.deepEqual([monday!.open, monday!.high, monday!.low, monday!.volume], [7, 9, 5, 3]);
  assert.deepEqual(more, []);
  const weeks = await asked.latest('WEEK');
  assert.deepEqual(
    weeks.map(({ open, close }) => [open, close]),
    [
      [5, 6.5],
      [7, 5.5],
    ],
  );
});

test('a Sunday row before the first of a month is in that month (contract 3.10)', async () => {
  const asked = await storeOf(pair, [flat('2019-03-29', 1), flat('2019-03-31', 2), flat('2019-04-01', 3)]);
  const months = await asked.latest('MON');
  assert.deepEqual(
    months.map(({ session_date, open, close }) => [session_date, open, close]),
    [
      ['2019-03-01', 1, 1],
      ['2019-04-01', 2, 3],
    ],
  );
  // The range begins behind the row of Sunday.
  assert.deepEqual(
    (await asked.history('MON', '2019-04-01', '2019-04-30')).map(({ open }) => open),
    [2],
  );
});

for (const [name, named] of [
  ['foreign exchange', pair],
  ['futures', future],
] as const) {
  test(`a Sunday row of ${name} without the row of Monday is a remnant, which is not served (contract 3.10)`, async () => {
    const asked = await storeOf(named, [flat('2024-06-07', 1), flat('2024-06-09', 2), flat('2024-06-11', 3)]);
    const labels = async (interval: string) =>
      (await asked.latest(interval)).map(({ session_date, open }) => [session_date, open]);
    assert.deepEqual(await labels('DAY'), [
      ['2024-06-07', 1],
      ['2024-06-11', 3],
    ]);
    await asked.import([{ interval: 'DAY', ...flat('2024-06-10', 4) }]);
    assert.deepEqual((await labels('DAY')).at(1), ['2024-06-10', 2]);
  });
}

test('a last row of Sunday yields to finer bars that have its session (contract 3.8, 3.10)', async () => {
  const asked = await storeOf(pair, [flat('2024-06-07', 1), flat('2024-06-09', 2)]);
  const hour = (at: number) => new Date(Date.parse('2024-06-09T21:00:00Z') + at * 3_600_000).toISOString();
  await asked.import(
    Array.from({ length: 24 }, (_, at) => ({ interval: '60M', ...flat(hour(at), at + 1), volume: 1 })),
  );
  const days = await asked.latest('DAY');
  assert.deepEqual(
    days.map(({ session_date, open, close, volume }) => [session_date, open, close, volume]),
    [
      ['2024-06-07', 1, 1, 10],
      ['2024-06-10', 1, 24, 24],
    ],
  );
});

test('a Sunday row alone is no finished session, nor is one beside an unfinished row of Monday (contract 3.9, 3.10)', async () => {
  const asked = await storeOf(pair, []);
  const importAt = (now: string, rows: readonly Daily[]): Promise<void> => {
    asked.nowMs = Date.parse(now);
    return asked.import(
      rows.map((row) => ({ interval: 'DAY', ...row })),
      'bars',
      false,
    );
  };
  const servedAt = async (now: string): Promise<(number | null)[][]> => {
    asked.nowMs = Date.parse(now);
    return (await asked.latest('DAY')).map(({ open, close, volume }) => [open, close, volume]);
  };
  // The session of 2024-06-10 ends at 21:00 UTC.
  await importAt('2024-06-10T10:00:00Z', [flat('2024-06-07', 1), flat('2024-06-09', 2)]);
  assert.deepEqual(await servedAt('2024-06-10T22:00:00Z'), [[1, 1, 10]]);
  // A part of Monday's row is as good as none.
  await importAt('2024-06-10T12:00:00Z', [flat('2024-06-10', 3)]);
  assert.deepEqual(await servedAt('2024-06-10T22:00:00Z'), [[1, 1, 10]]);
  // The row of Sunday was whole when it came: Monday's completes the session.
  // The same file again is as old as it was.
  await importAt('2024-06-11T10:00:00Z', [flat('2024-06-10', 3)]);
  assert.deepEqual(await servedAt('2024-06-11T10:00:00Z'), [[1, 1, 10]]);
  await importAt('2024-06-11T10:00:00Z', [flat('2024-06-07', 1), flat('2024-06-10', 3)]);
  assert.deepEqual(await servedAt('2024-06-11T10:00:00Z'), [
    [1, 1, 10],
    [2, 3, 20],
  ]);
  // A part of Sunday's row keeps its session back until the whole of it comes.
  await importAt('2024-06-16T22:00:00Z', [flat('2024-06-16', 4)]);
  await importAt('2024-06-18T10:00:00Z', [flat('2024-06-17', 5)]);
  assert.equal((await servedAt('2024-06-18T10:00:00Z')).length, 2);
  await importAt('2024-06-18T11:00:00Z', [flat('2024-06-07', 1), flat('2024-06-16', 4)]);
  assert.deepEqual((await servedAt('2024-06-18T11:00:00Z')).at(-1), [4, 5, 20]);
});

test('a Sunday on which the market has a session is a day of its own (contract 3.7, 3.10)', async () => {
  const asked = await storeOf(coin, [flat('2024-06-08', 1), flat('2024-06-09', 2), flat('2024-06-10', 3)]);
  assert.deepEqual(opens(await asked.latest('DAY')), [
    '2024-06-08T00:00',
    '2024-06-09T00:00',
    '2024-06-10T00:00',
  ]);
});

test("a vendor's digits of a row that stands alone are kept, whatever row is merged beside it (contract 3.10, 3.12)", async () => {
  const exact = { ...flat('2024-06-11', 1.5), volume: 3.7, vwap: 1.23456789012345 };
  const asked = await storeOf(pair, [flat('2024-06-09', 1), flat('2024-06-10', 2), exact]);
  const days = await asked.latest('DAY');
  assert.deepEqual(
    days.map(({ volume, vwap }) => [volume, vwap]),
    [
      [20, null],
      [3.7, 1.23456789012345],
    ],
  );
});

test('a dividend after a closed date has the close of the newest row as reference price (contract 3.10, 8.2)', async () => {
  const asked = await storeOf(stock, [flat('2024-12-24', 100), flat('2024-12-25', 100)]);
  const { asset_schema: _, ...named } = stock;
  const dividend = { action_type: 'dividend', ex_date: '2024-12-26', cash_amount: 10 };
  await asked.import([{ ...named, ...dividend }], 'corporate-actions');
  const adjusted = await asked.latest('DAY', { adjust: 'dividend' });
  assert.deepEqual(
    adjusted.map(({ close }) => close),
    [90, 90],
  );
});

test('the latest price is never that of a Sunday row whose session is still open (contract 3.10, 8.4)', async () => {
  const asked = await storeOf(future, [flat('2024-06-07', 1), flat('2024-06-09', 2), flat('2024-06-10', 3)]);
  const store = await openStore(asked.url, 'read');
  const priceAt = (now: string): Promise<number | null> =>
    store.snapshot(async (reader) => {
      const instrument = (await rowWith(reader, instruments, future))!;
      const found = await readStored(reader, new Calendars(), instrument);
      return latestPrice(reader, found, Date.parse(now));
    });
  try {
    assert.equal(await priceAt('2024-06-09T12:00:00Z'), 1);
    assert.equal(await priceAt('2024-06-10T20:59:00Z'), 1);
    assert.equal(await priceAt('2024-06-10T21:00:00Z'), 3);
  } finally {
    await store.close();
  }
});

test('export, delete by date and undo work on the rows as they were imported (contract 3.10)', async (t) => {
  const shop = new Workshop();
  t.after(() => shop.close());
  const header = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume';
  const rows = ['2024-06-07', '2024-06-09', '2024-06-10'].map(
    (date, at) => `forex,GLOBAL,GBPUSD,DAY,${date},1,3,1,${at + 1},10`,
  );
  const file = shop.path('days.csv');
  writeFileSync(file, `${[header, ...rows].join('\n')}\n`);
  await shop.must('import', 'bars', file);
  const exported = async (): Promise<string[]> => {
    const text = await shop.must('export', 'bars');
    return Array.from(text.matchAll(/2024-06-\d\d/g), ([date]) => date);
  };
  assert.deepEqual(await exported(), ['2024-06-07', '2024-06-09', '2024-06-10']);
  const asked = new AskedBars(pair, shop.store);
  stores.push(asked);
  const volumes = async (): Promise<(number | null)[]> =>
    (await asked.latest('DAY')).map(({ volume }) => volume);
  assert.deepEqual(await volumes(), [10, 20]);
  const instrument = ['--schema', 'forex', '--country', 'GLOBAL', '--symbol', 'GBPUSD', '--interval', 'DAY'];
  await shop.must('delete', 'bars', ...instrument, '--from', '2024-06-09', '--to', '2024-06-09');
  assert.deepEqual(await exported(), ['2024-06-07', '2024-06-10']);
  assert.deepEqual(await volumes(), [10, 10]);
  await shop.must('undo', '2');
  assert.deepEqual(await volumes(), [10, 20]);
});

// What the clause says, read directly: rows of dates, folded by a rule of dates alone.

/** One bar of rows in order. */
function folded(rows: readonly Daily[]) {
  const volumes = rows.map(({ volume }) => volume);
  return {
    open: rows[0]!.open,
    high: Math.max(...rows.map(({ high }) => high)),
    low: Math.min(...rows.map(({ low }) => low)),
    close: rows.at(-1)!.close,
    volume: volumes.includes(null) ? null : volumes.reduce((sum: number, one) => sum + one!, 0),
  };
}

const dayOf = (date: string): number => parseDay(date)!;
const weekdayOf = (day: number): number => new Date(day * 86_400_000).getUTCDay();
const mondayOf = (day: number): string => formatDay(day - ((weekdayOf(day) + 6) % 7));
const monthOf = (day: number): string => formatDay(day).slice(0, 7);

/** The rows of sessions whose own date has one: the row of an evening alone is a remnant. */
function ofWhole(rows: readonly Daily[], { sessionOf }: Rule): Daily[] {
  const dates = new Set(rows.map(({ datetime }) => dayOf(datetime)));
  return rows.filter(({ datetime }) => dates.has(sessionOf(dayOf(datetime))));
}

/** The rows of each bar by its label; a null label is no bar. */
function groups(rows: readonly Daily[], labelOf: (day: number) => string | null): Map<string, Daily[]> {
  const found = new Map<string, Daily[]>();
  for (const row of rows) {
    const label = labelOf(dayOf(row.datetime));
    if (label !== null) found.set(label, [...(found.get(label) ?? []), row]);
  }
  return found;
}

type Rule = {
  readonly named: Named;
  readonly first: string;
  /** The date under which the row of a date is served. */
  readonly sessionOf: (day: number) => number;
  readonly isSession: (day: number) => boolean;
};

const isWeekday = (day: number): boolean => weekdayOf(day) % 6 !== 0;
const usHolidays = ['2024-11-28', '2024-12-25', '2025-01-01', '2025-01-09', '2025-01-20'].map(dayOf);
const rules: Readonly<Record<string, Rule>> = {
  'foreign exchange': {
    named: pair,
    first: '2024-11-02',
    sessionOf: (day) => (weekdayOf(day) === 0 ? day + 1 : day),
    isSession: isWeekday,
  },
  'stocks of the US': {
    named: stock,
    first: '2024-11-02',
    sessionOf: (day) => day,
    isSession: (day) => isWeekday(day) && !usHolidays.includes(day),
  },
};

/**
 * The label of the bar that the row of a date is in, by interval; null where all sessions of its period are
 * over before it.
 */
function labels({ sessionOf, isSession }: Rule): Readonly<Record<string, (day: number) => string | null>> {
  const periodBy = (labelOf: (day: number) => string) => (day: number) => {
    const session = sessionOf(day);
    for (let later = session; labelOf(later) === labelOf(session); later++)
      if (isSession(later)) return labelOf(session);
    return null;
  };
  return { DAY: (day) => formatDay(sessionOf(day)), WEEK: periodBy(mondayOf), MON: periodBy(monthOf) };
}

const price = fc.integer({ min: 1, max: 99 });
const someRow = fc.record({
  day: fc.nat(80),
  prices: fc.tuple(price, price, price, price),
  volume: fc.option(fc.integer({ min: 0, max: 1000 }), { freq: 9 }),
});

for (const [name, rule] of Object.entries(rules)) {
  const { named, first } = rule;
  test(`rows of any dates of ${name} are served as the clause says, at every interval, sort and limit (contract 3.10)`, async () => {
    const rowsOf = fc.uniqueArray(someRow, { selector: ({ day }) => day, minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.integer({ min: 1, max: 9 }), async (picked, limit) => {
        const rows = picked
          .toSorted((a, b) => a.day - b.day)
          .map(
            ({ day, prices: [open, high, low, close], volume }): Daily => ({
              datetime: formatDay(dayOf(first) + day),
              open,
              high: Math.max(open, high, low, close),
              low: Math.min(open, high, low, close),
              close,
              volume,
            }),
          );
        const asked = await storeOf(named, rows);
        for (const [interval, labelOf] of Object.entries(labels(rule))) {
          const expected = [...groups(ofWhole(rows, rule), labelOf).values()].map(folded);
          const served = await asked.history(interval, '2024-10-01', '2025-02-28');
          assert.deepEqual(
            served.map(({ open, high, low, close, volume }) => ({ open, high, low, close, volume })),
            expected,
            interval,
          );
          assert.equal(new Set(served.map(({ datetime }) => datetime)).size, served.length);
          const pages = { limit: String(limit) };
          assert.deepEqual(await asked.history(interval, '2024-10-01', '2025-02-28', pages), served);
          const back = await asked.history(interval, '2024-10-01', '2025-02-28', { ...pages, sort: 'desc' });
          assert.deepEqual(back.reverse(), served);
          assert.deepEqual(await asked.latest(interval, pages), served.slice(-limit));
        }
      }),
      { numRuns: times(8) },
    );
  });
}

test("OANDA's days are one bar a session, and no week closes at the price of a Sunday (contract 3.10)", async (t) => {
  const file = join(sharedData, 'lean/forex/oanda/daily/gbpusd.zip');
  if (!existsSync(file)) {
    t.skip(`there is no ${file}`);
    return;
  }
  const vendor = new Vendor();
  t.after(() => vendor.close());
  await vendor.import('forex/oanda/daily/gbpusd.zip', readFileSync(file));
  const rows = barsOf(vendor.url)['forex:GLOBAL:GBPUSD:DAY']!.map(
    ([key, open, high, low, close, volume]) =>
      ({ datetime: key.slice(0, 10), open, high, low, close, volume }) as Daily,
  );
  const sundays = rows.filter(({ datetime }) => weekdayOf(dayOf(datetime)) === 0);
  assert.deepEqual([rows.length, sundays.length], [3738, 620]);
  const asked = new AskedBars(pair, vendor.url);
  stores.push(asked);
  const rule = rules['foreign exchange']!;
  for (const [interval, labelOf] of Object.entries(labels(rule))) {
    const served = await asked.history(interval, '2007-01-01', '2019-01-31');
    assert.deepEqual(
      served.map(({ open, high, low, close, volume }) => ({ open, high, low, close, volume })),
      // The last row is of the Monday of its week.
      [...groups(ofWhole(rows, rule), labelOf).values()]
        .map(folded)
        .slice(0, interval === 'WEEK' ? -1 : undefined),
      interval,
    );
    assert.equal(new Set(opens(served)).size, served.length);
    for (const { session_date } of served) assert.ok(isWeekday(dayOf(session_date)), session_date);
  }
  const [week] = await asked.history('WEEK', '2014-04-28', '2014-04-28');
  const friday = rows.find(({ datetime }) => datetime === '2014-05-02')!;
  assert.deepEqual([week!.close, week!.close_datetime], [friday.close, '2014-05-02T21:00:00+00:00']);
});
