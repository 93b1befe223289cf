// The command line and a service on a store in PostgreSQL: its answers are those of a store in SQLite, and no password is printed.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { skip, startPostgres } from './server.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const PASSWORD = 'hunter2';
const shop = new Workshop();
after(() => shop.close());

/** Each dataset, with its file of examples. */
const datasets = [
  'instruments',
  'corporate-actions',
  'news',
  'option-contracts',
  'holidays',
  'economic-events',
];

/** The requests of the examples, without a key. */
const requests = readFileSync(join(examples, 'requests.txt'), 'utf8')
  .match(/\/api\/v2\S*/g)!
  .map((target) => target.replace(/[?&]secret_key=<API_KEY>&?/, '?').replace(/\?$/, ''));

/** Minutes of some sessions of two stocks, of which one is corrected. */
const minutes = (price: number): string =>
  ['AAPL', 'MSFT']
    .flatMap((symbol) =>
      Array.from({ length: 3 * 390 }, (_, index) => {
        const ms = Date.UTC(2025, 2, 3 + Math.floor(index / 390), 14, 30 + (index % 390));
        const open = (price + index / 100).toFixed(2);
        return `${symbol},${new Date(ms).toISOString()},${open},${open},${open},${open},${index}`;
      }),
    )
    .join('\n');

test('a store in PostgreSQL gives the answers of one in SQLite, through imports, corrections and undos (contract 10)', {
  skip,
}, async () => {
  const server = await startPostgres();
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
  const bars = [minutes(100), minutes(200)].map((rows, index) => {
    const path = shop.path(`bars-${index}.csv`);
    writeFileSync(path, `symbol,datetime,open,high,low,close,volume\n${rows}\n`);
    return path;
  });
  const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
  const found: Record<string, string[]>[] = [];
  for (const store of stores) {
    for (const dataset of datasets) await run(store, 'import', dataset, join(examples, `${dataset}.csv`));
    await run(store, 'import', 'bars', bars[0]!, ...flags);
    const first = await answers(store);
    await run(store, 'import', 'bars', bars[1]!, ...flags);
    const corrected = await answers(store);
    const hash = (await run(store, 'status', '--content-hash')).match(/content hash +(\w+)/)!;
    await run(store, 'undo', '8');
    const undone = await answers(store);
    await run(store, 'doctor', '--deep');
    found.push({ first, corrected, undone, hash: [hash[1]!] });
  }
  assert.deepEqual(found[1], found[0]);
  assert.notDeepEqual(found[1]!.corrected, found[1]!.first);
  assert.deepEqual(found[1]!.undone, found[1]!.first);
  assert.doesNotMatch(told.join('\n'), new RegExp(PASSWORD));
  await server.stop();
});

/** An answer without what another secret and another request make different. */
const withoutOwn = (text: string): string =>
  text
    .replace(/"next_page_(?:key|url)":"[^"]*"/g, '"next_page":"…"')
    .replace(/"request_id":"[^"]*"/g, '"request_id":"…"');
