// A service whose store file is moved away: what needs a new connection to it is answered with a 503 until it
// is back (contract 6.3).
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { readExposition, totalOf } from '../exposition.ts';
import { fill } from '../reliability/load.ts';
import { type Server, Workshop } from '../service.ts';
import { storeFile } from './files.ts';

const shop = new Workshop();
after(() => shop.close());

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
