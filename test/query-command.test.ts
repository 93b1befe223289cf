// `bourse query`: answers of the service from the store alone (contract 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const DAYS = '/api/v2/stock/bars/US:AAPL/DAY/from/2025-03-03/to/2025-03-07';

before(async () => {
  const rows = ['03', '04', '05', '06', '07'].map((day) => `2025-03-${day},10,12,9,11,100`);
  writeFileSync(shop.path('days.csv'), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'AAPL', '--interval', 'DAY'];
  await shop.must('import', 'bars', shop.path('days.csv'), ...flags);
});

type Page = { readonly result: { readonly count: number; readonly next_page_url: string | null } };

test('the next page is asked with the path that the first one names, and the last one names none', async () => {
  const first = await shop.run('query', `${DAYS}?limit=3`);
  assert.equal(first.status, 0, first.stderr);
  const { count, next_page_url: next } = (JSON.parse(first.stdout) as Page).result;
  assert.equal(count, 3);
  assert.ok(next!.startsWith(DAYS));
  assert.equal(first.stderr, `bourse: there is a next page: bourse query '${next}'\n`);
  const second = await shop.run('query', next!);
  assert.deepEqual(
    [second.status, second.stderr, (JSON.parse(second.stdout) as Page).result.count],
    [0, '', 2],
  );
});

test('a page key of the command is one of the service', async () => {
  const key = await shop.must('keys', 'create', 'reader');
  const server = await shop.serve();
  const first = JSON.parse((await shop.run('query', `${DAYS}?limit=3`)).stdout) as Page;
  const response = await server.get(`${first.result.next_page_url}&secret_key=${key}`);
  assert.equal(((await response.json()) as Page).result.count, 2);
  await server.stop();
});

test('a whole URL is read from its path on, CSV as it is, and several requests in their order', async () => {
  const { stdout, stderr, status } = await shop.run(
    ...['query', `https://api.example.com${DAYS}?format=csv&limit=1&secret_key=abc`, DAYS.slice(1)],
  );
  assert.equal(status, 0);
  assert.match(stdout, /^asset_schema,.*\r?\nSTOCK,DAY,US,.*\r?\n\{"status":"ok"/);
  assert.match(stderr, /^bourse: there is a next page: .*\n$/);
});

test('a refusal names the mistake and what would be right, the other requests are answered, and the status is 1', async () => {
  const wrong = {
    '/api/v2/stock/bars/US:NONE/DAY/latest': /^bourse: 404 unknown_instrument: .*\n$/,
    [`${DAYS}?limit=0`]: /^bourse: 400 invalid_parameter: limit must be a whole number from 1 to 1000\..*\n$/,
    [`${DAYS}?limit=1&next_page_key=abc`]: /^bourse: 400 invalid_page_key: .*\n$/,
    '/api/v3/none':
      /^bourse: 404 unknown_path: No endpoint has this path\. Paths begin with \/api\/v2\/.*\n$/,
  };
  for (const [path, message] of Object.entries(wrong)) {
    const { status, stdout, stderr } = await shop.run('query', path, DAYS);
    assert.equal(status, 1, path);
    assert.match(stderr, message);
    assert.equal((JSON.parse(stdout) as Page).result.count, 5);
  }
});

test('parameters that no endpoint knows are named with the likely one', async () => {
  const { stderr, status } = await shop.run('query', `${DAYS}?adjst=all`);
  assert.deepEqual([status, stderr], [0, 'bourse: ignored parameters: adjst (adjust?)\n']);
});

test('the warnings in the headers of an answer are printed beside it', async () => {
  const actions = shop.path('actions.csv');
  const rows = ['dividend,2025-03-04,60,', 'spinoff,2025-03-06,,0.8'];
  writeFileSync(actions, ['action_type,ex_date,cash_amount,adjustment_factor', ...rows, ''].join('\n'));
  const named = ['--country', 'US', '--symbol', 'AAPL'];
  await shop.must('import', 'corporate-actions', actions, ...named);
  const { stderr, status } = await shop.run('query', `${DAYS}?adjust=all`);
  assert.deepEqual(
    [status, stderr.split('\n')],
    [
      0,
      [
        'bourse: Corporate actions that could not be applied: dividend 2025-03-04 (no less than the price before it)',
        'bourse: Applied corporate actions that only extended=true lists: spinoff 2025-03-06',
        '',
      ],
    ],
  );
});

test('without a store, and without a path, it says so', async () => {
  const none = await shop.runWith({ BOURSE_STORE: shop.storeUrl('none') }, 'query', DAYS);
  assert.equal(none.status, 3);
  assert.match(none.stderr, /there is no store at /);
  const empty = await shop.run('query');
  assert.equal(empty.status, 2);
  assert.match(empty.stderr, /path/);
});
