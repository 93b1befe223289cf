// Blocks that a thread keeps: those of the version that was asked for, however commits, removals and reads
// follow each other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockOf } from '../../../test/postgres/priced-block.ts';
import { fc } from '../../../test/seed.ts';
import { barsOf } from '../known-changes.ts';
import type { BlockRead, StoredBlock, Versioned } from '../store.ts';
import { BlockCache } from './blocks.ts';

/** Series of blocks in memory, with their versions. */
class Blocks implements Versioned {
  readonly id: string;
  readonly #series = new Map<number, Map<number, StoredBlock>>();
  readonly #changed: { readonly part: string; readonly version: number }[] = [];
  fetched = 0;

  constructor(id = 'one') {
    this.id = id;
  }

  async version(): Promise<number> {
    return this.#changed.length;
  }

  async changesAfter(version: number) {
    return this.#changed.slice(version);
  }

  set(seriesId: number, bucket: number, price: number | null): void {
    const series = this.#series.get(seriesId) ?? new Map<number, StoredBlock>();
    this.#series.set(seriesId, series);
    if (price === null) series.delete(bucket);
    else series.set(bucket, blockOf(bucket, price));
    this.#changed.push({ part: barsOf(seriesId), version: this.#changed.length + 1 });
  }

  read({ seriesId, fromBucket, toBucket, direction, limit }: BlockRead): StoredBlock[] {
    const found = [...(this.#series.get(seriesId)?.values() ?? [])]
      .filter(({ bucket }) => bucket >= fromBucket && bucket <= toBucket)
      .sort((a, b) => (direction === 'asc' ? a.bucket - b.bucket : b.bucket - a.bucket))
      .slice(0, limit);
    this.fetched += found.length;
    return found;
  }

  through(cache: BlockCache, read: BlockRead): Promise<StoredBlock[]> {
    return cache.read(this, read, async (rest) => this.read(rest));
  }
}

const bucket = fc.integer({ min: -6, max: 12 });
const seriesId = fc.integer({ min: 1, max: 2 });
const reading: fc.Arbitrary<BlockRead> = fc.record({
  seriesId,
  fromBucket: bucket,
  toBucket: bucket,
  direction: fc.constantFrom('asc', 'desc'),
  limit: fc.integer({ min: 1, max: 5 }),
});
const writing = fc.record({
  seriesId,
  bucket,
  price: fc.option(fc.integer({ min: 1, max: 9 })),
});

test('any reads between any commits give what is stored, of both directions and with gaps', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(reading, reading, reading, writing), { maxLength: 60 }),
      async (steps) => {
        const [blocks, cache] = [new Blocks(), new BlockCache()];
        for (const one of [-3, 0, 1, 2, 5, 6, 9]) for (const series of [1, 2]) blocks.set(series, one, 5);
        for (const step of steps) {
          if ('bucket' in step) blocks.set(step.seriesId, step.bucket, step.price);
          else assert.deepEqual(await blocks.through(cache, step), blocks.read(step));
        }
      },
    ),
    { numRuns: 300 },
  ));

const all: BlockRead = { seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 20 };

test('what was read is read no more, of its part of a range too, until a commit touches the series', async () => {
  const [blocks, cache] = [new Blocks(), new BlockCache()];
  for (const one of [1, 2, 6]) blocks.set(1, one, 5);
  const fetchedBy = async (read: BlockRead): Promise<number> => {
    blocks.fetched = 0;
    await blocks.through(cache, read);
    return blocks.fetched;
  };
  assert.equal(await fetchedBy({ ...all, limit: 2 }), 2);
  assert.equal(await fetchedBy(all), 1, 'the first two are kept');
  assert.equal(await fetchedBy(all), 0);
  assert.equal(await fetchedBy({ ...all, fromBucket: 2, toBucket: 2 }), 0);
  blocks.set(2, 1, 5);
  assert.equal(await fetchedBy(all), 0, 'another series');
  blocks.set(1, 2, 6);
  assert.equal(await fetchedBy(all), 3);
});

test('a damaged block is not kept: who mends it in place is believed at once', async () => {
  const [cache, blocks] = [new BlockCache(), new Blocks()];
  const sound = blockOf(1, 5);
  const damaged = { ...sound, bytes: sound.bytes.map((byte, at) => (at === 20 ? byte ^ 1 : byte)) };
  assert.deepEqual(await cache.read(blocks, all, async () => [damaged]), [damaged]);
  assert.deepEqual(await cache.read(blocks, all, async () => [sound]), [sound]);
});

test('it holds no more than its bound', async () => {
  const [blocks, cache] = [new Blocks(), new BlockCache(20_000)];
  for (let one = 0; one < 200; one++) blocks.set(1, one, 5);
  assert.equal((await blocks.through(cache, { ...all, toBucket: 500, limit: 500 })).length, 200);
  assert.ok(cache.bytes > 10_000 && cache.bytes <= 20_000, `${cache.bytes} bytes`);
});

test('blocks of other data are not used, whatever version these have', async () => {
  const [before, after, cache] = [new Blocks('one'), new Blocks('other'), new BlockCache()];
  for (const price of [5, 6, 7]) before.set(1, 1, price);
  for (const price of [8, 9]) after.set(1, 1, price);
  await before.through(cache, all);
  assert.deepEqual(await after.through(cache, all), after.read(all));
  after.set(2, 1, 5);
  assert.deepEqual(await after.through(cache, all), after.read(all));
});
