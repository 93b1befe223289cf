// Bars folded block by block, in either direction and in steps of any size: those of all base bars at once
// (contract 3.8, 4.5).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fc, times } from '../../test/seed.ts';
import { TestFolder } from '../../test/stores.ts';
import { DAY_MS, dayOf, END_MS, FIRST_MS, MINUTE_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import { bucketOf } from '../market/bars/block.ts';
import { encodeBlock } from '../market/bars/block-writer.ts';
import { minuteCells, sessionCells } from '../market/bars/cells.ts';
import { type Bars, columns, emptyBars, sliceBars, valueColumns } from '../market/bars/columns.ts';
import { resample } from '../market/bars/resample.ts';
import { type Calendar, calendarOf } from '../market/calendar/calendar.ts';
import { isPeriod, segmentScope } from '../market/calendar/period.ts';
import { DamagedData } from '../store/damage.ts';
import { openStore } from '../store/engines.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { BlockRead, Reader, StoredBlock } from '../store/store.ts';
import { barStream } from './bar-stream.ts';
import type { StreamRange } from './cursor.ts';
import { derivedFrom } from './derived.ts';
import { seriesLimits } from './limits.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { BarStream } from './stream.ts';

const DAYS = 25;
const START_MS = dayOf(2025, 2, 24) * DAY_MS;
const BASE = intervalOf('1M');

const calendars = {
  // Sessions cross midnight in UTC, and with it blocks; daylight saving begins on 2025-03-09.
  forex: calendarOf('forex', 'GLOBAL'),
  stock: calendarOf('stock', 'US'),
  lunch: calendarOf('stock', 'HK'),
  crypto: calendarOf('crypto', 'GLOBAL'),
};

/** Minutes of a span at which there are bars: some stretches of it, thinned out. */
const minutes = fc
  .array(fc.tuple(fc.nat(DAYS * 1440 - 1), fc.integer({ min: 1, max: 3_000 }), fc.constantFrom(1, 7, 31)), {
    minLength: 1,
    maxLength: 6,
  })
  .map((stretches) => {
    const all = new Set<number>();
    for (const [from, length, step] of stretches)
      for (let at = from; at < Math.min(from + length, DAYS * 1440); at += step) all.add(at);
    return [...all].sort((a, b) => a - b);
  });

/** Bars at minutes; every so many-th has no volume, or one that doubles do not sum exactly. */
function barsAt(at: readonly number[], nullEvery: number): Bars {
  const bars = emptyBars(at.length);
  bars.count = at.length;
  for (const [index, minute] of at.entries()) {
    const price = 100 + ((minute * 37) % 113) / 8;
    const values = [price, price + 0.5, price - 0.25, price + 0.125, ((minute * 29) % 997) / 100, price];
    bars.keyMs[index] = START_MS + minute * MINUTE_MS;
    for (const [column, name] of valueColumns.entries()) bars[name][index] = values[column]!;
    if (index % nullEvery === nullEvery - 1) bars.volume[index] = Number.NaN;
  }
  return bars;
}

const folder = new TestFolder();
const store = await openStore(folder.storeUrl(), 'write');
after(async () => {
  await store.close();
  folder.close();
});

/** The blocks of bars. */
function blocksOf(bars: Bars): StoredBlock[] {
  const blocks: StoredBlock[] = [];
  for (let from = 0, to = 0; from < bars.count; from = to) {
    const bucket = bucketOf(BASE, bars.keyMs[from]!);
    while (to < bars.count && bucketOf(BASE, bars.keyMs[to]!) === bucket) to++;
    blocks.push({ bucket, runId: 1, bytes: encodeBlock(sliceBars(bars, from, to)) });
  }
  return blocks;
}

let seriesCount = 0;

/** Stores bars as a new series of minutes. */
async function storeBars(bars: Bars): Promise<Series> {
  const series_id = ++seriesCount;
  const row = {
    ...{
      instrument_id: series_id,
      interval: BASE,
      series_id,
      prices: 'raw',
      volumes: null,
      isOffGrid: false,
    },
    ...{ first_ms: bars.keyMs[0]!, last_ms: bars.keyMs[bars.count - 1]!, bar_count: bars.count },
    runs: new Uint8Array(),
  };
  await store.write(async (writer) => {
    await writer.upsert(seriesDataset, [row]);
    for (const block of blocksOf(bars)) await writer.putBlock(series_id, block);
  });
  return { ...row, unfinished: [], covered: [{ fromMs: FIRST_MS, toMs: END_MS }] };
}

/** The same series as another object, as after each commit. */
const again = (series: Series): Series => ({ ...series });

/** An instrument with one series, which has ended. */
const storedOf = (series: Series, calendar = calendars.crypto): StoredInstrument => ({
  instrument: { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAA' } as Instrument,
  ...{ calendar, series: [series], market: 'stock/US', endedMs: FIRST_MS },
});

/** The reader itself; `reads` gets the buckets of the blocks that it reads. */
function counting(reader: Reader, reads: number[]): Reader {
  const blocks = async (read: BlockRead): Promise<StoredBlock[]> => {
    const found = await reader.blocks(read);
    reads.push(...found.map(({ bucket }) => bucket));
    return found;
  };
  return new Proxy(reader, {
    get(target, name) {
      const value: unknown = name === 'blocks' ? blocks : Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const rowsOf = (bars: Bars): number[][] =>
  Array.from({ length: bars.count }, (_, row) => columns.map((column) => bars[column][row]!));

type Asked = { readonly calendar: Calendar; readonly interval: Interval; readonly extended: boolean };

/** All derived bars, from all base bars at once. */
function expectedRows(bars: Bars, { calendar, interval, extended }: Asked): number[][] {
  const scope = segmentScope(interval, extended);
  const segments = calendar.segments(START_MS - 7 * DAY_MS, START_MS + (DAYS + 7) * DAY_MS, scope);
  if (isPeriod(interval)) return rowsOf(resample(sessionCells(bars, segments, extended)));
  return rowsOf(resample(minuteCells(bars, segments, intervalMinutes(interval)!, 1)));
}

const everything = { fromMs: FIRST_MS, toMs: END_MS, descending: false };

/**
 * The bars of up to so many steps, in ascending order; each step is spoiled afterwards, as by a caller that
 * adjusts it.
 */
async function readSteps(stream: BarStream, descending: boolean, atLeast: number, stepsMax: number) {
  const steps: number[][][] = [];
  while (steps.length < stepsMax) {
    const step = await stream.next(atLeast);
    if (step === null) break;
    const rows = rowsOf(step.bars);
    assert.ok(rows.length > 0);
    steps.push(rows);
    for (const column of columns) step.bars[column].fill(-1);
    step.openMs.fill(-1);
    step.closeMs.fill(-1);
  }
  return (descending ? steps.toReversed() : steps).flat();
}

const market = fc.constantFrom(...(Object.keys(calendars) as (keyof typeof calendars)[]));
const asked = fc.constantFrom('2M', '7M', '60M', '240M', '1440M', 'DAY');
const sizes = fc.constantFrom(1, 3, 50, 100_000);

test('bars folded block by block are those of all base bars at once, in both directions', async () => {
  const drawn = fc.record({
    market,
    asked,
    minutes,
    nullEvery: fc.constantFrom(97, 100_000),
    extended: fc.boolean(),
    descending: fc.boolean(),
    atLeast: sizes,
  });
  await fc.assert(
    fc.asyncProperty(drawn, async ({ market: name, asked: text, descending, atLeast, ...scene }) => {
      const bars = barsAt(scene.minutes, scene.nullEvery);
      const what = { calendar: calendars[name], interval: intervalOf(text), extended: scene.extended };
      const series = await storeBars(bars);
      const found = await store.snapshot((reader) => {
        const stream = derivedFrom({ ...what, reader, rawOnly: false, onUse: null }, series, {
          ...everything,
          descending,
        });
        return readSteps(stream, descending, atLeast, Number.POSITIVE_INFINITY);
      });
      assert.deepEqual(found, expectedRows(bars, what));
    }),
    { numRuns: times(60) },
  );
});

const minuteOf = fc.integer({ min: -2 * 1440, max: (DAYS + 2) * 1440 });

test('bars asked for again are those of the first asking, whatever parts of the series were asked for before (contract 3.8)', async () => {
  const read = fc.record({
    asked,
    extended: fc.boolean(),
    ends: fc.option(fc.tuple(minuteOf, minuteOf), { freq: 3 }),
    descending: fc.boolean(),
    atLeast: sizes,
    stepsMax: fc.constantFrom(1, 2, 1_000_000),
  });
  const drawn = fc.record({ market, minutes, reads: fc.array(read, { minLength: 2, maxLength: 12 }) });
  await fc.assert(
    fc.asyncProperty(drawn, async ({ market: name, reads, ...scene }) => {
      const bars = barsAt(scene.minutes, 97);
      const series = await storeBars(bars);
      for (const { asked: text, extended, ends, descending, atLeast, stepsMax } of reads) {
        const what = { calendar: calendars[name], interval: intervalOf(text), extended };
        const [from, to] = (ends ?? []).toSorted((a, b) => a - b);
        const range =
          from === undefined || to === undefined
            ? { ...everything, descending }
            : { fromMs: START_MS + from * MINUTE_MS, toMs: START_MS + to * MINUTE_MS, descending };
        const found = await store.snapshot((reader) => {
          const stream = derivedFrom({ ...what, reader, rawOnly: false, onUse: null }, series, range);
          return readSteps(stream, descending, atLeast, stepsMax);
        });
        const all = expectedRows(bars, what).filter(
          ([keyMs]) => range.fromMs <= keyMs! && keyMs! < range.toMs,
        );
        const isWhole = stepsMax === 1_000_000;
        assert.ok(isWhole || found.length >= Math.min(1, all.length));
        const part = descending ? all.slice(all.length - found.length) : all.slice(0, found.length);
        assert.deepEqual(found, isWhole ? all : part);
      }
    }),
    { numRuns: times(100) },
  );
});

/** Every third minute of all days. */
const dense = Array.from({ length: (DAYS * 1440) / 3 }, (_, at) => 3 * at);

test('bars asked for again are made without reading a block; of another series, calendar or hours they are not', async () => {
  const bars = barsAt(dense, 97);
  const reads: number[] = [];
  const series = await storeBars(bars);
  const what = { calendar: calendars.stock, interval: intervalOf('60M'), extended: false };
  const readsOf = async (of: Series, asking: Partial<Asked> = {}, range = everything): Promise<number> => {
    reads.length = 0;
    await store.snapshot((state) => {
      const reader = counting(state, reads);
      const stream = derivedFrom({ ...what, ...asking, reader, rawOnly: false, onUse: null }, of, range);
      return readSteps(stream, range.descending, 7, Number.POSITIVE_INFINITY);
    });
    return reads.length;
  };
  const day = START_MS + 9 * DAY_MS;
  assert.ok((await readsOf(series, {}, { fromMs: day, toMs: day + DAY_MS, descending: true })) <= 2);
  assert.ok((await readsOf(series)) > DAYS / 2);
  assert.equal(await readsOf(series), 0);
  assert.equal(await readsOf(series, {}, { ...everything, descending: true }), 0);
  assert.ok((await readsOf(series, { extended: true })) > 0);
  assert.ok((await readsOf(series, { interval: intervalOf('DAY') })) > 0);
  assert.equal(await readsOf(series), 0);
  assert.ok((await readsOf(series, { calendar: calendars.lunch })) > 0);
  assert.ok((await readsOf(again(series))) > 0);
});

test('requests that read a series at the same time get the same bars', async () => {
  const bars = barsAt(dense, 97);
  const series = await storeBars(bars);
  const what = { calendar: calendars.forex, interval: intervalOf('60M'), extended: false };
  await store.snapshot(async (reader) => {
    const streamOf = (descending: boolean) =>
      derivedFrom({ ...what, reader, rawOnly: false, onUse: null }, series, { ...everything, descending });
    const streams = [streamOf(false), streamOf(false), streamOf(true)];
    for (let step = 0; step < 200; step++) for (const stream of streams) await stream.next(1 + (step % 5));
    const expected = expectedRows(bars, what);
    for (const descending of [false, true])
      assert.deepEqual(await readSteps(streamOf(descending), descending, 1_000, 1_000), expected);
  });
});

test('a damaged block is a fault whenever bars need it, also beside bars that were made before (contract 3.9)', async () => {
  const bars = barsAt(dense, 97);
  const series = await storeBars(bars);
  const context = {
    calendar: calendars.crypto,
    interval: intervalOf('DAY'),
    extended: false,
    rawOnly: false,
    onUse: null,
  };
  const read = (range: StreamRange) =>
    store.snapshot((reader) =>
      readSteps(derivedFrom({ ...context, reader }, series, range), range.descending, 1, 1_000_000),
    );
  const before = { ...everything, toMs: START_MS + 5 * DAY_MS };
  const after = { ...everything, fromMs: START_MS + 15 * DAY_MS };
  const expected = expectedRows(bars, context);
  assert.deepEqual(await read(before), expected.slice(0, 5));
  const damaged = blocksOf(bars)[10]!;
  damaged.bytes[damaged.bytes.length - 1]! ^= 1;
  await store.write((writer) => writer.putBlock(series.series_id, damaged));
  for (let asking = 0; asking < 2; asking++) {
    await assert.rejects(read(everything), DamagedData);
    await assert.rejects(read({ ...everything, descending: true }), DamagedData);
    assert.deepEqual(await read(before), expected.slice(0, 5));
    assert.deepEqual(await read(after), expected.slice(15));
  }
});

test('kept bars have a bound: those that were used longest ago are dropped', async () => {
  const small = barsAt(dense, 97);
  const reads: number[] = [];
  const series = await storeBars(small);
  const what = {
    calendar: calendars.crypto,
    interval: intervalOf('7M'),
    extended: false,
    rawOnly: false,
    onUse: null,
  };
  const read = (of: Series) =>
    store.snapshot((state) => {
      const reader = counting(state, reads);
      return readSteps(derivedFrom({ ...what, reader }, of, everything), false, 10_000, 1_000_000);
    });
  const stored = storedOf(again(series));
  const readWeeks = () =>
    store.snapshot((state) => {
      const context = { ...what, interval: intervalOf('WEEK'), reader: counting(state, reads) };
      return readSteps(barStream(context, stored, everything, END_MS), false, 10_000, 1_000_000);
    });
  await read(series);
  assert.ok((await readWeeks()).length > 0);
  reads.length = 0;
  await read(series);
  await readWeeks();
  assert.equal(reads.length, 0);
  const bytes = Math.ceil((DAYS * 1440) / 7) * seriesLimits.keptBarBytes;
  const others: Series[] = [];
  for (let sum = 0; sum < 1.1 * seriesLimits.keptBytesMax; sum += bytes) {
    others.push(again(series));
    await read(others.at(-1)!);
  }
  reads.length = 0;
  await read(others.at(-1)!);
  assert.equal(reads.length, 0, 'the last is kept');
  await read(series);
  assert.ok(reads.length > 0, 'the first is not');
  reads.length = 0;
  await readWeeks();
  assert.ok(reads.length > 0, 'nor are its weeks');
});

test('weeks asked for again are made without reading a block; of another instrument, or of what was known of it at a moment, they are not', async () => {
  const series = await storeBars(barsAt(dense, 97));
  const reads: number[] = [];
  const readsOf = async (stored: StoredInstrument, isExtended = false): Promise<number> => {
    reads.length = 0;
    await store.snapshot((state) => {
      const reader = counting(state, reads);
      const { calendar } = stored;
      const what = { reader, calendar, extended: isExtended, rawOnly: false, onUse: null };
      const weeks = barStream({ ...what, interval: intervalOf('WEEK') }, stored, everything, END_MS);
      return readSteps(weeks, false, 10_000, 1_000_000);
    });
    return reads.length;
  };
  const stored = storedOf(again(series), calendars.stock);
  assert.ok((await readsOf(stored)) > 0);
  assert.equal(await readsOf(stored), 0);
  assert.ok((await readsOf(stored, true)) > 0, 'of other hours');
  assert.equal(await readsOf(stored, true), 0);
  assert.ok((await readsOf(storedOf(again(series), calendars.stock))) > 0, 'after a commit');
  const part = storedOf({ ...series, isPart: true }, calendars.stock);
  for (let asking = 0; asking < 2; asking++) assert.ok((await readsOf(part)) > 0, 'of a part');
});
