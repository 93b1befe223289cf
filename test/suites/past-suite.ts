// The part of the engine suite about earlier versions: each is read as it was, whatever was written since
// (docs/decisions/0041).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SizedCache } from '../../src/base/sized-cache.ts';
import { rowsAmong } from '../../src/store/all-rows.ts';
import { forgetEarlier, oldestVersion } from '../../src/store/changes.ts';
import { storeLimits } from '../../src/store/limits.ts';
import { PastReader } from '../../src/store/past/past-reader.ts';
import { PastState, type Unreadable, UnreadableVersion } from '../../src/store/past/past-state.ts';
import { series } from '../../src/store/schema/bars.ts';
import type { Dataset, RowOf } from '../../src/store/schema/dataset.ts';
import { counters, formerRows, importRuns } from '../../src/store/schema/internal.ts';
import type { Direction, Read, Reader, Store, Writer } from '../../src/store/store.ts';

/** Runs a test with a writing and a reading connection of one new store. */
type WithFresh = (work: (writer: Store, reader: Store) => Promise<void>) => Promise<void>;

type Series = RowOf<typeof series>;

const INSTRUMENTS = 4;
const INTERVALS = ['1M', '30M', 'DAY'];

const seriesOf = (instrument_id: number, interval: string, bar_count: number): Series => ({
  instrument_id,
  interval,
  series_id: instrument_id * 10 + INTERVALS.indexOf(interval),
  prices: 'raw',
  volumes: null,
  first_ms: 0,
  last_ms: bar_count,
  bar_count,
  runs: Buffer.of(bar_count),
});

/** The record of an import that some version has. */
const runOf = (run_id: number, data_version: number): RowOf<typeof importRuns> => ({
  ...{ run_id, kind: 'import', dataset: 'bars', file: 'x.csv', sha256: '', source: null },
  ...{ rows_read: 0, rows_written: 0, rows_unchanged: 0, rows_refused: 0, started_ms: 0, finished_ms: 0 },
  ...{ undone_ms: null, path: null, archive_sha256: null, flags: null, data_version },
});

/** Numbers from 0 to below `max` that are the same in every run. */
function numbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
}

/** What a store had, in the order of its key. */
type Rows = readonly Series[];

/** Changes some series as a write does, and `rows` with it. */
async function changeSome(writer: Writer, rows: Map<string, Series>, next: (max: number) => number) {
  for (let count = 1 + next(3); count > 0; count--) {
    const row = seriesOf(1 + next(INSTRUMENTS), INTERVALS[next(INTERVALS.length)]!, next(100));
    const name = `${row.instrument_id} ${row.interval}`;
    if (next(4) === 0) {
      await writer.remove(series, [row]);
      rows.delete(name);
    } else {
      await writer.upsert(series, [row]);
      rows.set(name, row);
    }
  }
}

const inOrder = (rows: Iterable<Series>): Rows =>
  [...rows].sort((a, b) => a.instrument_id - b.instrument_id || (a.interval < b.interval ? -1 : 1));

const bounds = (entriesMax = 1_000) => ({ found: new SizedCache<never>(0), entriesMax, bytesMax: 1_000_000 });

const past = async (reader: Reader, version: number, entriesMax?: number): Promise<PastReader> =>
  new PastReader(
    reader,
    await PastState.open(reader, (await reader.version())!, version, bounds(entriesMax)),
  );

const byKey = (direction: Direction) => [
  ['instrument_id', direction] as const,
  ['interval', direction] as const,
];

/** All rows in pages of two. */
async function paged(reader: Reader, direction: Direction): Promise<Rows> {
  const found: Series[] = [];
  for (;;) {
    const last = found.at(-1);
    const after = last && [last.instrument_id, last.interval];
    const rows = await reader.rows(series, { order: byKey(direction), limit: 2, ...(after && { after }) });
    found.push(...asBuffers(rows));
    if (rows.length < 2) return found;
  }
}

/** Engines give bytes as they have them: here all are Buffers. */
const asBuffers = (rows: readonly Series[]): Rows =>
  rows.map((row) => ({ ...row, runs: Buffer.from(row.runs) }));

async function checkState(reader: PastReader, rows: Rows): Promise<void> {
  assert.deepEqual(await paged(reader, 'asc'), rows);
  assert.deepEqual(await paged(reader, 'desc'), rows.toReversed());
  assert.equal(await reader.count(series), rows.length);
  assert.equal((await reader.extent(series, 'bar_count')).rows, rows.length);
  for (let instrument_id = 1; instrument_id <= INSTRUMENTS; instrument_id++) {
    const own = rows.filter((row) => row.instrument_id === instrument_id);
    assert.deepEqual(asBuffers(await reader.group(series, { instrument_id })), own);
    const read = { where: { instrument_id }, order: [['interval', 'desc'] as const], limit: 9 };
    assert.deepEqual(asBuffers(await reader.rows(series, read)), own.toReversed());
    for (const row of own) {
      const { series_id } = row;
      const one = { where: { series_id }, order: [['series_id', 'asc'] as const], limit: 1 };
      assert.deepEqual(asBuffers(await reader.rows(series, one)), [row]);
    }
  }
  const among = await rowsAmong(reader, series, {}, 'series_id', [10, 21, 32]);
  assert.deepEqual(
    inOrder(asBuffers(among)),
    rows.filter(({ series_id }) => [10, 21, 32].includes(series_id)),
  );
}

const unreadable =
  (reason: Unreadable) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof UnreadableVersion);
    assert.deepEqual(error.reason, reason);
    return true;
  };

/** Makes 25 random writes, parts of which are undone, and gives what the store had at each version. */
async function writeSome(writer: Store, seed: number): Promise<Map<number, Rows>> {
  const next = numbers(seed);
  let rows = new Map<string, Series>();
  const known = new Map<number, Rows>([[0, []]]);
  for (let write = 0; write < 25; write++) {
    await writer.write(async (open) => {
      await changeSome(open, rows, next);
      const kept = new Map(rows);
      const part = open.savepoint(async () => {
        await changeSome(open, rows, next);
        if (next(2) === 0) throw new Error('this part is undone');
      });
      await part.catch(() => {
        rows = kept;
      });
      await changeSome(open, rows, next);
    });
    known.set((await writer.version())!, inOrder(rows.values()));
  }
  return known;
}

/** How many rows of earlier versions a store has, and how many it counts. */
const keptRows = (store: Store): Promise<readonly [found: number, counted: number | undefined]> =>
  store.snapshot(async (open) => [
    await open.count(formerRows),
    (await open.group(counters, { name: 'former_rows' }))[0]?.value,
  ]);

/** Makes a store count so many rows of earlier versions. */
const setKept = (store: Store, value: number): Promise<void> =>
  store.write((open) => open.upsert(counters, [{ name: 'former_rows', value }]));

export function pastTests(withFresh: WithFresh): void {
  for (const seed of [1, 2])
    test(`each earlier version has the rows that it had, whatever parts of later writes were undone (seed ${seed})`, () =>
      withFresh(async (writer, reader) => {
        const known = await writeSome(writer, seed);
        await reader.snapshot(async (open) => {
          for (const [version, had] of known) await checkState(await past(open, version), had);
        });
      }));

  for (const seed of [3, 4])
    test(`beyond its bound a store forgets its oldest versions, no other, and counts what it keeps (seed ${seed})`, () =>
      withFresh(async (writer, reader) => {
        const known = await writeSome(writer, seed);
        const [before, counted] = await keptRows(writer);
        assert.equal(counted, before);
        await setKept(writer, storeLimits.formerRowsMax + 8);
        const last = seriesOf(1, '1M', 101);
        await writer.write((open) => open.upsert(series, [last]));
        const [after, told] = await keptRows(writer);
        assert.equal(after, before + 1 - 9);
        assert.equal(told, storeLimits.formerRowsMax);
        await reader.snapshot(async (open) => {
          const oldest = await oldestVersion(open);
          assert.ok(oldest > 0 && oldest < 25, `${oldest}`);
          for (const [version, had] of known)
            if (version >= oldest) await checkState(await past(open, version), had);
            else await assert.rejects(past(open, version), unreadable({ why: 'earlier', version: oldest }));
        });
      }));

  test('of many rows of several datasets the oldest versions are forgotten, and the rest is as it was', () =>
    withFresh(async (writer, reader) => {
      const counts = [700, 20, 600, 5, 900];
      const known = new Map<number, number>();
      for (const [at, count] of counts.entries()) {
        await writer.write(async (open) => {
          const rows = Array.from({ length: count }, (_, row) => seriesOf(10_000 * (at + 1) + row, 'DAY', 1));
          await open.upsert(series, rows);
          await open.upsert(
            importRuns,
            rows.map((_, row) => runOf(row, at + 1)),
          );
        });
        known.set(
          at + 1,
          counts.slice(0, at + 1).reduce((sum, one) => sum + one, 0),
        );
      }
      const [before] = await keptRows(writer);
      await setKept(writer, storeLimits.formerRowsMax + 1_400);
      await writer.write((open) => open.upsert(series, [seriesOf(1, 'DAY', 1)]));
      // At most twice what it added, and a thousand.
      assert.deepEqual(await keptRows(writer), [
        before + 1 - 1_002,
        storeLimits.formerRowsMax + 1_401 - 1_002,
      ]);
      await reader.snapshot(async (open) => {
        // The first version alone has 1,400 of them.
        assert.equal(await oldestVersion(open), 1);
        for (const [version, count] of known)
          assert.equal(await (await past(open, version, 1e6)).count(series), count);
      });
      await writer.write((open) => open.upsert(series, [seriesOf(2, 'DAY', 1)]));
      assert.equal((await keptRows(writer))[0], before + 2 - 1_002 - 400);
      await reader.snapshot(async (open) => {
        for (const version of [1, 2])
          if (version < (await oldestVersion(open)))
            await assert.rejects(
              past(open, version),
              unreadable({ why: 'earlier', version: await oldestVersion(open) }),
            );
        for (const [version, count] of known)
          if (version >= (await oldestVersion(open)))
            assert.equal(await (await past(open, version, 1e6)).count(series), count);
      });
    }));

  test('a list of few rows reads few of the many that came later', () =>
    withFresh(async (writer, reader) => {
      await writer.write((open) => open.upsert(series, [seriesOf(1, 'DAY', 1), seriesOf(9_999, 'DAY', 1)]));
      const later = Array.from({ length: 3_000 }, (_, at) => seriesOf(2 + at, 'DAY', 1));
      await writer.write((open) => open.upsert(series, later));
      await reader.snapshot(async (open) => {
        let reads = 0;
        const state = await PastState.open(open, (await open.version())!, 1, bounds(1e6));
        const counting = {
          rows: (dataset: Dataset, read: Read) => {
            reads++;
            return open.rows(dataset, read);
          },
        } as unknown as Reader;
        const found = await new PastReader(counting, state).rows(series, {
          order: byKey('asc'),
          after: [1, 'DAY'],
          limit: 1,
        });
        assert.deepEqual([asBuffers(found), reads < 20], [[seriesOf(9_999, 'DAY', 1)], true]);
      });
    }));

  test('a store that did not count the rows of its earlier versions counts them', () =>
    withFresh(async (writer) => {
      await writeSome(writer, 7);
      await writer.write((open) => open.remove(counters, [{ name: 'former_rows' }]));
      await writer.write((open) => open.upsert(series, [seriesOf(1, '1M', 101)]));
      const [found, counted] = await keptRows(writer);
      assert.equal(counted, found);
    }));

  test('bytes of an earlier version are as they were', () =>
    withFresh(async (writer, reader) => {
      const row = { ...seriesOf(1, 'DAY', 5), runs: Buffer.of(0, 200, 255) };
      await writer.write((open) => open.upsert(series, [row]));
      await writer.write((open) => open.upsert(series, [{ ...row, runs: Buffer.of(7) }]));
      await writer.write((open) => open.remove(series, [row]));
      await reader.snapshot(async (open) => {
        const [found] = await (await past(open, 1)).group(series, { instrument_id: 1 });
        assert.deepEqual({ ...found, runs: [...found!.runs] }, { ...row, runs: [0, 200, 255] });
      });
    }));

  test('a version that nothing tells any more is refused, and so is one too far back', () =>
    withFresh(async (writer, reader) => {
      for (const count of [1, 2, 3])
        await writer.write((open) => open.upsert(series, [seriesOf(count, 'DAY', 1)]));
      await reader.snapshot(async (open) => {
        await assert.rejects(past(open, 4), unreadable({ why: 'later', version: 3 }));
        const far = await past(open, 0, 2);
        await assert.rejects(paged(far, 'asc'), unreadable({ why: 'far', dataset: 'series' }));
      });
      await writer.write((open) => forgetEarlier(open));
      await reader.snapshot(async (open) => {
        await assert.rejects(past(open, 3), unreadable({ why: 'earlier', version: 4 }));
        assert.equal((await paged(await past(open, 4), 'asc')).length, 3);
      });
    }));
}
