// The version of the stored data on every answer (contract 9.12).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const flags = (symbol: string) => [
  '--schema',
  'stock',
  '--country',
  'US',
  '--symbol',
  symbol,
  '--interval',
  'DAY',
];

/** Imports one day of a stock; the run's number. */
async function importDay(symbol: string, day: string, close: number): Promise<string> {
  const path = shop.path(`${symbol}-${day}-${close}.csv`);
  writeFileSync(path, `datetime,open,high,low,close,volume\n${day},10,20,5,${close},100\n`);
  const printed = await shop.must('import', 'bars', path, ...flags(symbol), '--json');
  return String((JSON.parse(printed) as { runId: number }).runId);
}

test('every data answer names the version of the data, which imports, deletions and undos raise, whatever they change (contract 9.12)', async () => {
  await importDay('AAPL', '2025-03-03', 11);
  const key = await shop.must('keys', 'create', 'reader');
  await importDay('MSFT', '2025-03-03', 11);
  const server = await shop.serve();
  const ask = (path: string, headers: Record<string, string> = {}) =>
    server.get(path.replace('<API_KEY>', key), { headers });
  const versionOf = async (path: string): Promise<number> => {
    const response = await ask(path);
    await response.arrayBuffer();
    return Number(response.headers.get('x-data-version'));
  };
  const requests = readFileSync(join(import.meta.dirname, '../examples/requests.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('/'));
  const apple = '/api/v2/stock/bars/US:AAPL/DAY/latest?secret_key=<API_KEY>';
  const first = await versionOf(apple);
  assert.ok(Number.isSafeInteger(first) && first > 0);
  for (const path of requests) {
    const response = await ask(path);
    const body = await response.text();
    const version = response.headers.get('x-data-version');
    assert.equal(version, response.status === 200 ? String(first) : null, `${path}: ${body}`);
  }
  // Nothing of Apple changes: its answer comes from the cache, with the new version.
  const run = await importDay('MSFT', '2025-03-04', 12);
  const second = await versionOf(apple);
  assert.ok(second > first);
  await shop.must('undo', run);
  const third = await versionOf(apple);
  assert.ok(third > second);
  await shop.must('delete', 'bars', '--country', 'US', '--symbol', 'MSFT');
  const fourth = await versionOf(apple);
  assert.ok(fourth > third);
  const whole = await ask(apple);
  await whole.arrayBuffer();
  const held = await ask(apple, { 'If-None-Match': whole.headers.get('etag')! });
  assert.deepEqual([held.status, held.headers.get('x-data-version')], [304, String(fourth)]);
  assert.match(whole.headers.get('access-control-expose-headers')!, /\bX-Data-Version\b/);
  await server.stop();
});

/**
 * A service with some versions of the bars of one stock: closes 11 and 12, then 12 is corrected to 13, then a
 * third day comes.
 */
async function versions() {
  const own = new Workshop();
  after(() => own.close());
  const put = async (name: string, rows: readonly string[]): Promise<number> => {
    writeFileSync(own.path(name), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
    const printed = await own.must('import', 'bars', own.path(name), ...flags('AAPL'), '--json');
    return (JSON.parse(printed) as { runId: number }).runId;
  };
  const runs = [
    await put('first.csv', ['2025-03-03,10,20,5,11,100', '2025-03-04,10,20,5,12,100']),
    await put('corrected.csv', ['2025-03-04,10,20,5,13,100']),
    await put('third.csv', ['2025-03-05,10,20,5,14,100']),
  ];
  const key = await own.must('keys', 'create', 'reader');
  const server = await own.serve();
  const ask = async (path: string) => {
    const response = await server.get(`/api/v2${path}${path.includes('?') ? '&' : '?'}secret_key=${key}`);
    return { response, text: await response.text() };
  };
  const { text } = await ask('/server/runs');
  const { data } = (JSON.parse(text) as { result: { data: { data_version: number }[] } }).result;
  return { own, ask, runs, at: data.map((run) => run.data_version) };
}

const { own: corrected, ask, runs, at } = await versions();

/** The closes of an answer in CSV. */
const closesOf = (csv: string): string[] => {
  const [head, ...rows] = csv.trim().split(/\r?\n/);
  const place = head!.split(',').indexOf('close');
  return rows.map((row) => row.split(',')[place]!);
};

const LIST = '/stock/bars/US:AAPL/DAY/from/2025-03-01/to/2025-03-31?format=csv';
const BULK = '/stock/bulk/bars/US/DAY/from/2025-03-01/to/2025-03-31?format=csv';

test('as_of and data_version together have coverage and findings of a moment in the data of a version (contract 9.8, 9.12)', async () => {
  const rows = async (path: string, version: number | undefined, asOf: string) => {
    const { text } = await ask(`${path}?as_of=${asOf}&data_version=${version}`);
    return (JSON.parse(text) as { result: { data: Readonly<Record<string, unknown>>[] } }).result.data;
  };
  for (const [version, asOf, bars, findings] of [
    [0, '2025-03-03T21:00:00Z', 1, 0],
    [0, '2025-03-05T21:00:00Z', 2, 0],
    [1, '2025-03-03T21:00:00Z', 1, 0],
    [1, '2025-03-04T21:00:00Z', 2, 1],
    [2, '2025-03-03T21:00:00Z', 1, 0],
    [2, '2025-03-04T21:00:00Z', 2, 1],
    [2, '2025-03-05T21:00:00Z', 3, 1],
  ] as const) {
    const place = `version ${version} as of ${asOf}`;
    const [series] = await rows('/stock/coverage', at[version], asOf);
    assert.equal(series?.bars, bars, place);
    const found = await rows('/stock/findings/US:AAPL', at[version], asOf);
    assert.deepEqual(
      found.map(({ kind }) => kind),
      Array.from({ length: findings }, () => 'conflicting_imports'),
      place,
    );
    const sessions = await rows('/stock/coverage/US:AAPL', at[version], asOf);
    assert.equal(sessions.filter(({ bars: count }) => count === 1).length, bars, place);
  }
});

test('data_version answers from the data of that version: bars, pages, bars in bulk and as Parquet (contract 9.12)', async () => {
  const expected = [
    ['11', '12'],
    ['11', '13'],
    ['11', '13', '14'],
  ];
  for (const [index, version] of at.entries()) {
    for (const path of [LIST, BULK]) {
      const { response, text } = await ask(`${path}&data_version=${version}`);
      assert.deepEqual([response.status, closesOf(text)], [200, expected[index]], path);
      assert.equal(response.headers.get('x-data-version'), String(version));
    }
    const parquet = await ask(`${BULK.replace('csv', 'parquet')}&data_version=${version}`);
    assert.equal(parquet.response.status, 200, parquet.text);
    assert.equal(parquet.response.headers.get('x-data-version'), String(version));
  }
  // Before the first import there was no instrument.
  const none = await ask(`${LIST}&data_version=${at[0]! - 1}`);
  assert.deepEqual([none.response.status, JSON.parse(none.text).detail.error], [404, 'unknown_instrument']);
});

test('a walk stays at its version, and a page key of one version opens no other (contract 4.1, 9.12)', async () => {
  const list = LIST.replace('csv', 'json');
  const first = JSON.parse((await ask(`${list}&limit=1&data_version=${at[0]}`)).text).result;
  assert.match(first.next_page_url, new RegExp(`[?&]data_version=${at[0]}(&|$)`));
  const next = await ask(`${list}&limit=1&data_version=${at[0]}&next_page_key=${first.next_page_key}`);
  const { data, next_page_key: last } = JSON.parse(next.text).result;
  assert.deepEqual([data.map((bar: { close: number }) => bar.close), last], [[12], null]);
  for (const other of [`&data_version=${at[1]}`, '']) {
    const { response, text } = await ask(`${list}&limit=1${other}&next_page_key=${first.next_page_key}`);
    assert.deepEqual([response.status, JSON.parse(text).detail.error], [400, 'invalid_page_key'], other);
  }
});

test('the runs of a version are those that it had, page by page (contract 9.12)', async () => {
  for (const [index, version] of [...at.entries(), [-1, at[0]! - 1] as const]) {
    const { response, text } = await ask(`/server/runs?data_version=${version}`);
    assert.equal(response.headers.get('x-data-version'), String(version));
    assert.deepEqual(
      JSON.parse(text).result.data.map(({ run }: { run: number }) => run),
      runs.slice(0, index + 1),
    );
  }
  const path = `/server/runs?sort=desc&limit=1&data_version=${at[1]}`;
  const first = JSON.parse((await ask(path)).text).result;
  const next = JSON.parse((await ask(`${path}&next_page_key=${first.next_page_key}`)).text).result;
  assert.deepEqual([first.data[0].run, next.data[0].run, next.next_page_key], [runs[1], runs[0], null]);
});

test('a version that cannot be read is refused with those that can (contract 9.12)', async () => {
  const refusal = async (
    version: string,
  ): Promise<{ readonly message: string; readonly allowed: string }> => {
    const { response, text } = await ask(`${LIST}&data_version=${version}`);
    const { message, detail } = JSON.parse(text);
    assert.deepEqual(
      [response.status, detail.error, detail.param],
      [400, 'invalid_parameter', 'data_version'],
      text,
    );
    return { message, allowed: detail.allowed };
  };
  const newest = at[2]!;
  assert.deepEqual(await refusal(String(newest + 1)), {
    message: `data_version is after ${newest}, the newest version of the stored data.`,
    allowed: `versions up to ${newest}`,
  });
  for (const wrong of ['x', '-1', '1.5', '1e2', '%201', '9999999999999999'])
    assert.match((await refusal(wrong)).message, /^data_version must be a version from X-Data-Version/);
  await corrected.must('undo', String(runs[1]));
  const undone = newest + 1;
  assert.deepEqual(await refusal(String(at[1])), {
    message: `data_version contains run ${runs[1]}, which was undone in version ${undone}: undone data are not kept.`,
    allowed: `versions up to ${at[1]! - 1}, or from ${undone} on`,
  });
  assert.deepEqual(
    (await refusal(String(newest))).allowed,
    `versions up to ${at[1]! - 1}, or from ${undone} on`,
  );
  // The record of the run is still there, as it was.
  const undoneOf = async (version: number): Promise<boolean[]> =>
    JSON.parse((await ask(`/server/runs?data_version=${version}`)).text).result.data.map(
      (run: { undone: boolean }) => run.undone,
    );
  assert.deepEqual(await undoneOf(newest), [false, false, false]);
  assert.deepEqual(await undoneOf(undone), [false, true, false]);
  const before = await ask(`${LIST}&data_version=${at[0]}`);
  assert.deepEqual(closesOf(before.text), ['11', '12']);
  const after = await ask(`${LIST}&data_version=${undone}`);
  assert.deepEqual(closesOf(after.text), ['11', '12', '14']);
});

test('bars that were deleted since are read from the journal, page by page from both ends (contract 9.12)', async () => {
  const own = new Workshop();
  const rows = Array.from({ length: 60 }, (_, day) => Date.UTC(2025, 2, 3, 15) + day * 86_400_000)
    .filter((ms) => ![0, 6].includes(new Date(ms).getUTCDay()))
    .flatMap((ms) =>
      [0, 1, 2].map((minute) => `${new Date(ms + minute * 60_000).toISOString()},10,20,5,${minute + 10},1`),
    );
  writeFileSync(own.path('m.csv'), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const named = [
    '--schema',
    'stock',
    '--country',
    'US',
    '--symbol',
    'AAPL',
    '--interval',
    '1M',
    '--no-check',
  ];
  await own.must('import', 'bars', 'm.csv', ...named);
  const key = await own.must('keys', 'create', 'reader');
  const server = await own.serve();
  const walk = async (query: string): Promise<string[]> => {
    const times: string[] = [];
    for (let next = ''; ; ) {
      const path = `/api/v2/stock/bars/US:AAPL/1M/from/2025-03-01/to/2025-05-31?limit=7${query}`;
      const response = await server.get(`${path}&secret_key=${key}${next && `&next_page_key=${next}`}`);
      const { result } = (await response.json()) as {
        result: { data: { datetime: string }[]; next_page_key: string | null };
      };
      times.push(...result.data.map(({ datetime }) => datetime));
      if (result.next_page_key === null) return times;
      next = result.next_page_key;
    }
  };
  const before = [await walk('&sort=asc'), await walk('&sort=desc')];
  const status = JSON.parse(await own.must('status', '--json')) as { data_version: number };
  await own.must('delete', 'bars', '--symbol', 'AAPL', '--country', 'US', '--from', '2025-03-10T00:00:00Z');
  const version = `&data_version=${status.data_version}`;
  assert.deepEqual([await walk(`&sort=asc${version}`), await walk(`&sort=desc${version}`)], before);
  assert.equal((await walk('&sort=asc')).length, 15);
  // Good Friday is closed.
  assert.equal(before[0]!.length, rows.length - 3);
  await server.stop();
  own.close();
});

test('the run that a finding names is none that was undone, and the same from an earlier version (contract 9.10, 9.12)', async () => {
  const own = new Workshop();
  const flagsOf = ['--schema', 'stock', '--country', 'US', '--symbol', 'AAPL', '--interval', 'DAY'];
  const add = async (...days: readonly string[]): Promise<string> => {
    const rows = days.map((day) => `2025-05-${day},10,10,10,10,5\n`);
    writeFileSync(own.path('rows.csv'), `datetime,open,high,low,close,volume\n${rows.join('')}`);
    const printed = await own.must('import', 'bars', own.path('rows.csv'), ...flagsOf, '--json');
    return String((JSON.parse(printed) as { runId: number }).runId);
  };
  await add('19', '20');
  const key = await own.must('keys', 'create', 'reader');
  const server = await own.serve();
  const known = new Map<number, string>();
  const ask = async (version = '') => {
    const response = await server.get(`/api/v2/stock/findings/US:AAPL?secret_key=${key}${version}`);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return { text, version: Number(response.headers.get('x-data-version')) };
  };
  const keep = async (): Promise<unknown[]> => {
    const { text, version } = await ask();
    known.set(version, text);
    const { data } = JSON.parse(text).result as { data: { kind: string; run_id: number }[] };
    return data.map(({ kind, run_id }) => [kind, run_id]);
  };
  assert.deepEqual(await keep(), [['stale', 1]]);
  await own.must('undo', await add('21'));
  assert.deepEqual(await keep(), [['stale', 1]]);
  await add('27');
  await keep();
  for (const [version, text] of known) assert.equal((await ask(`&data_version=${version}`)).text, text);
  await server.stop();
  own.close();
});
