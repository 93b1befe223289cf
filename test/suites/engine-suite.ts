// The suite that every engine must pass, on the real thing: what the port promises, by the address of a store
// alone.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { allRows, rowsAmong } from '../../src/store/all-rows.ts';
import { pageKeySecret, putKey, readKeys } from '../../src/store/control.ts';
import { openControl, openStore } from '../../src/store/engines.ts';
import type { RowOf } from '../../src/store/schema/dataset.ts';
import { type apiKeys, counters, failedFiles, importRuns, secrets } from '../../src/store/schema/internal.ts';
import { instruments } from '../../src/store/schema/reference.ts';
import {
  type BlockAt,
  type Direction,
  type Read,
  type RowReader,
  type Store,
  type StoredBlock,
  StoreUnavailable,
  type Writer,
} from '../../src/store/store.ts';
import { fc, times } from '../seed.ts';
import { until } from '../until.ts';
import { pastTests } from './past-suite.ts';
import { versionTests } from './version-suite.ts';

type Run = RowOf<typeof importRuns>;
type Counter = RowOf<typeof counters>;

const runOf = (fields: Partial<Run>): Run => ({
  run_id: 1,
  kind: 'import',
  dataset: 'bars',
  file: 'a.csv',
  sha256: '',
  source: null,
  rows_read: 0,
  rows_written: 0,
  rows_unchanged: 0,
  rows_refused: 0,
  started_ms: 0,
  finished_ms: 0,
  undone_ms: null,
  path: null,
  archive_sha256: null,
  flags: null,
  data_version: null,
  ...fields,
});

const setCounter = (store: Store, name: string, value: number): Promise<void> =>
  store.write((writer) => writer.upsert(counters, [{ name, value }]));

const allCounters: Read<typeof counters> = { order: [['name', 'asc']], limit: 1000 };
/** The counters of a test, without that of the engine's own. */
const countersOf = async (reader: RowReader): Promise<Counter[]> =>
  (await reader.rows(counters, allCounters)).filter(({ name }) => name !== 'data_version');
const readCounters = (store: Store): Promise<Counter[]> => store.snapshot(countersOf);

/** Order of stored text: that of its UTF-8 bytes, which is that of its code points. */
function compare(a: string | number, b: string | number): number {
  return typeof a === 'number' ? a - (b as number) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
}

/** The same, and null before every value. */
function nullsFirst(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compare(a, b);
}

/** What the other process does, on a store that it opens for writing: source text of a function's body. */
type OtherWork = { readonly url: string; readonly body: string };

let other: ChildProcess | null = null;

/**
 * Another process that opens a store for writing and runs `body` on it. All tests of a file share it, one
 * after the other.
 */
function otherProcess(url: string, body: string): { done: Promise<void> } {
  other ??= fork(new URL('../other-process.ts', import.meta.url));
  const child = other;
  for (const held of [child, child.channel!]) held.ref();
  const work: OtherWork = { url, body };
  child.send(work);
  const done = once(child, 'message').then(([problem]) => {
    for (const held of [child, child.channel!]) held.unref();
    assert.equal(problem, null, 'the other process');
  });
  return { done };
}

/** Runs `work` with a writing and a reading connection of one new store. */
async function withStore(
  url: string,
  work: (writer: Store, reader: Store, url: string) => Promise<void>,
): Promise<void> {
  const writer = await openStore(url, 'write');
  const reader = await openStore(url, 'read');
  try {
    await work(writer, reader, url);
  } finally {
    await reader.close();
    await writer.close();
  }
}

/**
 * Declares the suite for one engine. `freshUrl` gives the address of a store that nothing was opened at
 * before: the suite opens, closes and reopens it as often as it likes, from other processes too. `takeAway`
 * makes a store out of reach, as when its disk or its server is gone; the result brings it back.
 */
export function engineSuite(
  name: string,
  freshUrl: () => Promise<string>,
  takeAway: (url: string) => Promise<() => Promise<void>>,
): void {
  const withFresh = async (work: (writer: Store, reader: Store, url: string) => Promise<void>) =>
    withStore(await freshUrl(), work);

  suite(`${name} keeps rows`, () => rowTests(withFresh));
  suite(`${name} keeps blocks`, () => blockTests(withFresh));
  suite(`${name} keeps its readers and writers apart`, () => transactionTests(withFresh));
  suite(`${name} tells what has changed`, () => versionTests(withFresh, otherProcess));
  suite(`${name} is read as it was`, () => pastTests(withFresh));
  suite(`${name} gives rows of several keys`, () => rowsByKeyTests(withFresh));
  suite(`${name} gives blocks of several places`, () => blocksAtTests(withFresh));
  suite(`${name} writes in parts`, () => savepointTests(withFresh));
  suite(`${name} keeps keys and secrets beside the data`, () => controlTests(freshUrl));
  suite(`${name} is out of reach and back`, () => reachTests(withFresh, takeAway));
}

type WithFresh = (work: (writer: Store, reader: Store, url: string) => Promise<void>) => Promise<void>;

const words = ['', 'a', 'A', 'B', 'ab', 'a b', 'é', 'z', 'ß', '日本', '\u{1f4c8}', '\uffee'] as const;
const runs: fc.Arbitrary<Run[]> = fc
  .array(
    fc.record({
      dataset: fc.constantFrom('bars', 'news', 'Ärger'),
      file: fc.constantFrom(...words),
      rows_read: fc.integer({ min: -2, max: 2 }),
      started_ms: fc.constantFrom(-1, 0, 1_700_000_000_000),
    }),
    { maxLength: 40 },
  )
  .map((found) => found.map((fields, index) => runOf({ ...fields, run_id: index * 7 - 20 })));

const orderColumns = ['dataset', 'file', 'rows_read', 'started_ms'] as const;
type OrderColumn = (typeof orderColumns)[number] | 'run_id';
const orders: fc.Arbitrary<[OrderColumn, Direction][]> = fc
  .tuple(
    fc.shuffledSubarray([...orderColumns]),
    fc.array(fc.constantFrom<Direction>('asc', 'desc'), { minLength: 5, maxLength: 5 }),
  )
  .map(([columns, directions]) =>
    [...columns, 'run_id' as const].map((column, index) => [column, directions[index]!]),
  );

function expectedRows(all: readonly Run[], read: Read<typeof importRuns>): Run[] {
  const order = read.order as [OrderColumn, Direction][];
  const [first] = order[0]!;
  return all
    .filter((row) => read.where?.dataset === undefined || row.dataset === read.where.dataset)
    .filter((row) => read.along?.rows_read === undefined || row.rows_read === read.along.rows_read)
    .filter((row) => read.range?.from === undefined || compare(row[first], read.range.from) >= 0)
    .filter((row) => read.range?.to === undefined || compare(row[first], read.range.to) < 0)
    .sort((a, b) => {
      for (const [column, direction] of order) {
        const difference = compare(a[column], b[column]);
        if (difference !== 0) return direction === 'asc' ? difference : -difference;
      }
      return 0;
    });
}

function rowTests(withFresh: WithFresh): void {
  test('a row of equal key replaces the one that was there, whole', () =>
    withFresh(async (writer, reader) => {
      const [first, second] = [runOf({ source: 'x', rows_read: 3 }), runOf({ file: 'b.csv' })];
      await writer.write((rows) => rows.upsert(importRuns, [first, runOf({ run_id: 2 })]));
      await writer.write((rows) => rows.upsert(importRuns, [second]));
      const found = await reader.snapshot((rows) =>
        rows.rows(importRuns, { order: [['run_id', 'asc']], limit: 9 }),
      );
      assert.deepEqual(found, [second, runOf({ run_id: 2 })]);
    }));

  test('of rows of equal key in one write the last holds', () =>
    withFresh(async (writer, reader) => {
      await writer.write((rows) =>
        rows.upsert(counters, [
          { name: 'a', value: 1 },
          { name: 'a', value: 2 },
        ]),
      );
      assert.deepEqual(await readCounters(reader), [{ name: 'a', value: 2 }]);
    }));

  test('any number of rows in one write are as one by one, equal keys included', () =>
    withFresh(async (writer, reader) => {
      // Seven names: each is several times among the rows of one statement.
      for (const count of [0, 1, 15, 16, 17, 40, 64]) {
        const name = (at: number): string => `of ${count}, ${at % 7}`;
        const rows = Array.from({ length: count }, (_, at) => ({ name: name(at), value: at }));
        const before = await readCounters(reader);
        await writer.write((open) => open.upsert(counters, rows));
        const last = new Map([...before, ...rows].map((row) => [row.name, row.value]));
        const expected = [...last].map(([key, value]) => ({ name: key, value }));
        const byName = (one: { name: string }, other: { name: string }) => compare(one.name, other.name);
        assert.deepEqual((await readCounters(reader)).sort(byName), expected.sort(byName));
      }
    }));

  test('rows are removed by their whole key, and a key that is not there changes nothing', () =>
    withFresh(async (writer, reader) => {
      await writer.write(async (rows) => {
        await rows.upsert(
          counters,
          ['a', 'b', 'c'].map((one) => ({ name: one, value: 1 })),
        );
        await rows.remove(counters, [{ name: 'b' }, { name: 'x' }]);
      });
      assert.deepEqual(
        (await readCounters(reader)).map((row) => row.name),
        ['a', 'c'],
      );
    }));

  test('pages of any size and any mix of directions are the sorted whole, ties included (contract 4.1, 4.5)', () =>
    withFresh(async (writer, reader) => {
      const bounds = fc.record(
        { from: fc.nat(5), to: fc.nat(5), where: fc.boolean(), along: fc.boolean() },
        { requiredKeys: [] },
      );
      let stored: readonly Run[] = [];
      await fc.assert(
        fc.asyncProperty(
          runs,
          orders,
          bounds,
          fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
          async (all, order, drawn, sizes) => {
            await writer.write(async (rows) => {
              await rows.remove(importRuns, stored);
              await rows.upsert(importRuns, all);
            });
            stored = all;
            const column = order[0]![0];
            const values = all.map((row) => row[column]);
            const bound = (at: number | undefined) =>
              at === undefined ? {} : { at: values[at % values.length] };
            const [from, to] = [bound(drawn.from).at, bound(drawn.to).at];
            const read: Read<typeof importRuns> = {
              order,
              limit: 1000,
              ...(drawn.where === true && column !== 'dataset' ? { where: { dataset: 'bars' } } : {}),
              ...(drawn.along === true ? { along: { rows_read: 1 } } : {}),
              range: { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
            };
            const whole = expectedRows(all, read);
            const walked: Run[] = [];
            let page: Run[];
            do {
              const limit = sizes.next().value;
              const last = walked.at(-1);
              const after = last === undefined ? {} : { after: order.map(([name]) => last[name]) };
              page = await reader.snapshot((rows) => rows.rows(importRuns, { ...read, ...after, limit }));
              assert.ok(page.length <= limit);
              walked.push(...page);
            } while (page.length > 0);
            assert.deepEqual(walked, whole);
          },
        ),
        { numRuns: times(40) },
      );
    }));

  test('null precedes every value in an order, is a value of its own, and a page goes on after it', () =>
    withFresh(async (writer, reader) => {
      const row = fc.record({
        source: fc.constantFrom(null, '', 'a', 'b'),
        undone_ms: fc.constantFrom(null, -1, 0, 7),
        path: fc.constantFrom(null, 'x'),
      });
      const nullable = ['source', 'undone_ms', 'path'] as const;
      const drawn = fc.tuple(
        fc.array(row, { maxLength: 30 }),
        fc.shuffledSubarray([...nullable], { minLength: 1 }),
        fc.array(fc.constantFrom<Direction>('asc', 'desc'), { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 7 }),
      );
      let stored: readonly Run[] = [];
      await fc.assert(
        fc.asyncProperty(drawn, async ([fields, columns, directions, limit]) => {
          const all = fields.map((some, run_id) => runOf({ ...some, run_id }));
          await writer.write(async (rows) => {
            await rows.remove(importRuns, stored);
            await rows.upsert(importRuns, all);
          });
          stored = all;
          const order = [...columns, 'run_id' as const].map(
            (column, at) => [column, directions[at]!] as const,
          );
          const whole = all.toSorted((a, b) => {
            for (const [column, direction] of order) {
              const difference = nullsFirst(a[column], b[column]);
              if (difference !== 0) return direction === 'asc' ? difference : -difference;
            }
            return 0;
          });
          const walked: Run[] = [];
          for (let page: Run[] = []; walked.length === 0 || page.length === limit; ) {
            const last = walked.at(-1);
            const after = last === undefined ? {} : { after: order.map(([column]) => last[column]) };
            page = await reader.snapshot((rows) => rows.rows(importRuns, { order, limit, ...after }));
            walked.push(...page);
            if (page.length === 0) break;
          }
          assert.deepEqual(walked, whole);
          const [column] = columns;
          const where = { [column!]: null };
          const unset = await reader.snapshot((rows) =>
            rows.rows(importRuns, { where, order: [['run_id', 'asc']], limit: 99 }),
          );
          assert.deepEqual(
            unset,
            all.filter((one) => one[column!] === null),
          );
          assert.equal(await reader.snapshot((rows) => rows.count(importRuns, where)), unset.length);
        }),
        { numRuns: times(30) },
      );
    }));

  test('rows of some values are those and no others, however many are asked for; picked columns are those of the rows', () =>
    withFresh(async (writer, reader) => {
      const all = Array.from({ length: 300 }, (_, index) =>
        runOf({ run_id: index, source: index % 2 === 0 ? null : 'x', undone_ms: index }),
      );
      await writer.write((rows) => rows.upsert(importRuns, all));
      for (const count of [0, 1, 63, 64, 65, 200]) {
        const asked = all.filter((row) => row.run_id % 300 < count).map((row) => row.run_id);
        const found = await reader.snapshot((rows) =>
          rowsAmong(rows, importRuns, { kind: 'import' }, 'run_id', [...asked, 999]),
        );
        assert.deepEqual(
          found.toSorted((a, b) => a.run_id - b.run_id),
          all.slice(0, count),
        );
        const none = await reader.snapshot((rows) =>
          rowsAmong(rows, importRuns, { kind: 'delete' }, 'run_id', asked),
        );
        assert.deepEqual(none, []);
      }
    }));

  test('rows are counted, and a column has its extent', () =>
    withFresh(async (writer, reader) => {
      const about = (where: Partial<Run> = {}) =>
        reader.snapshot(async (rows) => [
          await rows.count(importRuns, where),
          await rows.extent(importRuns, 'run_id'),
          await rows.extent(importRuns, 'undone_ms'),
          await rows.extent(importRuns),
        ]);
      const empty = { rows: 0, first: null, last: null };
      assert.deepEqual(await about(), [0, empty, empty, empty]);
      const all = [7, -3, 12].map((run_id) => runOf({ run_id, undone_ms: run_id === 12 ? null : run_id }));
      await writer.write((rows) => rows.upsert(importRuns, all));
      const ends = [
        { rows: 3, first: -3, last: 12 },
        { rows: 3, first: -3, last: 7 },
        { rows: 3, first: null, last: null },
      ];
      assert.deepEqual(await about(), [3, ...ends]);
      assert.deepEqual(await about({ run_id: 7 }), [1, ...ends]);
      assert.deepEqual(await about({ run_id: 7, kind: 'delete' }), [0, ...ends]);
    }));

  test('ranked reads give the rows of their groups alone, sorted, page by page; null is a value (spec 4.6)', () =>
    withFresh(async (writer, reader) => {
      const sources = [null, 'a', 'b'];
      const all = Array.from({ length: 60 }, (_, index) =>
        runOf({
          run_id: index,
          dataset: index % 2 === 0 ? 'bars' : 'news',
          kind: index % 3 === 0 ? 'import' : 'delete',
          source: sources[index % 5] ?? null,
          rows_read: index % 7,
        }),
      );
      await writer.write((rows) => rows.upsert(importRuns, all));
      const groups = [
        { at: ['delete', null], rank: 2 },
        { at: ['import', 'a'], rank: 1 },
        { at: ['delete', 'b'], rank: 2 },
        { at: ['none', 'b'], rank: 0 },
      ];
      const order = [
        ['rank', 'asc'],
        ['rows_read', 'desc'],
        ['run_id', 'asc'],
      ] as const;
      const where = { dataset: 'bars' };
      const between = { column: 'rows_read', above: 0, below: 6 } as const;
      const read = { where, groupBy: ['kind', 'source'], groups, between, order } as const;
      const expected = all
        .filter((row) => row.dataset === 'bars' && row.rows_read > 0 && row.rows_read < 6)
        .flatMap(({ kind, source, rows_read, run_id }) =>
          groups
            .filter(({ at }) => at[0] === kind && at[1] === source)
            .map(({ rank }) => ({ rank, rows_read, run_id })),
        )
        .sort((a, b) => a.rank - b.rank || b.rows_read - a.rows_read || a.run_id - b.run_id);
      assert.ok(expected.length > 10);
      const walked: (string | number)[][] = [];
      for (;;) {
        const last = walked.at(-1);
        const after = last === undefined ? {} : { after: last };
        const page = await reader.snapshot((rows) =>
          rows.ranked(importRuns, { ...read, ...after, limit: 4 }),
        );
        if (page.length === 0) break;
        walked.push(...page);
      }
      assert.deepEqual(
        walked,
        expected.map(({ rank, rows_read, run_id }) => [rank, rows_read, run_id]),
      );
      const halves = [
        { at: ['delete'], rank: 2, from: '', below: 'b' },
        { at: ['delete'], rank: 1, from: 'b', below: 'c' },
      ];
      const parts = { where, groupBy: ['kind'], within: 'source', groups: halves, limit: 99 } as const;
      const split = await reader.snapshot((rows) =>
        rows.ranked(importRuns, { ...parts, order: [order[0], order[2]] }),
      );
      const deleted = all.filter(({ dataset, kind }) => dataset === 'bars' && kind === 'delete');
      assert.deepEqual(
        split,
        ['b', 'a'].flatMap((source, at) =>
          deleted.filter((row) => row.source === source).map(({ run_id }) => [at + 1, run_id]),
        ),
      );
      assert.ok(split.length > 5);
      const none = await reader.snapshot((rows) =>
        rows.ranked(importRuns, { ...read, groups: [], limit: 4 }),
      );
      assert.deepEqual(none, []);
    }));

  test('values of every kind come back as they were: text, numbers, booleans, JSON and null', () =>
    withFresh(async (writer, reader) => {
      const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
      const whole = fc.maxSafeInteger();
      const real = fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((value) => (value === 0 ? 0 : value));
      const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
      const names = Object.entries(instruments.columns).map(([column, { kind, ...rest }]) => {
        const value: fc.Arbitrary<unknown> =
          kind === 'text'
            ? text
            : kind === 'boolean'
              ? fc.boolean()
              : kind === 'json'
                ? json
                : kind === 'real'
                  ? real
                  : whole;
        return [column, 'nullable' in rest ? fc.option(value) : value] as const;
      });
      const rows = fc
        .tuple(...names.map(([, value]) => value))
        .map(
          (values) =>
            Object.fromEntries(names.map(([column], at) => [column, values[at]])) as RowOf<
              typeof instruments
            >,
        );
      await fc.assert(
        fc.asyncProperty(rows, async (row) => {
          await writer.write((open) => open.upsert(instruments, [row]));
          const { asset_schema, country_iso_code, symbol } = row;
          const found = await reader.snapshot((open) =>
            open.rows(instruments, {
              where: { asset_schema, country_iso_code, symbol },
              order: [['symbol', 'asc']],
              limit: 2,
            }),
          );
          assert.deepEqual(found, [row]);
        }),
        { numRuns: times(30) },
      );
    }));

  test('texts that differ in case, accent or trailing space are different keys', () =>
    withFresh(async (writer, reader) => {
      const names = ['a', 'A', 'á', 'a ', 'a\u0301', "a'b", 'a"b', 'a%', 'a_', 'a\\'];
      await writer.write((rows) =>
        rows.upsert(
          counters,
          names.map((one, value) => ({ name: one, value })),
        ),
      );
      assert.equal((await readCounters(reader)).length, names.length);
      for (const [value, one] of names.entries()) {
        const read = { where: { name: one }, order: [['name', 'asc']], limit: 9 } as const;
        assert.deepEqual(await reader.snapshot((rows) => rows.rows(counters, read)), [{ name: one, value }]);
      }
    }));
}

type Place = { readonly seriesId: number; readonly bucket: number };

function blockTests(withFresh: WithFresh): void {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 64 });
  const place: fc.Arbitrary<Place> = fc.record({
    seriesId: fc.integer({ min: 1, max: 3 }),
    bucket: fc.integer({ min: -4, max: 12 }),
  });
  const puts = fc.array(fc.tuple(place, fc.record({ runId: fc.nat(9), bytes })), { maxLength: 40 });
  const plain = (blocks: readonly StoredBlock[]) =>
    blocks.map((block) => ({ ...block, bytes: [...block.bytes] }));

  test('blocks come between bounds, in both directions, up to a limit, the newest of each place, byte for byte', () =>
    withFresh(async (writer, reader) => {
      const kept = new Map<string, Place & StoredBlock>();
      const read = fc.record({
        seriesId: fc.integer({ min: 1, max: 4 }),
        fromBucket: fc.integer({ min: -6, max: 14 }),
        toBucket: fc.integer({ min: -6, max: 14 }),
        direction: fc.constantFrom<Direction>('asc', 'desc'),
        limit: fc.integer({ min: 1, max: 20 }),
      });
      await fc.assert(
        fc.asyncProperty(puts, fc.array(read, { minLength: 1, maxLength: 10 }), async (blocks, reads) => {
          await writer.write(async (open) => {
            for (const [at, block] of blocks)
              await open.putBlock(at.seriesId, { ...block, bucket: at.bucket });
          });
          for (const [at, block] of blocks) kept.set(`${at.seriesId}:${at.bucket}`, { ...at, ...block });
          for (const one of reads) {
            const expected = [...kept.values()]
              .filter((block) => block.seriesId === one.seriesId)
              .filter((block) => block.bucket >= one.fromBucket && block.bucket <= one.toBucket)
              .sort((a, b) => (one.direction === 'asc' ? a.bucket - b.bucket : b.bucket - a.bucket))
              .slice(0, one.limit)
              .map(({ bucket, runId, bytes: content }) => ({ bucket, runId, bytes: [...content] }));
            assert.deepEqual(await reader.snapshot(async (open) => plain(await open.blocks(one))), expected);
          }
        }),
        { numRuns: times(40) },
      );
    }));

  test('a removed block is gone, alone, and removing one that is not there changes nothing', () =>
    withFresh(async (writer, reader) => {
      const buckets = async (seriesId: number) => {
        const read = { seriesId, fromBucket: -9, toBucket: 9, direction: 'asc', limit: 9 } as const;
        return (await reader.snapshot((open) => open.blocks(read))).map((block) => block.bucket);
      };
      await writer.write(async (open) => {
        for (const bucket of [-1, 0, 1]) {
          for (const seriesId of [1, 2])
            await open.putBlock(seriesId, { bucket, runId: 1, bytes: new Uint8Array([1]) });
        }
        await open.putBlock(1, { bucket: 0, bytes: null });
        await open.putBlock(1, { bucket: 5, bytes: null });
      });
      assert.deepEqual(await buckets(1), [-1, 1]);
      assert.deepEqual(await buckets(2), [-1, 0, 1]);
    }));

  test('a block of a megabyte is kept byte for byte', () =>
    withFresh(async (writer, reader) => {
      const great = Uint8Array.from({ length: 1_048_577 }, (_, index) => (index * 31 + (index >> 8)) & 255);
      await writer.write((open) => open.putBlock(1, { bucket: 5, runId: 2, bytes: great }));
      const read = { seriesId: 1, fromBucket: 5, toBucket: 5, direction: 'asc', limit: 1 } as const;
      const [found] = await reader.snapshot((open) => open.blocks(read));
      assert.ok(Buffer.from(found!.bytes).equals(great));
    }));
}

/** Rows of several keys at once. */
function rowsByKeyTests(withFresh: WithFresh): void {
  const files = ['a', 'b', 'é'];
  const place = fc.record({ dataset: fc.constantFrom('bars', 'news'), path: fc.constantFrom(...files) });
  type Place = { readonly dataset: string; readonly path: string };
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('read' as const), places: fc.array(place, { maxLength: 6 }) }),
      fc.record({ kind: fc.constantFrom('write', 'remove', 'undone'), places: fc.tuple(place) }),
    ),
    { maxLength: 25 },
  );
  const keyOf = ({ dataset, path }: Place): string => `${dataset} ${path}`;

  test('rows of some keys are those of a read for each, whatever was written before', () =>
    withFresh(async (store) => {
      await fc.assert(
        fc.asyncProperty(steps, fc.boolean(), fc.boolean(), async (all, isByDataset, isBounded) => {
          const stored = new Map<string, Place & { readonly failed_ms: number }>();
          const keysOf = (places: readonly Place[]): Partial<Place>[] =>
            places.map(({ dataset, path }) => (isByDataset ? { dataset } : { dataset, path }));
          const read = { range: { to: 'z' }, order: [['path', 'desc']], limit: 2 } as const;
          let failed_ms = 0;
          await store.write(async (open) => {
            for await (const row of allRows(open, failedFiles)) await open.remove(failedFiles, [row]);
            const writeRow = async (one: Place): Promise<Place & { failed_ms: number }> => {
              const row = { ...one, failed_ms: ++failed_ms };
              await open.upsert(failedFiles, [{ ...row, problem: '' }]);
              return row;
            };
            for (const { kind, places } of all) {
              if (kind === 'write') stored.set(keyOf(places[0]!), await writeRow(places[0]!));
              else if (kind === 'remove') {
                await open.remove(failedFiles, [places[0]!]);
                stored.delete(keyOf(places[0]!));
              } else if (kind === 'undone') {
                const part = open.savepoint(async () => {
                  await writeRow(places[0]!);
                  throw new Error('undone');
                });
                await assert.rejects(part, /undone/);
              }
              const keys = keysOf(places);
              const found = await open.rowsByKey(failedFiles, keys, isBounded ? read : undefined);
              const expected = keys.map((key) => {
                const rows = [...stored.values()]
                  .filter(({ dataset, path }) => dataset === key.dataset && (key.path ?? path) === path)
                  .sort((one, other) => compare(other.path, one.path));
                return isBounded ? rows.filter(({ path }) => compare(path, 'z') < 0).slice(0, 2) : rows;
              });
              // Rows that no read bounds are in no order.
              const timesOf = (rows: readonly { readonly failed_ms: number }[]): number[] => {
                const times = rows.map((row) => row.failed_ms);
                return isBounded ? times : times.toSorted((one, other) => one - other);
              };
              assert.deepEqual(found.map(timesOf), expected.map(timesOf));
            }
          });
        }),
        { numRuns: times(30) },
      );
    }));
}

/** Blocks of several places at once. */
function blocksAtTests(withFresh: WithFresh): void {
  const place = fc.record({
    seriesId: fc.integer({ min: 1, max: 2 }),
    bucket: fc.integer({ min: 1, max: 3 }),
  });
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom('put', 'remove', 'undone'),
      places: fc.array(place, { minLength: 1, maxLength: 4 }),
    }),
    { maxLength: 25 },
  );

  test('blocks at some places are those that are stored there, whatever was written before', () =>
    withFresh(async (store) => {
      const stored = new Map<string, number>();
      let byte = 0;
      await fc.assert(
        fc.asyncProperty(steps, (all) =>
          store.write(async (open) => {
            const put = async ({ seriesId, bucket }: BlockAt): Promise<void> => {
              byte = (byte + 1) % 256;
              await open.putBlock(seriesId, { bucket, runId: 1, bytes: new Uint8Array([byte]) });
            };
            for (const { kind, places } of all) {
              const [{ seriesId, bucket }] = places as [BlockAt, ...BlockAt[]];
              if (kind === 'put') {
                await put({ seriesId, bucket });
                stored.set(`${seriesId} ${bucket}`, byte);
              } else if (kind === 'remove') {
                await open.putBlock(seriesId, { bucket, bytes: null });
                stored.delete(`${seriesId} ${bucket}`);
              } else {
                const part = open.savepoint(async () => {
                  await put({ seriesId, bucket });
                  await open.blocksAt(places);
                  throw new Error('undone');
                });
                await assert.rejects(part, /undone/);
              }
              const found = await open.blocksAt(places);
              assert.deepEqual(
                found.map((block) => block?.bytes[0]),
                places.map((at) => stored.get(`${at.seriesId} ${at.bucket}`)),
              );
              assert.deepEqual(await open.blocksAt([]), []);
            }
          }),
        ),
        { numRuns: times(40) },
      );
    }));
}

/** Parts of one write. */
function savepointTests(withFresh: WithFresh): void {
  test('a part of a write that throws is undone alone, and the others are committed together', () =>
    withFresh(async (writer, reader) => {
      const block = (bucket: number): StoredBlock => ({ bucket, runId: 1, bytes: new Uint8Array([bucket]) });
      await writer.write(async (open) => {
        await open.upsert(counters, [{ name: 'before', value: 1 }]);
        const given = await open.savepoint(async () => {
          await open.putBlock(1, block(1));
          await open.upsert(counters, [{ name: 'kept', value: 1 }]);
          return 'result';
        });
        assert.equal(given, 'result');
        const part = open.savepoint(async () => {
          await open.upsert(counters, [{ name: 'kept', value: 2 }]);
          await open.remove(counters, [{ name: 'before' }]);
          await open.putBlock(1, { bucket: 1, bytes: null });
          await open.putBlock(1, block(2));
          throw new Error('this part is wrong');
        });
        await assert.rejects(part, /this part is wrong/);
        assert.deepEqual(await readCounters(reader), []);
        await open.savepoint(() => open.upsert(counters, [{ name: 'last', value: 3 }]));
      });
      const names = (await readCounters(reader)).map(({ name, value }) => `${name} ${value}`);
      assert.deepEqual(names, ['before 1', 'kept 1', 'last 3']);
      const read = { seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 } as const;
      const found = await reader.snapshot((open) => open.blocks(read));
      assert.deepEqual(
        found.map(({ bucket }) => bucket),
        [1],
      );
    }));

  test('a write that throws after a part undoes the part too', () =>
    withFresh(async (writer, reader) => {
      const write = writer.write(async (open) => {
        await open.savepoint(() => open.upsert(counters, [{ name: 'part', value: 1 }]));
        throw new Error('stopped');
      });
      await assert.rejects(write, /stopped/);
      assert.deepEqual(await readCounters(reader), []);
    }));
}

/** Waits until a connection sees a counter. */
const untilSeen = (store: Store, named: string): Promise<true> =>
  until(`${named} is there`, async () => (await readCounters(store)).some(({ name }) => name === named));

function transactionTests(withFresh: WithFresh): void {
  const block = { bucket: 1, runId: 1, bytes: new Uint8Array([1]) };
  const readBlock = { seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 } as const;

  test('a write that throws undoes all of itself, and the next one works', () =>
    withFresh(async (writer, reader) => {
      await setCounter(writer, 'kept', 1);
      await assert.rejects(
        writer.write(async (open) => {
          await open.upsert(counters, [
            { name: 'kept', value: 2 },
            { name: 'new', value: 2 },
          ]);
          await open.remove(counters, [{ name: 'kept' }]);
          await open.putBlock(1, block);
          throw new Error('stopped');
        }),
        /stopped/,
      );
      assert.deepEqual(await readCounters(reader), [{ name: 'kept', value: 1 }]);
      assert.deepEqual(await reader.snapshot((open) => open.blocks(readBlock)), []);
      await setCounter(writer, 'kept', 3);
      assert.deepEqual(await readCounters(reader), [{ name: 'kept', value: 3 }]);
    }));

  test('a write sees its own rows and blocks; nobody else does until it ends', () =>
    withFresh(async (writer, reader) => {
      await setCounter(writer, 'before', 1);
      const given = await writer.write(async (open) => {
        await open.upsert(counters, [{ name: 'during', value: 2 }]);
        await open.putBlock(1, block);
        assert.equal((await countersOf(open)).length, 2);
        assert.equal((await open.blocks(readBlock)).length, 1);
        assert.deepEqual(await readCounters(reader), [{ name: 'before', value: 1 }]);
        assert.deepEqual(await reader.snapshot((other) => other.blocks(readBlock)), []);
        return 'given';
      });
      assert.equal(given, 'given');
      assert.equal((await readCounters(reader)).length, 2);
      assert.equal((await reader.snapshot((open) => open.blocks(readBlock))).length, 1);
    }));

  test('a snapshot does not see what another process commits until it ends (contract 4.1)', () =>
    withFresh(async (writer, reader, url) => {
      await setCounter(writer, 'before', 1);
      const other = await reader.snapshot(async (open) => {
        const before = await countersOf(open);
        const process = otherProcess(
          url,
          `await store.write((open) => open.upsert(counters, [{ name: 'after', value: 2 }]));`,
        );
        await untilSeen(writer, 'after');
        assert.deepEqual(await countersOf(open), before);
        return process;
      });
      assert.equal((await readCounters(reader)).length, 2);
      await other.done;
    }));

  test('writes of two processes wait for each other, and none is lost', () =>
    withFresh(async (writer, reader, url) => {
      const rounds = 15;
      const advance = `async (open) => {
        const [row] = await open.rows(counters, { where: { name: 'n' }, order: [['name', 'asc']], limit: 1 });
        await open.upsert(counters, [{ name: 'n', value: row.value + 1 }]);
      }`;
      await setCounter(writer, 'n', 0);
      const other = otherProcess(
        url,
        `await store.write((open) => open.upsert(counters, [{ name: 'ready', value: 1 }]));
        for (let round = 0; round < ${rounds}; round++) await store.write(${advance});`,
      );
      await untilSeen(reader, 'ready');
      for (let round = 0; round < rounds; round++) {
        await writer.write(async (open) => {
          const row = (await countersOf(open)).find((one) => one.name === 'n')!;
          await wait(1);
          await open.upsert(counters, [{ name: 'n', value: row.value + 1 }]);
        });
      }
      await other.done;
      assert.equal((await readCounters(reader)).find((row) => row.name === 'n')!.value, 2 * rounds);
    }));

  test('a write tells once whom it waits for, and everything else of its process goes on', () =>
    withFresh(async (writer, reader, url) => {
      const second = await openStore(url, 'write');
      const told: (number | null)[] = [];
      const waiting: Promise<void>[] = [];
      await writer.write(async (open) => {
        await open.upsert(counters, [{ name: 'a', value: 1 }]);
        const add = async (other: Writer) => other.upsert(counters, [{ name: 'b', value: 2 }]);
        waiting.push(second.write(add, (pid) => told.push(pid)));
        await until('the write tells whom it waits for', () => told.length > 0);
        for (let looks = 0; looks < 5; looks++) {
          await wait(10);
          assert.deepEqual(await readCounters(reader), []);
        }
      });
      await Promise.all(waiting);
      assert.equal(told.length, 1);
      assert.ok(told[0] === null || told[0] === process.pid);
      assert.equal((await readCounters(reader)).length, 2);
      await second.close();
    }));

  test('a write waits for other writers, not for readers', () =>
    withFresh(async (writer, reader) => {
      await reader.snapshot(async (open) => {
        await countersOf(open);
        // A write that waits for a reader ends only after the seconds for which it waits. One quick write of
        // a few shows that it does not.
        const tookMs: number[] = [];
        while (tookMs.length < 5 && !(tookMs.at(-1)! < 2_000)) {
          const startedMs = performance.now();
          await setCounter(writer, 'a', tookMs.length);
          tookMs.push(performance.now() - startedMs);
        }
        assert.ok(tookMs.at(-1)! < 2_000, `writes beside an open snapshot took ${tookMs.join()} ms`);
      });
    }));

  test('what one connection is asked at once is done one after the other', () =>
    withFresh(async (writer) => {
      const add = (by: number) =>
        writer.write(async (open) => {
          const value = (await countersOf(open))[0]?.value ?? 0;
          await wait(1);
          if (by < 0) throw new Error('stopped');
          await open.upsert(counters, [{ name: 'n', value: value + by }]);
        });
      const done = await Promise.allSettled([add(1), add(-1), add(1), readCounters(writer), add(1)]);
      assert.deepEqual(
        done.map((one) => one.status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
      );
      assert.deepEqual(await readCounters(writer), [{ name: 'n', value: 3 }]);
    }));

  test('a store opened for reading takes no writes', () =>
    withFresh(async (_writer, reader) => {
      await assert.rejects(setCounter(reader, 'a', 1));
      assert.deepEqual(await readCounters(reader), []);
    }));

  test('what was written is there when the store is opened again', () =>
    withFresh(async (writer, _reader, url) => {
      await setCounter(writer, 'a', 1);
      await withStore(url, async (again) =>
        assert.deepEqual(await readCounters(again), [{ name: 'a', value: 1 }]),
      );
    }));
}

function reachTests(withFresh: WithFresh, takeAway: (url: string) => Promise<() => Promise<void>>): void {
  test('a store out of reach is unavailable, and is used again once it is back, by who had it open too', () =>
    withFresh(async (writer, reader, url) => {
      await setCounter(writer, 'a', 1);
      const kept = [{ name: 'a', value: 1 }];
      const bringBack = await takeAway(url);
      await assert.rejects(openStore(url, 'read'), StoreUnavailable);
      // An engine may still reach what is open.
      const found = await readCounters(reader).catch((error: unknown) => error);
      if (!(found instanceof StoreUnavailable)) assert.deepEqual(found, kept);
      await bringBack();
      // An engine asks again a moment after it was refused.
      const again = await until('the store is not used again', () =>
        readCounters(reader).catch((error: unknown) => {
          if (error instanceof StoreUnavailable) return null;
          throw error;
        }),
      );
      assert.deepEqual(again, kept);
      await withStore(url, async (_, again) => assert.deepEqual(await readCounters(again), kept));
    }));

  test('snapshots that are asked for at the same time each see one state, however many run at once', () =>
    withFresh(async (writer, reader) => {
      assert.ok(reader.concurrency >= 1);
      let isWritten = false;
      const reads = Array.from({ length: 3 * reader.concurrency + 2 }, () =>
        reader.snapshot(async (rows) => {
          const first = await countersOf(rows);
          while (!isWritten) await wait(1);
          return [first, await countersOf(rows)];
        }),
      );
      await setCounter(writer, 'a', 1);
      isWritten = true;
      for (const [first, later] of await Promise.all(reads)) assert.deepEqual(later, first);
    }));
}

function controlTests(freshUrl: () => Promise<string>): void {
  const keyOf = (id: string, hash: Uint8Array): RowOf<typeof apiKeys> => ({
    key_id: id,
    name: 'Zoë',
    hash,
    created_ms: 1,
    expires_ms: null,
    per_minute: 10,
    per_day: null,
    revoked_ms: null,
    last_used_ms: null,
    as_of_ms: null,
    scope: null,
  });

  test('bytes come back as they were', async () => {
    const control = await openControl(await freshUrl(), 'write');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async (hash) => {
        await putKey(control, keyOf('id', hash));
        const [found] = await readKeys(control);
        assert.deepEqual([...found!.hash], [...hash]);
      }),
      { numRuns: times(20) },
    );
    await control.close();
  });

  test('a key is revoked while a write to the data is open (contract 7.3)', async () => {
    const url = await freshUrl();
    const store = await openStore(url, 'write');
    const control = await openControl(url, 'write');
    const watching = await openControl(url, 'read');
    const key = keyOf('id', new Uint8Array(32));
    await putKey(control, key);
    await store.write(async (open) => {
      await open.upsert(counters, [{ name: 'long', value: 1 }]);
      await putKey(control, { ...key, revoked_ms: 5 });
      assert.deepEqual(
        (await readKeys(watching)).map((one) => one.revoked_ms),
        [5],
      );
    });
    for (const open of [watching, control, store]) await open.close();
  });

  test('the page key secret is made once and survives reopening (contract 4.1)', async () => {
    const url = await freshUrl();
    const first = await openControl(url, 'write');
    const second = await openControl(url, 'write');
    const made = await Promise.all([pageKeySecret(first), pageKeySecret(second), pageKeySecret(first)]);
    await first.close();
    await second.close();
    const again = await openControl(url, 'read');
    made.push(await pageKeySecret(again));
    const stored = await again.snapshot((open) => open.rows(secrets, { order: [['name', 'asc']], limit: 9 }));
    assert.equal(stored.length, 1);
    for (const secret of made) assert.deepEqual([...secret], [...stored[0]!.value]);
    assert.ok(made[0]!.length >= 32);
    await again.close();
    const other = await openControl(await freshUrl(), 'write');
    assert.notDeepEqual([...(await pageKeySecret(other))], [...made[0]!]);
    await other.close();
  });
}
