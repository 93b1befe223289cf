// Scopes of keys, and the state of the service that keys of one of them read (contract 7.6).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { recordFailure } from '../src/cli/import/watch.ts';
import type { RecordOf } from '../src/contract/endpoint.ts';
import type { operateStatus } from '../src/contract/server.ts';
import { readKeys } from '../src/store/control.ts';
import { openControl, openStore } from '../src/store/engines.ts';
import { newestLayout, storeHistory } from '../src/store/migrations/index.ts';
import { type Server, Workshop } from './service.ts';
import { alterStore } from './stores.ts';
import { until } from './until.ts';

type State = RecordOf<typeof operateStatus>;

const STATUS = '/api/v2/operate/status';
const CODES = '/api/v2/holiday/holiday_codes/US';

const shop = new Workshop();
let server: Server;
const keys: Record<'data' | 'operate' | 'counted', string> = { data: '', operate: '', counted: '' };

before(async () => {
  const days = [3, 4, 5, 6, 7].map((day) => `2025-03-0${day},10,11,9,10,12.5`);
  writeFileSync(
    shop.path('days.csv'),
    `datetime,open,high,low,close,vwap\n${days.join('\n')}\n2025-03-10,10,9,11,10,10\n`,
  );
  const named = ['--schema', 'stock', '--country', 'US', '--symbol', 'ODD', '--interval', 'DAY'];
  const imported = await shop.run('import', 'bars', 'days.csv', ...named, '--no-check');
  assert.equal(imported.status, 1, imported.stderr);
  const checked = await shop.run('check');
  assert.equal(checked.status, 1, checked.stderr);
  const store = await openStore(shop.store, 'write');
  const failedMs = Date.parse('2025-03-11T08:00:00Z');
  const problem = 'it cannot be read (EACCES)';
  await recordFailure(store, 'bars', problem, ['/data/incoming/bad.csv'], failedMs);
  await store.close();
  keys.data = await shop.must('keys', 'create', 'reader');
  keys.operate = await shop.must('keys', 'create', 'operator', '--scope', 'operate', '--per-minute', '5000');
  keys.counted = await shop.must('keys', 'create', 'counted', '--scope', 'data', '--per-day', '100');
  server = await shop.serve('--metrics-port', '0');
});
after(() => shop.close());

const ask = (path: string, key: string): Promise<Response> =>
  server.get(path, { headers: { Authorization: `Bearer ${key}` } });

async function stateOf(): Promise<State> {
  const response = await ask(STATUS, keys.operate);
  const body = (await response.json()) as { readonly result: State };
  assert.equal(response.status, 200, JSON.stringify(body));
  return body.result;
}

type Refused = { readonly message: string; readonly detail: Readonly<Record<string, string>> };

async function refusal(response: Response): Promise<Refused> {
  assert.equal(response.status, 403);
  return (await response.json()) as Refused;
}

test('a key of the scope operate reads the state of the service (contract 7.6)', async () => {
  const { health, versions, disk, findings, runs, failed_files, failed_count } = await stateOf();
  const status = JSON.parse(await shop.must('status', '--json'));
  assert.deepEqual(health, { ready: true, problem: null, damaged: [] });
  const program = await shop.must('--version');
  const { data_version } = status;
  assert.deepEqual(versions, { program, layout: newestLayout(storeHistory), data_version });
  const { checked, ...counts } = status.newest_check;
  assert.deepEqual(findings, { checked_at: checked, ...counts });
  assert.ok(findings!.info + findings!.warning + findings!.error > 0);
  const [run] = status.runs;
  assert.deepEqual(runs, [
    {
      ...{ run: run.run_id, kind: 'import', dataset: 'bars', file: 'days.csv' },
      ...{ rows_read: 6, rows_written: 5, rows_unchanged: 0, rows_refused: 1 },
      ...{ started_at: run.started, finished_at: run.finished, undone: false },
    },
  ]);
  const [{ since: failed_at, ...failed }] = status.failed_files;
  assert.deepEqual([failed_files, failed_count], [[{ ...failed, failed_at }], 1]);
  assert.ok(disk.store_bytes! > 10_000);
  assert.equal(disk.free_bytes === null, shop.store.startsWith('postgres'));
});

test('keys are told by name, scope, quota and what is used of it (contract 7.6)', async () => {
  const today = (): string => new Date().toISOString().slice(0, 10);
  const askCounted = async () => {
    const day = today();
    return { day, left: Number((await ask(CODES, keys.counted)).headers.get('RateLimit-Remaining')) };
  };
  let asked = await askCounted();
  const isCounted = async (): Promise<boolean> => {
    const counted = (await stateOf()).keys!.find(({ name }) => name === 'counted')!;
    // Another day has begun, and what was asked before counts no more.
    if (asked.day !== today()) asked = await askCounted();
    return isDeepStrictEqual([counted.used_this_minute, counted.used_today], [null, 100 - asked.left]);
  };
  await until('the requests are counted', isCounted);
  const listed = JSON.parse(await shop.must('keys', 'list', '--json')) as Record<string, unknown>[];
  const found = (await stateOf()).keys!;
  const told = ['id', 'name', 'scope', 'state', 'created', 'expires', 'per_minute', 'per_day', 'revoked'];
  const byId = (all: readonly Readonly<Record<string, unknown>>[]) =>
    all.map((key) => told.map((name) => key[name])).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  assert.deepEqual(byId(found), byId(listed));
  assert.deepEqual(
    Object.fromEntries(
      found.map(({ name, scope, per_minute, per_day }) => [name, [scope, per_minute, per_day]]),
    ),
    { reader: ['data', null, null], operator: ['operate', 5000, null], counted: ['data', null, 100] },
  );
});

test('no state has a secret, a hash or the address of the store (contract 7.3, 7.4, 7.6)', async () => {
  const text = await (await ask(STATUS, keys.operate)).text();
  const control = await openControl(shop.store, 'read');
  const hashes = (await readKeys(control)).map(({ hash }) => Buffer.from(hash));
  await control.close();
  const forms = hashes.flatMap((hash) => [
    ...(['hex', 'base64', 'base64url'] as const).map((form) => hash.toString(form)),
    [...hash].join(),
  ]);
  for (const form of [...Object.values(keys), ...forms, shop.store, shop.folder])
    assert.ok(!text.includes(form), form);
  assert.ok(!server.log.join('\n').includes(keys.operate));
});

test('a refusal names the scope of the key and the one that is needed (contract 6.3, 7.5, 7.6)', async () => {
  const operate = await ask(CODES, keys.operate);
  const { message, detail } = await refusal(operate);
  assert.equal(message, 'secret_key has the scope operate: requests for data need a key of the scope data.');
  assert.deepEqual(
    [detail.error, detail.param, detail.allowed, detail.hint],
    [
      ...['forbidden', 'secret_key', 'scope data'],
      'Ask whoever runs this service for such a key (bourse keys create NAME --scope data).',
    ],
  );
  assert.equal(operate.headers.get('Cache-Control'), 'no-store');
  assert.ok(Number(operate.headers.get('RateLimit-Remaining')) < 5000);
  const data = await refusal(await ask(STATUS, keys.data));
  assert.equal(
    data.message,
    'secret_key has the scope data: the state of the service needs a key of the scope operate.',
  );
  assert.match(data.detail.hint!, /bourse keys create NAME --scope operate/);
  // The scope comes before the parameters (contract 6.4).
  const wrong = '/api/v2/stock/bars/US:ODD/DAY/latest?limit=0';
  assert.equal((await refusal(await ask(wrong, keys.operate))).detail.error, 'forbidden');
  const metrics = await (await fetch(await server.metricsUrl())).text();
  assert.match(metrics, /^bourse_key_checks_total\{outcome="forbidden"\} 3$/m);
  assert.match(metrics, /^bourse_errors_total\{error="forbidden"\} 3$/m);
  const lines = await until('the refusals are logged', () => {
    const found = server.log.filter((line) => line.includes('"word":"forbidden"'));
    return found.length === 3 && found;
  });
  const { route, status } = JSON.parse(lines[1]!) as Record<string, unknown>;
  assert.deepEqual([route, status], [STATUS, 403]);
});

test('assistants need a key of the scope data (contract 7.6, 9.23)', async () => {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${keys.operate}` };
  const answer = await server.get('/mcp', { method: 'POST', body: 'no message', headers });
  assert.match((await refusal(answer)).message, /scope operate: requests for data need/);
});

test('keys list shows the scope; an unknown one is wrong usage (contract 7.6, 10)', async () => {
  const table = await shop.must('keys', 'list');
  assert.match(table, /^ID +NAME +SCOPE +STATE /);
  assert.match(table, /^\w+ +operator +operate +live /m);
  assert.match(table, /^\w+ +reader +data +live /m);
  for (const [words, message] of [
    [['--scope', 'all'], /--scope.*data, operate/s],
    [['--scope', 'operate', '--as-of', '2025-03-03T21:00:00Z'], /--as-of needs the scope data/],
  ] as const) {
    const { status, stdout, stderr } = await shop.run('keys', 'create', 'odd', ...words);
    assert.deepEqual([status, stdout], [2, ''], stderr);
    assert.match(stderr, message);
  }
});

test('without a service its state is refused, with what to run instead (contract 10)', async () => {
  const { status, stderr } = await shop.run('query', STATUS);
  assert.equal(status, 1);
  assert.match(stderr, /404 unknown_path: .*its state\. See what a store holds with bourse status/);
});

test('a damaged run is named in the state, which lists the others (contract 7.6)', async () => {
  writeFileSync(shop.path('more.csv'), 'symbol,name\nBTC,Bitcoin\n');
  await shop.must('import', 'instruments', 'more.csv', '--schema', 'crypto', '--country', 'GLOBAL');
  const before = await stateOf();
  assert.deepEqual(
    before.runs!.map(({ file }) => file),
    ['more.csv', 'days.csv'],
  );
  alterStore(shop.store, "update import_runs set rows_read = 7 where file = 'more.csv'");
  const { health, runs } = await stateOf();
  assert.match(health.damaged.join(), /^import_runs, row run_id 2: its checksum does not match$/);
  assert.deepEqual(
    runs!.map(({ file }) => file),
    ['days.csv'],
  );
  alterStore(shop.store, "update import_runs set rows_read = 1 where file = 'more.csv'");
});
