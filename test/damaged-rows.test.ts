// Damaged rows stop nothing else, and are deleted and imported again (contract 10).
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { undoRun } from '../src/runs/undo-run.ts';
import { openStore } from '../src/store/engines.ts';
import type { Reader, Store } from '../src/store/store.ts';
import { Workshop } from './service.ts';
import { alterStore, contentOf, copyStore, rowsOf } from './stores.ts';
import { until } from './until.ts';

const shop = new Workshop();
after(() => shop.close());

const files: Readonly<Record<string, string>> = {
  instruments: 'asset_schema,country_iso_code,symbol,name\nstock,US,A,Alpha Works\nstock,US,B,Beta Foods\n',
  'corporate-actions':
    'country_iso_code,symbol,action_type,ex_date,cash_amount\nUS,A,dividend,2024-02-09,0.1\nUS,B,dividend,2024-05-10,0.2\n',
  news: 'published_date,title,publisher_url,asset_name,country_iso_code,symbol\n2025-03-03T12:00:00Z,One,https://example.com/1,stock,US,A\n2025-03-04T12:00:00Z,Two,https://example.com/2,stock,US,B\n',
  'economic-event-codes':
    'country_iso_code,event_code,description\nUS,OWN_CODE,Ours\nUS,SECOND_CODE,Theirs\n',
  holidays:
    'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template\nFlood,HOLIDAY_FLOOD,2025-03-05,stock,US,*,CLOSED\n',
  'option-contracts':
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type' +
    ',bid\nCEDAR270115C00100000,US,stock,CEDAR,100,2027-01-15,call,1.5\n',
};

const bars =
  'symbol,datetime,open,high,low,close,volume\nA,2025-03-03T15:00:00Z,1,1,1,1,1\nB,2025-03-03T15:00:00Z,2,2,2,2,2\n';
const barFlags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

let made = 0;

/** A copy of the store and its keys with damage. */
function damaged(...statements: readonly string[]): string {
  const store = shop.storeUrl(`case-${++made}`);
  copyStore(shop.store, store);
  alterStore(store, ...statements);
  return store;
}

const hashOf = async (store: string): Promise<string> => {
  const found = await shop.run('status', '--content-hash', '--json', '--store', store);
  return JSON.parse(found.stdout).content_hash;
};

/** The runs: 1 instruments, 2 bars, then those of the other files in their order. */
let sound = '';
const runOf: Record<string, string> = {};

before(async () => {
  writeFileSync(shop.path('bars.csv'), bars);
  for (const [dataset, text] of Object.entries(files)) {
    writeFileSync(shop.path(`${dataset}.csv`), text);
    const report = JSON.parse(await shop.must('import', dataset, `${dataset}.csv`, '--json'));
    runOf[dataset] = String(report.runId);
    if (dataset !== 'instruments') continue;
    const { runId } = JSON.parse(await shop.must('import', 'bars', 'bars.csv', ...barFlags, '--json'));
    runOf.bars = String(runId);
  }
  await shop.must('keys', 'create', 'me');
  sound = await hashOf(shop.store);
});

/** Damage to one row of each dataset, and how its row is named. */
const damage: Readonly<Record<string, readonly [statement: string, place: RegExp]>> = {
  instruments: [
    "update instruments set name = 'Alpha Worms' where symbol = 'A'",
    /row asset_schema "stock", country_iso_code "US", symbol "A"/,
  ],
  'corporate-actions': [
    "update corporate_actions set cash_amount = 0.3 where symbol = 'A'",
    /corporate_actions, row .*symbol "A"/,
  ],
  news: ["update news set title = 'Onf' where symbol = 'A'", /news, row news_id/],
  'economic-event-codes': [
    "update economic_event_codes set description = 'Ourt' where event_code = 'OWN_CODE'",
    /economic_event_codes, row .*"OWN_CODE"/,
  ],
  holidays: ["update holidays set name = 'Floof'", /holidays, row /],
  // The contract is sound, its quote is not.
  'option-contracts': ['update option_quotes set bid = 2.5', /option_quotes, row .*symbol "CEDAR/],
};

for (const [dataset, [statement, place]] of Object.entries(damage))
  test(`a damaged row of ${dataset} is named by an export, a content hash and an import, which are refused`, async () => {
    const store = damaged(statement);
    const out = shop.path(`${dataset}-${made}.csv`);
    for (const words of [
      ['export', dataset, '--out', out],
      ['import', dataset, `${dataset}.csv`],
    ]) {
      const refused = await shop.run(...words, '--store', store);
      assert.equal(refused.status, 3);
      assert.match(refused.stderr, place);
      assert.match(
        refused.stderr,
        /^bourse: bourse doctor --deep lists all that is damaged, and what to do$/m,
      );
    }
    assert.equal(existsSync(out), false);
    const hash = await shop.run('status', '--content-hash', '--store', store);
    assert.equal(hash.status, 1);
    assert.match(hash.stderr, place);
    assert.doesNotMatch(hash.stdout, /^content hash/m);
    const { stdout } = await shop.run('doctor', '--deep', '--port', '0', '--store', store);
    assert.match(stdout, new RegExp(`bourse delete ${dataset}\\) and import .* again, or restore a backup`));
  });

test('an instrument whose row is damaged is deleted with its bars, and all of it imported again', async () => {
  const store = damaged();
  const about = ['--symbol', 'A', '--country', 'US', '--store', store];
  const news = JSON.parse(await shop.must('delete', 'news', ...about, '--schema', 'stock', '--json'));
  alterStore(store, damage.instruments![0]);
  const bars = await shop.run('delete', 'bars', ...about);
  assert.equal(bars.status, 3);
  assert.match(bars.stderr, damage.instruments![1]);
  const report = JSON.parse(await shop.must('delete', 'instruments', ...about, '--json'));
  assert.deepEqual(
    [report.bars, report.damagedDeleted, report.instrumentsDeleted],
    [[{ interval: '1M', count: 1 }], 1, 1],
  );
  const found = await shop.must('query', '/api/v2/stock/reference/search?query=alpha', '--store', store);
  assert.equal(JSON.parse(found).result.count, 0);
  // A row that comes back needs its instrument.
  const orphaned = await shop.run('undo', String(news.runId), '--store', store);
  assert.equal(orphaned.status, 2);
  assert.match(
    orphaned.stderr,
    /news of stock:US:A would be left without their instrument, which run 9 deleted: undo that first, by bourse undo 9$/m,
  );
  await shop.must('import', 'instruments', 'instruments.csv', '--store', store);
  await shop.must('import', 'bars', 'bars.csv', ...barFlags, '--store', store);
  await shop.must('undo', String(news.runId), '--store', store);
  assert.equal(await hashOf(store), sound);
  // The runs before had it too: what they brought is gone with it, and what came again stays.
  for (const run of [runOf.instruments!, runOf.bars!, String(report.runId)])
    await shop.must('undo', run, '--store', store);
  assert.equal(await hashOf(store), sound);
  assert.equal((await shop.run('doctor', '--deep', '--port', '0', '--store', store)).status, 0);
});

test('a damaged instrument that shares its symbol is deleted by its asset type alone', async () => {
  const store = damaged();
  const csv = shop.path('futures.csv');
  writeFileSync(csv, 'asset_schema,country_iso_code,symbol,name\nfuture,US,A,Alpha\n');
  await shop.must('import', 'instruments', csv, '--store', store);
  alterStore(store, `${damage.instruments![0]} and asset_schema = 'stock'`);
  const about = ['--symbol', 'A', '--country', 'US', '--store', store];
  const refused = await shop.run('delete', 'instruments', ...about);
  assert.equal(refused.status, 2, refused.stderr);
  assert.match(refused.stderr, /US:A is of several asset types: choose by --schema one of stock, future/);
  const chosen = ['delete', 'instruments', ...about, '--json', '--schema'];
  assert.equal(JSON.parse(await shop.must(...chosen, 'future')).instrument, 'future:US:A');
  assert.equal(JSON.parse(await shop.must(...chosen, 'stock')).instrument, 'stock:US:A');
});

test('an instrument whose symbol is damaged is not deleted: no import could bring it again', async () => {
  const store = damaged("update instruments set symbol = 'AB' where symbol = 'A'");
  const before = contentOf(store);
  const about = ['--symbol', 'AB', '--country', 'US', '--store', store];
  const refused = await shop.run('delete', 'instruments', ...about);
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, /instruments, row .*symbol "AB": its checksum does not match/);
  assert.deepEqual(contentOf(store), before);
  assert.equal((await shop.run('doctor', '--deep', '--port', '0', '--store', store)).status, 1);
});

test('bars of an instrument whose row is damaged are refused in words, other files are imported', async () => {
  const store = damaged(damage.instruments![0]);
  writeFileSync(shop.path('b.csv'), bars.replace(/^A.*\n/m, '').replaceAll('15:00', '15:01'));
  const done = await shop.run('import', 'bars', 'bars.csv', 'b.csv', ...barFlags, '--store', store);
  assert.equal(done.status, 1);
  assert.match(done.stderr, /^bourse: stored data is damaged: instruments, row .*symbol "A"/m);
  assert.match(done.stderr, /^bourse: bourse doctor --deep lists all that is damaged, and what to do$/m);
  assert.doesNotMatch(done.stderr, /^ +at /m);
  assert.match(done.stdout, /^b\.csv: 1 row read, 1 new/m);
});

test('an import goes past damaged rows of the journal and of runs that it only looks at', async () => {
  const store = damaged(
    'update import_runs set rows_read = rows_read + 1',
    'update block_changes set row_check = 0',
    'update row_changes set row_check = 0',
    'update run_spans set row_check = 0',
  );
  writeFileSync(shop.path('new.csv'), bars.replaceAll(',1,1,1,1,1', ',3,3,3,3,3'));
  await shop.must('import', 'bars', 'new.csv', ...barFlags, '--store', store);
  writeFileSync(shop.path('renamed.csv'), files.news!.replaceAll('One', 'One!'));
  await shop.must('import', 'news', 'renamed.csv', '--store', store);
  writeFileSync(shop.path('fresh.csv'), files.instruments!.replaceAll('Beta', 'Gamma'));
  await shop.must('import', 'instruments', 'fresh.csv', '--store', store);
});

for (const [dataset, choice, other] of [
  ['news', ['--symbol', 'A', '--country', 'US', '--schema', 'stock'], ['--symbol', 'B']],
  ['news', ['--all'], null],
  ['corporate-actions', ['--symbol', 'A', '--country', 'US'], null],
  ['economic-event-codes', ['--country', 'US', '--event-code', 'OWN_CODE'], null],
  ['option-contracts', ['--contract', 'CEDAR270115C00100000', '--country', 'US'], null],
] as const)
  test(`a deletion of ${dataset} ${choice.join(' ')} removes damaged rows of the choice`, async () => {
    const store = damaged(damage[dataset]![0]);
    if (other !== null) {
      await shop.must('delete', dataset, ...other, ...choice.slice(2), '--store', store);
      assert.equal((await shop.run('status', '--content-hash', '--store', store)).status, 1);
    }
    const words = await shop.must('delete', dataset, ...choice, '--store', store);
    assert.match(words, /1 of them damaged, which no undo restores deleted \(run \d+\)/);
    assert.equal((await shop.run('status', '--content-hash', '--store', store)).status, 0);
    await shop.must('import', dataset, `${dataset}.csv`, '--store', store);
    assert.equal(await hashOf(store), sound);
  });

test('an undo that reads a damaged row is refused whole, and done once that is deleted', async () => {
  const store = damaged(damage.news![0]);
  const refused = await shop.run('undo', runOf.news!, '--store', store);
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, /news, row news_id .*: its checksum does not match; run \d+ is not undone: /);
  assert.equal(rowsOf(store, 'select news_id from news').length, 2);
  const choice = ['--symbol', 'A', '--country', 'US', '--schema', 'stock'];
  await shop.must('delete', 'news', ...choice, '--store', store);
  const report = JSON.parse(await shop.must('undo', runOf.news!, '--json', '--store', store));
  assert.equal(report.rowsRemoved, 1);
  assert.equal((await shop.run('status', '--content-hash', '--store', store)).status, 0);
});

for (const [what, statement, place] of [
  [
    'entry of its journal',
    `update row_changes set row_check = 0 where dataset = 'news' and row_key = (select min(row_key) from row_changes where dataset = 'news')`,
    /row_changes, row dataset "news"/,
  ],
  ['record of what it held', 'update run_spans set row_check = 0', /run_spans, row run_id/],
] as const)
  test(`a run with a damaged ${what} is not undone`, async () => {
    const store = damaged(statement);
    const run = what === 'entry of its journal' ? runOf.news! : runOf.bars!;
    const refused = await shop.run('undo', run, '--store', store);
    assert.equal(refused.status, 3);
    assert.match(refused.stderr, place);
    assert.match(refused.stderr, new RegExp(`; run ${run} is not undone: restore a backup, or `));
  });

test('a number beyond those of JavaScript is damage like any other', async () => {
  const store = damaged('update import_runs set started_ms = 9223372036854775807 where run_id = 1');
  const found = await shop.run('doctor', '--deep', '--port', '0', '--store', store);
  assert.equal(found.status, 1);
  assert.match(found.stdout, /import_runs, row run_id 1: its checksum does not match: restore a backup/);
  assert.match((await shop.run('status', '--store', store)).stderr, /not counted: import_runs, row run_id 1/);
});

test('a damaged run is named where runs are listed, is never undone, and is not taken for none', async () => {
  const newest = runOf.holidays!;
  const store = damaged(`update import_runs set rows_read = 7 where run_id = ${newest}`);
  const listed = await shop.run('undo', '--store', store);
  assert.equal(listed.status, 2);
  assert.match(listed.stderr, new RegExp(`import_runs, row run_id ${newest}: its checksum does not match`));
  assert.match(listed.stderr, /is not listed.*restore a backup: (?:bourse restore FILE --force|pg_restore)/);
  assert.match(listed.stderr, new RegExp(`^ *${Number(newest) - 1} `, 'm'));
  const undone = await shop.run('undo', newest, '--store', store);
  assert.equal(undone.status, 3);
  const words = `import_runs, row run_id ${newest}: its checksum does not match`;
  assert.ok(undone.stderr.includes(words), undone.stderr);
  assert.doesNotMatch(undone.stderr, /there is no run/);
});

test('status counts what no damage hides, names what is damaged, and ends with 1 (contract 10)', async () => {
  const store = damaged(damage.instruments![0], 'update import_runs set rows_read = 7 where run_id = 1');
  const done = await shop.run('status', '--json', '--store', store);
  assert.equal(done.status, 1);
  const status = JSON.parse(done.stdout);
  assert.deepEqual([status.totals.series, status.totals.bars], [null, null]);
  assert.deepEqual(
    status.damaged.map((one: { dataset: string }) => one.dataset),
    ['instruments', 'import_runs'],
  );
  assert.ok(status.runs.length > 2 && status.runs.every((run: { run_id: number }) => run.run_id !== 1));
  assert.match(done.stderr, /^bourse: damaged, not counted: import_runs, row run_id 1: /m);
});

test('keys list and calendar name damage in words, with what to do (contract 10)', async () => {
  const store = damaged(damage.holidays![0]);
  alterStore(store, "update api_keys set name = 'you'");
  for (const words of [
    ['keys', 'list'],
    ['calendar', 'US'],
  ]) {
    const told = await shop.run(...words, '--store', store);
    assert.equal(told.status, 3);
    assert.match(
      told.stderr,
      /^bourse: stored data is damaged: (?:api_keys|holidays), row .*\nbourse: bourse doctor --deep/,
    );
    assert.doesNotMatch(told.stderr, /^ +at /m);
    const { error, hint } = JSON.parse((await shop.run(...words, '--json', '--store', store)).stderr);
    assert.deepEqual(
      [error, hint],
      ['damaged', 'bourse doctor --deep lists all that is damaged, and what to do'],
    );
  }
});

test('a watch goes on past a file whose run is damaged, and imports no file twice for it', async () => {
  const store = damaged(`update import_runs set rows_read = 7 where run_id = ${runOf.news}`);
  mkdirSync(shop.path('incoming'));
  writeFileSync(shop.path('incoming/news.csv'), files.news!);
  writeFileSync(shop.path('incoming/other.csv'), files.news!.replaceAll('example', 'example2'));
  const watch = shop.start(['import', 'news', '--watch', 'incoming', '--store', store]);
  let told = '';
  for (const stream of [watch.stdout!, watch.stderr!]) stream.on('data', (piece) => (told += piece));
  await until(
    () => `other.csv is imported: ${told}`,
    () => told.includes('other.csv: 2 rows'),
  );
  watch.kill('SIGTERM');
  assert.match(told, /incoming\/news\.csv: not imported: stored data is damaged: import_runs, row run_id/);
  assert.match(told, /other\.csv: 2 rows read, 2 new/);
  assert.doesNotMatch(told, /news\.csv: 2 rows read/);
});

test('the newest news and events are answered beside a damaged one that is still to come', async () => {
  const store = damaged();
  const later = {
    news: 'published_date,title,publisher_url\n2199-01-02T12:00:00Z,Later,https://example.com/3\n',
    'economic-events':
      'country_iso_code,event_code,event_name,event_timestamp\n' +
      'US,ONE,Now,2025-03-03T13:30:00Z\nUS,ONE,Later,2199-01-02T13:30:00Z\n',
  };
  for (const [dataset, text] of Object.entries(later)) {
    writeFileSync(shop.path(`later-${dataset}.csv`), text);
    await shop.must('import', dataset, `later-${dataset}.csv`, '--store', store);
  }
  alterStore(
    store,
    "update news set publisher = 'Onf' where title = 'Later'",
    "update economic_events set unit = 'Onf' where event_name = 'Later'",
  );
  for (const [path, newest] of [
    ['news/latest?', '"Two"'],
    ['economic_calendar/event?country_iso_code=US', '"Now"'],
    ['economic_calendar/latest_event_list?country_iso_code=US&date_type=historical&format=json', '"Now"'],
  ])
    assert.match(await shop.must('query', `/api/v2/${path}`, '--store', store), new RegExp(newest!));
});

test('an undo reads whole tables beside their indexes before it keeps other writers out', async () => {
  const store = await openStore(damaged(), 'write');
  const read = { before: 0, inside: 0 };
  /** The same reader or writer, which counts the tables that are read whole. */
  const counting = <R extends Reader>(reader: R, when: keyof typeof read): R =>
    new Proxy(reader, {
      get(target, name) {
        if (name === 'structure') read[when]++;
        const member = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  const watched: Store = {
    ...store,
    snapshot: (work) => store.snapshot((reader) => work(counting(reader, 'before'))),
    write: (work, onWait) => store.write((writer) => work(counting(writer, 'inside')), onWait),
  };
  const { rowsRemoved } = await undoRun(watched, {
    runId: Number(runOf.news),
    dryRun: true,
    nowMs: Date.now,
  });
  await store.close();
  assert.equal(rowsRemoved, 2);
  assert.deepEqual(read, { before: 5, inside: 0 });
});
