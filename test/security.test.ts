// SECURITY.md: its table names tests that are there; and no command and no request makes the program call an
// address (OWASP API7).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Workshop } from './service.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'SECURITY.md'), 'utf8');

const shop = new Workshop();
let connections = 0;
const listener = createServer((socket) => {
  connections++;
  socket.destroy();
});
before(() => new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve)));
after(() => {
  listener.close();
  shop.close();
});

const addressOf = (scheme: string): string =>
  `${scheme}://127.0.0.1:${(listener.address() as AddressInfo).port}/file.csv`;

/** The tests that a text names: a file and the beginning of a test's name. */
const namedTests = (text: string): (readonly [file: string, name: string])[] =>
  Array.from(text.matchAll(/`([\w/.-]+\.test\.ts)` "([^"]+)"/g), ([, file, name]) => [file!, name!]);

test('SECURITY.md has a row for each of the ten OWASP API risks of 2023, with tests', () => {
  const rows = Array.from(page.matchAll(/^\| \[API(\d+):2023\].*$/gm));
  assert.deepEqual(
    rows.map(([, number]) => Number(number)),
    Array.from({ length: 10 }, (_, index) => index + 1),
  );
  for (const [row] of rows) assert.ok(namedTests(row).length > 0, row);
});

test('every test that SECURITY.md names is there', () => {
  const missing = namedTests(page).filter(([file, name]) => {
    const path = join(root, file);
    return (
      !existsSync(path) ||
      !new RegExp(`\\btest\\(\\s*['\`]${RegExp.escape(name)}`).test(readFileSync(path, 'utf8'))
    );
  });
  assert.deepEqual(missing, []);
});

test('an address instead of a file is refused, and nothing is called', async () => {
  for (const scheme of ['http', 'https', 's3', 'file']) {
    const { status, stderr } = await shop.run('import', 'news', addressOf(scheme));
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^bourse: .*file\.csv/);
  }
  assert.equal(connections, 0);
});

test('addresses in imported data are texts: neither the import nor an answer calls them', async () => {
  const url = addressOf('http');
  const file = shop.path('news.ndjson');
  const item = {
    published_date: '2025-03-03T12:00:00Z',
    title: 'An address',
    publisher_url: url,
    publisher: url,
  };
  writeFileSync(file, `${JSON.stringify(item)}\n`);
  await shop.must('import', 'news', file);
  const key = await shop.must('keys', 'create', 'me');
  const server = await shop.serve();
  const text = await (await server.get(`/api/v2/news/latest?secret_key=${key}`)).text();
  assert.ok(text.includes(JSON.stringify(url)), text);
  assert.equal(connections, 0);
});
