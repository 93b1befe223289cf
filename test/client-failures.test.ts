// The TypeScript client against a service that fails, on real sockets: pauses, cut answers, page keys that no
// longer count, aborts.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Bourse, BourseError, type ServiceOptions } from '../packages/client/index.ts';
import { until } from './until.ts';

const KEY = 'a-key-that-nobody-may-read-0123456789_-abcdefg';
const RANGE = { from: '2025-03-03', to: '2025-03-07' };

type Turn = (request: IncomingMessage, response: ServerResponse) => void;

/** A service whose answers are given one by one; the last is given again. */
class Failing {
  readonly asked: { readonly url: string; readonly atMs: number; readonly key: string | undefined }[] = [];
  readonly #server = createServer(this.#answer());
  readonly #turns: Turn[];

  constructor(...turns: Turn[]) {
    this.#turns = turns;
  }

  #answer(): RequestListener {
    return (request, response) => {
      this.asked.push({ url: request.url!, atMs: performance.now(), key: request.headers.authorization });
      (this.#turns.length > 1 ? this.#turns.shift()! : this.#turns[0]!)(request, response);
    };
  }

  /** Begins to listen; its address. */
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

let failing: Failing | undefined;
afterEach(() => failing?.close());

/** A client of a service with these answers. */
async function clientOf(options: Partial<ServiceOptions>, ...turns: Turn[]): Promise<[Bourse, Failing]> {
  failing = new Failing(...turns);
  return [new Bourse({ url: await failing.open(), key: KEY, ...options }), failing];
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };
const ok = (result: unknown): string =>
  JSON.stringify({ status: 'ok', code: 200, message: 'success', reference: null, result });
const says =
  (status: number, body: string, headers: Readonly<Record<string, string>> = json): Turn =>
  (_, response) =>
    response.writeHead(status, headers).end(body);
const codes = says(200, ok({ HOLIDAY_CHRISTMAS: 'Christmas Day' }));
const refuses = (status: number, error: string, more: object = {}, headers = {}): Turn =>
  says(
    status,
    JSON.stringify({
      status: 'error',
      code: status,
      message: `This is ${error}.`,
      detail: { error, ...more },
    }),
    { ...json, ...headers },
  );
const page = (opens: readonly number[], next_page_key: string | null): string =>
  ok({ next_page_key, next_page_url: null, count: opens.length, data: opens.map((open) => ({ open })) });

/** Begins a right answer and ends the connection in its middle. */
const cut =
  (body: string, head: Readonly<Record<string, string>> = {}): Turn =>
  (_, response) => {
    response.writeHead(200, { ...json, ...head });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
  };
const cutPage = page([1, 2, 3, 4], 'next');
/**
 * The three ways in which the end of an answer is told: its length, its last piece, the end of the
 * connection.
 */
const cuts: readonly (readonly [string, Turn])[] = [
  ['whose length was told', cut(cutPage, { 'Content-Length': String(cutPage.length) })],
  ['in pieces', cut(cutPage)],
  [
    'that ends with its connection',
    (_, response) => {
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n';
      response.socket!.end(head + cutPage.slice(0, 50));
    },
  ],
];

async function failed(call: PromiseLike<unknown>): Promise<BourseError> {
  const error = await Promise.resolve(call).then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof BourseError, String(error));
  return error;
}

for (const [name, retryAfter] of [
  ['seconds', () => '1'],
  ['a date', () => new Date(Date.now() + 2_000).toUTCString()],
] as const)
  test(`a client waits for as long as Retry-After says, in ${name}, and asks again (contract 6.3)`, async () => {
    for (const [status, word] of [
      [503, 'unavailable'],
      [429, 'rate_limited'],
    ] as const) {
      const late: Turn = (request, response) =>
        refuses(status, word, {}, { 'Retry-After': retryAfter() })(request, response);
      const [bourse, { asked }] = await clientOf({}, late, codes);
      assert.deepEqual(await bourse.holidayCodes('US'), { HOLIDAY_CHRISTMAS: 'Christmas Day' });
      assert.equal(asked.length, 2);
      const waitedMs = asked[1]!.atMs - asked[0]!.atMs;
      assert.ok(waitedMs >= 990, `${waitedMs} ms`);
      failing!.close();
    }
  });

test('a pause that is longer than a client waits is an error at once, which says how long it is (contract 6.3)', async () => {
  const [bourse, { asked }] = await clientOf({}, refuses(429, 'rate_limited', {}, { 'Retry-After': '3600' }));
  const error = await failed(bourse.holidayCodes('US'));
  assert.deepEqual([error.error, error.status, error.retryAfterMs], ['rate_limited', 429, 3_600_000]);
  assert.equal(asked.length, 1);
});

test('tries end after the number that was given, with the last error (contract 6.3)', async () => {
  const [bourse, { asked }] = await clientOf(
    { retries: 2 },
    refuses(503, 'unavailable', { request_id: 'r7' }),
  );
  const error = await failed(bourse.holidayCodes('US'));
  assert.deepEqual([error.error, error.status, error.requestId], ['unavailable', 503, 'r7']);
  assert.equal(asked.length, 3);
});

test('what another program on the way answers has a word too, and is tried again where that may help', async () => {
  const html = { 'Content-Type': 'text/html' };
  for (const [status, word, tries] of [
    [502, 'unavailable', 2],
    [504, 'unavailable', 2],
    [404, 'bad_answer', 1],
    [200, 'bad_answer', 1],
  ] as const) {
    const [bourse, { asked }] = await clientOf({ retries: 1 }, says(status, '<h1>nginx</h1>', html));
    const error = await failed(bourse.holidayCodes('US'));
    assert.deepEqual([error.error, error.status, asked.length], [word, status, tries]);
    failing!.close();
  }
});

test('an answer of another program, of any form, is an error of the client with its own words (contract 6.3)', async () => {
  const refusals: readonly unknown[] = [
    ...[{ detail: 'Not Found' }, { detail: [{ loc: ['path'], msg: 'no' }] }, { detail: null, message: null }],
    ...[{ detail: { error: {}, hint: null, param: 3, request_id: [] }, message: { text: 'no' } }],
    ...[null, [], 7, 'no', { status: 'ok', result: { count: 0, next_page_key: null, data: [] } }],
  ];
  const lists: readonly unknown[] = [
    ...[null, 7, [], {}, { data: 7 }, { count: 1, next_page_key: null, data: [null] }],
    { count: 1, next_page_key: null, data: 7, expiration_datetimes: 7 },
    { count: 1, next_page_key: null, data: { a: 7 }, expiration_datetimes: ['a'] },
    { count: 1, next_page_key: null, expiration_datetimes: ['a'] },
  ];
  const answers = [
    ...refusals.map((body) => [404, JSON.stringify(body)] as const),
    ...lists.map((result) => [200, ok(result)] as const),
  ];
  const retryAfter = ['\u00b2', '-1', 'soon', '9'.repeat(400)];
  for (const [at, [status, body]] of answers.entries()) {
    const headers = { ...json, 'Retry-After': retryAfter[at % retryAfter.length]! };
    const [bourse] = await clientOf({ retries: 0 }, says(status, body, headers));
    const bars = bourse.bars('stock', 'US:A', '1M', RANGE);
    for (const call of [
      ...[() => bars.toArray(), () => bars.columns(), () => bourse.latest('stock', 'US:A', '1M')],
      () => bourse.search('stock', 'a'),
      () => bourse.options('stock', 'US:A', 'call', 'in_the_money').toArray(),
      () => bourse.bulk('stock', 'US', '1M', { ...RANGE, format: 'csv' }),
    ]) {
      const { error, message } = await failed(call());
      assert.equal(error, 'bad_answer', body);
      assert.match(message, /answered \d|not a Bourse|does not follow/, body);
    }
    failing!.close();
  }
});

test('a redirection is an error that says where it leads, and is not followed (contract 7.4)', async () => {
  const elsewhere = { Location: 'https://bars.example.com/' };
  const [bourse, { asked }] = await clientOf({}, says(301, '', elsewhere));
  const error = await failed(bourse.holidayCodes('US'));
  assert.deepEqual([error.error, error.status, asked.length], ['bad_answer', 301, 1]);
  assert.match(error.message, /bars\.example\.com/);
});

test('a fault and a mistake are not tried again (contract 6.4)', async () => {
  for (const [status, word] of [
    [500, 'internal'],
    [400, 'invalid_parameter'],
    [401, 'invalid_key'],
  ] as const) {
    const [bourse, { asked }] = await clientOf({}, refuses(status, word));
    assert.equal((await failed(bourse.holidayCodes('US'))).error, word);
    assert.equal(asked.length, 1);
    failing!.close();
  }
});

for (const [name, turn] of cuts)
  test(`an answer ${name} that is cut is asked for again, so no record is lost or repeated (contract 4.1)`, async () => {
    const [first, second, last] = [page([1, 2], 'p2'), page([3, 4], 'p3'), page([5], null)];
    const [bourse, { asked }] = await clientOf(
      {},
      says(200, first),
      turn,
      says(200, second),
      turn,
      says(200, last),
    );
    const rows = await bourse.bars('stock', 'US:A', '1M', RANGE).toArray();
    assert.deepEqual(
      rows.map(({ open }) => open),
      [1, 2, 3, 4, 5],
    );
    const keys = asked.map(({ url }) => new URL(url, 'http://a').searchParams.get('next_page_key'));
    assert.deepEqual(keys, [null, 'p2', 'p2', 'p3', 'p3']);
  });

test('an answer that is cut every time is an error, never the part that came (contract 4.1)', async () => {
  for (const [, turn] of cuts) {
    const [bourse, { asked }] = await clientOf({ retries: 1 }, says(200, page([1, 2], 'p2')), turn);
    const rows = bourse.bars('stock', 'US:A', '1M', RANGE);
    assert.equal((await failed(rows.toArray())).error, 'unreachable');
    assert.equal(asked.length, 3);
    failing!.close();
  }
});

test('a page key that no longer counts ends a walk with an error, after the records that came (contract 4.1)', async () => {
  const [bourse] = await clientOf({}, says(200, page([1, 2], 'p2')), refuses(400, 'invalid_page_key'));
  const got: number[] = [];
  const error = await failed(
    (async () => {
      for await (const { open } of bourse.bars('stock', 'US:A', '1M', RANGE)) got.push(open);
    })(),
  );
  assert.deepEqual([error.error, error.status, got], ['invalid_page_key', 400, [1, 2]]);
});

test('a service that gives the same page again, or an empty one that goes on, is no endless walk (contract 4.2)', async () => {
  for (const again of [page([1, 2], 'p2'), page([], 'p3'), ok({})]) {
    const [bourse] = await clientOf({}, says(200, page([1, 2], 'p2')), says(200, again));
    assert.equal((await failed(bourse.bars('stock', 'US:A', '1M', RANGE).toArray())).error, 'bad_answer');
    failing!.close();
  }
});

test('an answer that does not come in time, or stops in its middle, is an error after the tries', async (t) => {
  const never: Turn = () => undefined;
  const stops: Turn = (_, response) => response.writeHead(200, json).write('{"status":');
  for (const turn of [never, stops]) {
    const [bourse] = await clientOf({ retries: 1, timeoutMs: 400 }, turn);
    // Counted where they are made: a busy machine may end a try before the service hears of it.
    const tries = t.mock.method(globalThis, 'fetch');
    const error = await failed(bourse.holidayCodes('US'));
    assert.deepEqual([error.error, error.status, tries.mock.callCount()], ['timed_out', undefined, 2]);
    tries.mock.restore();
    assert.match(error.message, /400 ms/);
    failing!.close();
  }
});

test('a call may have a time of its own, and what is late once is asked for again', async () => {
  // More tries than a busy machine lets end too early.
  const [bourse, { asked }] = await clientOf({ retries: 100 }, () => undefined, codes);
  await bourse.holidayCodes('US', { timeoutMs: 400 });
  assert.ok(asked.length >= 2);
});

test('an abort ends a call with its own reason: before it, while it waits, in a pause and between pages', async () => {
  const reason = new Error('enough');
  const isReason = (error: unknown): boolean => error === reason;
  const [never, busy]: Turn[] = [() => undefined, refuses(503, 'unavailable', {}, { 'Retry-After': '30' })];
  for (const turn of [never!, busy!]) {
    const [bourse, { asked }] = await clientOf({}, turn);
    const controller = new AbortController();
    const call = bourse.holidayCodes('US', { signal: controller.signal });
    const ended = assert.rejects(call, isReason);
    await until('the service is asked', () => asked.length > 0);
    await sleep(50);
    controller.abort(reason);
    await ended;
    await assert.rejects(bourse.holidayCodes('US', { signal: controller.signal }), isReason);
    assert.equal(asked.length, 1);
    failing!.close();
  }
  const [bourse, { asked }] = await clientOf({}, says(200, page([1], 'p2')), says(200, page([2], null)));
  const controller = new AbortController();
  const pages = bourse.bars('stock', 'US:A', '1M', { ...RANGE, signal: controller.signal }).pages();
  assert.equal((await pages.next()).done, false);
  controller.abort(reason);
  await assert.rejects(pages.next(), isReason);
  assert.equal(asked.length, 1);
});

test('a loop that ends early asks for no further page', async () => {
  const [bourse, { asked }] = await clientOf({}, says(200, page([1, 2], 'p2')));
  for await (const { open } of bourse.bars('stock', 'US:A', '1M', RANGE)) {
    assert.equal(open, 1);
    break;
  }
  assert.equal(asked.length, 1);
});

test('the key is in a header alone, and no error has it, whatever an answer repeats (contract 7.4)', async () => {
  const echoes: Turn = (request, response) =>
    refuses(
      400,
      'bad_request',
      { message: KEY, param: KEY, hint: `got ${request.headers.authorization}`, request_id: KEY },
      { 'X-Request-Id': KEY },
    )(request, response);
  const html: Turn = says(418, `<p>${KEY}</p>`, { 'X-Request-Id': KEY });
  const ignores = says(200, ok({}), { ...json, 'X-Ignored-Parameters': KEY });
  for (const turn of [echoes, html, ignores]) {
    const [bourse, { asked }] = await clientOf({}, turn);
    const error = await failed(bourse.holidayCodes('US'));
    for (const text of [
      String(error),
      error.stack!,
      JSON.stringify(error),
      inspect(error, { showHidden: true }),
    ])
      assert.ok(!text.includes(KEY), text);
    assert.equal(asked[0]!.key, `Bearer ${KEY}`);
    assert.ok(!asked[0]!.url.includes(KEY));
    failing!.close();
  }
});

test('where nothing listens, the error says so', async () => {
  const [bourse] = await clientOf({ retries: 0 }, codes);
  failing!.close();
  const error = await failed(bourse.holidayCodes('US'));
  assert.deepEqual([error.error, error.status], ['unreachable', undefined]);
  assert.match(error.message, /ECONNREFUSED/);
});

test('an address or a key that cannot be one is refused without being repeated (contract 7.4)', () => {
  const url = 'http://127.0.0.1:8080';
  const wrong: readonly ServiceOptions[] = [
    ...['', 'two words', 'line\nbreak', 'schlüssel'].map((key) => ({ url, key })),
    ...['127.0.0.1:8080', 'ftp://a', 'http://me:secret@a', `${url}?secret_key=secret`].map((address) => ({
      url: address,
      key: KEY,
    })),
  ];
  for (const options of wrong)
    assert.throws(
      () => new Bourse(options),
      (error) => error instanceof TypeError && !/words|break|schl|secret/.test(inspect(error)),
      JSON.stringify(options),
    );
});

test('an address keeps its path, with or without a slash at its end', async () => {
  for (const path of ['/bourse', '/bourse/', '/']) {
    failing = new Failing(codes);
    await new Bourse({ url: (await failing.open()) + path, key: KEY }).holidayCodes('US');
    assert.equal(failing.asked[0]!.url, `${path.replace(/\/$/, '')}/api/v2/holiday/holiday_codes/US`);
    failing.close();
  }
});
