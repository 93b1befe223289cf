// The part of the engine suite about versions: what raises them, and what is reported as changed since one
// (docs/decisions/0029).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseLostBlocks } from '../../src/store/all-blocks.ts';
import { KnownChanges, partRead, TrackedReader } from '../../src/store/known-changes.ts';
import { storeLimits } from '../../src/store/limits.ts';
import { runSpans, series } from '../../src/store/schema/bars.ts';
import { corporateActions } from '../../src/store/schema/corporate-actions.ts';
import type { Dataset, RowOf } from '../../src/store/schema/dataset.ts';
import { counters } from '../../src/store/schema/internal.ts';
import { news } from '../../src/store/schema/news.ts';
import { optionContracts } from '../../src/store/schema/options.ts';
import { instruments, instrumentTerms } from '../../src/store/schema/reference.ts';
import type { DataState, Part, Reader, Store, Writer } from '../../src/store/store.ts';

/** Runs a test with a writing and a reading connection of one new store. */
type WithFresh = (work: (writer: Store, reader: Store, url: string) => Promise<void>) => Promise<void>;

/** Another process that opens a store for writing and runs `body` on it. */
type OtherProcess = (url: string, body: string) => { readonly done: Promise<void> };

const MANY = 1_000;

const block = { bucket: 1, runId: 1, bytes: new Uint8Array([1]) };

/** A row of a dataset, of which all but `fields` is blank. */
const rowOf = <D extends Dataset>(dataset: D, fields: Partial<RowOf<D>>): RowOf<D> => {
  const blank = Object.entries(dataset.columns).map(([column, { kind, nullable }]) => {
    const value = kind === 'text' ? '' : kind === 'bytes' ? new Uint8Array(1) : 0;
    return [column, nullable ? null : value];
  });
  return { ...Object.fromEntries(blank), ...fields } as RowOf<D>;
};

const apple = rowOf(instruments, {
  asset_schema: 'stock',
  country_iso_code: 'US',
  symbol: 'AAPL',
  instrument_id: 5,
});

const contract = rowOf(optionContracts, {
  country_iso_code: 'US',
  symbol: 'O1',
  parent_asset_schema: 'stock',
  underlying_name: 'AAPL',
});

/** The state of a store that has a version. */
const stateOf = ({ id }: Store, version: number): DataState => ({ id, version });

const countOne = (writer: Writer): Promise<void> =>
  writer.upsert(counters, [rowOf(counters, { name: 'a', value: 1 })]);

/** A read of a dataset whose columns equal `where`. */
const readOf = <D extends Dataset>(dataset: D, where: Partial<RowOf<D>>) => ({
  where,
  order: dataset.key.map((column) => [column as keyof D['columns'] & string, 'asc'] as const),
  limit: 1,
});

/** The parts that a write changes, without datasets. */
async function changedBy(store: Store, work: (writer: Writer) => Promise<void>): Promise<Part[]> {
  const before = (await store.version())!;
  await store.write(work);
  const found = await store.changesAfter(before, MANY);
  return found!.map(({ part }) => part).filter((part) => part.includes(' '));
}

const symbolOf = (schema: string, symbol: string): Part =>
  partRead(instruments, { asset_schema: schema, country_iso_code: 'US', symbol });

export function versionTests(withFresh: WithFresh, otherProcess: OtherProcess): void {
  test('every write that changes anything raises the version by one, on every connection and in every process', () =>
    withFresh(async (writer, reader, url) => {
      const versions = async () => [
        await writer.version(),
        await reader.version(),
        await reader.snapshot((open) => open.version()),
      ];
      assert.deepEqual(await versions(), [0, 0, 0]);
      await writer.write(countOne);
      assert.deepEqual(await versions(), [1, 1, 1]);
      await writer.write((open) => open.putBlock(1, block));
      assert.deepEqual(await versions(), [2, 2, 2]);
      await writer.write((open) => open.putBlock(1, { bucket: 1, bytes: null }));
      await writer.write((open) => open.remove(counters, [{ name: 'a' }]));
      assert.deepEqual(await versions(), [4, 4, 4]);
      await otherProcess(
        url,
        `await store.write((open) => open.upsert(counters, [{ name: 'b', value: 2 }]));`,
      ).done;
      assert.deepEqual(await versions(), [5, 5, 5]);
    }));

  test('a write that fails, reads, or changes nothing raises no version', () =>
    withFresh(async (writer, reader) => {
      await writer.write(countOne);
      const fail = async (open: Writer): Promise<void> => {
        await open.putBlock(1, block);
        throw new Error('stopped');
      };
      await assert.rejects(writer.write(fail));
      await writer.write(async (open) => {
        await open.rows(counters, readOf(counters, {}));
        await open.upsert(counters, []);
      });
      assert.deepEqual([await writer.version(), await reader.version()], [1, 1]);
      await writer.write(countOne);
      assert.deepEqual(await reader.changesAfter(0, MANY), await writer.changesAfter(0, MANY));
      const found = (await reader.changesAfter(0, MANY))!;
      assert.deepEqual(
        found.filter(({ part }) => part.startsWith('series')),
        [],
        'nothing is left of the failed write',
      );
    }));

  test('the version of a snapshot is that of the state it reads', () =>
    withFresh(async (writer, reader) => {
      await writer.write(countOne);
      await reader.snapshot(async (open) => {
        assert.equal(await open.version(), 1);
        await writer.write((other) => other.upsert(counters, [rowOf(counters, { name: 'a', value: 7 })]));
        assert.equal(await open.version(), 1);
        assert.equal((await open.rows(counters, readOf(counters, { name: 'a' })))[0]!.value, 1);
      });
      assert.equal(await reader.snapshot((open) => open.version()), 2);
    }));

  test('the changes after a version are those of every later write', () =>
    withFresh(async (writer, reader, url) => {
      await writer.write((open) => open.upsert(instruments, [apple]));
      await writer.write((open) => open.putBlock(3, block));
      await otherProcess(url, 'await store.write((open) => open.putBlock(4, { bucket: 1, bytes: null }));')
        .done;
      const after = async (version: number) =>
        (await reader.changesAfter(version, MANY))?.map(({ part, version: of }) => `${of}: ${part}`);
      assert.deepEqual(await after(3), []);
      assert.deepEqual(await after(1), ['2: bars', '2: series 3', '3: bars', '3: series 4']);
      const all = await after(0);
      assert.ok(all!.includes('1: instruments') && all!.includes('1: instrument 5'), String(all));
      assert.ok(all!.includes(`1: ${symbolOf('stock', 'AAPL')}`));
      assert.equal(await reader.changesAfter(1, 3), null, 'more than were asked for');
      assert.equal((await reader.changesAfter(1, 4))!.length, 4);
    }));

  test('a row changes the parts that it belongs to, where it is written and where it is removed', () =>
    withFresh(async (writer) => {
      const cases: readonly (readonly [Dataset, Readonly<Record<string, unknown>>, readonly Part[]])[] = [
        [instruments, apple, [symbolOf('stock', 'AAPL'), 'instrument 5']],
        [series, rowOf(series, { instrument_id: 5, interval: '1M', series_id: 8 }), ['instrument 5']],
        [
          runSpans,
          rowOf(runSpans, { run_id: 3, market: 'stock/US', interval: 'DAY' }),
          [partRead(runSpans, { market: 'stock/US', interval: 'DAY' }), 'run 3'],
        ],
        [
          corporateActions,
          rowOf(corporateActions, { country_iso_code: 'US', symbol: 'AAPL' }),
          [symbolOf('stock', 'AAPL')],
        ],
        [optionContracts, contract, [symbolOf('option', 'O1'), symbolOf('stock', 'AAPL')]],
        [
          instrumentTerms,
          { asset_schema: 'stock', country_iso_code: 'US', kind: 'former', term: 'OLD', symbol: 'AAPL' },
          [symbolOf('stock', 'OLD')],
        ],
        [
          instrumentTerms,
          { asset_schema: 'stock', country_iso_code: 'US', kind: 'name', term: 'apple', symbol: 'AAPL' },
          [],
        ],
        [news, rowOf(news, {}), []],
      ];
      for (const [dataset, row, parts] of cases) {
        const key = Object.fromEntries(dataset.key.map((column) => [column, row[column]]));
        const sorted = async (work: (open: Writer) => Promise<void>) =>
          (await changedBy(writer, work)).sort();
        const expected = [...parts].sort();
        assert.deepEqual(await sorted((open) => open.upsert(dataset, [row])), expected, dataset.name);
        assert.deepEqual(await sorted((open) => open.remove(dataset, [key])), expected, dataset.name);
      }
    }));

  test('a row that moves from one part to another changes both', () =>
    withFresh(async (writer) => {
      await writer.write(async (open) => {
        await open.upsert(instruments, [apple]);
        await open.upsert(optionContracts, [contract]);
      });
      const moved = await changedBy(writer, (open) =>
        open.upsert(instruments, [{ ...apple, instrument_id: 6 }]),
      );
      assert.deepEqual(moved.sort(), ['instrument 5', 'instrument 6', symbolOf('stock', 'AAPL')]);
      const other = await changedBy(writer, (open) =>
        open.upsert(optionContracts, [{ ...contract, underlying_name: 'MSFT' }]),
      );
      const expected = [symbolOf('option', 'O1'), symbolOf('stock', 'AAPL'), symbolOf('stock', 'MSFT')];
      assert.deepEqual(other.sort(), expected.sort());
    }));

  test('a write of too many parts, and one that is no longer known, count as a change of everything', () =>
    withFresh(async (writer, reader) => {
      const rows = Array.from({ length: storeLimits.changedPartsMax + 1 }, (_, series_id) =>
        rowOf(runSpans, { run_id: series_id, market: 'stock/US', interval: 'DAY' }),
      );
      await writer.write((open) => open.upsert(runSpans, rows));
      assert.equal(await reader.changesAfter(0, Number.MAX_SAFE_INTEGER), null);
      assert.deepEqual(await reader.changesAfter(1, MANY), []);
      for (let round = 0; round <= storeLimits.changesKept; round++)
        await writer.write((open) => open.putBlock(round, block));
      const present = storeLimits.changesKept + 2;
      assert.equal(await reader.version(), present);
      assert.equal(await reader.changesAfter(1, MANY), null);
      const kept = await reader.changesAfter(present - storeLimits.changesKept, MANY);
      assert.equal(kept!.length, 2 * storeLimits.changesKept);
    }));

  test('what is read depends on what a write of it changes, and on no other part', () =>
    withFresh(async (writer, reader) => {
      const known = new KnownChanges();
      const reads: Readonly<Record<string, (open: Reader) => Promise<unknown>>> = {
        instrument: (open) => open.group(instruments, { instrument_id: 5 }),
        symbol: (open) =>
          open.rows(
            instruments,
            readOf(instruments, { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL' }),
          ),
        search: (open) => open.rows(instruments, readOf(instruments, { asset_schema: 'stock' })),
        count: (open) => open.count(instruments),
        blocks: (open) =>
          open.blocks({ seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 }),
        lost: (open) => refuseLostBlocks(open, 1),
        fixed: (open) => open.rowsByKey(runSpans, [{ run_id: 3 }]),
        actions: (open) => open.group(corporateActions, { country_iso_code: 'US', symbol: 'AAPL' }),
        run: (open) => open.group(runSpans, { run_id: 3 }),
        market: (open) => open.rows(runSpans, readOf(runSpans, { market: 'stock/US', interval: 'DAY' })),
        news: (open) => open.rows(news, readOf(news, {})),
      };
      const coverage = rowOf(runSpans, { run_id: 3, market: 'stock/US', interval: 'DAY' });
      const writes: readonly (readonly [(open: Writer) => Promise<void>, ...changed: string[]])[] = [
        [(open) => open.upsert(instruments, [apple]), 'instrument', 'symbol', 'actions', 'search', 'count'],
        [
          (open) => open.upsert(instruments, [{ ...apple, symbol: 'MSFT', instrument_id: 9 }]),
          ...['search', 'count'],
        ],
        [(open) => open.putBlock(1, block), 'blocks', 'lost'],
        [(open) => open.putBlock(2, block)],
        [
          (open) =>
            open.upsert(corporateActions, [
              rowOf(corporateActions, { country_iso_code: 'US', symbol: 'AAPL' }),
            ]),
          ...['symbol', 'actions'],
        ],
        [(open) => open.upsert(runSpans, [coverage]), 'run', 'market'],
        [(open) => open.upsert(runSpans, [{ ...coverage, run_id: 4 }]), 'market'],
        [(open) => open.upsert(runSpans, [{ ...coverage, interval: '1M' }]), 'run'],
        [(open) => open.upsert(news, [rowOf(news, {})]), 'news'],
      ];
      for (const [at, [write, ...expected]] of writes.entries()) {
        const parts = await reader.snapshot(async (open) => {
          const found: Record<string, readonly Part[]> = {};
          for (const [name, read] of Object.entries(reads)) {
            const tracked = new TrackedReader(open);
            found[name] = (await tracked.noting(() => read(tracked))).parts;
          }
          return found;
        });
        const before = (await known.follow(reader))!;
        await writer.write(write);
        const after = (await known.follow(reader))!;
        const same = (name: string) =>
          known.isSame(parts[name]!, stateOf(reader, before), stateOf(reader, after));
        const changed = Object.keys(reads).filter((name) => !same(name));
        assert.deepEqual(changed.sort(), expected.sort(), `write ${at}`);
      }
    }));

  test('a value of one version is that of another only where its parts have not changed since, whichever is older', () =>
    withFresh(async (writer, reader) => {
      const known = new KnownChanges();
      await writer.write((open) => open.putBlock(1, block));
      await known.follow(reader);
      await reader.snapshot(async (open) => {
        assert.equal(await open.version(), 1);
        await writer.write((other) => other.putBlock(1, block));
        await writer.write((other) => other.putBlock(2, block));
        assert.equal(await known.follow(writer), 3);
        // The older snapshot goes on.
        assert.equal(await known.follow(open), 1);
      });
      const isSame = (parts: readonly Part[], one: number, other: number) =>
        known.isSame(parts, stateOf(reader, one), stateOf(reader, other));
      const same = (parts: readonly Part[]) =>
        [1, 2, 3].map((one) => [1, 2, 3].filter((other) => isSame(parts, one, other)).join(''));
      assert.deepEqual(same(['series 1']), ['1', '23', '23']);
      // Only the last change of a part is known.
      assert.deepEqual(same(['series 2']), ['1', '2', '3']);
      assert.deepEqual(same(['series 3']), ['123', '123', '123']);
      assert.deepEqual(same(['*']), ['1', '2', '3']);
      assert.equal(isSame([], 0, 1), false, 'what changed before the first known version is not known');
      assert.equal(isSame([], 3, 4), false);
      const [one, another] = [stateOf(reader, 2), { id: 'another', version: 2 }];
      assert.equal(known.isSame([], one, another), false, 'other data');
    }));

  test('an open store and another at its address have different names', () =>
    withFresh(async (writer, reader) => {
      assert.equal(writer.id, reader.id);
      await withFresh(async (other) => assert.notEqual(other.id, writer.id));
    }));
}
