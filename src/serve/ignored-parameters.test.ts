// How ignored query parameters are named (contract 4.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, DAY, key, LATEST, withKey } from '../../test/request-handler.ts';
import { fc } from '../../test/seed.ts';
import { limits } from '../contract/limits.ts';
import { ignoredHeader } from './ignored-parameters.ts';

const known = [
  'limit',
  'sort',
  'adjust',
  'adjust_as_of',
  'from_date',
  'to_date',
  'next_page_key',
  'secret_key',
];

const named: readonly [names: readonly string[], header: string | null][] = [
  [[], null],
  [['adjst'], 'adjst (adjust?)'],
  [['LIMIT', 'Sort'], 'LIMIT (limit?), Sort (sort?)'],
  [['from', 'to'], 'from (from_date?), to (to_date?)'],
  [['fromDate', 'next-page-key'], 'fromDate (from_date?), next-page-key (next_page_key?)'],
  [['secretkey', 'utm_source', '_'], 'secretkey (secret_key?), utm_source, _'],
  [['limit[]', 'a.b'], 'limit[] (limit?), a.b'],
  [['__proto__', 'constructor'], '__proto__, constructor'],
  [['a b', 'ü', 'x,y', 'n(m)', '%ZZ'], '5 more'],
  [['other', 'a\r\nSet-Cookie: a=b'], 'other, 1 more'],
];
for (const [names, header] of named) {
  test(`${JSON.stringify(names)} is reported as ${header} (contract 4.4)`, () => {
    assert.equal(ignoredHeader(names, known), header);
  });
}

test('a text as long as a key is counted, not shown: a mistyped address may have the key as a name (contract 4.4, 7.4)', () => {
  const secret = 'A'.repeat(32);
  assert.equal(ignoredHeader([secret, `secret_key=${secret}`, 'x'], known), 'x, 2 more');
});

test('the header is bounded, and has characters that every header may have, whatever was sent (contract 4.4)', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => `a${index}`);
  const header = ignoredHeader(many, known)!;
  assert.ok(header.endsWith(`, ${3_000 - limits.ignoredNamesMax} more`), header);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 30 }), (names) => {
      const told = ignoredHeader(names, known) ?? '';
      assert.match(told, /^[\w.[\](), ?-]*$/);
      assert.ok(told.length <= 800, `${told.length}`);
    }),
  );
});

const IGNORED = 'X-Ignored-Parameters';

test('ignored parameters are named in a header once, on refusals and 304 too; web pages may read it (contract 4.4, 9.7)', async () => {
  const sent = 'adjst=split&limt=1&limt=2&utm=x&interval=5M&=&&';
  const named = 'adjst (adjust?), limt (limit?), utm, interval';
  const good = await ask(`${DAY}?${sent}&secret_key=${key}`);
  assert.deepEqual([good.status, good.headers[IGNORED]], [200, named]);
  assert.ok(good.headers['Access-Control-Expose-Headers']!.includes(IGNORED));
  const held = { headers: { 'if-none-match': good.headers.ETag } };
  const unchanged = await ask(`${DAY}?${sent}&secret_key=${key}`, held);
  assert.deepEqual([unchanged.status, unchanged.headers[IGNORED]], [304, named]);
  const refusals = [`limit=0&secret_key=${key}`, '', 'secret_key=', `secret_key=${'x'.repeat(43)}`];
  for (const other of refusals) {
    const refused = await ask(`${DAY}?${sent}&${other}`);
    assert.ok(refused.status >= 400, other);
    assert.equal(refused.headers[IGNORED], named, other);
  }
  const page = await ask(`/api/v2/news/list?from=2025-03-03&secret_key=${key}`);
  assert.deepEqual([page.status, page.headers[IGNORED]], [400, 'from (from_date?)']);
});

test('a request without unknown parameters has no such header, and no value is ever in it (contract 4.4, 7.4)', async () => {
  assert.equal((await ask(`${DAY}?limit=2&next_page_key=&secret_key=${key}`)).headers[IGNORED], undefined);
  for (const sent of [
    `secretkey=${key}`,
    `${key}`,
    `${key}=1`,
    `secret_key%3D${key}`,
    `a%0D%0AX:%20y=${key}`,
  ]) {
    const { headers } = await ask(`${DAY}?${sent}&secret_key=${key}`);
    assert.match(headers[IGNORED]!, /^(secretkey \(secret_key\?\)|1 more)$/, sent);
    assert.ok(!JSON.stringify(headers).includes(key.slice(0, 20)), sent);
  }
});

test('an answer from the response cache names the ignored parameters of its own address (contract 4.4)', async () => {
  const codes = '/api/v2/economic_calendar/event_codes/US';
  const plain = `${codes}?secret_key=${key}`;
  for (let round = 0; round < 3; round++) {
    assert.equal((await ask(`${plain}&formt=csv`)).headers[IGNORED], 'formt');
    assert.equal((await ask(plain)).headers[IGNORED], undefined);
  }
});

test('unknown parameters are ignored, hostile ones too (contract 4.4)', async () => {
  const plain = (await ask(withKey(DAY))).text;
  const others =
    '&_=1&limitx=0&LIMIT=0&__proto__=x&constructor=x&%=%&%ED%A0%80=1&x[]=y&=z&country_symbol=US:X&&;';
  assert.equal((await ask(withKey(DAY, others))).text, plain);
  assert.equal((await ask(withKey(LATEST, '&next_page_key=%'))).status, 200, 'no parameter of this endpoint');
});
