// The command line and a service on a store in PostgreSQL: what they print and answer is the same as on a
// store in SQLite, and no password is printed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { barFlags, exampleFiles, examples, writeMinutes } from './copying.ts';
import { openDatabase, skip } from './server.ts';

const PASSWORD = 'hunter2';
const shop = new Workshop();
after(() => shop.close());

/** The requests of the examples, without a key. */
const requests = readFileSync(join(examples, 'requests.txt'), 'utf8')
  .match(/\/api\/v2\S*/g)!
  .map((target) => target.replace(/[?&]secret_key=<API_KEY>&?/, '?').replace(/\?$/, ''))
  // Runs tell when they were, and an undone one stays among them; sessions tell when their run was.
  .filter((target) => !/\/server\/runs|\/coverage\/US/.test(target));

test('a store in PostgreSQL gives the answers of one in SQLite, through imports, corrections and undos (contract 10)', {
  skip,
}, async (t) => {
  const server = await openDatabase();
  t.after(() => server.stop());
  const told: string[] = [];
  const stores = [fileStore(shop.path('lite.db')), server.url.replace('bourse@', `bourse:${PASSWORD}@`)];
  const run = async (store: string, ...args: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await shop.run(...args, '--store', store);
    told.push(stdout, stderr);
    assert.ok(status === 0 || args[0] === 'doctor', `${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const answers = async (store: string): Promise<string[]> => {
    const key = (await run(store, 'keys', 'create', 'me')).trim();
    const serving = await shop.serve('--store', store);
    const asked = [
      ...requests,
      ...['1M', '5M', '60M', 'DAY', 'WEEK'].map(
        (interval) =>
          `/api/v2/stock/bars/US:AAPL/${interval}/from/2025-03-01/to/2025-03-08?limit=70&format=csv`,
      ),
    ];
    const found: string[] = [];
    for (const target of asked) {
      const response = await serving.get(target, { headers: { authorization: `Bearer ${key}` } });
      found.push(`${target}\n${response.status} ${withoutOwn(await response.text())}`);
    }
    told.push(...serving.log);
    await serving.stop();
    return found;
  };
  const minutes = { symbols: ['AAPL', 'MSFT'], days: 3 };
  const bars = [100, 200].map((price) => writeMinutes(shop, `bars-${price}.csv`, { ...minutes, price }));
  const found: Record<string, string[]>[] = [];
  for (const store of stores) {
    for (const [dataset, file] of exampleFiles) await run(store, 'import', dataset, file);
    await run(store, 'import', 'bars', bars[0]!, ...barFlags);
    const first = await answers(store);
    await run(store, 'import', 'bars', bars[1]!, ...barFlags);
    const corrected = await answers(store);
    const hash = (await run(store, 'status', '--content-hash')).match(/content hash +(\w+)/)!;
    await run(store, 'undo', '8');
    const undone = await answers(store);
    const printed: string[] = [];
    for (const words of compared) {
      const { stdout, stderr, status } = await shop.run(...words, '--store', store);
      told.push(stdout, stderr);
      printed.push(`${words.join(' ')}: ${status}\n${withoutOwn(stdout)}`);
    }
    found.push({ first, corrected, undone, hash: [hash[1]!], printed });
  }
  assert.deepEqual(found[1], found[0]);
  assert.notDeepEqual(found[1]!.corrected, found[1]!.first);
  assert.deepEqual(found[1]!.undone, found[1]!.first);
  assert.doesNotMatch(told.join('\n'), new RegExp(PASSWORD));
});

/** Commands that print the same on every engine. */
const compared = [
  ...['bars', ...exampleFiles.map(([dataset]) => dataset)].map((dataset) => ['export', dataset, '--quiet']),
  ['export', 'bars', '--symbol', 'AAPL', '--country', 'US', '--from', '2025-03-04', '--quiet'],
  ['import', 'economic-event-codes', join(examples, 'economic-event-codes.csv'), '--quiet'],
  ['check', '--json'],
  ['query', '/api/v2/stock/bars/US:AAPL/5M/latest?limit=9', '/api/v2/stock/coverage?limit=9'],
  ['delete', 'bars', '--symbol', 'MSFT', '--country', 'US', '--from', '2025-03-04', '--dry-run'],
  ['delete', 'news', '--symbol', 'AAPL', '--country', 'US'],
  ['undo', '1', '--dry-run'],
  ['check', 'bars'],
  ['keys', 'revoke', 'nothing'],
  ['export', 'news', '--quiet'],
];

/** An answer without what another secret and another request make different. */
const withoutOwn = (text: string): string =>
  text
    .replace(/"next_page_(?:key|url)":"[^"]*"/g, '"next_page":"…"')
    .replace(/"request_id":"[^"]*"/g, '"request_id":"…"')
    // How long it took.
    .replace(/\b[\d.]+ m?s\b|"\w*_ms":[\d.]+/g, '…');
