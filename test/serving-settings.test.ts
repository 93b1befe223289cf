// Settings of serving as a caller and an operator see them: proxies, warnings, `bourse config`, the
// documentation (contract 4.3, 10).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readSettings } from '../src/cli/config.ts';
import { exposureOf } from '../src/cli/serve/serving.ts';
import { type Server, Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const file = shop.path('aapl.csv');
const rows = Array.from({ length: 20 }, (_, minute) => `2025-03-03T14:${30 + minute}:00Z,1,3,0.5,2,10`);
writeFileSync(file, ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
await shop.must(
  'import',
  'bars',
  file,
  '--schema',
  'stock',
  '--country',
  'US',
  '--symbol',
  'AAPL',
  '--interval',
  '1M',
);
const key = await shop.must('keys', 'create', 'test');
const path = `/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03?secret_key=${key}&limit=5`;

type Envelope = { result: { next_page_url: string } | null; detail?: { error: string; param: string } };

async function ask(server: Server, headers: Record<string, string>): Promise<[number, Envelope]> {
  const response = await server.get(path, { headers });
  return [response.status, (await response.json()) as Envelope];
}

const sent = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'data.example.com',
  'x-forwarded-port': '8443',
  'x-forwarded-prefix': '/bourse',
};

test('with --trust-proxy the next page is at the address that the proxy was asked by (contract 4.3)', async () => {
  const server = await shop.serve('--trust-proxy', '--allowed-hosts', 'data.example.com');
  const [status, { result }] = await ask(server, sent);
  assert.equal(status, 200);
  assert.ok(
    result!.next_page_url.startsWith('https://data.example.com:8443/bourse/api/v2/'),
    result!.next_page_url,
  );
  const standard = { forwarded: 'for=192.0.2.1;host="data.example.com";proto=https' };
  const [, { result: other }] = await ask(server, standard);
  assert.ok(other!.next_page_url.startsWith('https://data.example.com/api/v2/'), other!.next_page_url);
  for (const [header, value] of [
    ['X-Forwarded-Host', 'evil.example'],
    ['X-Forwarded-Proto', 'gopher'],
    ['X-Forwarded-Prefix', '//evil.example'],
    ['X-Forwarded-Port', '-1'],
    ['Forwarded', 'host=evil.example'],
    ['Forwarded', 'host'],
  ] as const) {
    const [refused, { result: none, detail }] = await ask(server, { [header]: value });
    assert.deepEqual([refused, none, detail!.error, detail!.param], [400, null, 'bad_request', header]);
  }
  assert.equal(await server.stop(), 0);
});

test('without --trust-proxy what is forwarded changes nothing, well-formed or not (contract 4.3)', async () => {
  const server = await shop.serve('--allowed-hosts', 'data.example.com');
  for (const headers of [{}, sent, { forwarded: 'host=data.example.com;proto=https' }, { forwarded: '"' }]) {
    const [status, { result }] = await ask(server, headers as Record<string, string>);
    assert.equal(status, 200);
    assert.ok(result!.next_page_url.startsWith(`${server.url}/api/v2/`), result!.next_page_url);
  }
  assert.equal(await server.stop(), 0);
  assert.deepEqual(warnings(server), [], 'a loopback address is served without a warning');
});

const warnings = (server: Server): string[] => server.log.filter((line) => line.includes('"msg":"exposed"'));

type Line = { msg: string; address?: string; words?: string };
const linesOf = ({ log }: Server, msg: string): Line[] =>
  log.map((line) => JSON.parse(line) as Line).filter((line) => line.msg === msg);

test('the line of a request has its caller: the connection, or what a trusted proxy says; with --log-addresses off none (contract 7.4)', async () => {
  const forwarded: readonly [headers: Record<string, string>, trusted: string][] = [
    [{}, '127.0.0.1'],
    [{ 'x-forwarded-for': '192.0.2.1' }, '192.0.2.1'],
    [{ 'x-forwarded-for': '198.51.100.7, 192.0.2.2' }, '192.0.2.2'],
    [{ 'x-forwarded-for': '2001:db8::1' }, '2001:db8::1'],
    [
      { forwarded: 'for=198.51.100.7, for="[2001:db8::2]:4711";proto=http', 'x-forwarded-for': '192.0.2.9' },
      '2001:db8::2',
    ],
    [{ forwarded: 'for="192.0.2.3:80"' }, '192.0.2.3'],
    [{ forwarded: 'for=_hidden' }, '127.0.0.1'],
    [{ forwarded: 'for="' }, '127.0.0.1'],
    [{ 'x-forwarded-for': `${key}\t"}` }, '127.0.0.1'],
  ];
  const cases: readonly [flags: readonly string[], addressOf: (trusted: string) => string | undefined][] = [
    [['--trust-proxy'], (trusted) => trusted],
    [[], () => '127.0.0.1'],
    [['--trust-proxy', '--log-addresses', 'off'], () => undefined],
  ];
  for (const [flags, addressOf] of cases) {
    const server = await shop.serve(...flags);
    for (const [headers] of forwarded) await (await server.get(path, { headers })).arrayBuffer();
    assert.equal(await server.stop(), 0);
    const lines = linesOf(server, 'request');
    assert.deepEqual(
      lines.map(({ address }) => address),
      forwarded.map(([, trusted]) => addressOf(trusted)),
    );
    assert.ok(!server.log.join().includes(key));
  }
});

test('a variable that is no setting and a store that was not there are warned of once (contract 10)', async () => {
  const fresh = shop.path('fresh.db');
  for (const workers of ['1', '2']) {
    const server = await shop.serveWith(
      { BOURSE_KEY: 'x', BOURSE_PROT: '9', BOURSE_STORE: workers === '1' ? fresh : shop.store },
      ...['--workers', workers],
    );
    assert.equal(await server.stop(), 0);
    assert.deepEqual(
      linesOf(server, 'environment').map(({ words }) => words),
      ['BOURSE_PROT is not a setting; is it BOURSE_PORT?'],
    );
    const made = linesOf(server, 'store made').map(({ words }) => words!);
    assert.equal(made.length, workers === '1' ? 1 : 0);
    if (workers === '1')
      assert.match(made[0]!, new RegExp(`no store at .*${RegExp.escape(fresh)}: an empty one was made`));
  }
});

test('an address that others reach, without TLS and without a trusted proxy, is warned of once, also with several workers', async () => {
  for (const workers of ['1', '2']) {
    const server = await shop.serve('--host', '0.0.0.0', '--workers', workers);
    assert.equal(await server.stop(), 0);
    const [warning, ...more] = warnings(server);
    assert.equal(more.length, 0);
    assert.match(warning!, /keys travel in URLs.*can read them.*--tls-cert.*--trust-proxy/);
  }
});

const reach: readonly [host: string, isExposed: boolean][] = [
  ['127.0.0.1', false],
  ['127.1', false],
  ['127.255.255.254', false],
  ['localhost', false],
  ['LocalHost', false],
  ['::1', false],
  ['0:0:0:0:0:0:0:1', false],
  ['::ffff:127.0.0.1', false],
  ['0.0.0.0', true],
  ['0', true],
  ['::', true],
  ['192.0.2.1', true],
  ['2001:db8::1', true],
  ['no.such.host.invalid', true],
];
for (const [host, isExposed] of reach) {
  test(`${JSON.stringify(host)} is ${isExposed ? 'an address that others reach' : 'loopback'}`, async () => {
    const settings = { ...readSettings({}), host, tlsCert: null, trustProxy: false };
    assert.equal((await exposureOf(settings)) !== null, isExposed);
    assert.equal(await exposureOf({ ...settings, trustProxy: true }), null);
    assert.equal(await exposureOf({ ...settings, tlsCert: 'cert.pem' }), null);
  });
}

type Shown = {
  setting: string;
  value: unknown;
  from: string;
  flag: string;
  environment: string;
  default: unknown;
};

test('bourse config shows each setting, its value and where it came from (contract 10)', async () => {
  const config = shop.path('bourse.config.json');
  writeFileSync(
    config,
    '{"port": 9000, "metricsPort": 9464, "workers": 2, "trustProxy": true, "allowedHosts": ["a.example", "b.example"]}',
  );
  try {
    const args = ['--workers', '3', '--store', 'postgres://me:hunter2@db/x', '--tls-cert', 'c.pem'];
    const shown = JSON.parse(await shop.must('config', ...args, '--json')) as Shown[];
    const of = (name: string): unknown[] => {
      const { value, from } = shown.find(({ setting }) => setting === name)!;
      return [value, from];
    };
    assert.deepEqual(of('store'), ['postgres://me:***@db/x', '--store']);
    assert.deepEqual(of('workers'), [3, '--workers']);
    assert.deepEqual(of('port'), [9000, 'bourse.config.json']);
    assert.deepEqual(of('metricsPort'), [9464, 'bourse.config.json']);
    assert.deepEqual(of('trustProxy'), [true, 'bourse.config.json']);
    assert.deepEqual(of('allowedHosts'), [['a.example', 'b.example'], 'bourse.config.json']);
    assert.deepEqual(of('tlsCert'), [shop.path('c.pem'), '--tls-cert']);
    assert.deepEqual(of('host'), ['127.0.0.1', 'default']);
    const table = await shop.must('config');
    assert.match(table, /^SETTING +VALUE +FROM\n/);
    assert.match(table, new RegExp(`\nstore +${RegExp.escape(shop.store)} +BOURSE_STORE\n`));
    assert.match(table, /\nallowedHosts +a\.example,b\.example +bourse\.config\.json\n/);
    assert.match(table, /\npublicUrl +- +default\n/);
    assert.equal(table.split('\n').length, shown.length + 1);
  } finally {
    writeFileSync(config, '{}');
  }
});

test('a wrong word of a setting is reported with the nearest right one (contract 10)', async () => {
  const cases: readonly [args: readonly string[], right: RegExp][] = [
    [['serve', '--log-level', 'inof'], /is it info\?/],
    [['serve', '--trust-prxy'], /--trust-proxy/],
    [['config', '--tls-crt', 'x'], /--tls-cert/],
    [['docter'], /doctor/],
  ];
  await Promise.all(
    cases.map(async ([args, right]) => {
      const { status, stderr } = await shop.run(...args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, right);
    }),
  );
});

test('docs/operating/serving.md lists every setting, as its flag, its variable and its default', async () => {
  const text = readFileSync(join(import.meta.dirname, '../docs/operating/serving.md'), 'utf8');
  const told = text.matchAll(/^\| `(\w+)` +\| `(--[a-z-]+)` +\| `(BOURSE_\w+)` +\| (.*?) +\|/gm);
  const documented = Array.from(told, ([, ...cells]) => cells);
  const word = (value: unknown): string =>
    typeof value === 'string' ? `\`${value}\`` : JSON.stringify(value);
  const shown = JSON.parse(await shop.must('config', '--json')) as Shown[];
  assert.deepEqual(
    documented,
    shown.map((one) => {
      const isNone = one.default === null || (Array.isArray(one.default) && one.default.length === 0);
      return [
        one.setting,
        one.flag,
        one.environment,
        isNone ? 'none' : word(one.default).replace(/^(\d+|true|false)$/, '`$1`'),
      ];
    }),
  );
});
