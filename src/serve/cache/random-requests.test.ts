// Random requests to every endpoint, some of them wrong, through commits of every kind: none differs from one
// that nothing caches (contract 4.1). `npm run differential` asks more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes, fill, passTime, World } from '../../../test/commit-world.ts';
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
  t.diagnostic(`seed ${seed}: ${answered} of ${REQUESTS} were answered; ${queries} of ${uncached} queries`);
  assert.ok(answered > REQUESTS / 3, 'many are right');
  assert.ok(queries < 0.8 * uncached, 'many came from the cache');
  assert.deepEqual([...endpoints].sort(), Object.keys(contract).sort(), 'every endpoint has answered');
});
