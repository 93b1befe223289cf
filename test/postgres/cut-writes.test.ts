// Writes to a store in PostgreSQL that are cut off at each of their steps: all of a write is there, or
// nothing, and it says which.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openStore } from '../../src/store/engines.ts';
import { counters } from '../../src/store/schema/internal.ts';
import { type Reader, type Store, StoreUnavailable } from '../../src/store/store.ts';
import { until } from '../until.ts';
import { CuttableWay } from './cutting.ts';
import { openDatabase, type PostgresDatabase, skip } from './server.ts';

let server: PostgresDatabase;
let way: CuttableWay;
before(async () => {
  if (skip !== false) return;
  server = await openDatabase();
  way = await CuttableWay.to(server.port);
});
after(async () => {
  if (skip !== false) return;
  way.close();
  await server.stop();
});

const SERIES = [1, 2];
const BUCKETS = [0, 1, 2, 3];

/**
 * Writes a state: a number that every block and row has. Every third block is removed in states of even
 * number.
 */
const putState = (store: Store, state: number): Promise<void> =>
  store.write(async (writer) => {
    await writer.upsert(counters, [{ name: 'before', value: state }]);
    for (const seriesId of SERIES)
      await writer.savepoint(async () => {
        for (const bucket of BUCKETS) {
          const isGone = bucket % 3 === 0 && state % 2 === 0;
          if (isGone) await writer.putBlock(seriesId, { bucket, bytes: null });
          else
            await writer.putBlock(seriesId, { bucket, runId: state, bytes: new Uint8Array([state % 251]) });
        }
        await writer.blocks({ seriesId, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 });
        await writer.upsert(counters, [{ name: `series ${seriesId}`, value: state }]);
      });
    const failing = writer.savepoint(async () => {
      await writer.putBlock(1, { bucket: 1, runId: 9_999, bytes: new Uint8Array([9]) });
      await writer.blocks({ seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 });
      await writer.upsert(counters, [{ name: 'before', value: 9_999 }]);
      throw new Refused();
    });
    await failing.catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
    });
  });

class Refused extends Error {}

/** What a store holds, as it is read: literally that of one state, or it fails. */
async function stateOf(reader: Reader): Promise<number> {
  const order = [['name', 'asc']] as const;
  const first = await reader.blocks({ seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 });
  const rows = await reader.rows(counters, { order, limit: 9 });
  const state = rows.find(({ name }) => name === 'before')!.value;
  assert.deepEqual(
    rows.filter(({ name }) => name !== 'data_version'),
    [{ name: 'before', value: state }, ...SERIES.map((id) => ({ name: `series ${id}`, value: state }))],
  );
  const expected = BUCKETS.filter((bucket) => state % 2 === 1 || bucket % 3 !== 0).map(
    (bucket) => `${bucket}: ${state} ${state % 251}`,
  );
  const wordsOf = (blocks: typeof first): string[] =>
    blocks.map(({ bucket, runId, bytes }) => `${bucket}: ${runId} ${bytes[0]}`);
  assert.deepEqual(wordsOf(first), expected);
  for (const seriesId of SERIES) {
    const read = { seriesId, fromBucket: 0, toBucket: 9, direction: 'desc', limit: 9 } as const;
    assert.deepEqual(wordsOf(await reader.blocks(read)).toReversed(), expected);
  }
  return state;
}

for (const cut of ['before', 'after'] as const)
  test(`a write that is cut off at any step, ${cut} the server has it, is whole or nothing, and the next one works`, {
    skip,
  }, async () => {
    const url = `${server.url}?schema=cut_${cut}`;
    const direct = await openStore(url, 'write');
    const serving = await openStore(url, 'serve');
    const cuttable = await openStore(url.replace(`:${server.port}`, `:${way.port}`), 'write');
    const present = (): Promise<number> => serving.snapshot(stateOf);
    let state = 1;
    await putState(direct, state);
    let [written, failed] = [0, 0];
    let isReading = true;
    const readers = [serving, direct].map(async (store) => {
      let last = 0;
      for (; isReading; ) {
        const found = await store.snapshot(stateOf);
        assert.ok(found >= last, 'an older state after a newer one');
        last = found;
        await wait(10);
      }
    });
    for (let step = 0; ; step += cut === 'before' ? 1 : 2) {
      way.cutAfter(step, cut);
      const problem = await putState(cuttable, state + 1).then(
        () => null,
        (error: Error) => error,
      );
      const isCut = way.cuts > 0;
      if (problem === null) written++;
      else {
        assert.ok(problem instanceof StoreUnavailable, problem.message);
        failed++;
      }
      assert.equal(await present(), problem === null ? state + 1 : state, `step ${step}`);
      if (problem === null) state++;
      // Another process goes on from there, while the pauses of the one that was cut off pass.
      await putState(direct, ++state);
      assert.equal(await present(), state, `after step ${step}`);
      if (!isCut) break;
      way.cutAfter(Number.POSITIVE_INFINITY, cut);
      // Each of its connections pauses after an attempt that failed.
      const works = (): Promise<boolean> =>
        Promise.all([cuttable.snapshot(stateOf), cuttable.write(async () => undefined)]).then(
          () => true,
          () => false,
        );
      await until('the connections stay away', works);
    }
    isReading = false;
    await Promise.all(readers);
    assert.ok(failed > 15 && written > 0, `${failed} failed, ${written} were written`);
    for (const store of [direct, serving, cuttable]) await store.close();
  });
