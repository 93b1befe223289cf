// Overload, the stop under load and slow readers, in short, on a busy machine too: no request is left without
// an answer. The long form, `npm run overload`, has the bounds: how much is served, how many are refused and
// reset, and how long it takes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { crowdAtStart } from '../reliability/crowd-at-start.ts';
import { fill, largePage, type Targets } from '../reliability/load.ts';
import { overload } from '../reliability/overload.ts';
import { type SlowReaders, slowReaders } from '../reliability/slow-readers.ts';
import { stopUnderLoad } from '../reliability/stop.ts';
import { Workshop } from '../service.ts';

const shop = new Workshop();
let targets: Targets;
/** Begun with the file, so that nothing waits for it alone. */
let slow: Promise<SlowReaders>;
after(() => shop.close());
before(async () => {
  targets = await fill(shop, 250);
  slow = slowReaders(shop, largePage(targets), 10);
  slow.catch(() => undefined);
});

test('at twice of what can be served none is left without an answer (contract 6.3)', async (t) => {
  const figures = await overload(shop, { targets: targets.slow, workers: 1, timesPeak: 2, seconds: 1 });
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(figures.failures, []);
  assert.ok(figures.servedMs.max > 0);
});

for (const [callers, what, seconds] of [
  [128, 'once each', 0.001],
  [32, 'again and again', 1],
] as const)
  test(`${callers} callers who ask ${what} just after the start are all answered or refused (contract 6.3)`, async (t) => {
    const { asked, served, refused, servedMs, odd, broken } = await crowdAtStart(
      shop,
      targets.fast,
      callers,
      seconds,
    );
    t.diagnostic(JSON.stringify({ asked, served, refused, servedMs }));
    assert.deepEqual([odd, broken, served + refused], [[], {}, asked]);
    assert.ok(served > 0);
  });

for (const workers of [1, 2]) {
  for (const keepAlive of [true, false]) {
    const kept = keepAlive ? 'kept' : 'not kept';
    test(`SIGTERM under load, connections ${kept}, workers: ${workers}; what was taken is answered`, async (t) => {
      const load = { targets: targets.fast, perSecond: 400, seconds: 1 };
      const stopped = await stopUnderLoad(shop, { ...load, workers, keepAlive });
      t.diagnostic(JSON.stringify(stopped));
      assert.deepEqual([stopped.status, stopped.failures], [0, []]);
      assert.ok(stopped.answered > 0, 'there was load');
    });
  }
}

test('who does not read costs little, holds up nobody, and is cut in time', async (t) => {
  const figures = await slow;
  t.diagnostic(JSON.stringify(figures));
  assert.equal(figures.left, 0);
  assert.ok(figures.grownMegabytes < 250);
});
