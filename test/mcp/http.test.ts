// Assistants over HTTP: the official client, keys, quotas, and bodies that are wrong, large, late or cut
// (contract 9.23).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type Server, Workshop } from '../service.ts';
import { Assistant, fill, protocols, WITHOUT_LIBRARY } from './world.ts';

const shop = new Workshop();
let server: Server;
let key = '';
const local = new Assistant();
before(async () => {
  await fill(shop);
  key = await shop.must('keys', 'create', 'assistant');
  server = await shop.serve();
  await local.start(shop);
});
after(async () => {
  await local.client.close();
  shop.close();
});

const COIN = { schema_asset: 'crypto', country_symbol: 'GLOBAL:COIN', interval: '1M' };
const ACCEPTED = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

const post = (body: string, headers: Readonly<Record<string, string>> = {}, query = ''): Promise<Response> =>
  server.get(`/mcp${query}`, {
    method: 'POST',
    body,
    headers: { ...ACCEPTED, Authorization: `Bearer ${key}`, ...headers },
  });

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

async function refusal(response: Response): Promise<[status: number, word: string]> {
  const { detail } = (await response.json()) as { readonly detail: { readonly error: string } };
  return [response.status, detail.error];
}

for (const [version, mode] of protocols)
  test(`protocol ${version}: over HTTP the tools and the answers are those of standard input (contract 9.23)`, async () => {
    const assistant = await new Assistant(mode).connect(server.url, key);
    assert.equal(assistant.client.getNegotiatedProtocolVersion(), version);
    const { tools } = await assistant.client.listTools();
    assert.deepEqual(tools, (await local.client.listTools()).tools);
    for (const [name, args] of [
      ['get_latest_ohlc', { ...COIN, limit: 1_000 }],
      [
        'search_options',
        {
          schema_asset: 'stock',
          country_symbol: 'US:ACME',
          option_type: 'call',
          moneyness: 'out_of_the_money',
          ref_asset_price: 22,
        },
      ],
      ['get_economic_calendar_event_codes', { country_iso_code: 'US' }],
      [
        'get_news_list',
        { from_date: '2025-03-01', to_date: '2025-03-05T23:00', as_of: '2025-03-05T21:00:00Z' },
      ],
    ] as const)
      assert.equal(await assistant.ask(name, args), await local.ask(name, args), name);
    assert.match(
      await assistant.refused('get_latest_ohlc', { ...COIN, limit: 0 }),
      /^400 invalid_parameter: limit must/,
    );
    await assistant.client.close();
  });

test('an assistant in a web page may send every header that the official client sends (contract 6.6, 9.23)', async (t) => {
  const fetched = t.mock.method(globalThis, 'fetch');
  for (const [, mode] of protocols) {
    const assistant = await new Assistant(mode).connect(server.url, key);
    await assistant.ask('get_latest_ohlc', { ...COIN, limit: 1 });
    await assistant.client.close();
  }
  const sent = new Set(
    fetched.mock.calls.flatMap(({ arguments: [, init] }) => [...new Headers(init?.headers).keys()]),
  );
  fetched.mock.restore();
  // A browser asks for every header but this one (fetch.spec.whatwg.org, CORS-safelisted request-header).
  sent.delete('accept');
  assert.ok(sent.has('content-type') && sent.has('mcp-protocol-version'), [...sent].join());
  const options = await server.get('/mcp', { method: 'OPTIONS' });
  const allowed = options.headers.get('Access-Control-Allow-Headers')!.toLowerCase().split(', ');
  assert.deepEqual(
    [...sent].filter((name) => !allowed.includes(name)),
    [],
  );
});

test('the key is checked before anything else of a message, in the header or in the query (contract 6.4, 7.1, 9.23)', async () => {
  assert.deepEqual(await refusal(await post(LIST, { Authorization: '' })), [401, 'missing_key']);
  assert.deepEqual(await refusal(await post(LIST, { Authorization: 'Bearer wrong' })), [401, 'invalid_key']);
  assert.deepEqual(await refusal(await post('x'.repeat(1e6), { Authorization: 'Bearer wrong' })), [
    401,
    'invalid_key',
  ]);
  await assert.rejects(new Assistant('legacy').connect(server.url, 'wrong'));
  const inQuery = await post(LIST, { Authorization: '' }, `?secret_key=${key}`);
  assert.equal(inQuery.status, 200);
  assert.match(await inQuery.text(), /get_latest_ohlc/);
});

test('only POST and OPTIONS are methods of /mcp (contract 6.6, 9.23)', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await server.get('/mcp', { method, headers: { Authorization: `Bearer ${key}` } });
    assert.equal(response.headers.get('Allow'), 'POST, OPTIONS');
    assert.deepEqual(await refusal(response), [405, 'method_not_allowed']);
  }
  const options = await server.get('/mcp', { method: 'OPTIONS' });
  assert.deepEqual([options.status, options.headers.get('Allow')], [204, 'POST, OPTIONS']);
});

test('a body is at most 64 kB and has a length; what is no message is an error, and the next is answered (contract 9.23)', async () => {
  assert.deepEqual(await refusal(await post(`${LIST}${' '.repeat(70_000)}`)), [400, 'bad_request']);
  assert.equal((await post(`${LIST}${' '.repeat(60_000)}`)).status, 200);
  const head = (headers: string): string =>
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${headers}\r\n`;
  const chunked = await server.send(`${head('Transfer-Encoding: chunked\r\n')}5\r\nhello\r\n0\r\n\r\n`);
  assert.match(chunked, /^HTTP\/1\.1 400 .*[\s\S]*Content-Length/);
  assert.match(await server.send(head('')), /^HTTP\/1\.1 400 /);
  for (const body of [
    '',
    'x',
    '[]',
    `[${LIST},${LIST}]`,
    '{"jsonrpc":"2.0"}',
    '"\ud800"',
    '{"a":'.repeat(5_000),
  ]) {
    const response = await post(body);
    assert.ok(response.status >= 400 && response.status < 500, `${body.slice(0, 20)}: ${response.status}`);
  }
  assert.equal((await post(LIST)).status, 200);
});

test('a body that does not come is refused in time, and one that is cut off leaves nothing behind (contract 6.3, 9.23)', async () => {
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{`;
  const { hostname, port } = new URL(server.url);
  for (let cut = 0; cut < 20; cut++) {
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      socket.write(head, () => socket.destroy()),
    );
    await once(socket, 'close');
  }
  assert.match(await server.send(head), /^HTTP\/1\.1 408 [\s\S]*"timeout"/);
  const aborted = AbortSignal.timeout(5);
  const gone = server.get('/mcp', {
    ...{ method: 'POST', body: LIST, signal: aborted },
    headers: { ...ACCEPTED, Authorization: `Bearer ${key}` },
  });
  await gone.catch(() => undefined);
  assert.equal((await post(LIST)).status, 200);
});

/** The status of each of some messages of a key, and what is left of its quota. */
async function counted(
  secret: string,
  bodies: readonly string[],
): Promise<[status: number, left: string | null][]> {
  const found: [number, string | null][] = [];
  for (const body of bodies) {
    const { status, headers } = await post(body, { Authorization: `Bearer ${secret}` });
    found.push([status, headers.get('RateLimit-Remaining')]);
  }
  return found;
}

const call = (name: string, args: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });

test('each message counts for the quota, whatever it is, and with what its tool asks for first as one (contract 7.3, 9.23)', async () => {
  const four = await shop.must('keys', 'create', 'four', '--per-day', '4');
  const newest = call('get_latest_ohlc', { ...COIN, limit: 1 });
  assert.deepEqual(await counted(four, [LIST, newest, 'x', call('get_nothing', {}), LIST]), [
    [200, '3'],
    [200, '2'],
    [400, '1'],
    [200, '0'],
    [429, '0'],
  ]);
  const refused = await post(newest, { Authorization: `Bearer ${four}` });
  assert.ok(Number(refused.headers.get('Retry-After')) > 0);
  assert.deepEqual(await refusal(refused), [429, 'rate_limited']);
  const used = await server.get(`/api/v2/news/latest?secret_key=${four}`);
  assert.equal(used.status, 429);
});

test('an answer that is asked for again with fewer rows counts each request for data, and one that the quota does not have is an error of the tool (contract 7.3, 9.23)', async () => {
  const large = call('get_latest_ohlc', { ...COIN, limit: 1_000 });
  const nine = await shop.must('keys', 'create', 'nine', '--per-day', '9');
  const [, [, left]] = (await counted(nine, [large, LIST])) as [unknown, [number, string]];
  assert.ok(Number(left) < 7, `${left} are left of nine`);
  const one = await shop.must('keys', 'create', 'one', '--per-day', '1');
  const cut = await post(large, { Authorization: `Bearer ${one}` });
  assert.match(await cut.text(), /429 rate_limited: /);
});

test('a pinned key has answers as of its moment (contract 9.8, 9.23)', async () => {
  const pinned = await shop.must('keys', 'create', 'then', '--as-of', '2025-03-05T12:00:00Z');
  const assistant = await new Assistant().connect(server.url, pinned);
  const text = await assistant.ask('get_latest_news_list', { full_symbol: 'stock:US:ACME' });
  assert.match(text, /^Rows: 1, [\s\S]*As of: 2025-03-05T12:00:00[\s\S]*ACME wins/);
  await assistant.client.close();
});

test('there is no session and no open stream: a subscription is refused at once (contract 9.23)', async () => {
  const response = await post(LIST);
  assert.equal(response.headers.get('Mcp-Session-Id'), null);
  const assistant = await new Assistant({ pin: '2026-07-28' }).connect(server.url, key);
  await assert.rejects(assistant.client.listen({ toolsListChanged: true }));
  await assistant.client.close();
});

test('without the optional library a message is a fault, and everything else is answered', async () => {
  const other = await shop.serveWith(WITHOUT_LIBRARY);
  for (let tried = 0; tried < 2; tried++) {
    const headers = { ...ACCEPTED, Authorization: `Bearer ${key}` };
    assert.deepEqual(await refusal(await other.get('/mcp', { method: 'POST', body: LIST, headers })), [
      500,
      'internal',
    ]);
  }
  assert.equal((await other.get(`/api/v2/news/latest?secret_key=${key}`)).status, 200);
  await other.stop();
  assert.match(other.log.join('\n'), /ERR_MODULE_NOT_FOUND/);
});

test('no key is in the log, and each request for data has its line (contract 7.4, 9.23)', () => {
  const log = server.log.join('\n');
  assert.ok(!log.includes(key));
  assert.match(log, /"route":"\/mcp"/);
  assert.match(log, /bars\/\{country_symbol\}\/\{interval\}\/latest/);
  assert.doesNotMatch(log, /"fault"/);
});

test('a foreign host is refused (contract 4.3, 9.23)', async () => {
  const request = `POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
  assert.match(await server.send(request), /^HTTP\/1\.1 400 [\s\S]*"param":"Host"/);
});
