// Findings in minute bars: planted faults are found, and nothing else is (contract 9.10).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { calendarOf } from '../../src/market/calendar/calendar.ts';
import { Random } from '../fuzz/random.ts';
import type { FileRow } from '../importing.ts';
import { seed } from '../seed.ts';
import { TestFolder } from '../stores.ts';
import { beyond, CheckedStore, placesIn, sessionsOf } from './world.ts';

const folder = new TestFolder();
after(() => folder.close());

const MINUTE_MS = 60_000;
/**
 * Thirteen sessions, of which that of 2024-11-29 ends at 13:00; so many series that a fault of one is none of
 * the market.
 */
const days = sessionsOf('2024-11-14', '2024-12-04');
const SYMBOLS = Array.from({ length: 4 }, (_, at) => `M${at}`);
const calendar = calendarOf('stock', 'US');

type Minute = {
  ms: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  vwap: number | null;
};

const text = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

/** Every minute of the sessions, with a little noise in the prices; thin ones have a third of them. */
function minutesOf(random: Random, share = 1): Minute[] {
  return days.flatMap((day) => {
    const { openMs, closeMs } = calendar.sessionOn(day)!;
    const count = (closeMs - openMs) / MINUTE_MS;
    return Array.from({ length: count }, (_, at): Minute => {
      const price = 100 + random.below(100) / 100;
      return {
        ...{ ms: openMs + at * MINUTE_MS, open: price, high: price + 0.02, low: price - 0.02, close: price },
        ...{ volume: 100 + random.below(100), vwap: price },
      };
    }).filter(() => share === 1 || random.chance(share));
  });
}

const rowsOf = (symbol: string, bars: readonly Minute[]): FileRow[] =>
  bars.map(({ ms, ...values }) => ({
    ...{ asset_schema: 'stock', country_iso_code: 'US', symbol, interval: '1M' },
    ...{ datetime: new Date(ms).toISOString(), ...values },
  }));

const dayOfMinute = ({ ms }: Minute): number => calendar.labelAt(ms)!;

/** The found ones of a kind: symbol, begin, end, sorted. */
async function found(store: CheckedStore, kind: string): Promise<string[]> {
  const all = await store.check();
  return all
    .filter((one) => one.kind === kind)
    .map(({ symbol, fromMs, toMs }) => `${symbol} ${text(fromMs)} ${text(toMs)}`)
    .sort();
}

type Plant = (bars: Minute[], day: number, random: Random) => readonly [fromMs: number, toMs: number];

/** Each series with a fault in five sessions. */
async function planted(name: string, plant: Plant, share = 1) {
  const places: string[] = [];
  const store = new CheckedStore(folder, name);
  const files = SYMBOLS.map((symbol, index) => {
    const random = new Random(seed, index);
    const bars = minutesOf(random, share);
    for (const day of random.shuffle(days).slice(0, 5)) {
      const [fromMs, toMs] = plant(bars, day, random);
      places.push(`${symbol} ${text(fromMs)} ${text(toMs)}`);
    }
    return rowsOf(
      symbol,
      bars.sort((a, b) => a.ms - b.ms),
    );
  });
  await store.fill('bars', files);
  return { store, places: places.sort() };
}

/** Removes the bars of some time. */
function remove(bars: Minute[], fromMs: number, toMs: number): void {
  const kept = bars.filter(({ ms }) => ms < fromMs || ms >= toMs);
  bars.splice(0, bars.length, ...kept);
}

test('minutes without a fault have no finding, dense or thin (contract 9.10)', async () => {
  for (const share of [1, 0.3]) {
    const { store } = await planted(`sound-${share}`, () => [0, 0], share);
    assert.deepEqual(await store.check(), []);
  }
});

/** Removes so many minutes at one end of a session. */
const losing =
  (minutes: (random: Random) => number): Plant =>
  (bars, day, random) => {
    const { openMs, closeMs } = calendar.sessionOn(day)!;
    const lostMs = minutes(random) * MINUTE_MS;
    const [fromMs, toMs] = random.chance(0.5) ? [openMs, openMs + lostMs] : [closeMs - lostMs, closeMs];
    remove(bars, fromMs, toMs);
    return [fromMs, toMs];
  };

test('a session may lack fifteen minutes at an end (contract 9.10 short_session)', async () => {
  const { store } = await planted(
    'nearly-whole',
    losing(() => 15),
  );
  assert.deepEqual(await store.check(), []);
});

test('every dense session that begins late or ends early is found, and none of a thin instrument (contract 9.10 short_session)', async () => {
  const plant = losing((random) => random.between(16, 150));
  const { store, places } = await planted('short', plant);
  assert.deepEqual(await found(store, 'short_session'), places);
  assert.equal((await store.check()).length, places.length);
  const thin = await planted('short-thin', plant, 0.3);
  assert.deepEqual(await found(thin.store, 'short_session'), []);
});

test('a single session that stops while another series of the source goes on is found (contract 9.10 short_session)', async () => {
  const day = days[0]!;
  const { closeMs } = calendar.sessionOn(day)!;
  const bars = minutesOf(new Random(seed)).filter((bar) => dayOfMinute(bar) === day);
  const short = bars.filter(({ ms }) => ms < closeMs - 180 * MINUTE_MS);
  for (const [name, source, expected] of [
    ['stops', 'one', 1],
    ['stops-elsewhere', 'two', 0],
  ] as const) {
    const store = new CheckedStore(folder, name);
    await store.fill('bars', [rowsOf('SHORT', short)], 'one');
    assert.equal((await store.check()).length, 0, 'nothing tells that trade went on');
    await store.fill('bars', [rowsOf('WHOLE', bars)], source);
    assert.equal((await found(store, 'short_session')).length, expected);
  }
});

test('every long hole of a dense session is found, and one of the whole market once (contract 9.10 gap)', async () => {
  const { store, places } = await planted('gaps', (bars, day, random) => {
    const { openMs } = calendar.sessionOn(day)!;
    const fromMs = openMs + random.between(2, 100) * MINUTE_MS;
    const toMs = fromMs + random.between(5, 60) * MINUTE_MS;
    remove(bars, fromMs, toMs);
    return [fromMs, toMs];
  });
  assert.deepEqual(await found(store, 'gap'), places);
  const all = new CheckedStore(folder, 'halt');
  const { openMs } = calendar.sessionOn(days[6]!)!;
  const [fromMs, toMs] = [openMs + 30 * MINUTE_MS, openMs + 45 * MINUTE_MS];
  await all.fill(
    'bars',
    SYMBOLS.map((symbol, index) => {
      const bars = minutesOf(new Random(seed, index));
      remove(bars, fromMs, toMs);
      return rowsOf(symbol, bars);
    }),
  );
  assert.deepEqual(await found(all, 'gap'), [`* ${text(fromMs)} ${text(toMs)}`]);
});

test('bars where the calendar has none are one finding a session, off the grid one a series (contract 9.10 closed_day, outside_session, off_grid)', async () => {
  for (const [kind, shift] of [
    ['outside_session', 13 * 60],
    ['closed_day', null],
  ] as const) {
    const { store, places } = await planted(kind, (bars, day, random) => {
      const weekend = day + ((6 - new Date(day * 86_400_000).getUTCDay()) % 7);
      const startMs =
        shift === null
          ? weekend * 86_400_000 + (15 * 60 + random.below(3)) * MINUTE_MS
          : calendar.sessionOn(day)!.openMs + (shift + random.below(5)) * MINUTE_MS;
      const taken = new Set(bars.map(({ ms }) => ms));
      for (let at = 0; at < 3; at++)
        if (!taken.has(startMs + at * MINUTE_MS)) bars.push({ ...bars[0]!, ms: startMs + at * MINUTE_MS });
      return [startMs, startMs + 3 * MINUTE_MS];
    });
    const places2 = await found(store, kind);
    // Two plants of one weekend are one finding.
    const sessions = new Set(places.map((place) => place.slice(0, 13)));
    assert.deepEqual(new Set(places2.map((place) => place.slice(0, 13))), sessions);
    assert.equal(places2.length, sessions.size);
  }
  const hours = new CheckedStore(folder, 'hours');
  const clock = days.flatMap((day) =>
    [15, 16, 17].map((hour) => ({
      ...minutesOf(new Random(seed))[0]!,
      ms: day * 86_400_000 + hour * 60 * MINUTE_MS,
    })),
  );
  const rows = rowsOf('CLOCK', clock).map((row) => ({ ...row, interval: '60M' }));
  await hours.fill('bars', [rows]);
  const all = await hours.check();
  assert.deepEqual(
    all.map(({ kind, severity, value }) => [kind, severity, value]),
    [['off_grid', 'info', 3 * days.length]],
  );
});

test('minutes that are dated by their close are found (contract 9.10 close_labelled)', async () => {
  const byClose = (ms: number): number => ms + MINUTE_MS;
  const labelled = async (name: string, count: number, change: (bars: Minute[]) => Minute[]) => {
    const store = new CheckedStore(folder, name);
    const bars = minutesOf(new Random(seed)).filter((bar) => days.indexOf(dayOfMinute(bar)) < count);
    await store.fill('bars', [rowsOf('SHIFTED', change(bars))]);
    return (await store.check())
      .filter(({ kind }) => kind === 'close_labelled')
      .map(({ severity, value }) => [severity, value]);
  };
  const all = (bars: Minute[]): Minute[] => bars.map((bar) => ({ ...bar, ms: byClose(bar.ms) }));
  assert.deepEqual(await labelled('by-close', 6, all), [['warning', 6]]);
  assert.deepEqual(await labelled('by-open', 6, (bars) => bars), []);
  assert.deepEqual(await labelled('few', 4, all), [], 'four sessions tell nothing');
  const oneAtOpen = (bars: Minute[]): Minute[] => [bars[0]!, ...all(bars)];
  assert.deepEqual(await labelled('one-at-open', 6, oneAtOpen), [], 'a session has a bar at its open');
});

test('every vwap outside its minute is found, once a session (contract 9.10 vwap_outside)', async () => {
  const { store, places } = await planted('vwaps', (bars, day, random) => {
    const at = bars.findIndex((bar) => dayOfMinute(bar) === day) + random.below(200);
    bars[at]!.vwap = beyond(bars[at]!.high, 1);
    return [bars[at]!.ms, bars[at]!.ms + MINUTE_MS];
  });
  assert.deepEqual(await found(store, 'vwap_outside'), places);
});

test('minutes that do not come to the stored day are found (contract 9.10 minute_day_mismatch)', async () => {
  const long = sessionsOf('2024-07-01', '2024-12-04');
  const files: FileRow[][] = [];
  const places: string[] = [];
  for (const [index, symbol] of SYMBOLS.entries()) {
    const random = new Random(seed, index);
    const faults = new Set(placesIn(random, long.length, 5, 6));
    const rows = long.flatMap((day, at) => {
      const { openMs, closeMs } = calendar.sessionOn(day)!;
      const [high, low, volume] = [101 + random.below(300) / 100, 99, 1_000_000 + random.below(100_000)];
      const named = { asset_schema: 'stock', country_iso_code: 'US', symbol, open: 100, close: 100, low };
      // One bar of an hour stands for the session: half an hour of an early close too.
      const share = 0.9 + random.next() / 10;
      const fault = faults.has(at) ? random.pick(['high', 'few', 'many'] as const) : null;
      if (fault !== null) places.push(`${symbol} ${text(openMs)} ${text(closeMs)}`);
      const times = { few: 0.4, many: 1.6, high: 1, none: 1 }[fault ?? 'none'];
      const minute = {
        ...named,
        high: fault === 'high' ? high * 1.02 : high,
        volume: Math.round(volume * share * times),
      };
      return [
        { ...named, high, volume, interval: 'DAY', datetime: new Date(openMs).toISOString().slice(0, 10) },
        { ...minute, interval: '60M', datetime: new Date(openMs).toISOString() },
      ];
    });
    files.push(rows);
  }
  const store = new CheckedStore(folder, 'mismatch');
  await store.fill('bars', files);
  assert.deepEqual(await found(store, 'minute_day_mismatch'), places.sort());
});
