// Findings in daily bars: planted faults are found, and nothing else is (contract 9.10).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { calendarOf } from '../../src/market/calendar/calendar.ts';
import { thresholds } from '../../src/queries/findings/thresholds.ts';
import { Random } from '../fuzz/random.ts';
import type { FileRow } from '../importing.ts';
import { seed } from '../seed.ts';
import { TestFolder } from '../stores.ts';
import {
  type Bar,
  beyond,
  CheckedStore,
  dateOf,
  dayOf,
  placesIn,
  rowsOfBars,
  scale,
  sessionsOf,
  walk,
} from './world.ts';

const folder = new TestFolder();
after(() => folder.close());

const SYMBOLS = Array.from({ length: 5 }, (_, at) => `S${at}`);
/** Of each series. */
const FAULTS = 5;
const ALL = SYMBOLS.length * FAULTS;
const days = sessionsOf('2017-01-03', '2019-06-01');

/** What a test plants at places of a series: the label dates that the finding is about, or null for none. */
type Plant = (bars: Bar[], at: number, random: Random, symbol: string) => readonly [from: number, to: number];

/** Some series with faults, and where they are. */
function planted(
  plant: Plant,
  apart = 40,
): { readonly series: Map<string, Bar[]>; readonly places: string[] } {
  const places: string[] = [];
  const series = new Map<string, Bar[]>();
  for (const [index, symbol] of SYMBOLS.entries()) {
    const random = new Random(seed, index);
    const bars = walk(random, days);
    for (const at of placesIn(random, days.length, FAULTS, apart).reverse()) {
      const [from, to] = plant(bars, at, random, symbol);
      places.push(`${symbol} ${dateOf(from)} ${dateOf(to)}`);
    }
    series.set(symbol, bars);
  }
  return { series, places: places.sort() };
}

/** A store with each series from a file of its own. */
async function storeOf(
  name: string,
  series: ReadonlyMap<string, readonly Bar[]>,
  actions: readonly FileRow[] = [],
): Promise<CheckedStore> {
  const store = new CheckedStore(folder, name);
  await store.fill(
    'bars',
    Array.from(series, ([symbol, bars]) => rowsOfBars(symbol, bars)),
  );
  if (actions.length > 0) await store.fill('corporate-actions', [actions]);
  return store;
}

const onBar = (bars: readonly Bar[], at: number): readonly [number, number] => [bars[at]!.day, bars[at]!.day];

test('random bars without a fault have no finding (contract 9.10)', async () => {
  const { series } = planted((bars, at) => onBar(bars, at));
  assert.deepEqual(await (await storeOf('sound', series)).check(), []);
});

test('every false print of half the price is found as an error, and nothing else (contract 9.10 isolated_wick)', async () => {
  const { series, places } = planted((bars, at, random) => {
    const side = random.pick(['high', 'low'] as const);
    bars[at]![side] *= side === 'high' ? 2.5 : 0.4;
    return onBar(bars, at);
  });
  const store = await storeOf('wicks', series);
  const found = await store.check();
  assert.deepEqual(await store.places('isolated_wick'), places);
  assert.equal(found.length, ALL);
  assert.ok(found.every(({ severity, runId }) => severity === 'error' && runId !== null));
  assert.match(found[0]!.message, /more than 5 % and more than 10 x the usual range of a bar/);
});

test('most false prints of 0.3 (log) are found, as warnings (contract 9.10 isolated_wick)', async () => {
  const { series, places } = planted((bars, at, random) => {
    const side = random.pick(['high', 'low'] as const);
    bars[at]![side] *= Math.exp(side === 'high' ? 0.3 : -0.3);
    return onBar(bars, at);
  });
  const found = await (await storeOf('small-wicks', series)).places('isolated_wick');
  assert.ok(found.length >= 0.9 * ALL && found.every((place) => places.includes(place)), `${found.length}`);
});

test('a wick that three instruments of a market have at once is real (contract 9.10 isolated_wick)', async () => {
  for (const [many, expected] of [
    [2, 2],
    [3, 0],
  ] as const) {
    const { series } = planted((bars, at) => onBar(bars, at));
    for (const symbol of SYMBOLS.slice(0, many)) series.get(symbol)![300]!.low *= 0.4;
    const store = await storeOf(`crash-${many}`, series);
    assert.equal((await store.places('isolated_wick')).length, expected);
  }
});

const RATIOS = [
  [2, 1],
  [3, 1],
  [3, 2],
  [5, 4],
  [10, 1],
  [1, 2],
  [1, 4],
  [2, 3],
] as const;

/** Splits the shares from a bar on, opening without another move. */
function split(bars: Bar[], at: number, [many, few]: readonly [number, number]): void {
  const after = bars.slice(at);
  scale(after, few / many);
  const bar = bars[at]!;
  bar.open = (bars[at - 1]!.close * few) / many;
  bar.high = Math.max(bar.high, bar.open);
  bar.low = Math.min(bar.low, bar.open);
}

test('every split without an action is found, and none that is recorded (contract 9.10 unrecorded_split)', async () => {
  const actions: FileRow[] = [];
  const others: FileRow[] = [];
  const errors: string[] = [];
  const { series, places } = planted((bars, at, random, symbol) => {
    const ratio = random.pick(RATIOS);
    split(bars, at, ratio);
    const ex_date = dateOf(bars[at]!.day);
    const action = { ...{ country_iso_code: 'US', symbol, action_type: 'split' }, ex_date };
    actions.push({ ...action, split_from: ratio[1], split_to: ratio[0] });
    // Actions that explain nothing.
    if (random.chance(0.5)) others.push({ ...action, split_from: 1, split_to: 1 });
    else others.push({ ...action, action_type: 'dividend', cash_amount: 0.1, reference_price: 50 });
    const place = onBar(bars, at);
    // News moves prices by a third too.
    if (Math.max(ratio[0] / ratio[1], ratio[1] / ratio[0]) >= 2) errors.push(`${symbol} ${ex_date}`);
    return place;
  });
  const store = await storeOf('splits', series);
  const found = await store.check();
  assert.deepEqual(new Set(found.map(({ kind }) => kind)), new Set(['unrecorded_split']));
  const severe = found.filter(({ severity }) => severity === 'error');
  assert.deepEqual(
    severe.map((one) => `${one.symbol} ${new Date(one.fromMs).toISOString().slice(0, 10)}`).sort(),
    errors.sort(),
  );
  assert.ok(found.every(({ severity }) => ['error', 'warning'].includes(severity)));
  assert.deepEqual(await store.places('unrecorded_split'), places);
  assert.deepEqual(await (await storeOf('other-actions', series, others)).places('unrecorded_split'), places);
  assert.deepEqual(await (await storeOf('recorded', series, actions)).check(), []);
});

/** Days as the bars of half an hour at both ends of their sessions. */
const halfHoursOf = (symbol: string, bars: readonly Bar[]): FileRow[] =>
  bars.flatMap(({ day, open, high, low, close, volume }) => {
    const { openMs, closeMs } = calendarOf('stock', 'US').sessionOn(day)!;
    const common = { asset_schema: 'stock', country_iso_code: 'US', symbol, interval: '30M' };
    const times = [openMs, closeMs - 30 * 60_000].map((ms) => new Date(ms).toISOString());
    return [
      { ...common, datetime: times[0], open, high, low, close: low, volume },
      { ...common, datetime: times[1], open: low, high: close, low, close, volume },
    ];
  });

test('splits without an action are found in days that minutes make, where no days are stored or they end (contract 9.10 unrecorded_split)', async () => {
  const actions: FileRow[] = [];
  const { series, places } = planted((bars, at, random, symbol) => {
    const ratio = random.pick(RATIOS);
    split(bars, at, ratio);
    const ex_date = dateOf(bars[at]!.day);
    const action = { country_iso_code: 'US', symbol, action_type: 'split', ex_date };
    actions.push({ ...action, split_from: ratio[1], split_to: ratio[0] });
    return onBar(bars, at);
  });
  const minutes = Array.from(series, ([symbol, bars]) => halfHoursOf(symbol, bars));
  const alone = new CheckedStore(folder, 'minutes-alone');
  await alone.fill('bars', minutes);
  assert.deepEqual(await alone.places('unrecorded_split'), places);
  // The first days are stored, and the minutes go on: each jump is found once.
  const continued = new CheckedStore(folder, 'minutes-after-days');
  await continued.fill(
    'bars',
    Array.from(series, ([symbol, bars]) => rowsOfBars(symbol, bars.slice(0, days.length / 2))),
  );
  await continued.fill('bars', minutes);
  assert.deepEqual(await continued.places('unrecorded_split'), places);
  for (const store of [alone, continued]) {
    await store.fill('corporate-actions', [actions]);
    assert.deepEqual(await store.places('unrecorded_split'), []);
    assert.deepEqual(await store.places('action_without_jump'), []);
  }
});

test('every recorded split without a jump, or with another one, is found (contract 9.10 action_without_jump)', async () => {
  const actions: FileRow[] = [];
  let others = 0;
  const { series, places } = planted((bars, at, random, symbol) => {
    const [many, few] = random.pick([
      [2, 1],
      [3, 1],
      [5, 4],
      [1, 5],
    ] as const);
    // A split that the recorded one does not explain; of 10:4 and 2:5 none is usual.
    if (random.chance(0.3)) {
      split(bars, at, [many * 2, few]);
      if (few === 1) others++;
    }
    actions.push({
      ...{ country_iso_code: 'US', symbol, action_type: 'split', split_from: few, split_to: many },
      ex_date: dateOf(bars[at]!.day),
    });
    return onBar(bars, at);
  });
  const store = await storeOf('no-jump', series, actions);
  assert.deepEqual(await store.places('action_without_jump'), places);
  assert.equal((await store.places('unrecorded_split')).length, others);
  assert.equal((await store.check()).length, ALL + others);
});

test('every dividend above half the close before is found, and none below it (contract 9.10 impossible_dividend)', async () => {
  const actions: FileRow[] = [];
  const { series, places } = planted((bars, at, random, symbol) => {
    for (const [back, share] of [
      [0, 0.51 + random.next()],
      [9, 0.49 * random.next() + 0.001],
    ] as const)
      actions.push({
        ...{ country_iso_code: 'US', symbol, action_type: 'dividend' },
        ...{ ex_date: dateOf(bars[at - back]!.day), cash_amount: share * bars[at - back - 1]!.close },
      });
    return onBar(bars, at);
  });
  const store = await storeOf('dividends', series, actions);
  assert.deepEqual(await store.places('impossible_dividend'), places);
  assert.equal((await store.check()).length, ALL);
});

test('every repeated bar and every vwap outside its bar is found (contract 9.10 stale, vwap_outside)', async () => {
  const stale = planted((bars, at) => {
    bars[at] = { ...bars[at - 1]!, day: bars[at]!.day };
    return onBar(bars, at);
  });
  assert.deepEqual(await (await storeOf('stale', stale.series)).places('stale'), stale.places);
  const outside = planted((bars, at, random) => {
    // Half a unit of the last decimal is rounding.
    bars[at - 5]!.vwap = bars[at - 5]!.high + 0.4;
    bars[at - 5]!.vwap = Math.round(bars[at - 5]!.vwap!);
    bars[at - 5]!.high = Math.max(bars[at - 5]!.high, bars[at - 5]!.vwap! - 0.5);
    bars[at - 5]!.low = Math.min(bars[at - 5]!.low, bars[at - 5]!.vwap!);
    const bar = bars[at]!;
    bar.vwap = random.chance(0.5) ? beyond(bar.high, 1) : beyond(bar.low, -1);
    return onBar(bars, at);
  });
  const store = await storeOf('vwap', outside.series);
  assert.deepEqual(await store.places('vwap_outside'), outside.places);
});

test('every missing stretch of sessions is one finding: a break from 61 on (contract 9.10 missing_session, identity_break)', async () => {
  const without =
    (count: number): Plant =>
    (bars, at) => {
      const gone = bars.splice(at, count);
      return [gone[0]!.day, gone.at(-1)!.day];
    };
  for (const [kind, count] of [
    ['missing_session', 1],
    ['missing_session', 3],
    ['missing_session', thresholds.breakSessions],
    ['identity_break', thresholds.breakSessions + 1],
  ] as const) {
    const { series, places } = planted(without(count), 70);
    // Only one of all lacks no session.
    const all = new Map([...series, ['WHOLE', walk(new Random(seed, 99), days)]]);
    const store = await storeOf(`missing-${count}`, all);
    assert.deepEqual(await store.places(kind), places);
    assert.equal((await store.check()).length, ALL);
  }
});

test('a session that only other sources have is not missing; one that others of the source have is, in one file or in several (contract 9.9, 9.10)', async () => {
  const random = new Random(seed, 7);
  const [whole, holed] = [walk(random, days), walk(random, days)];
  holed.splice(200, 2);
  const files = [rowsOfBars('A', whole), rowsOfBars('B', holed)];
  const apart = new CheckedStore(folder, 'sources');
  await apart.fill('bars', [files[0]!], 'one vendor');
  await apart.fill('bars', [files[1]!], 'another vendor');
  assert.deepEqual(await apart.check(), []);
  const together = new CheckedStore(folder, 'one-file');
  await together.fill('bars', [files.flat()]);
  const found = new CheckedStore(folder, 'two-files');
  await found.fill('bars', files);
  for (const store of [together, found])
    assert.deepEqual(await store.places('missing_session'), [
      `B ${dateOf(days[200]!)} ${dateOf(days[201]!)}`,
    ]);
});

test('every active series that ends before half of its market is found (contract 9.10 behind)', async () => {
  const random = new Random(seed, 3);
  const some = days.slice(0, 60);
  const files: FileRow[] = [];
  const places: string[] = [];
  for (let at = 0; at < 101; at++) {
    const [symbol, lag] = [`B${at}`, at < 51 ? 0 : random.between(1, 20)];
    files.push(...rowsOfBars(symbol, walk(random, some.slice(0, some.length - lag))));
    if (lag > 0) places.push(`${symbol} ${dateOf(some[some.length - lag]!)} ${dateOf(some.at(-1)!)}`);
  }
  const store = new CheckedStore(folder, 'behind');
  await store.fill('bars', [files]);
  assert.deepEqual(await store.places('behind'), places.sort());
  // What is stored as minutes from some day on is not behind as days: its days are derived.
  const minutes = some.slice(-25).map((day) => ({
    ...rowsOfBars('B70', walk(random, [day]))[0]!,
    ...{ interval: '1M', datetime: `${dateOf(day)}T15:00:00Z` },
  }));
  const continued = new CheckedStore(folder, 'continued');
  await continued.fill('bars', [files, minutes]);
  assert.deepEqual(
    await continued.places('behind'),
    places.filter((place) => !place.startsWith('B70 ')),
  );
  const inactive = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'B60', status: 'inactive' };
  await store.fill('instruments', [[inactive]]);
  assert.equal((await store.places('behind')).length, 49);
});

test('the finding behind says how long in sessions and years (contract 9.10 behind)', async () => {
  const random = new Random(seed, 4);
  const long = sessionsOf('2015-01-02', '2024-12-31');
  const store = new CheckedStore(folder, 'behind-long');
  const ends = { NOW: long.length, ONE: long.length - 1, OLD: 200, ALSO: long.length };
  await store.fill('bars', [
    Object.entries(ends).flatMap(([symbol, end]) => rowsOfBars(symbol, walk(random, long.slice(0, end)))),
  ]);
  const messages = (await store.check()).flatMap(({ kind, message }) => (kind === 'behind' ? [message] : []));
  assert.deepEqual(messages.sort(), [
    'this series stops 1 session before most others of its market',
    `this series stops ${(long.length - 200).toLocaleString('en-US')} sessions (9 years) before most others of its market`,
  ]);
});

test('every daily bar of a closed date is found; a Sunday of forex is part of Monday (contract 9.10 closed_day, 3.10)', async () => {
  const { series, places } = planted((bars, at) => {
    const friday = bars.findIndex((bar, index) => index >= at && bars[index + 1]!.day === bar.day + 3);
    const day = bars[friday]!.day + 1;
    bars.splice(friday + 1, 0, { ...bars[friday]!, day, volume: 7 + at });
    return [day, day];
  });
  const store = await storeOf('closed', series);
  assert.deepEqual(await store.places('closed_day'), places);
  const forex = new CheckedStore(folder, 'forex');
  const weekdays = Array.from({ length: 60 }, (_, at) => dayOf('2024-01-07') + at).filter(
    (day) => new Date(day * 86_400_000).getUTCDay() !== 6,
  );
  const rows = rowsOfBars('EURUSD', walk(new Random(seed), weekdays)).map((row) => ({
    ...row,
    ...{ asset_schema: 'forex', country_iso_code: 'GLOBAL' },
  }));
  await forex.fill('bars', [rows]);
  assert.deepEqual(await forex.check(), []);
});
