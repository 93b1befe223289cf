// Bars off the session grid (clock-aligned hours) beside finer ones: session by session from one of them
// (contract 3.10).
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AskedBars, type Named, type ServedBar } from '../../test/asked-bars.ts';
import { Vendor } from '../../test/presets/vendor.ts';
import { fc, times } from '../../test/seed.ts';
import { sharedData } from '../../test/service.ts';
import { barsOf, type StoredBar } from '../../test/stored.ts';
import { undoRun } from '../runs/undo-run.ts';
import { openStore } from '../store/engines.ts';

const stock: Named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'SPY' };

type Row = {
  readonly interval: string;
  readonly datetime: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
};

const stores: AskedBars[] = [];
after(async () => {
  for (const one of stores) await one.close();
});

async function storeOf(rows: readonly Row[], named = stock): Promise<AskedBars> {
  const asked = new AskedBars(named);
  stores.push(asked);
  await asked.import(rows);
  return asked;
}

/** Flat bars at clock times of a winter date in New York. */
const bars = (interval: string, date: string, clocks: readonly string[], close: number): Row[] =>
  clocks.map((clock) => ({
    interval,
    datetime: `${date}T${clock}:00-05:00`,
    open: close,
    high: close,
    low: close,
    close,
    volume: 1,
  }));

const clock = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
const HOURS = ['09:00', '10:00', '11:00', '12:00', '13:00', '14:00', '15:00'];
const MINUTES = Array.from({ length: 390 }, (_, at) => clock(9 * 60 + 30 + at));

/** Open and close in New York's winter, and the closing price. */
const brief = (served: readonly ServedBar[]): string[] =>
  served.map(({ datetime, close_datetime, close }) => {
    const local = (text: string): string =>
      new Date(Date.parse(text) - 5 * 3_600_000).toISOString().slice(5, 16).replace('T', ' ');
    return `${local(datetime)}-${local(close_datetime).slice(6)} ${close}`;
  });

const asImported = (date: string, close: number): string[] =>
  HOURS.map((open) => `${date} ${open}-${clock(Number(open.slice(0, 2)) * 60 + 60)} ${close}`);
const derived = (date: string, close: number): string[] =>
  [9, 10, 11, 12, 13, 14, 15].map(
    (hour) => `${date} ${clock(hour * 60 + 30)}-${clock(Math.min(hour * 60 + 90, 960))} ${close}`,
  );

test('a session with minutes is served from them, others from the hours as imported, page by page (contract 3.10, 4.1)', async () => {
  const asked = await storeOf([
    ...['2025-03-03', '2025-03-04', '2025-03-05'].flatMap((date) => bars('60M', date, HOURS, 60)),
    ...bars('1M', '2025-03-04', MINUTES, 1),
  ]);
  const expected = [...asImported('03-03', 60), ...derived('03-04', 1), ...asImported('03-05', 60)];
  const range = ['2025-03-03', '2025-03-05'] as const;
  for (const is_eth of ['false', 'true']) {
    assert.deepEqual(brief(await asked.history('60M', ...range, { is_eth })), expected);
    for (let limit = 1; limit <= 9; limit++) {
      const pages = { is_eth, limit: String(limit) };
      assert.deepEqual(brief(await asked.history('60M', ...range, pages)), expected);
      const back = await asked.history('60M', ...range, { ...pages, sort: 'desc' });
      assert.deepEqual(brief(back.reverse()), expected);
      assert.deepEqual(brief(await asked.latest('60M', pages)), expected.slice(-limit));
    }
  }
  const hours = await asked.history('60M', '2025-03-03', '2025-03-03');
  assert.deepEqual(
    hours.map(({ session_date }) => session_date),
    HOURS.map(() => '2025-03-03'),
  );
});

test('a session that the coarser of two finer series lacks is served from the finest (contract 3.10)', async () => {
  const halves = Array.from({ length: 13 }, (_, at) => clock(570 + 30 * at));
  const dates = ['2025-03-03', '2025-03-04', '2025-03-05', '2025-03-06'];
  const asked = await storeOf([
    ...dates.flatMap((date) => bars('60M', date, HOURS, 60)),
    ...bars('30M', '2025-03-03', halves, 30),
    ...bars('30M', '2025-03-06', halves, 30),
    ...bars('1M', '2025-03-04', MINUTES, 1),
  ]);
  const expected = [
    ...derived('03-03', 30),
    ...derived('03-04', 1),
    ...asImported('03-05', 60),
    ...derived('03-06', 30),
  ];
  assert.deepEqual(brief(await asked.history('60M', '2025-03-03', '2025-03-06')), expected);
  const latest = await asked.latest('60M', { limit: '20' });
  assert.deepEqual(brief(latest), expected.slice(-20));
});

test('an hour on the usual grid that reaches into a late open puts no series off the grid (contract 3.4, 3.10)', async () => {
  // New York opened at 12:00 on 2002-09-11. The hour of 11:30 opens before that, so it is not in the regular
  // session.
  const hours = (date: string, clocks: readonly string[], first: number): Row[] =>
    clocks.map((clock, at) => {
      const price = first + at;
      const prices = { open: price, high: price, low: price, close: price, volume: 1 };
      return { interval: '60M', datetime: `${date}T${clock}:00-04:00`, ...prices };
    });
  const whole = ['09:30', '10:30', '11:30', '12:30', '13:30', '14:30', '15:30'];
  const asked = await storeOf([
    ...hours('2002-09-10', whole, 10),
    ...hours('2002-09-11', whole.slice(2), 20),
    ...hours('2002-09-12', whole, 30),
    ...hours('2002-09-13', whole, 40),
  ]);
  const days = await asked.history('DAY', '2002-09-10', '2002-09-12');
  const values = days.map(({ open, close, volume }) => [open, close, volume]);
  assert.deepEqual(values, [
    [10, 16, 7],
    [21, 24, 4],
    [30, 36, 7],
  ]);
  const [week] = await asked.history('WEEK', '2002-09-09', '2002-09-13');
  assert.deepEqual([week!.open, week!.close, week!.volume], [10, 46, 25]);
});

test('nothing is derived from bars off the grid, also where finer ones are stored (contract 3.10)', async () => {
  const asked = await storeOf([
    ...bars('60M', '2025-03-03', HOURS, 60),
    ...bars('60M', '2025-03-04', HOURS, 60),
    ...bars('1M', '2025-03-04', MINUTES, 1),
  ]);
  for (const interval of ['120M', '240M', 'DAY', 'WEEK', 'MON']) {
    const served = await asked.latest(interval);
    assert.deepEqual([...new Set(served.map(({ close }) => close))], [1], interval);
    assert.equal(
      served.reduce((sum, { volume }) => sum + volume!, 0),
      390,
    );
  }
});

test('minutes of the morning alone, or of the pre-market alone, are the whole session (contract 3.10)', async () => {
  const asked = await storeOf([
    ...['2025-03-03', '2025-03-04', '2025-03-05'].flatMap((date) => bars('60M', date, HOURS, 60)),
    ...bars('1M', '2025-03-03', ['09:30', '10:45'], 1),
    ...bars('1M', '2025-03-04', ['08:15'], 2),
  ]);
  const morning = ['03-03 09:30-10:30 1', '03-03 10:30-11:30 1'];
  assert.deepEqual(brief(await asked.history('60M', '2025-03-03', '2025-03-04')), morning);
  assert.deepEqual(brief(await asked.history('60M', '2025-03-03', '2025-03-04', { is_eth: 'true' })), [
    ...morning,
    '03-04 08:00-09:00 2',
  ]);
  // A range inside a session, or that ends with it, does not change whose the session is.
  const within = (from: string, to: string): Promise<ServedBar[]> =>
    asked.history('60M', `2025-03-03T${from}:00-05:00`, `2025-03-03T${to}:00-05:00`);
  assert.deepEqual(brief(await within('12:00', '15:00')), []);
  assert.deepEqual(brief(await within('04:00', '09:15')), []);
  assert.deepEqual(brief(await within('10:00', '23:00')), ['03-03 10:30-11:30 1']);
});

test('an hour that overlaps the regular session is regular, also where it opens outside every segment (contract 3.10)', async () => {
  const all = ['04:00', '08:00', ...HOURS, '16:00', '19:00', '20:00'];
  const us = await storeOf(bars('60M', '2025-03-03', all, 60));
  assert.deepEqual(brief(await us.latest('60M')), asImported('03-03', 60));
  assert.deepEqual(
    brief(await us.latest('60M', { is_eth: 'true' })).map((text) => text.slice(6, 11)),
    all.slice(0, -1),
  );
  // Hong Kong opens at 09:30, without a pre-market, and has a break from 12:00 to 13:00.
  const hours = Array.from({ length: 10 }, (_, at) => `2025-03-03T${clock((8 + at) * 60)}:00+08:00`);
  const [row] = bars('60M', '2025-03-03', ['09:00'], 60);
  const hongKong = await storeOf(
    hours.map((datetime) => ({ ...row!, datetime })),
    { ...stock, country_iso_code: 'HK' },
  );
  const opens = (await hongKong.latest('60M')).map(({ datetime }) => datetime.slice(11, 16));
  assert.deepEqual(opens, ['01:00', '02:00', '03:00', '05:00', '06:00', '07:00']);
});

test('an hour off the grid is finished at its nominal end, also where it opens in the pre-market (contract 3.9, 3.10)', async () => {
  const asked = await storeOf(bars('60M', '2025-03-03', HOURS, 60));
  const importAt = (time: string, rows: readonly Row[]): Promise<void> => {
    asked.nowMs = Date.parse(`2025-03-04T${time}:00-05:00`);
    return asked.import(rows, 'bars', false);
  };
  const today = async (): Promise<string[]> => brief(await asked.history('60M', '2025-03-04', '2025-03-04'));
  // The hour of 09:00 has a quarter of an hour of the session yet.
  await importAt('09:45', bars('60M', '2025-03-04', ['09:00'], 1));
  await importAt('11:05', bars('60M', '2025-03-04', ['10:00'], 2));
  assert.deepEqual(await today(), ['03-04 10:00-11:00 2']);
  await importAt('11:10', bars('60M', '2025-03-04', ['09:00'], 3));
  assert.deepEqual(await today(), ['03-04 09:00-10:00 3', '03-04 10:00-11:00 2']);
});

test('only hours that are served decide whether prices can be adjusted (contract 9.4, 3.10)', async (t) => {
  const vendor = new Vendor();
  t.after(() => vendor.close());
  const csv = (rows: readonly Row[]): string =>
    ['interval,datetime,open,high,low,close,volume', ...rows.map((row) => Object.values(row).join())].join(
      '\n',
    );
  const fields = stock;
  const hours = ['2025-03-03', '2025-03-04'].flatMap((date) => bars('60M', date, HOURS, 60));
  await vendor.import('hours.csv', csv(hours), { fields, prices: 'split' });
  await vendor.import('minutes.csv', csv(bars('1M', '2025-03-04', MINUTES, 1)), { fields }, false);
  const asked = new AskedBars(stock, vendor.url);
  stores.push(asked);
  const adjusted = await asked.history('60M', '2025-03-04', '2025-03-04', { adjust: 'split' });
  assert.equal(adjusted.length, 7);
  await assert.rejects(asked.history('60M', '2025-03-03', '2025-03-04', { adjust: 'split' }), /60M/);
});

// What the clause says, read directly: minutes of New York's clock on dates of one winter fortnight.

const PRE = 4 * 60;
const OPEN = 9 * 60 + 30;
type Place = { readonly date: string; readonly minute: number };
const dates = [
  '2024-11-25',
  '2024-11-26',
  '2024-11-27',
  '2024-11-28',
  '2024-11-29',
  '2024-11-30',
  '2024-12-02',
];
const isSession = (date: string): boolean => date !== '2024-11-28' && date !== '2024-11-30';
const closeOf = (date: string): number => (date === '2024-11-29' ? 13 * 60 : 16 * 60);
const segmentsOf = (date: string): [open: number, close: number][] => [
  [PRE, OPEN],
  [OPEN, closeOf(date)],
  [closeOf(date), closeOf(date) + 240],
];

/** The 60M bars of a date: when they open and close, and what they are made of. */
function expectedOf(date: string, hours: readonly Row[], minutes: readonly Row[], extended: boolean) {
  const minuteOf = ({ datetime }: Row): number =>
    Number(datetime.slice(11, 13)) * 60 + Number(datetime.slice(14, 16));
  const segments = isSession(date) ? segmentsOf(date) : [];
  const inside = (at: number): [number, number] | undefined =>
    segments.find(([open, close]) => open <= at && at < close);
  const cells = new Map<number, { close: number; rows: Row[]; isRegular: boolean }>();
  for (const row of minutes.filter((one) => inside(minuteOf(one)) !== undefined)) {
    const [open, end] = inside(minuteOf(row))!;
    const cell = open + Math.floor((minuteOf(row) - open) / 60) * 60;
    const known = cells.get(cell);
    if (known !== undefined) known.rows.push(row);
    else cells.set(cell, { close: Math.min(cell + 60, end), rows: [row], isRegular: open === OPEN });
  }
  if (cells.size === 0)
    for (const row of hours) {
      const at = minuteOf(row);
      const isRegular = segments.length > 0 && at < closeOf(date) && at + 60 > OPEN;
      if (isRegular || inside(at) !== undefined) cells.set(at, { close: at + 60, rows: [row], isRegular });
    }
  return [...cells]
    .filter(([, { isRegular }]) => extended || isRegular)
    .map(([at, { close, rows }]) => [
      `${date} ${clock(at)}-${clock(close)}`,
      rows[0]!.open,
      Math.max(...rows.map(({ high }) => high)),
      Math.min(...rows.map(({ low }) => low)),
      rows.at(-1)!.close,
      rows.reduce((sum, { volume }) => sum + volume, 0),
    ]);
}

const placeOf = (stepMinutes: number): fc.Arbitrary<Place & { readonly price: number }> =>
  fc.record({
    date: fc.constantFrom(...dates),
    minute: fc.integer({ min: 0, max: 1440 / stepMinutes - 1 }).map((at) => at * stepMinutes),
    price: fc.integer({ min: 1, max: 99 }),
  });
const placesOf = (stepMinutes: number, maxLength: number) =>
  fc.uniqueArray(placeOf(stepMinutes), { selector: ({ date, minute }) => `${date} ${minute}`, maxLength });
const rowsAt = (interval: string, places: readonly (Place & { readonly price: number })[]): Row[] =>
  places
    .toSorted((a, b) => a.date.localeCompare(b.date) || a.minute - b.minute)
    .flatMap(({ date, minute, price }) => bars(interval, date, [clock(minute)], price));

test('hours and minutes of any times are served as the clause says, at every sort and limit (contract 3.10)', async () => {
  // An hour that is off the grid in every case.
  const aside = { date: '2024-11-25', minute: 600, price: 7 };
  await fc.assert(
    fc.asyncProperty(
      placesOf(60, 60),
      placesOf(1, 12),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      fc.nat(dates.length * 1440),
      async (hourPlaces, minutePlaces, extended, limit, fromMinute) => {
        const others = hourPlaces.filter(
          ({ date, minute }) => date !== aside.date || minute !== aside.minute,
        );
        const [hours, minutes] = [rowsAt('60M', [...others, aside]), rowsAt('1M', minutePlaces)];
        const asked = await storeOf([...hours, ...minutes]);
        const on = (rows: readonly Row[], date: string): Row[] =>
          rows.filter(({ datetime }) => datetime.startsWith(date));
        const expected = dates.flatMap((date) =>
          expectedOf(date, on(hours, date), on(minutes, date), extended),
        );
        const shown = (served: readonly ServedBar[]) =>
          served.map(({ session_date, datetime, open, high, low, close, volume, close_datetime }) => {
            const local = (text: string): number =>
              (Date.parse(text) - Date.parse(`${session_date}T05:00:00Z`)) / 60_000;
            const at = `${session_date} ${clock(local(datetime))}-${clock(local(close_datetime))}`;
            return [at, open, high, low, close, volume];
          });
        const is_eth = String(extended);
        const whole = ['2024-11-25', '2024-12-02'] as const;
        const pages = { is_eth, limit: String(limit) };
        assert.deepEqual(shown(await asked.history('60M', ...whole, { is_eth })), expected);
        assert.deepEqual(shown(await asked.history('60M', ...whole, pages)), expected);
        const back = await asked.history('60M', ...whole, { ...pages, sort: 'desc' });
        assert.deepEqual(shown(back.reverse()), expected);
        assert.deepEqual(shown(await asked.latest('60M', pages)), expected.slice(-limit));
        // A range that begins or ends anywhere has the bars of the whole that open in it.
        const [date, minute] = [dates[Math.floor(fromMinute / 1440) % dates.length]!, fromMinute % 1440];
        const at = `${date}T${clock(minute)}:00-05:00`;
        const opensBefore = ([text]: (string | number)[]): boolean =>
          (text as string).slice(0, 16) < `${date} ${clock(minute)}`;
        assert.deepEqual(
          shown(await asked.history('60M', at, '2024-12-02', { is_eth })),
          expected.filter((bar) => !opensBefore(bar)),
        );
        assert.deepEqual(
          shown(await asked.history('60M', '2024-11-25', `${at.slice(0, 16)}:00-05:00`, { is_eth })),
          expected.filter(
            (bar) => opensBefore(bar) || (bar[0] as string).startsWith(`${date} ${clock(minute)}-`),
          ),
        );
      },
    ),
    { numRuns: times(12) },
  );
});

/** A CSV file as records. */
function recordsOf(path: string): Record<string, string>[] {
  const [header = '', ...lines] = readFileSync(path, 'utf8').trim().split('\n');
  const columns = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [columns[at]!, cell])));
}

/** A day of New York by the UTC key of a stored bar. */
const newYorkDate = (key: string): string =>
  new Date(Date.parse(`${key}:00Z`) - 5 * 3_600_000).toISOString().slice(0, 10);

const valuesOf = (bar: ServedBar): (number | null)[] => [bar.open, bar.high, bar.low, bar.close, bar.volume];
const keyed = (bar: ServedBar): (string | number | null)[] => [bar.datetime.slice(0, 16), ...valuesOf(bar)];

/** Days that closed early or opened late, with trades outside their regular hours. */
const shortDays = `
  2000-07-03 2000-11-24 2001-07-03 2001-11-23 2001-12-24 2002-07-05 2002-09-11 2002-11-29 2002-12-24 2003-07-03 2003-11-28
  2003-12-24 2003-12-26 2004-11-26 2005-11-25 2006-07-03 2007-07-03 2007-12-24 2008-07-03 2008-12-24`
  .trim()
  .split(/\s+/);
const opensOf = (served: readonly ServedBar[]): string[] =>
  served.map(({ datetime }) => datetime.slice(11, 16));

test('LEAN’s minutes, hours and days of SPY: two days from the minutes, others from the hours (contract 3.8, 3.10)', async (t) => {
  const lean = join(sharedData, 'lean');
  if (!existsSync(lean)) {
    t.skip(`there is no ${lean}`);
    return;
  }
  const vendor = new Vendor();
  t.after(() => vendor.close());
  const folder = 'equity/usa/minute/spy';
  const files = [
    'hour/spy.zip',
    'daily/spy.zip',
    ...readdirSync(join(lean, folder)).map((name) => `minute/spy/${name}`),
  ];
  for (const [at, name] of files.entries())
    await vendor.import(`equity/usa/${name}`, readFileSync(join(lean, 'equity/usa', name)), {}, at === 0);
  const asked = new AskedBars(stock, vendor.url);
  stores.push(asked);

  const [from, to] = ['2013-10-04', '2013-10-07'];
  const answers = Map.groupBy(
    recordsOf(join(sharedData, 'answers/SPY_1M_2013-10-04_07.bars.csv')),
    (one) => `${one.interval} ${one.is_eth}`,
  );
  const stored = barsOf(vendor.url);
  const [hours, days] = [stored['stock:US:SPY:60M']!, stored['stock:US:SPY:DAY']!];
  const daysFrom = (first: string, last: string): StoredBar[] =>
    days.filter(([key]) => first <= key.slice(0, 10) && key.slice(0, 10) <= last);
  for (const [series, expected] of answers) {
    const [interval = '', is_eth = ''] = series.split(' ');
    const served = await asked.history(interval, from, to, { is_eth });
    // The vendor's own days win over those of its minutes.
    if (series === 'DAY false')
      assert.deepEqual(
        served.map((bar) => [bar.session_date, ...valuesOf(bar)]),
        daysFrom(from, to).map(([key, ...values]) => [key.slice(0, 10), ...values.slice(0, 5)]),
      );
    else
      assert.deepEqual(
        served.map((bar) => [bar.datetime, bar.close_datetime, ...valuesOf(bar)].map(String)),
        expected.map((one) => [
          ...[one.datetime, one.close_datetime],
          ...[one.open, one.high, one.low, one.close, one.volume],
        ]),
        series,
      );
  }
  for (const [interval, first, last] of [
    ['WEEK', '2013-10-07', '2013-10-11'],
    ['MON', '2013-10-01', '2013-10-31'],
  ] as const) {
    const rows = daysFrom(first, last);
    assert.deepEqual((await asked.history(interval, first, last)).map(valuesOf), [
      [
        rows[0]![1],
        Math.max(...rows.map(([, , high]) => high!)),
        Math.min(...rows.map(([, , , low]) => low!)),
        rows.at(-1)![4],
        rows.reduce((sum, [, , , , , volume]) => sum + volume!, 0),
      ],
    ]);
  }

  const others = hours.filter(([key]) => newYorkDate(key) !== from && newYorkDate(key) !== to);
  assert.equal(hours.length - others.length, 14);
  for (const is_eth of ['true', 'false']) {
    const fromMinutes = new Set(answers.get(`60M ${is_eth}`)!.map((one) => one.datetime!.slice(0, 16)));
    const all = await asked.history('60M', '1998-01-01', '2021-12-31', { is_eth });
    const rows = all.filter(({ datetime }) => !fromMinutes.has(datetime.slice(0, 16)));
    assert.equal(all.length, rows.length + fromMinutes.size);
    const served = new Set(rows.map(({ datetime }) => datetime.slice(0, 16)));
    const rest = others.filter(([key]) => !served.has(key)).map(([key]) => newYorkDate(key));
    assert.deepEqual([...new Set(rest)], is_eth === 'true' ? [] : shortDays);
    assert.deepEqual(
      rows.map(keyed),
      others.filter(([key]) => served.has(key)).map((one) => one.slice(0, 6)),
    );
  }
  // Pages of every size over the borders between both.
  const border = ['2013-10-03', '2013-10-08'] as const;
  const part = await asked.history('60M', ...border);
  assert.deepEqual(
    Object.values(Object.groupBy(part, ({ session_date }) => session_date)).map((bars) => opensOf(bars!)[0]),
    ['13:00', '13:30', '13:30', '13:00'],
  );
  assert.equal(part.length, 28);
  for (const limit of ['1', '2', '3', '5', '8']) {
    assert.deepEqual(await asked.history('60M', ...border, { limit }), part);
    const back = await asked.history('60M', ...border, { limit, sort: 'desc' });
    assert.deepEqual(back.reverse(), part);
  }
});

test('bars that a change of their calendar, or its undo, puts off the grid derive nothing (contract 3.10)', async () => {
  const brazilian: Named = { ...stock, country_iso_code: 'BR', symbol: 'PETR4' };
  const rows = [0, 4, 8, 12, 16, 20].map((hour) => {
    const [row] = bars('240M', '2025-03-04', [clock(hour * 60)], hour + 1);
    return { ...row!, datetime: `2025-03-04T${clock(hour * 60)}:00Z` };
  });
  const asked = await storeOf(rows, brazilian);
  const days = async (): Promise<string[]> =>
    (await asked.latest('DAY')).map(({ datetime, volume }) => `${datetime.slice(0, 16)} ${volume}`);
  assert.deepEqual(await days(), ['2025-03-04T00:00 6'], 'UTC, while no zone is known');
  // Midnight is 03:00 UTC: the first bar straddles two days.
  await asked.import([{ time_zone: 'America/Sao_Paulo' }], 'instruments');
  assert.deepEqual(await days(), []);
  assert.equal((await asked.latest('240M')).length, 6);
  const store = await openStore(asked.url, 'write');
  await undoRun(store, { runId: 2, dryRun: false, nowMs: () => asked.nowMs });
  await store.close();
  assert.deepEqual(await days(), ['2025-03-04T00:00 6']);
});
