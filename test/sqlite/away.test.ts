// A service whose store file is moved away: what needs a new connection to it is answered with a 503 until it
// is back (contract 6.3), and the state of the service says so (contract 7.6).
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import type { RecordOf } from '../../src/contract/endpoint.ts';
import type { operateStatus } from '../../src/contract/server.ts';
import { readExposition, totalOf } from '../exposition.ts';
import { fill } from '../reliability/load.ts';
import { type Server, Workshop } from '../service.ts';
import { until } from '../until.ts';
import { storeFile } from './files.ts';

const shop = new Workshop();
const other = new Workshop();
after(() => {
  shop.close();
  other.close();
});

const REQUESTS = 30;

type Line = { readonly msg: string; readonly cause?: string; readonly url?: string };

/** The lines that a server has logged of one kind. */
const linesOf = ({ log }: Server, kind: string): Line[] =>
  log.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === kind);

test('requests that meet a store that is away get a 503, a line of the log a second and a metric, and data once it is back', async () => {
  const { slow, fast } = await fill(shop, 250);
  // Every day of a year, of minutes.
  const dear = slow[0]!.replace(/6M\/from.*\?/, 'DAY/from/2015-01-01/to/2030-01-01?');
  const server = await shop.serve('--metrics-port', '0');
  const file = storeFile(shop.store);
  // Ordinary requests go on with the file that is open; the lane of dear ones opens it at its first request.
  assert.equal((await server.get(fast[0]!)).status, 200);
  renameSync(file, `${file}.away`);
  // In its place there is nothing, then a folder.
  for (const make of [() => undefined, () => mkdirSync(file)]) {
    make();
    // One after the other: of many at once some would be refused for the wait.
    for (let asked = 0; asked < REQUESTS; asked++) {
      const answer = await server.getOnce(dear);
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.match(await answer.text(), /"message":"The service cannot reach its store now\."/);
    }
  }
  rmdirSync(file);
  renameSync(`${file}.away`, file);
  assert.equal((await server.get(dear)).status, 200);
  const metrics = await fetch(linesOf(server, 'metrics')[0]!.url!);
  const counted = totalOf(readExposition(await metrics.text()), 'bourse_store_unavailable_total');
  assert.equal(counted, 2 * REQUESTS);
  // Then the whole log is written.
  await server.stop();
  const told = linesOf(server, 'unavailable');
  assert.ok(told.length >= 1 && told.length <= REQUESTS, `${told.length} lines`);
  assert.match(told[0]!.cause!, /there is no store at/);
  assert.deepEqual(linesOf(server, 'fault'), []);
});

type State = RecordOf<typeof operateStatus>;

test('the state of the service says that the data are away, and has the keys (contract 7.6)', async () => {
  const server = await other.serve();
  const key = await other.must('keys', 'create', 'operator', '--scope', 'operate');
  // In the moment of the change a read may fail otherwise.
  const stateWhere = (holds: (state: State) => boolean) =>
    until('the state is the one waited for', async () => {
      const response = await server.get(`/api/v2/operate/status?secret_key=${key}`);
      const { result } = (await response.json()) as { readonly result: State | null };
      return result !== null && holds(result) && result;
    });
  const file = storeFile(other.store);
  renameSync(file, `${file}.away`);
  const problem = 'The service cannot reach its store now.';
  const away = await stateWhere(({ health }) => health.problem === problem);
  assert.equal(away.health.ready, false);
  const { runs, failed_files, failed_count, findings, versions } = away;
  const unknown = [runs, failed_files, failed_count, findings, versions.data_version];
  assert.deepEqual(unknown, [null, null, null, null, null]);
  assert.deepEqual(
    away.keys!.map(({ name }) => name),
    ['operator'],
  );
  renameSync(`${file}.away`, file);
  assert.deepEqual((await stateWhere(({ health }) => health.ready)).runs, []);
  // What is imported from then on is served: the log of the file was removed with its name.
  const news = other.path('news.ndjson');
  const item = {
    publisher_url: 'https://example.com/1',
    title: 'One',
    published_date: '2025-01-02T10:00:00Z',
  };
  writeFileSync(news, JSON.stringify(item));
  await other.must('import', 'news', news);
  await stateWhere(({ runs: known }) => known?.length === 1);
});
