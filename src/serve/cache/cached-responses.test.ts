// Cached responses of the request handler: for each caller its own links, for each coding one body (contract
// 7.3, 8.1, 9.7).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { ask, control, key, openHandler, runner } from '../../../test/request-handler.ts';
import { readKeys } from '../../store/control.ts';
import { issueKey, KeyRing, noTerms, revokeKey } from '../keys/api-keys.ts';

test('a cached answer holds no key: links get that of their caller, and it counts for its quota (contract 7.3, 8.1)', async () => {
  const { secret: brief, key: briefKey } = await issueKey(control, 'brief', noTerms, Date.now());
  let asked = 0;
  const at = openHandler({
    keys: new KeyRing(() => readKeys(control)),
    submit: (request) => {
      asked++;
      return runner.run(request);
    },
  });
  const target = `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=2025-01-01&to_date=2025-12-31&format=json&limit=3`;
  const get = (secret: string, headers: Record<string, string> = {}) =>
    ask(`${target}&secret_key=${secret}`, { at, headers });
  const first = await get(brief);
  const [second, third] = [await get(brief), await get(brief)];
  assert.equal(asked, 1);
  assert.deepEqual([second.text, third.text], [first.text, first.text]);
  assert.notEqual(second.headers['X-Request-Id'], third.headers['X-Request-Id']);
  assert.equal((await get(brief, { 'if-none-match': first.headers.ETag! })).status, 304);
  assert.ok((await get(key)).text.includes(`secret_key=${key}`), 'links carry the own key');
  assert.equal((await ask(target, { at })).status, 401);
  assert.match(
    (await get(brief, { host: 'bars.example.com' })).text,
    /"next_page_url":"http:\/\/bars\.example\.com/,
  );
  assert.equal((await get(brief, { host: 'elsewhere.example' })).status, 400);
  const wrapped = await ask(`${target.replace('json', 'csv')}&secret_key=${brief}`, {
    at,
    headers: { accept: 'application/json' },
  });
  const plain = await ask(`${target.replace('json', 'csv')}&secret_key=${brief}`, { at });
  assert.ok(wrapped.text.startsWith('{') && plain.text.startsWith('name,'));
  await revokeKey(control, briefKey.key_id, Date.now());
  const revoked = openHandler({
    keys: new KeyRing(() => readKeys(control)),
    submit: (request) => runner.run(request),
  });
  assert.equal((await ask(`${target}&secret_key=${brief}`, { at: revoked })).status, 401);
});

test('a cached response has the coding that its caller prefers, and is encoded once for each coding (contract 9.7)', async () => {
  const at = openHandler();
  const target = `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=2024-01-01&to_date=2025-12-31&format=json&limit=20&secret_key=${key}`;
  const get = async (headers: Record<string, string>) =>
    at.handle({
      method: 'GET',
      target,
      headers: { host: 'localhost:8080', ...headers },
      isGone: () => false,
    });
  const plain = await get({});
  await get({});
  const decoded = { gzip: gunzipSync, zstd: zstdDecompressSync };
  for (const [coding, decode] of Object.entries(decoded)) {
    const headers = { 'accept-encoding': coding };
    const [made, again] = [await get(headers), await get(headers)];
    assert.equal(again.headers['Content-Encoding'], coding);
    assert.equal(again.headers['Content-Length'], String(again.body[0]!.length));
    assert.deepEqual(decode(again.body[0]!), Buffer.concat(plain.body));
    assert.equal(again.body[0], made.body[0], 'the same bytes, not the same once more');
    const held = await get({ ...headers, 'if-none-match': plain.headers.ETag! });
    assert.deepEqual([held.status, held.headers['Content-Encoding'], held.body.length], [304, undefined, 0]);
  }
  assert.deepEqual(Buffer.concat((await get({})).body), Buffer.concat(plain.body));
});
