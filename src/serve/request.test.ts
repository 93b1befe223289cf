// What a request says beside its parameters: key, request id, method and target (contract 4.4, 6.2, 6.5, 6.6,
// 7).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  control,
  DAY,
  key,
  LATEST,
  observed,
  openHandler,
  refused,
  targetOf,
  withKey,
} from '../../test/request-handler.ts';
import { contract, type EndpointName } from '../contract/index.ts';
import { readKeys } from '../store/control.ts';
import { issueKey, KeyRing, noTerms, revokeKey } from './keys/api-keys.ts';

test('without a key, or with an empty one, it is missing_key with the cure as hint (contract 4.4, 6.3)', async () => {
  for (const query of ['', '?', '?secret_key=', '?secret_key', '?secret_key=&secret_key=', '?SECRET_KEY=x']) {
    const got = await ask(LATEST + query);
    assert.match(refused(got, 'missing_key', 'secret_key', query).hint!, /secret_key=/);
  }
  for (const authorization of ['', 'Bearer', 'Bearer ', `Basic ${key}`, key, `Bearer${key}`])
    refused(await ask(LATEST, { headers: { authorization } }), 'missing_key', 'secret_key', authorization);
});

test('a key that was never issued is invalid_key, whatever it looks like (contract 6.3)', async () => {
  const near = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
  for (const sent of [
    'x',
    near,
    `${key}A`,
    key.toLowerCase(),
    `${key}%00`,
    '%00',
    '__proto__',
    'a'.repeat(7_000),
    '+',
  ])
    refused(await ask(`${LATEST}?secret_key=${sent}`), 'invalid_key', 'secret_key', sent.slice(0, 60));
  const headers = { authorization: `Bearer ${near}` };
  refused(await ask(LATEST, { headers }), 'invalid_key', 'secret_key', 'Bearer');
});

test('a key that is not percent-encoded UTF-8 is a 400 that does not repeat it (contract 6.2)', async () => {
  for (const sent of ['%', `${key}%`, '%ED%A0%80', `${key}%FF`]) {
    const got = await ask(`${LATEST}?secret_key=${sent}`);
    assert.ok(!('got' in refused(got, 'invalid_parameter', 'secret_key', sent)));
  }
});

test('what arrived is not repeated where it is the key itself (contract 6.2)', async () => {
  for (const query of [
    `&limit=${key}`,
    `&limit=5?secret_key=${key}`,
    `&next_page_key=${key}`,
    `&sort=x${key}x`,
  ])
    refused(
      await ask(withKey(DAY, query)),
      ['invalid_parameter', 'invalid_page_key'],
      query.slice(1).split('=')[0],
      query,
    );
  const url = `/api/v2/stock/bars/US:AAPL/${key}/latest`;
  const headers = { authorization: `Bearer ${key}` };
  refused(await ask(url, { headers }), 'unknown_interval', 'interval', 'a key in the path');
});

test('Authorization: Bearer is accepted, in any case of its scheme, and the query wins over it (contract 7.1)', async () => {
  for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key}`])
    assert.equal((await ask(LATEST, { headers: { authorization } })).status, 200, 'Bearer');
  assert.equal(
    (await ask(`${LATEST}?secret_key=`, { headers: { authorization: `Bearer ${key}` } })).status,
    200,
  );
  assert.equal((await ask(withKey(LATEST), { headers: { authorization: 'Bearer wrong' } })).status, 200);
});

test('a revoked or expired key is invalid_key (contract 7.3)', async () => {
  let nowMs = Date.now();
  const clocked = openHandler({ nowMs: () => nowMs, keys: new KeyRing(() => readKeys(control)) });
  const short = await issueKey(control, 'short', { ...noTerms, expiresMs: nowMs + 60_000 }, nowMs);
  const gone = await issueKey(control, 'gone', noTerms, nowMs);
  const status = async (secret: string) =>
    (await ask(`${LATEST}?secret_key=${secret}`, { at: clocked })).status;
  assert.deepEqual([await status(short.secret), await status(gone.secret)], [200, 200]);
  await revokeKey(control, gone.key.key_id, nowMs);
  nowMs += 5_000;
  assert.deepEqual([await status(short.secret), await status(gone.secret)], [200, 401]);
  nowMs += 60_000;
  const got = await ask(`${LATEST}?secret_key=${short.secret}`, { at: clocked });
  refused(got, 'invalid_key', 'secret_key', 'expired');
});

test('an endpoint with a shortest key refuses a shorter one before any look-up (contract 7.2)', async () => {
  const looked: string[] = [];
  const economic = (Object.keys(contract) as EndpointName[]).filter(
    (name) => 'keyCharactersMin' in contract[name],
  );
  assert.equal(economic.length, 4);
  const at = openHandler({
    keys: {
      verify: async (secret) => {
        looked.push(secret);
        return null;
      },
      holds: () => false,
    },
    submit: () => assert.fail('nothing is asked of the store'),
  });
  for (const name of economic) {
    const path = targetOf(name, {}).replace(/\?.*/, '');
    for (const sent of ['x', 'a'.repeat(19)]) {
      const detail = refused(
        await ask(`${path}?secret_key=${sent}&limit=0`, { at }),
        'invalid_parameter',
        'secret_key',
        path,
      );
      assert.match(String(detail.allowed), /20/);
      assert.ok(!('got' in detail));
      const headers = { authorization: `Bearer ${sent}` };
      refused(await ask(path, { at, headers }), 'invalid_parameter', 'secret_key', path);
    }
    refused(await ask(path, { at }), 'missing_key', 'secret_key', path);
  }
  assert.deepEqual(looked, []);
  refused(
    await ask(`/api/v2/economic_calendar/event?secret_key=${'a'.repeat(20)}`, { at }),
    'invalid_key',
    'secret_key',
    '20',
  );
  assert.equal(looked.length, 1);
});

test("a caller's own request id of 1 to 64 characters is kept, any other is made anew (contract 6.5)", async () => {
  const idOf = async (sent: string | undefined, target: string): Promise<string> =>
    (await ask(target, { headers: { 'x-request-id': sent } })).headers['X-Request-Id']!;
  for (const target of [withKey(LATEST), LATEST, '/x']) {
    const long = `${'x'.repeat(42)}.${'x'.repeat(21)}`;
    for (const own of ['a', 'A-z.0_9', 'key-1', 'secret_key', crypto.randomUUID(), long])
      assert.equal(await idOf(own, target), own);
    for (const other of [undefined, '', 'x'.repeat(65), 'a b', 'é', 'a\nb', 'a,b'])
      assert.match(await idOf(other, target), /^[\w.-]{16,64}$/);
  }
  assert.notEqual(await idOf(undefined, LATEST), await idOf(undefined, LATEST));
});

test('a request id that holds the key, or a run of 43 characters as keys have, is not kept (contract 6.5, 7.4)', async () => {
  const hex = (text: string, of = '%'): string =>
    [...Buffer.from(text)].map((byte) => of + byte.toString(16)).join('');
  for (const marked of [key, 'MARKED-KEY-0123456789abcdef', 'short-Key7']) {
    const places: readonly (readonly [target: string, headers: Record<string, string>])[] = [
      [`${LATEST}?secret_key=${marked}`, {}],
      [`${LATEST}?secret_key=${hex(marked)}`, {}],
      [`${LATEST}?secret_key=${hex(hex(marked), '%')}`, {}],
      [`${LATEST}?%73ecret_key=${marked}&limit=1`, {}],
      [`${LATEST}?secret_key=+${marked}+`, {}],
      [`${LATEST}?secret_key=other&secret_key=${marked}`, {}],
      [`${LATEST}?secret_key=${marked}&secret_key=other`, {}],
      [`${LATEST}&secret_key=${marked}`, {}],
      [`/${marked}/api?secret_key=${marked}`, {}],
      ...['Bearer ', 'bearer ', 'BEARER   ', 'Token ', ''].map(
        (scheme) => [LATEST, { authorization: scheme + marked }] as const,
      ),
      [LATEST, { authorization: `Bearer other, Bearer ${marked}` }],
    ];
    const ids = [
      marked,
      `${marked}-1`,
      `req.${marked}`,
      `a_${marked}`,
      `a-${marked}.b`,
      marked.toLowerCase(),
    ];
    for (const [target, headers] of places)
      for (const id of ids) {
        const before = observed.length;
        const got = await ask(target, { headers: { ...headers, 'x-request-id': id } });
        const told = JSON.stringify([got.headers['X-Request-Id'], got.text, observed.slice(before)]);
        const shown = told.replace(/"next_page_url\\":\\"[^"]*/g, '').toLowerCase();
        assert.ok(
          !shown.includes(marked.toLowerCase()),
          `${target} ${JSON.stringify(headers)} ${id}: ${shown}`,
        );
      }
  }
  const short = await ask(`${LATEST}?secret_key=x`, { headers: { 'x-request-id': 'x-1' } });
  assert.equal(short.headers['X-Request-Id'], 'x-1', 'a text of one character is no secret');
  // A key of someone else: a request id with 43 base64url characters in a row may contain one.
  for (const id of [key, `${key}-1`, `req.${key}`, 'x'.repeat(43)])
    assert.notEqual((await ask('/x', { headers: { 'x-request-id': id } })).headers['X-Request-Id'], id);
});

test('what a refusal repeats is never a key, its own or another, however it is encoded (contract 6.2, 7.4)', async () => {
  const { secret: other } = await issueKey(control, 'other', noTerms, Date.now());
  const hex = (text: string): string =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
  for (const secret of [key, other])
    for (const written of [
      secret,
      hex(secret),
      hex(hex(secret)),
      `${hex(secret)}%`,
      `${secret}%ZZ`,
      `5?k=${secret}`,
    ])
      for (const name of ['limit', 'format', 'is_eth', 'adjust_as_of', 'next_page_key']) {
        const got = await ask(withKey(DAY, `&${name}=${written}`));
        assert.equal(got.status, 400);
        const lenient = got.text
          .replace(/%25/g, '%')
          .replace(/%([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
        assert.ok(!lenient.includes(secret), `${name}=${written}: ${got.text}`);
      }
});

test('an absolute address as target is its path and query, a fragment is no part of them (RFC 9112, 3.2)', async () => {
  assert.equal((await ask(`http://localhost:8080${withKey(LATEST)}`)).status, 200);
  assert.equal((await ask(withKey(LATEST, '#&limit=0'))).status, 200);
  for (const target of ['http://localhost', 'http://', '*', '', '?', '//', '/../api', 'localhost:8080'])
    refused(await ask(target), 'unknown_path', undefined, target);
});
