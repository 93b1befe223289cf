// Bars in process: walks from page to page (contract 4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  closes,
  DAY_OPEN,
  days,
  every,
  page,
  refusal,
  sessionRows,
  World,
  walk,
} from '../../test/bar-world.ts';
import { MINUTE_MS } from '../base/instant.ts';
import { historicalBars } from '../contract/bars.ts';
import type { Parameter } from '../contract/endpoint.ts';
import type { Answer } from './query.ts';

test('pages of 1 to 7 bars make the one answer, with no page empty and the last without a key (contract 4.1, 4.2)', async () => {
  const world = await World.create();
  // DAY rows include a closed date.
  const daily = days(
    ['2025-02-14', 1],
    ['2025-02-17', 2],
    ['2025-02-18', 3],
    ['2025-03-03', 4],
    ['2025-03-05', 5],
  );
  const sparse = sessionRows.filter((_, index) => index % 97 === 0);
  await world.instrument({}, [
    { interval: 'DAY', rows: daily },
    { interval: '15M', rows: every(15, '2025-03-04T09:30:00-05:00', 8, 500) },
    { interval: '1M', rows: sparse },
  ]);
  for (const interval of ['1M', '15M', '60M', 'DAY', 'WEEK', 'MON']) {
    for (const is_eth of ['false', 'true']) {
      for (const sort of ['asc', 'desc']) {
        const raw = { interval, is_eth, sort, from_date: '2025-02-01', to_date: '2025-03-31' };
        const whole = page(await world.run('historicalBars', { ...raw, limit: '1000' }));
        assert.ok(whole.count > 1, interval);
        assert.equal(whole.next_page_key, null);
        assert.equal(whole.next_page_url, null);
        for (let limit = 1; limit <= 7; limit++) {
          const pages = await walk(world, { ...raw, limit: String(limit) });
          assert.deepEqual(pages.flat(), whole.data, `${interval} ${is_eth} ${sort} ${limit}`);
          assert.equal(pages.length, Math.ceil(whole.count / limit));
        }
      }
    }
  }
});

test('descending is ascending reversed (contract 4.5)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: sessionRows }]);
  for (const interval of ['7M', '240M', 'DAY', 'WEEK', 'MON']) {
    for (const is_eth of ['false', 'true']) {
      const range = ['2025-03-03', '2025-03-10'] as const;
      const ascending = (await world.history(interval, ...range, { is_eth })).data;
      const descending = (await world.history(interval, ...range, { is_eth, sort: 'DESC' })).data;
      assert.deepEqual(descending, ascending.reverse());
    }
  }
});

test('a walk while rows come in repeats none and misses none that was there (contract 4.1)', async () => {
  for (const sort of ['asc', 'desc']) {
    const world = await World.create();
    const rows = every(2, DAY_OPEN, 60, 0);
    const id = await world.instrument({}, [{ interval: '1M', rows }]);
    const raw = { interval: '1M', sort, from_date: '2025-03-03', to_date: '2025-03-03', limit: '25' };
    const first = page(await world.run('historicalBars', raw));
    // Bars appear between all those that were there, before the walk's place and behind it.
    const more = rows.map((row) => ({
      at: new Date(Date.parse(row.at) + MINUTE_MS).toISOString(),
      close: 1000,
    }));
    await world.store(id, id * 100, { interval: '1M', rows: [...rows, ...more] });
    const seen = [...first.data];
    let key = first.next_page_key;
    while (key !== null) {
      const next = page(await world.run('historicalBars', { ...raw, next_page_key: key }));
      seen.push(...next.data);
      key = next.next_page_key;
    }
    const keys = seen.map((bar) => bar.datetime);
    assert.equal(new Set(keys).size, keys.length);
    assert.deepEqual(keys, sort === 'asc' ? keys.toSorted() : keys.toSorted().reverse());
    const old = seen.filter((bar) => bar.close < 1000).map((bar) => bar.close);
    assert.deepEqual(
      old.sort((a, b) => a - b),
      rows.map((row) => row.close),
    );
    assert.ok(seen.length > rows.length);
  }
});

test('what the first page took for now holds for the whole walk (contract 4.1)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 60, 0) }]);
  const raw = { interval: '1M', from_date: '2025-03-03', to_date: '2025-03-03', limit: '6' };
  world.nowMs = Date.parse('2025-03-03T14:40:00Z');
  const first = page(await world.run('historicalBars', raw));
  world.nowMs += 3_600_000;
  const rest = page(await world.run('historicalBars', { ...raw, next_page_key: first.next_page_key! }));
  assert.deepEqual(closes(rest), [6, 7, 8, 9]);
  assert.equal(rest.next_page_key, null);
});

const otherQueries: readonly (readonly [what: string, change: Record<string, string>])[] = [
  ['interval', { interval: '5M' }],
  ['symbol', { country_symbol: 'US:MSFT' }],
  ['sort', { sort: 'desc' }],
  ['from_date', { from_date: '2025-03-02' }],
  ['to_date', { to_date: '2025-03-04' }],
  ['is_eth', { is_eth: 'true' }],
];
const sameQueries: readonly (readonly [what: string, change: Record<string, string>])[] = [
  ['limit', { limit: '3' }],
  ['letter case', { country_symbol: 'us:aapl', schema_asset: 'Stock', interval: '1min', sort: 'ASC' }],
  ['a default that is written out', { is_eth: 'no' }],
];

test('a page key holds for its own query alone: any limit, any spelling, no other filter (contract 4.1)', async () => {
  const world = await World.create();
  const stored = [{ interval: '1M', rows: every(1, DAY_OPEN, 30, 0) }];
  await world.instrument({}, stored);
  await world.instrument({ symbol: 'MSFT' }, stored);
  const raw = { interval: '1M', from_date: '2025-03-03', to_date: '2025-03-03', limit: '2' };
  const { next_page_key } = page(await world.run('historicalBars', raw));
  const behind = (change: Record<string, string>): Promise<Answer> =>
    world.run('historicalBars', { ...raw, next_page_key: next_page_key!, ...change });
  for (const [what, change] of otherQueries) {
    assert.equal((await refusal(behind(change))).word, 'invalid_page_key', what);
  }
  for (const [what, change] of sameQueries) {
    assert.equal(page(await behind(change)).data[0]!.close, 2, what);
  }
});

test('a walk may change columns, timestamps and zone, and the address of its next page repeats them (contract 9.16)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 3, 0) }]);
  const raw = { interval: '1M', from_date: '2025-03-03', to_date: '2025-03-03', limit: '1' };
  const first = await world.run('historicalBars', { ...raw, columns: 'close,datetime', tz: 'Asia/Tokyo' });
  if (first.kind !== 'answer') assert.fail();
  assert.match(first.next!.address, /&columns=close%2Cdatetime&tz=Asia%2FTokyo(&|$)/);
  assert.deepEqual(page(first).data, [{ close: 0, datetime: '2025-03-03T23:30:00+09:00' }]);
  const change = { columns: 'close_datetime', timestamps: 'unix' };
  const second = await world.run('historicalBars', { ...raw, ...change, next_page_key: first.next!.key });
  if (second.kind !== 'answer') assert.fail();
  assert.deepEqual(page(second).data, [{ close_datetime: Date.parse('2025-03-03T14:32:00Z') / 1000 }]);
  const last = await world.run('historicalBars', { ...raw, next_page_key: second.next!.key });
  assert.equal(page(last).data[0]!.datetime, '2025-03-03T14:32:00+00:00');
});

test('the next page has the same parameters with the defaults filled in, without the key (contract 4.3)', async () => {
  const world = await World.create();
  await world.instrument({ symbol: 'BRK/B' }, [{ interval: '1M', rows: every(1, DAY_OPEN, 30, 0) }]);
  const answer = await world.run('historicalBars', {
    country_symbol: 'us:brk/b',
    interval: '1m',
    from_date: '2025-03-03T14:30:00+00:00',
    to_date: '2025-03-03 23:00:00',
    limit: '2',
  });
  if (answer.kind !== 'answer') assert.fail();
  const [path, query] = answer.next!.address.split('?');
  assert.equal(
    path,
    '/api/v2/stock/bars/US:BRK%2FB/1M/from/2025-03-03T14:30:00%2B00:00/to/2025-03-03%2023:00:00',
  );
  const filled = 'format=json&csv_safe=false&limit=2&is_eth=false&session_date=false&adjust=none&sort=asc';
  const known = new Set(new URLSearchParams(filled).keys());
  const pairs = query!.split('&').map((pair) => pair.split('='));
  const isKnown = ([name]: string[]): boolean => known.has(name!);
  assert.equal(
    pairs
      .filter(isKnown)
      .map((pair) => pair.join('='))
      .join('&'),
    filled,
  );
  const declared: Readonly<Record<string, Parameter>> = historicalBars.parameters;
  for (const [name, text] of pairs.filter((pair) => !isKnown(pair)))
    assert.equal(text, declared[name!]?.print(declared[name!]?.default));
  const body = Buffer.from(answer.body);
  assert.equal(body.subarray(answer.next!.at! - 17, answer.next!.at!).toString(), '"next_page_url":"');
});
