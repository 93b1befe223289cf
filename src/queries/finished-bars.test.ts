// Bars in process: which are finished, and the newest of them (contract 3.9, 3.11).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closes, DAY_OPEN, every, World } from '../../test/bar-world.ts';

test('only bars that closed by now are served, by latest and by history alike (contract 3.9)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '5M', rows: every(5, DAY_OPEN, 4, 1) }]);
  const cases = [
    ['14:34:59.999', []],
    ['14:35:00', [1]],
    ['14:44:59', [1, 2]],
    ['14:50:00', [1, 2, 3, 4]],
  ] as const;
  for (const [clock, expected] of cases) {
    world.nowMs = Date.parse(`2025-03-03T${clock}Z`);
    assert.deepEqual(closes(await world.latest('5M')), expected);
    for (const sort of ['asc', 'desc']) {
      const served = closes(await world.history('5M', '2025-03-03', '2025-03-04', { sort }));
      assert.deepEqual(served, sort === 'asc' ? expected : [...expected].reverse());
    }
  }
});

const importEnds: readonly (readonly [asked: string, finished: string, count: number])[] = [
  ['5M', '2025-03-03T12:01:59-05:00', 30],
  ['5M', '2025-03-03T12:05:00-05:00', 31],
  ['60M', '2025-03-03T12:02:00-05:00', 2],
  ['DAY', '2025-03-03T12:02:00-05:00', 0],
  ['DAY', '2025-03-03T15:59:59-05:00', 0],
  ['DAY', '2025-03-03T16:00:00-05:00', 1],
  ['WEEK', '2025-03-07T15:59:59-05:00', 0],
  ['WEEK', '2025-03-07T16:00:00-05:00', 1],
  ['MON', '2025-03-31T15:59:59-04:00', 0],
  ['MON', '2025-03-31T16:00:00-04:00', 1],
];
for (const [asked, finished, count] of importEnds) {
  test(`minutes imported until ${finished} make ${count} finished ${asked} bars (contract 3.9)`, async () => {
    const world = await World.create();
    await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 152, 1), finished }]);
    assert.equal((await world.latest(asked)).count, count);
    assert.equal((await world.history(asked, '2025-03-03', '2025-03-04')).count, count);
    assert.equal((await world.history(asked, '2025-03-03', '2025-03-04', { sort: 'desc' })).count, count);
  });
}

test('a stored bar needs no coverage beyond now, a derived one does (contract 3.9)', async () => {
  const world = await World.create();
  const finished = '2025-03-03T12:00:00-05:00';
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 390, 1), finished }]);
  assert.equal((await world.history('1M', '2025-03-03', '2025-03-03')).count, 390);
  assert.equal((await world.history('5M', '2025-03-03', '2025-03-03')).count, 30);
});

test('an extended DAY derived from one interval is finished by the imports of that interval, not of another (contract 3.9)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    // Imported at midday; the 1M series of this instrument ended a week before, those of others go on.
    { interval: '5M', rows: every(5, DAY_OPEN, 30, 500), finished: '2025-03-03T12:00:00-05:00' },
    {
      interval: '1M',
      rows: every(1, '2025-02-24T09:30:00-05:00', 390, 100),
      finished: '2025-03-05T00:00:00Z',
    },
  ]);
  world.nowMs = Date.parse('2025-03-05T00:00:00Z');
  for (const is_eth of ['false', 'true']) {
    assert.deepEqual(closes(await world.latest('DAY', { is_eth })), [489]);
  }
});

test('a series that ended long before a bar began does not hold it back (contract 3.9)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    {
      interval: '5M',
      rows: every(5, '2025-03-07T09:30:00-05:00', 78, 500),
      finished: '2025-03-08T02:00:00Z',
    },
    {
      interval: '1M',
      rows: every(1, '2025-02-24T09:30:00-05:00', 390, 100),
      finished: '2025-02-25T02:00:00Z',
    },
  ]);
  for (const is_eth of ['false', 'true']) {
    assert.deepEqual(closes(await world.latest('DAY', { is_eth })), [489, 577]);
    assert.deepEqual(closes(await world.latest('WEEK', { is_eth })), [577]);
  }
});

test('latest gives the newest bars in ascending order (contract 3.11)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 390, 0) }]);
  assert.deepEqual(closes(await world.latest('1M', { limit: '3' })), [387, 388, 389]);
  assert.deepEqual(closes(await world.latest('15M', { limit: '2' })), [374, 389]);
  assert.equal((await world.latest('1M')).count, 150);
});
