// The address of the next page: its parameters, key and base address (contract 4.1, 4.2, 4.3, 7.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  address,
  ask,
  DAY,
  key,
  LATEST,
  openHandler,
  opens,
  type Page,
  page,
  refused,
  withKey,
} from '../../test/request-handler.ts';
import type { Parameter } from '../contract/endpoint.ts';
import { contract } from '../contract/index.ts';

test('next_page_url repeats the parameters with defaults filled in, the key and the page key (contract 4.3)', async () => {
  const first = await page(withKey(DAY, '&limit=5&is_eth=YES&extra=1&limit=5'));
  const url = new URL(first.next_page_url!);
  assert.equal(url.origin + url.pathname, `http://localhost:8080${DAY}`);
  const defaults = Object.entries<Parameter>(contract.historicalBars.parameters)
    .filter(([, parameter]) => parameter.default !== undefined)
    .map(([name, parameter]) => [name, parameter.print(parameter.default)]);
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    ...(Object.fromEntries(defaults) as Record<string, string>),
    format: 'json',
    limit: '5',
    is_eth: 'true',
    session_date: 'false',
    adjust: 'none',
    csv_safe: 'false',
    sort: 'asc',
    secret_key: key,
    next_page_key: first.next_page_key,
  });
});

test('next_page_url works when called as it is, to the last page, in both orders (contract 4.2, 4.3)', async () => {
  for (const sort of ['asc', 'desc']) {
    const seen: unknown[] = [];
    let target: string | null = withKey(DAY, `&limit=5&sort=${sort}`);
    while (target !== null) {
      const found: Page = await page(target);
      assert.ok(found.count > 0);
      assert.equal(found.next_page_key === null, found.next_page_url === null);
      seen.push(...found.data.map((bar) => bar.datetime));
      target = found.next_page_url?.replace('http://localhost:8080', '') ?? null;
    }
    const all = opens.map((open) => open.replace('Z', '+00:00'));
    assert.deepEqual(seen, sort === 'asc' ? all : all.reverse());
  }
});

test('dates with a plus or a space stand in next_page_url as %2B and %20, and it works (contract 4.3)', async () => {
  const from = '2025-03-03T14:31:00+00:00';
  const first = await page(
    withKey(`/api/v2/stock/bars/us%3Aaapl/1min/from/${from}/to/2025-03-03%2023:00:00`, '&limit=2'),
  );
  assert.match(
    first.next_page_url!,
    /\/US:AAPL\/1M\/from\/2025-03-03T14(:|%3A)31(:|%3A)00%2B00(:|%3A)00\/to\/2025-03-03%2023/,
  );
  const second = await page(first.next_page_url!.replace('http://localhost:8080', ''));
  assert.equal(second.data[0]!.datetime, '2025-03-03T14:33:00+00:00');
});

test('a page key that was changed or belongs to another query is invalid_page_key (contract 4.1)', async () => {
  const { next_page_key } = await page(withKey(DAY, '&limit=5'));
  const pageKey = next_page_key!;
  const changed = pageKey.slice(0, -2) + (pageKey.at(-2) === 'A' ? 'B' : 'A') + pageKey.at(-1);
  for (const target of [
    withKey(DAY, `&limit=5&next_page_key=${changed}`),
    withKey(DAY, `&limit=5&next_page_key=${pageKey}A`),
    withKey(DAY, `&limit=5&next_page_key=${pageKey.slice(1)}`),
    withKey(DAY, `&limit=5&sort=desc&next_page_key=${pageKey}`),
    withKey(DAY, `&limit=5&is_eth=true&next_page_key=${pageKey}`),
    withKey(DAY.replace('1M', '5M'), `&limit=5&next_page_key=${pageKey}`),
  ])
    refused(await ask(target), 'invalid_page_key', 'next_page_key', target.slice(-60));
  assert.equal((await page(withKey(DAY, `&limit=3&format=json&next_page_key=${pageKey}`))).count, 3);
  assert.equal((await page(withKey(DAY, '&limit=5&next_page_key='))).count, 5, 'the first page');
});

test('with a header key next_page_url and Link carry no key, and work with the header (contract 7.1)', async () => {
  const headers = { authorization: `Bearer ${key}` };
  const json = await ask(`${DAY}?limit=5`, { headers });
  const csv = await ask(`${DAY}?limit=5&format=csv`, { headers });
  for (const { text, headers: sent } of [json, csv]) {
    assert.ok(!(text + JSON.stringify(sent)).includes(key));
    assert.ok(!(text + JSON.stringify(sent)).includes('secret_key'));
  }
  const { next_page_url } = (JSON.parse(json.text) as { result: Page }).result;
  assert.equal((await page(next_page_url!.replace('http://localhost:8080', ''), { headers })).count, 5);
  assert.match(csv.headers.Link!, /^<http:\/\/localhost:8080\/.*&next_page_key=[\w-]+>; rel="next"$/);
});

const hosts = [
  'localhost',
  'LOCALHOST:1',
  '127.0.0.1:8080',
  '203.0.113.7',
  '[::1]:8080',
  '[2001:db8::7]',
  'bars.example.com:81',
];

for (const host of hosts) {
  test(`next_page_url begins with Host where that is ${host} (contract 4.3)`, async () => {
    const { next_page_url } = await page(withKey(DAY, '&limit=5'), { headers: { host } });
    assert.ok(next_page_url!.startsWith(`http://${host}/api/v2/`), next_page_url!);
    const followed = next_page_url!.slice(`http://${host}`.length);
    assert.equal((await page(followed, { headers: { host } })).count, 5);
  });
}

test('a foreign, missing or doubled Host is a bad_request that names the setting (contract 4.3)', async () => {
  for (const host of [
    'evil.example',
    undefined,
    '',
    'localhost, localhost',
    'bars.example.com.evil.example',
  ]) {
    const got = await ask(withKey(LATEST), { headers: { host } });
    assert.match(refused(got, 'bad_request', 'Host', String(host)).hint!, /--allowed-hosts/);
  }
});

test('with a public URL its scheme and path are the base, whatever Host says (contract 4.3)', async () => {
  const at = openHandler({ address: { ...address, publicUrl: 'https://data.example.com/bourse' } });
  for (const host of ['evil.example', undefined]) {
    const { next_page_url } = await page(withKey(DAY, '&limit=5'), { at, headers: { host } });
    assert.ok(next_page_url!.startsWith(`https://data.example.com/bourse${DAY}?`), next_page_url!);
    const behind = next_page_url!.replace('https://data.example.com/bourse', '');
    assert.equal((await page(behind, { at, headers: { host } })).count, 5);
  }
});

test('forwarded headers do not count (contract 4.3)', async () => {
  const headers = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  };
  assert.ok(!(await ask(withKey(DAY, '&limit=5'), { headers })).text.includes('evil'));
});
