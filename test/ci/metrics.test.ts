// Metrics as Prometheus gets them: from one process and several, on a port of their own and on the service's
// (contract 9.3).
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contract } from '../../src/contract/index.ts';
import { Connection } from '../connection.ts';
import { type Exposition, readExposition, totalOf } from '../exposition.ts';
import type { Outcome } from '../reliability/arrivals.ts';
import { fill, generate, type Targets } from '../reliability/load.ts';
import { type Server, Workshop } from '../service.ts';
import { until } from '../until.ts';

/** Callers that ask again as soon as they are answered: each would wait longer than a request may. */
const CALLERS = 1_500;

const shop = new Workshop();
let targets: Targets;
let key = '';
/** A server whose metrics are on a port of their own, for all tests that only ask. */
let server: Server;
/** Two workers with the metrics on the port of the service. */
let onePort: Server;
const named = ['--allowed-hosts', 'bourse,my_bourse', '--public-url', 'https://data.example.com/bourse'];
after(() => shop.close());
before(async () => {
  targets = await fill(shop, 60);
  key = new URL(targets.fast[0]!, 'http://localhost').searchParams.get('secret_key')!;
  [server, onePort] = await Promise.all([
    shop.serve('--metrics-port', '0', ...named),
    serveOnOnePort('--workers', '2', ...named),
  ]);
});

async function scrapeText(url: string): Promise<string> {
  const response = await fetch(url, { headers: { connection: 'close' } });
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 500));
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return text;
}

const scrape = async (url: string): Promise<Exposition> => readExposition(await scrapeText(url));

const REQUESTS = 'bourse_requests_total';
const LATEST = '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest';
const latest = (rest = ''): string => `/api/v2/stock/bars/US:NONE/DAY/latest?secret_key=${key}${rest}`;

/** Starts a server with its metrics on its own port: another one where the port is taken. */
async function serveOnOnePort(...flags: readonly string[]): Promise<Server> {
  for (;;) {
    const port = String(randomInt(20_000, 32_768));
    try {
      return await shop.serve('--port', port, '--metrics-port', port, ...flags);
    } catch (error) {
      if (!/port \d+ of \S+ is taken/.test((error as Error).message)) throw error;
    }
  }
}

test('metrics are given to the hosts of the service alone, not to a page of another site (contract 9.3)', async () => {
  for (const url of [await server.metricsUrl(), `${onePort.url}/metrics`]) {
    const statusOf = async (first: string, host: string): Promise<string> => {
      const connection = new Connection(url);
      const [answer] = connection.ask(`${first} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, [
        true,
      ]);
      const { status, body } = await answer!;
      assert.ok(!body.includes('evil') && (status === 200 || !body.includes('bourse_')), host);
      return `${status} ${status === 400 ? (JSON.parse(body) as { detail: { param: string } }).detail.param : ''}`;
    };
    for (const host of [
      'localhost',
      '127.0.0.1:9464',
      '[::1]',
      '172.17.0.2:9464',
      'bourse:9464',
      'my_bourse:9464',
      'data.example.com',
    ])
      assert.equal(await statusOf('GET /metrics', host), '200 ', host);
    for (const host of [
      'evil.example',
      'evil.example:9464',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '',
    ])
      assert.equal(await statusOf('GET /metrics', host), '400 Host', host);
    assert.equal(await statusOf('GET http://evil.example/metrics', 'localhost'), '400 Host');
    assert.equal(await statusOf('GET http://localhost/metrics', 'evil.example'), '200 ');
    assert.equal(await statusOf('GET /metrics', 'localhost\r\nHost: localhost'), '400 Host');
    assert.equal(await statusOf('OPTIONS *', 'localhost'), '204 ');
    const own = await fetch(url, { headers: { 'x-request-id': 'scrape-1', connection: 'close' } });
    await own.text();
    assert.equal(own.headers.get('x-request-id'), 'scrape-1', 'contract 6.5');
  }
});

test('requests are counted by pattern, method and status; no key and no address is told (contract 7.4, 9.3)', async () => {
  const url = await server.metricsUrl();
  const first = await scrape(url);
  assert.equal(totalOf(first, REQUESTS), 0);
  const marked = 'marked-secret-marked-secret-marked-secret-00';
  const asked: [path: string, init?: RequestInit][] = [
    [targets.fast[0]!],
    [targets.fast[0]!, { method: 'HEAD' }],
    [latest()],
    [latest('&limit=markedlimit')],
    ['/api/v2/stock/bars/US:MARKEDSYMBOL/DAY/latest'],
    [`/api/v2/stock/bars/US:NONE/DAY/latest?secret_key=${marked}`],
    [`/api/v2/${marked}?secret_key=${marked}`],
    [latest(), { method: 'OPTIONS' }],
    [latest(), { method: 'DELETE' }],
    ['/nothing', { headers: { authorization: `Bearer ${marked}`, 'x-request-id': marked } }],
  ];
  let bytes = 0;
  for (const [path, init] of asked) {
    const headers = { ...(init?.headers as Record<string, string>), 'accept-encoding': 'identity' };
    const response = await server.get(path, { ...init, headers });
    bytes += (await response.arrayBuffer()).byteLength;
  }
  const malformed = await server.send(`GET /${marked} HTTP/9.9\r\n\r\n`);
  bytes += malformed.length - malformed.indexOf('\r\n\r\n') - 4;
  const text = await scrapeText(url);
  const found = readExposition(text);
  const counted = found
    .get(REQUESTS)!
    .samples.map(({ labels: { route, method, status }, value }) => `${method} ${route} ${status} ${value}`);
  const history = contract.historicalBars.path;
  assert.deepEqual(counted.sort(), [
    `GET ${history} 200 1`,
    `GET ${LATEST} 400 1`,
    `GET ${LATEST} 401 2`,
    `GET ${LATEST} 404 1`,
    'GET none 404 2',
    `HEAD ${history} 200 1`,
    `OPTIONS ${LATEST} 204 1`,
    `other ${LATEST} 405 1`,
    'other none 400 1',
  ]);
  assert.equal(totalOf(found, 'bourse_request_duration_seconds_count'), asked.length + 1);
  assert.equal(
    totalOf(found, 'bourse_request_duration_seconds_count', { route: LATEST, status_class: '4xx' }),
    5,
  );
  assert.equal(totalOf(found, 'bourse_response_bytes_total'), bytes);
  for (const [error, count] of Object.entries({
    invalid_key: 1,
    missing_key: 1,
    unknown_path: 2,
    no_data: 0,
  }))
    assert.equal(totalOf(found, 'bourse_errors_total', { error }), count, error);
  for (const [outcome, count] of Object.entries({ valid: 4, invalid: 1, missing: 1 }))
    assert.equal(totalOf(found, 'bourse_key_checks_total', { outcome }), count, outcome);
  for (const secret of [key, marked, 'marked', 'MARKEDSYMBOL', 'US:', 'limit='])
    assert.ok(!text.includes(secret), secret);
  assert.equal(totalOf(found, 'bourse_faults_total'), 0);
  assert.equal(totalOf(found, 'bourse_queue_waiting_requests'), 0);
  assert.equal(totalOf(found, 'bourse_build_info', { version: '0.2.0' }), 1);
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
  ])
    assert.ok(totalOf(found, name) > 0, name);
  for (const thread of ['http', 'query'])
    for (const kind of ['heap', 'heap_used', 'external'])
      assert.ok(totalOf(found, 'bourse_thread_memory_bytes', { thread, kind }) > 0, `${thread} ${kind}`);
  for (const [name, { samples }] of found)
    if (name.startsWith('bourse_')) assert.ok(samples.length > 0, name);
});

test('docs/operating/metrics.md lists every metric of Bourse with its type and its labels', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/operating/metrics.md'), 'utf8');
  const told = text.matchAll(/^\| `(bourse_\w+)` +\| (\w+) +\| (.*?) *\|/gm);
  const documented = Array.from(told, ([, name, type, labels]) => `${name} ${type} ${labels}`);
  await (await server.get(targets.fast[0]!)).text();
  const found = await scrape(await server.metricsUrl());
  const given = [...found].map(([name, { type, samples }]) => {
    const labels = Object.keys(samples.at(-1)?.labels ?? {}).map((label) => `\`${label}\``);
    return `${name} ${type} ${labels.join(', ')}`;
  });
  assert.deepEqual(
    documented,
    given.filter((one) => one.startsWith('bourse_')),
  );
});

type Panel = {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
};

test('deploy/grafana/bourse.json asks for metrics and labels that the service has, and shows each of Bourse (contract 9.3)', async () => {
  const file = join(import.meta.dirname, '../../deploy/grafana/bourse.json');
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: Panel[] };
  await (await server.get(targets.fast[0]!)).text();
  const found = await scrape(await server.metricsUrl());
  const labelsOf = new Map<string, Set<string>>();
  for (const { samples } of found.values())
    for (const { name, labels } of samples)
      labelsOf.set(
        name,
        (labelsOf.get(name) ?? new Set(['job', 'instance'])).union(new Set(Object.keys(labels))),
      );
  const isShown = (name: string): boolean =>
    panels.some(({ targets: asked = [] }) => asked.some(({ expr }) => expr.includes(name)));
  for (const { title, targets: asked = [] } of panels)
    for (const { expr } of asked) {
      const series = Array.from(expr.matchAll(/\b((?:bourse|process|nodejs)_\w+)\{([^}]*)\}/g));
      assert.ok(series.length > 0, title);
      const given = new Set<string>();
      for (const [, name, matchers] of series) {
        const has = labelsOf.get(name!);
        assert.ok(has !== undefined, `${title}: there is no ${name}`);
        for (const [, label] of matchers!.matchAll(/(\w+)=~?"/g))
          assert.ok(has.has(label!), `${title}: ${label}`);
        for (const label of has) given.add(label);
      }
      for (const [, by] of expr.matchAll(/\bby \(([^)]*)\)/g))
        for (const label of by!.split(', ')) assert.ok(given.has(label), `${title}: ${label}`);
    }
  const hidden = [...found.keys()].filter((name) => name.startsWith('bourse_') && !isShown(name));
  assert.deepEqual(hidden, []);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
    assert.ok(x + w <= 24, title);
    return Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`);
  });
  assert.equal(new Set(cells).size, cells.length, 'no panel lies on another');
});

test('the port of metrics has nothing else, needs no key, and the service has no metrics on its own (contract 9.3)', async () => {
  const url = await server.metricsUrl();
  assert.equal(new URL(url).hostname, '127.0.0.1');
  const before = totalOf(await scrape(url), REQUESTS);
  const envelope = async (address: string, method = 'GET'): Promise<[number, string]> => {
    const response = await fetch(address, { method });
    const body = (await response.json()) as { code: number; detail: { error: string } };
    assert.equal(body.code, response.status);
    return [response.status, body.detail.error];
  };
  assert.deepEqual(await envelope(new URL('/', url).href), [404, 'unknown_path']);
  assert.deepEqual(await envelope(`${url}/x`), [404, 'unknown_path']);
  assert.deepEqual(await envelope(new URL(latest(), url).href), [404, 'unknown_path']);
  assert.deepEqual(await envelope(url, 'POST'), [405, 'method_not_allowed']);
  assert.deepEqual(await envelope(`${server.url}/metrics`), [404, 'unknown_path']);
  const head = await fetch(url, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.ok(Number(head.headers.get('content-length')) > 1_000);
  assert.equal(head.headers.get('access-control-allow-origin'), null);
  assert.equal((await fetch(`${url}?x=1`)).status, 200);
  // Scrapes are no requests of callers; the one above asked the service.
  assert.equal(totalOf(await scrape(url), REQUESTS), before + 1);
});

test('what the store says of its data changes with an import (contract 9.3)', async () => {
  const own = new Workshop();
  try {
    const server = await own.serve('--metrics-port', '0');
    const url = await server.metricsUrl();
    const before = await scrape(url);
    assert.equal(totalOf(before, 'bourse_data_version'), 0);
    assert.equal(before.has('bourse_newest_import_timestamp_seconds'), false);
    const startedMs = Date.now();
    writeFileSync(own.path('bars.csv'), 'datetime,open,high,low,close\n2025-03-03T15:00:00Z,1,1,1,1\n');
    const one = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
    await own.must('import', 'bars', 'bars.csv', ...one);
    const found = await scrape(url);
    assert.equal(totalOf(found, 'bourse_data_version'), 1);
    const importedMs = totalOf(found, 'bourse_newest_import_timestamp_seconds') * 1_000;
    assert.ok(importedMs >= startedMs && importedMs <= Date.now(), String(importedMs));
    assert.equal(await server.stop(), 0);
  } finally {
    own.close();
  }
});

test('the same number as --port puts metrics on the service itself, counted as a route (contract 9.3)', async () => {
  const url = `${onePort.url}/metrics`;
  const counted = async (): Promise<number> =>
    totalOf(await scrape(url), REQUESTS, { route: '/metrics', status: '200' });
  assert.equal(await counted(), (await counted()) - 1);
  assert.equal((await fetch(url, { method: 'POST' })).status, 405);
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
  assert.ok(!onePort.log.some((line) => line.includes('"msg":"metrics"')));
});

for (const workers of ['1', '2']) {
  test(`a port of metrics that is taken is said with its own setting, workers: ${workers} (contract 10)`, async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const { status, stderr } = await shop.run(
      ...['serve', '--port', '0', '--workers', workers, '--metrics-port', String(port)],
    );
    taken.close();
    assert.equal(status, 3);
    assert.equal(
      stderr.trim(),
      `bourse: port ${port} of 127.0.0.1 is taken: choose another with --metrics-port N or BOURSE_METRICS_PORT`,
    );
  });
}

/** Asks on connections of their own, so that every worker is asked. */
async function askMany(server: Server, count: number): Promise<void> {
  const ask = async (): Promise<void> => {
    const response = await server.get(latest(), { headers: { connection: 'close' } });
    assert.equal(response.status, 404, await response.text());
  };
  // A few at a time: what has to come again is counted, too.
  for (let asked = 0; asked < count; asked += 5) await Promise.all(Array.from({ length: 5 }, ask));
}

test('metrics are those of all workers, also of one that has ended or was killed (contract 9.3, 10)', async () => {
  const server = await shop.serve('--workers', '2', '--metrics-port', '0');
  const url = await server.metricsUrl();
  const counted = async (): Promise<number> => totalOf(await scrape(url), REQUESTS, { status: '404' });
  const listening = (count: number) => () => server.listeningPids.length === count;
  await until('two workers', listening(2));
  await until('both are measured', async () => totalOf(await scrape(url), 'bourse_workers') === 2);
  await askMany(server, 30);
  const all = await scrape(url);
  assert.equal(totalOf(all, REQUESTS, { status: '404' }), 30);
  // Refusals of a busy machine count too.
  assert.equal(totalOf(all, 'bourse_request_duration_seconds_count'), totalOf(all, REQUESTS));
  assert.equal(totalOf(all, 'bourse_build_info'), 1);
  assert.equal(all.get('bourse_data_version')!.samples.length, 1);
  // One that does not answer: its last numbers.
  process.kill(server.listeningPids[0]!, 'SIGSTOP');
  assert.equal(await counted(), 30);
  process.kill(server.listeningPids[0]!, 'SIGCONT');
  // One that is killed: its numbers as of the scrape before.
  process.kill(server.listeningPids[0]!, 'SIGKILL');
  assert.equal(await counted(), 30);
  await until('another in its place', listening(3));
  assert.equal(await counted(), 30);
  await askMany(server, 10);
  // One that ends in order, without a scrape before: all of its numbers.
  process.kill(server.listeningPids[1]!, 'SIGTERM');
  await until('another in its place, too', listening(4));
  assert.equal(await counted(), 40);
  await until('both are measured', async () => totalOf(await scrape(url), 'bourse_workers') === 2);
  assert.equal(await server.stop(), 0);
});

test('with several workers on one port with the metrics each gives those of all (contract 9.3, 10)', async () => {
  const url = `${onePort.url}/metrics`;
  await until('both are measured', async () => totalOf(await scrape(url), 'bourse_workers') === 2);
  await askMany(onePort, 30);
  for (const found of await Promise.all(Array.from({ length: 12 }, () => scrape(url))))
    assert.equal(totalOf(found, REQUESTS, { status: '404' }), 30);
  assert.equal(await onePort.stop(), 0);
});

test('under overload metrics are still given, and count what was served and refused (contract 6.4, 9.3)', async (t) => {
  const server = await shop.serve('--metrics-port', '0');
  const url = await server.metricsUrl();
  // From a process of its own, and in answers that no caller has to hurry to read: a connection whose answers
  // stay unread may be ended.
  const asking = generate({
    port: Number(new URL(server.url).port),
    targets: targets.slow.map((target) => `${target.replace('limit=1000', 'limit=500')}&format=csv`),
    keepAlive: true,
    connectionsFirst: 0,
    connectionsMax: CALLERS,
    phases: [{ name: 'overload', seconds: 3, load: { callers: CALLERS } }],
  });
  const counts: number[] = [];
  for (let isDone = false; !isDone; ) {
    const scraped = scrape(url);
    isDone = await Promise.race([asking.then(() => true), scraped.then(() => false)]);
    counts.push(totalOf(await scraped, REQUESTS));
  }
  const [{ served, refused, odd, broken }] = (await asking) as [Outcome];
  t.diagnostic(`served ${served}, refused ${refused}, scrapes ${counts.length}`);
  assert.deepEqual([odd, broken], [[], {}]);
  assert.ok(served > 0 && refused > 0);
  assert.ok(counts.some((count) => count > 0 && count < served + refused));
  const found = await scrape(url);
  assert.equal(totalOf(found, REQUESTS, { status: '200' }), served);
  assert.equal(totalOf(found, REQUESTS, { status: '503' }), refused);
  assert.equal(totalOf(found, 'bourse_errors_total', { error: 'unavailable' }), refused);
  assert.equal(await server.stop(), 0);
});
