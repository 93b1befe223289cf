// Answers of one service, whose caches go on through commits of every kind, against those of a service that
// caches nothing (contract 4.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  action,
  changes,
  DAY_MS,
  event,
  fill,
  holiday,
  instrument,
  passTime,
  requests,
  split,
  World,
} from '../commit-world.ts';
import { Random } from '../fuzz/random.ts';
import { seed, times } from '../seed.ts';

/** By default each kind of commit once. */
const ROUNDS = times(Object.keys(changes).length);

test('no answer differs from an uncached one after commits of every kind', async (t) => {
  const world = await World.open('random');
  await fill(world);
  const names = Object.keys(changes);
  for (let round = 0; round < ROUNDS; round++) {
    const random = new Random(seed, round);
    // Every kind once, then any.
    const name = names[round] ?? random.pick(names);
    await changes[name]!(world, random);
    passTime(world, random);
    // As a service that starts now.
    if (random.chance(0.3)) await world.warmUp();
    for (const path of requests) await world.ask(path, `seed ${seed}, round ${round}, ${name}`);
  }
  const asked = ROUNDS * requests.length;
  t.diagnostic(`${world.queries} queries for ${asked} requests`);
  assert.ok(world.queries < 0.8 * asked, 'many came from the cache');
});

/** What of the cached answers stays after a change: those for which no query is run. */
async function staysAfter(world: World, paths: readonly string[], change: () => Promise<void>) {
  for (const path of [...paths, ...paths, ...paths]) await world.ask(path, 'before');
  await change();
  const stayed: string[] = [];
  for (const path of paths) {
    const before = world.queries;
    await world.ask(path, 'after');
    if (world.queries === before) stayed.push(path);
  }
  return stayed;
}

test('a commit forgets the cached answers that it touched, and no others', async () => {
  const world = await World.open('touched');
  await fill(world);
  // After the end of every range: nothing but a commit changes the answers.
  world.nowMs += 30 * DAY_MS;
  const bars = (symbol: string): string =>
    `/stock/bars/US:${symbol}/60M/from/2025-05-23/to/2025-05-30?limit=9`;
  const [apple, microsoft] = [bars('AAPL'), bars('MSFT')];
  const [reference, other] = ['/stock/reference/US:AAPL', '/stock/reference/US:MSFT'];
  const [list, codes] = ['/holiday/list?full_symbol=stock:US:*&limit=3', '/economic_calendar/event_codes/US'];
  const british = '/holiday/list?full_symbol=stock:UK:*&limit=3';
  const all = [apple, microsoft, reference, other, list, codes, british];
  const without = (...gone: readonly string[]) => all.filter((path) => !gone.includes(path));
  const cases: readonly (readonly [string, () => Promise<void>, readonly string[]])[] = [
    ['bars of one', () => world.minutes(['MSFT'], '2025-05-29', 70), without(microsoft)],
    ['bars of a new one', () => world.minutes(['NEW'], '2025-05-29', 70), all],
    ['actions', () => world.import(split('AAPL', '2025-05-02', 2)), without(apple, reference)],
    ['an event', () => world.import(event('OWN')), without(codes)],
    ['a holiday', () => world.import(holiday('2025-07-15', '*')), [reference, other, codes, british]],
    ['an undo', () => world.undo(0), [reference, other, codes, british]],
    ['a failed file', () => world.write(async (store) => store.write(async () => undefined)), all],
  ];
  for (const [what, change, stays] of cases)
    assert.deepEqual((await staysAfter(world, all, change)).sort(), [...stays].sort(), what);
});

test('a run of other symbols that finishes a bar of an untouched one drops the answer without it (contract 3.9)', async () => {
  const world = await World.open('finished');
  await fill(world);
  const week = '/stock/bars/US:AAPL/WEEK/from/2025-05-26/to/2025-05-31';
  // Long after the week, so that the answer is good until a commit.
  world.nowMs += 60 * DAY_MS;
  const before = [await world.ask(week, 'before'), await world.ask(week, 'before')];
  assert.match(before[0]!.text, /"count":0|\r\n$/);
  await world.minutes(['MSFT', 'IBM', 'FB', 'META', 'TWX'], '2025-05-30', 70);
  const finished = await world.ask(week, 'after');
  assert.notEqual(finished.text, before[0]!.text);
  assert.match(finished.text, /2025-05-27/);
  await world.undo(0);
  assert.equal((await world.ask(week, 'undone')).text, before[0]!.text);
});

test('a corrected bar changes the derived bars that were kept, though the record of its series is as before (contract 3.8)', async () => {
  const world = await World.open('corrected');
  await fill(world);
  const day = '/stock/bars/US:AAPL/DAY/from/2025-05-28/to/2025-05-28';
  const wide = '/stock/bars/US:AAPL/DAY/from/2025-05-19/to/2025-05-28';
  for (const path of [day, wide, day, wide]) await world.ask(path, 'before');
  const before = await world.ask(day, 'before');
  await world.minutes(['AAPL'], '2025-05-28', 170, 0.5);
  const after = await world.ask(day, 'after');
  assert.notEqual(after.text, before.text);
  assert.match(after.text, /170/);
  // Another range of the same days: from what is kept of them.
  await world.ask(wide, 'after');
  await world.ask(`${day}?sort=desc`, 'after');
});

test('an instrument that ends completes its last bar without a commit, and its dividends follow (contract 3.9, 8.2)', async () => {
  const world = await World.open('ended');
  const path = '/stock/bars/US:IBM/1M/from/2025-05-28/to/2025-05-29?adjust=dividend&limit=3';
  world.nowMs = Date.parse('2025-05-29T14:45:00Z');
  await world.import(
    instrument('IBM', { delisting_date: '2025-05-29' }),
    action('IBM', '2025-05-30', { action_type: 'dividend', cash_amount: 10 }),
  );
  await world.minutes(['IBM'], '2025-05-28', 100);
  await world.minutes(['IBM'], '2025-05-29', 100, 1);
  // The adjustment of a day ahead is asked for, because the dividend is of that day.
  world.nowMs = Date.parse('2025-05-30T02:00:00Z');
  const before = await world.ask(`${path}&adjust_as_of=2025-05-30`, 'after the session');
  world.nowMs = Date.parse('2025-05-30T05:00:00Z');
  const ended = await world.ask(`${path}&adjust_as_of=2025-05-30`, 'after its end');
  assert.notEqual(ended.text, before.text);
});
