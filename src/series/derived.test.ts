// Bars folded block by block, in either direction and in steps of any size: those of all base bars at once (contract 3.8, 4.5).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeBlock } from '../bars/block-writer.ts';
import { bucketOf } from '../bars/bucket.ts';
import { minuteCells, periodCells } from '../bars/cells.ts';
import { type Bars, columns, emptyBars, sliceBars, valueColumns } from '../bars/columns.ts';
import { resample } from '../bars/resample.ts';
import { DAY_MS, dayOf, END_MS, FIRST_MS, MINUTE_MS } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { isPeriod, segmentScope } from '../calendar/period.ts';
import { intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import type { BlockRead, Reader, StoredBlock } from '../store/store.ts';
import { derivedFrom } from './derived.ts';
import type { Series } from './series.ts';

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

/** The bars of a series as blocks, for reading alone. */
function readerOf(bars: Bars): Reader {
  const blocks: StoredBlock[] = [];
  for (let from = 0, to = 0; from < bars.count; from = to) {
    const bucket = bucketOf(BASE, bars.keyMs[from]!);
    while (to < bars.count && bucketOf(BASE, bars.keyMs[to]!) === bucket) to++;
    blocks.push({ bucket, runId: 1, bytes: encodeBlock(sliceBars(bars, from, to)) });
  }
  const reading = {
    checkBlocks: async () => undefined,
    blocks: async ({ fromBucket, toBucket, direction, limit }: BlockRead) => {
      const found = blocks.filter(({ bucket }) => fromBucket <= bucket && bucket <= toBucket);
      return (direction === 'desc' ? found.reverse() : found).slice(0, limit);
    },
  };
  return reading as unknown as Reader;
}

const rowsOf = (bars: Bars): number[][] =>
  Array.from({ length: bars.count }, (_, row) => columns.map((column) => bars[column][row]!));

test('bars folded block by block are those of all base bars at once, in both directions', async () => {
  const market = fc.constantFrom(...(Object.keys(calendars) as (keyof typeof calendars)[]));
  const asked = fc.constantFrom('2M', '7M', '60M', '240M', '1440M', 'DAY', 'WEEK', 'MON');
  const drawn = fc.record({
    market,
    asked,
    minutes,
    nullEvery: fc.constantFrom(97, 100_000),
    extended: fc.boolean(),
    descending: fc.boolean(),
    atLeast: fc.constantFrom(1, 3, 50, 100_000),
  });
  await fc.assert(
    fc.asyncProperty(drawn, async ({ market: name, asked: text, ...scene }) => {
      const [calendar, interval] = [calendars[name], intervalOf(text)];
      const { extended, descending, atLeast } = scene;
      const bars = barsAt(scene.minutes, scene.nullEvery);
      const segments = calendar.segments(
        START_MS - 7 * DAY_MS,
        START_MS + (DAYS + 7) * DAY_MS,
        segmentScope(interval, extended),
      );
      const expected = rowsOf(
        resample(
          isPeriod(interval)
            ? periodCells(bars, segments, interval)
            : minuteCells(bars, segments, intervalMinutes(interval)!, 1),
        ),
      );
      const [first_ms, last_ms] = [bars.keyMs[0]!, bars.keyMs[bars.count - 1]!];
      const series = { series_id: 1, interval: BASE, first_ms, last_ms, unfinished: [] } as unknown as Series;
      const context = { reader: readerOf(bars), calendar, interval, extended, rawOnly: false };
      const stream = derivedFrom(context, series, { fromMs: FIRST_MS, toMs: END_MS, descending });
      const steps: number[][][] = [];
      for (let step = await stream.next(atLeast); step !== null; step = await stream.next(atLeast))
        steps.push(rowsOf(step.bars));
      assert.deepEqual((descending ? steps.toReversed() : steps).flat(), expected);
    }),
    { numRuns: 150 },
  );
});
