// Two imports that give a bar different values, by random imports that the test does too (contract 9.10
// conflicting_imports).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseInstant } from '../../src/base/instant.ts';
import { interval } from '../../src/contract/interval.ts';
import { deleteBars } from '../../src/runs/delete-bars.ts';
import { openStore } from '../../src/store/engines.ts';
import { Random } from '../fuzz/random.ts';
import { seed } from '../seed.ts';
import { TestFolder } from '../stores.ts';
import { CheckedStore, dateOf, NOW_MS, newYorkDate, rowsOfBars, sessionsOf, walk } from './world.ts';

const folder = new TestFolder();
after(() => folder.close());

const days = sessionsOf('2019-01-02', '2024-12-31');

test('every two imports that differ are told with the number of bars, the files and the largest difference', async () => {
  const random = new Random(seed);
  const store = new CheckedStore(folder, 'conflicts');
  const bars = new Map(walk(random, days).map((bar) => [bar.day, bar]));
  /** The run that gave each bar its present value. */
  const givenBy = new Map<number, number>();
  const differing = new Map<string, { keys: number[]; share: number }>();
  for (let round = 0; round < 52; round++) {
    const from = random.below(days.length - 60);
    const some = days.slice(from, from + 60);
    const changed = round === 0 ? days : some.filter(() => random.chance(0.5));
    const before = new Map(changed.map((day) => [day, bars.get(day)!.volume]));
    for (const day of changed)
      if (round > 0 && random.chance(0.7)) bars.get(day)!.volume += random.between(1, 500_000);
    const rows = rowsOfBars(
      'C',
      changed.map((day) => bars.get(day)!),
    );
    const [run] = await store.fill('bars', [rows]);
    for (const day of changed) {
      const [was, is, former] = [before.get(day)!, bars.get(day)!.volume, givenBy.get(day)];
      if (former !== undefined && was === is) continue;
      givenBy.set(day, run!);
      if (former === undefined) continue;
      const known = differing.get(`${former} ${run}`) ?? { keys: [], share: 0 };
      known.keys.push(day);
      known.share = Math.max(known.share, is / was - 1);
      differing.set(`${former} ${run}`, known);
    }
    if (round % 10 !== 9) continue;
    // A deleted bar that comes again is in no conflict.
    const opened = await openStore(store.url, 'write');
    const day = changed[0]!;
    const bound = parseInstant(dateOf(day))!;
    const choice = { assetSchema: 'stock' as const, country: 'US', symbol: 'C', words: 'C' };
    await deleteBars(opened, {
      ...{ ...choice, from: bound, to: bound, interval: interval('DAY'), dryRun: false, nowMs: () => NOW_MS },
    });
    await opened.close();
    givenBy.delete(day);
  }
  const found = (await store.check()).filter(({ kind }) => kind === 'conflicting_imports');
  assert.ok(differing.size >= 50, `${differing.size}`);
  assert.deepEqual(
    found
      .map(({ message, fromMs, toMs, runId, value, expected }) => {
        const [, count, former] =
          /^(\d+) bars? of run \d+ \(\S+\) (?:has|have) other values than run (\d+) /.exec(message)!;
        const share = (value! / expected! - 1).toFixed(9);
        return `${former} ${runId} ${count} ${newYorkDate(fromMs)} ${newYorkDate(toMs - 1)} ${share}`;
      })
      .sort(),
    [...differing]
      .map(([runs, { keys, share }]) => {
        const ends = [Math.min(...keys), Math.max(...keys)].map(dateOf).join(' ');
        return `${runs} ${keys.length} ${ends} ${share.toFixed(9)}`;
      })
      .sort(),
  );
});

test('prices that differ by more than half are an error, volumes are not', async () => {
  const some = walk(new Random(seed), days.slice(0, 30));
  for (const [name, times, severity] of [
    ['by-0.4', { price: 1.4, volume: 1 }, 'info'],
    ['by-0.6', { price: 1.6, volume: 1 }, 'error'],
    ['volume', { price: 1, volume: 3 }, 'info'],
  ] as const) {
    const store = new CheckedStore(folder, name);
    await store.fill('bars', [rowsOfBars('C', some)]);
    const others = some.map((bar) => ({
      ...bar,
      open: bar.open * times.price,
      high: bar.high * times.price,
      low: bar.low * times.price,
      close: bar.close * times.price,
      volume: bar.volume * times.volume,
    }));
    await store.fill('bars', [rowsOfBars('C', others)]);
    const found = (await store.check()).filter(({ kind }) => kind === 'conflicting_imports');
    assert.deepEqual(
      found.map((one) => one.severity),
      [severity],
      name,
    );
  }
});
