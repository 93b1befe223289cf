// Random requests to every endpoint, some of them wrong, through commits of every kind: none differs from one
// that nothing caches (contract 4.1). `npm run differential` asks more. And answers that time changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { action, changes, event, fill, instrument, passTime, World } from '../../../test/commit-world.ts';
import { Random } from '../../../test/fuzz/random.ts';
import { fillings } from '../../../test/fuzz/store.ts';
import { makeTrial, wholeEndpoints } from '../../../test/fuzz/trial.ts';
import { collectPageKeys } from '../../../test/fuzz/walk.ts';
import { seed, times } from '../../../test/seed.ts';
import { contract } from '../../contract/index.ts';

/** Fewer would not find enough in the cache. */
const REQUESTS = Math.max(375, times(375));
const REQUESTS_PER_COMMIT = 30;
/** For so many requests a few are asked for again and again, through several commits. */
const PERIOD = 150;
const FREQUENT = 12;

test('no random request to any endpoint differs from an uncached one, with commits in between', async (t) => {
  const world = await World.open('requests');
  await world.import(...fillings);
  const ask = async (address: string): Promise<string> =>
    (
      await world.send(
        { method: 'GET', target: `${address}&secret_key=${world.key}`, headers: { host: 'localhost' } },
        address,
      )
    ).text;
  const pageKeys = await collectPageKeys(ask);
  const known = { liveKey: world.key, deadKeys: ['never-issued-never-issued-never-issued-00000'], pageKeys };
  await fill(world);
  const before = [world.queries, world.uncachedQueries] as const;
  const [names, endpoints] = [Object.keys(changes), new Set<string>()];
  let answered = 0;
  const isMore = (): boolean => endpoints.size < Object.keys(contract).length;
  for (let index = 0; index < REQUESTS || (index < 2 * REQUESTS && isMore()); index++) {
    const random = new Random(seed, index);
    const round = index / REQUESTS_PER_COMMIT;
    const name = names[round % names.length];
    if (name !== undefined) {
      await changes[name]!(world, random);
      passTime(world, random);
      // As a service that starts now.
      if (random.chance(0.3)) await world.warmUp();
    }
    const frequent = Math.floor(index / PERIOD) * FREQUENT + random.between(1, FREQUENT);
    const choice = index < REQUESTS && random.chance(0.8) ? new Random(seed, -frequent) : random;
    const trial = makeTrial(choice, known, wholeEndpoints);
    // An endpoint that chance left out is asked more.
    if (index >= REQUESTS && endpoints.has(trial.endpoint)) continue;
    const { status } = await world.send(trial, `seed ${seed}, ${index}`);
    if (status !== 200) continue;
    answered++;
    endpoints.add(trial.endpoint);
  }
  const queries = world.queries - before[0];
  const uncached = world.uncachedQueries - before[1];
  t.diagnostic(`seed ${seed}: ${answered} of ${REQUESTS} answered; ${queries} of ${uncached} queries`);
  t.diagnostic(`${world.known} known by their bytes`);
  assert.ok(answered > REQUESTS / 3, 'many are right');
  assert.ok(queries < 0.8 * uncached, 'many came from the cache');
  assert.ok(world.known > 0, 'some were known by their bytes');
  assert.deepEqual([...endpoints].sort(), Object.keys(contract).sort(), 'every endpoint has answered');
});

const MINUTE_MS = 60_000;

test('an answer that time changes is kept until then, and any other until a commit', async () => {
  const world = await World.open('time');
  const startMs = world.nowMs;
  const at = (minute: number): string => new Date(startMs + minute * MINUTE_MS).toISOString();
  const item = (minute: number) => ({
    ...{ publisher_url: `https://example.com/${minute}`, title: `at ${minute}`, published_date: at(minute) },
    ...{ asset_name: 'stock', country_iso_code: 'US', symbol: 'AAPL' },
  });
  const [dataset, [released]] = event('CODE');
  const eventAt = (minute: number) => ({ ...released, period: `${minute}`, event_timestamp: at(minute) });
  await world.import(
    instrument('AAPL', { name: 'Apple', delisting_date: '2025-06-02' }),
    ['news', [item(-60), item(60), item(120)]],
    [dataset, [eventAt(-60), eventAt(60), eventAt(120)]],
    action('AAPL', '2025-05-20', { action_type: 'dividend', cash_amount: 1, reference_price: 100 }),
  );
  const calendar = '/economic_calendar';
  /** The minutes at which each is asked anew. */
  const changing: readonly (readonly [path: string, minutes: readonly number[]])[] = [
    ['/news/latest?full_symbol=stock:US:AAPL', [0, 60, 120]],
    ['/news/list?from_date=2025-01-01&to_date=2026-01-01', [0]],
    [`${calendar}/event?country_iso_code=US`, [0, 60, 120]],
    [`${calendar}/event?country_iso_code=US&sort=asc`, [0]],
    [`${calendar}/event?country_iso_code=US&to_date=2026-01-01`, [0]],
    [`${calendar}/latest_event_list?date_type=historical`, [0, 60, 120]],
    [`${calendar}/latest_event_list?date_type=upcoming`, [0, 60, 120]],
    [`${calendar}/event_list?from_date=2025-01-01&to_date=2026-01-01`, [0]],
    ['/stock/stock_corporate_action/list/US:AAPL?from_date=2025-01-01', [0]],
    // The clock stands at 21:00 in New York: its day ends three hours later.
    ['/stock/reference/search?query=Apple', [0, 180]],
    ['/server/runs', [0]],
  ];
  const asked = new Map(changing.map(([path]) => [path, [] as number[]]));
  for (const minute of [0, 1, 59, 60, 61, 119, 120, 121, 179, 180, 181, 3_000]) {
    world.nowMs = startMs + minute * MINUTE_MS;
    for (const [path] of changing)
      for (let count = 0; count < 2; count++) {
        const before = world.queries;
        await world.ask(path, `after ${minute} minutes`);
        if (world.queries > before) asked.get(path)!.push(minute);
      }
  }
  for (const [path, minutes] of changing)
    assert.deepEqual(
      asked.get(path)!.filter((minute) => minute < 3_000),
      minutes,
      path,
    );
});
