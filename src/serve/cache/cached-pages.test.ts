// Walks from page to page, each with the keys of its own pages: cached pages are those of a service without a
// cache, through commits (contract 4.1, 4.2, 5.2, 9.7).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../../test/fuzz/random.ts';
import { addRows, ask, key, openHandler, opens, runner, store } from '../../../test/request-handler.ts';
import { seed } from '../../../test/seed.ts';
import { ResponseCache } from './response-cache.ts';

const HOLIDAYS_YEARS = 'from_date=2020-01-01&to_date=2026-12-31';

/** What is walked through: lists of more than one page at each limit. */
const lists = [
  '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-01/to/2025-03-31?sort=asc',
  '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-01/to/2025-03-31?sort=desc',
  '/api/v2/stock/bars/US:AAPL/3M/from/2025-03-01/to/2025-03-31?sort=desc&adjust=all',
  `/api/v2/holiday/list?full_symbol=stock:US:*&${HOLIDAYS_YEARS}&sort=asc`,
  `/api/v2/holiday/list?full_symbol=stock:US:*&${HOLIDAYS_YEARS}&sort=desc`,
];

/** A handler with a cache of so many bytes, and how many queries it has run. */
function serviceWith(bytesMax: number) {
  const ran = { queries: 0 };
  const cache = new ResponseCache(store, bytesMax);
  const submit = (request: Parameters<typeof runner.run>[0]) => {
    ran.queries++;
    return runner.run(request);
  };
  return { at: openHandler({ cache, submit }), ran };
}

/** A walk that goes on: its list and size of pages, and the key of its next page. */
type Walk = { readonly target: string; readonly format: string; pageKey: string; pages: number };

/** Minutes of a later time, and a correction of the first one. */
const minutesOf = (round: number) =>
  [opens[0]!, `2025-03-03T15:${10 + round}:00Z`, `2025-03-04T15:${10 + round}:00Z`].map((datetime) => ({
    ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL', interval: '1M', datetime },
    ...{ open: round, high: round, low: round, close: round },
  }));

const holidayOf = (round: number) => ({
  ...{ name: `Day ${round}`, holiday_code: 'HOLIDAY_OWN', calendar_date: `2025-07-${10 + round}` },
  ...{ asset_name: 'stock', country_iso_code: 'US', symbol: '*', session_template: 'CLOSED' },
});

test('every page of walks that go on at the same time is that of an uncached service, in JSON and CSV, with commits between', async (t) => {
  const random = new Random(seed, 1);
  const [cached, uncached] = [serviceWith(1_000_000), serviceWith(0)];
  const newWalk = (): Walk => ({
    target: `${random.pick(lists)}&limit=${random.pick([2, 3, 7])}`,
    format: random.pick(['json', 'csv']),
    ...{ pageKey: '', pages: 0 },
  });
  const walks = Array.from({ length: 6 }, newWalk);
  let [following, ended] = [0, 0];
  for (let step = 0; step < 600; step++) {
    if (step % 150 === 149) {
      await addRows('bars', minutesOf(1 + Math.floor(step / 150)));
      await addRows('holidays', [holidayOf(Math.floor(step / 150))]);
    }
    const place = random.below(walks.length);
    const walk = walks[place]!;
    const target = `${walk.target}&format=${walk.format}&next_page_key=${walk.pageKey}&secret_key=${key}`;
    const [one, other] = [await ask(target, { at: cached.at }), await ask(target, { at: uncached.at })];
    const what = `seed ${seed}, step ${step}: ${target}`;
    assert.equal(one.status, 200, what);
    assert.deepEqual([one.status, one.text], [other.status, other.text], what);
    if (walk.pageKey !== '') following++;
    walk.pages++;
    walk.pageKey =
      walk.format === 'csv'
        ? (one.headers['X-Next-Page-Key'] ?? '')
        : ((JSON.parse(one.text) as { result: { next_page_key: string | null } }).result.next_page_key ?? '');
    if (walk.pageKey !== '') continue;
    if (walk.pages > 1) ended++;
    walks[place] = newWalk();
  }
  t.diagnostic(
    `${following} pages under keys, ${ended} walks ended, ${cached.ran.queries} of ${uncached.ran.queries} queries`,
  );
  assert.ok(following > 300 && ended > 10, 'most pages are under the key of the page before');
  assert.ok(cached.ran.queries < 0.9 * uncached.ran.queries, 'many came from the cache');
});
