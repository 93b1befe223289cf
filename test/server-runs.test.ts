// The runs that the data come from, as callers see them (contract 9.12).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parseCsv } from './csv.ts';
import { type Server, Workshop } from './service.ts';
import { until } from './until.ts';

type Run = {
  readonly run: number;
  readonly kind: string;
  readonly dataset: string;
  readonly file: string;
  readonly rows: number;
  readonly finished_at: string;
  readonly undone: boolean;
  readonly data_version: number | null;
};
type Listed = {
  readonly count: number;
  readonly next_page_key: string | null;
  readonly data: readonly Run[];
};

const shop = new Workshop();
let server: Server;
let key = '';

const stock = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY'];

/** Imports days of a stock under a file name; the number of the run. */
async function importDays(name: string, symbol: string, closes: readonly number[]): Promise<number> {
  const rows = closes.map((close, index) => `2025-03-0${index + 3},10,20,5,${close},100\n`);
  writeFileSync(shop.path(name), `datetime,open,high,low,close,volume\n${rows.join('')}`);
  const printed = await shop.must(
    ...['import', 'bars', shop.path(name), ...stock, '--symbol', symbol, '--json'],
  );
  return (JSON.parse(printed) as { runId: number }).runId;
}

async function ask(query = ''): Promise<{ headers: Headers; text: string }> {
  const response = await server.get(`/api/v2/server/runs?secret_key=${key}${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { headers: response.headers, text };
}

const listed = async (query = ''): Promise<Listed> =>
  (JSON.parse((await ask(query)).text) as { result: Listed }).result;

const versionNow = async (): Promise<number> => Number((await ask()).headers.get('x-data-version'));

before(async () => {
  server = await shop.serve();
  key = await shop.must('keys', 'create', 'reader');
});
after(async () => {
  await server.stop();
  shop.close();
});

test('each import and deletion is a run with the version that it brought; an undo marks it (contract 9.12)', async () => {
  const runs: { run: number; version: number }[] = [];
  for (const [name, symbol, closes] of [
    ['a.csv', 'A', [11, 12]],
    ['b.csv', 'B', [11]],
    ['a-again.csv', 'A', [11, 13]],
  ] as const)
    runs.push({ run: await importDays(name, symbol, closes), version: await versionNow() });
  await shop.must('delete', 'bars', '--country', 'US', '--symbol', 'B');
  const deleted = await versionNow();
  const beforeUndo = await listed();
  await shop.must('undo', String(runs[0]!.run));
  const { data, count, next_page_key } = await listed();
  assert.deepEqual([count, next_page_key], [4, null]);
  assert.deepEqual(
    data.map(({ run, kind, dataset, rows, undone, data_version }) => [
      ...[run, kind, dataset, rows, undone, data_version],
    ]),
    [
      [runs[0]!.run, 'import', 'bars', 2, true, runs[0]!.version],
      [runs[1]!.run, 'import', 'bars', 1, false, runs[1]!.version],
      [runs[2]!.run, 'import', 'bars', 1, false, runs[2]!.version],
      [runs[2]!.run + 1, 'delete', 'bars', 1, false, deleted],
    ],
  );
  assert.deepEqual(
    data.slice(0, 3).map(({ file }) => file),
    ['a.csv', 'b.csv', 'a-again.csv'],
  );
  assert.deepEqual(
    beforeUndo.data.map(({ undone }) => undone),
    [false, false, false, false],
  );
  for (const { finished_at: at } of data) {
    assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?\+00:00$/);
    assert.ok(Math.abs(Date.now() - Date.parse(at)) < 600_000, at);
  }
});

test('runs are walked in pages, in both orders and as CSV, and a run that comes meanwhile is no second one (contract 4.1, 9.12)', async () => {
  const { data: all } = await listed();
  for (const sort of ['asc', 'desc']) {
    const walked: number[] = [];
    let page = await listed(`&sort=${sort}&limit=1`);
    await importDays(`meanwhile-${sort}.csv`, 'C', [11]);
    for (;;) {
      walked.push(...page.data.map(({ run }) => run));
      if (page.next_page_key === null) break;
      page = await listed(`&sort=${sort}&limit=1&next_page_key=${page.next_page_key}`);
    }
    assert.deepEqual(
      walked,
      walked.toSorted((a, b) => (sort === 'asc' ? a - b : b - a)),
    );
    assert.equal(new Set(walked).size, walked.length);
    for (const { run } of all) assert.ok(walked.includes(run), `${run} in ${walked.join(' ')}`);
  }
  const [head, ...rows] = parseCsv((await ask('&format=csv')).text);
  assert.deepEqual(head, ['run', 'kind', 'dataset', 'file', 'rows', 'finished_at', 'undone', 'data_version']);
  assert.equal(rows.length, (await listed()).count);
});

test('as of a moment the runs are those that had ended by then, undone or not yet (contract 9.8, 9.12)', async () => {
  const run = await importDays('dated.csv', 'D', [11]);
  const at = (ms: number): string => `&sort=desc&limit=1&as_of=${new Date(ms).toISOString()}`;
  const [newest] = (await listed('&sort=desc&limit=1')).data;
  assert.equal(newest!.run, run);
  // Both are told in whole seconds.
  const endedMs = Date.parse(newest!.finished_at) + 1_000;
  await until('two seconds have passed', () => Date.now() >= endedMs + 1_100);
  await shop.must('undo', String(run));
  assert.deepEqual(
    (await listed(at(endedMs))).data.map((one) => [one.run, one.undone]),
    [[run, false]],
  );
  assert.equal((await listed('&sort=desc&limit=1')).data[0]!.undone, true);
  assert.ok((await listed(at(endedMs - 60_000))).data.every((one) => one.run < run));
});

test('files of one command have the version in which callers see them', async () => {
  const folder = ['x', 'y', 'z'].map((symbol) => {
    const path = shop.path(`${symbol}.csv`);
    writeFileSync(path, `datetime,symbol,open,high,low,close,volume\n2025-03-03,${symbol},10,20,5,11,100\n`);
    return path;
  });
  const earlier = await versionNow();
  await shop.must('import', 'bars', ...folder, ...stock);
  const later = await versionNow();
  const { data } = await listed('&sort=desc&limit=3');
  for (const { data_version: version } of data)
    assert.ok(version! > earlier && version! <= later, `${earlier} < ${version} <= ${later}`);
});
