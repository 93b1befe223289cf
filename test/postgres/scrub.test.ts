// Indexes of a store in PostgreSQL beside their tables: the server's own check finds what one has lost, and
// an absent check is reported.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { scrubWhenDue } from '../../src/cli/serve/scrubbing.ts';
import { Workshop } from '../service.ts';
import { askServer, openDatabase, skip } from './server.ts';

const shop = new Workshop();
after(() => shop.close());

const INDEX = 'economic_events_by_event_timestamp_rank_event_code_source_id';

/** Imports one event. */
async function importEvent(store: string, day: string): Promise<void> {
  const file = shop.path(`${day}.csv`);
  const columns = 'country_iso_code,event_code,event_name,event_timestamp';
  writeFileSync(file, `${columns}\nUS,CPI,Consumer prices,${day}T13:30:00Z\n`);
  await shop.must('import', 'economic-events', file, '--store', store);
}

test('an index that has lost a row is found by the server’s own check; without the check doctor says so (house rules)', {
  skip,
}, async (t) => {
  const server = await openDatabase();
  t.after(() => server.stop());
  const { url } = server;
  const deep = () => shop.run('doctor', '--deep', '--store', url);
  await importEvent(url, '2025-03-04');

  const absent = await deep();
  assert.equal(absent.status, 0, absent.stderr);
  assert.match(absent.stdout, /warn +indexes +.*create extension amcheck/);

  const told: string[] = [];
  await scrubWhenDue(url, 1, (words) => void told.push(words), 0);
  assert.match(told.join('\n'), /^indexes are not compared with their tables.*create extension amcheck$/);

  await askServer(url, 'create extension amcheck');
  // An index that is not kept misses what is written meanwhile, as a lost page does.
  const keeps = (isKept: boolean): Promise<unknown> =>
    askServer(
      url,
      `update pg_index set indisready = ${isKept}, indisvalid = ${isKept} where indexrelid = 'bourse.${INDEX}'::regclass`,
    );
  await keeps(false);
  await importEvent(url, '2025-03-05');
  await keeps(true);

  const found = await deep();
  assert.equal(found.status, 1);
  assert.match(
    found.stdout,
    new RegExp(`damaged: economic_events, index ${INDEX}: heap tuple .* lacks matching`),
  );
  assert.match(found.stdout, /restore a backup: pg_restore/);
  await askServer(url, `reindex index bourse.${INDEX}`);
  assert.match((await deep()).stdout, /every row, block and index is as it was written/);
});
