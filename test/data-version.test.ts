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
