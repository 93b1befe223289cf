// `bourse doctor --deep --repair-indexes` rebuilds what is derived from whole tables, and nothing else
// (contract 10).
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Workshop } from '../service.ts';
import { alter } from './copies.ts';
import { fileStore, rowsOfFile, storeFile } from './files.ts';

const shop = new Workshop();
after(() => shop.close());

const flags = ['--schema', 'stock', '--country', 'US'];
let made = 0;
let sound = '';

const hashOf = async (store: string): Promise<string> =>
  JSON.parse((await shop.run('status', '--content-hash', '--json', '--store', store)).stdout).content_hash;

before(async () => {
  const files = {
    instruments: 'symbol,name\nA,Alpha Works\nB,Beta Foods\n',
    bars: 'symbol,datetime,open,high,low,close\nA,2025-03-03T15:00:00Z,1,1,1,1\nB,2025-03-03T15:00:00Z,2,2,2,2\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(shop.path(`${name}.csv`), text);
  await shop.must('import', 'instruments', 'instruments.csv', ...flags);
  await shop.must('import', 'bars', 'bars.csv', ...flags, '--interval', '1M');
  const news = 'published_date,title,publisher_url\n';
  writeFileSync(
    shop.path('news.csv'),
    `${news}2025-03-03T12:00:00Z,One,https://example.com/1\n2025-03-04T12:00:00Z,Two,https://example.com/2\n`,
  );
  await shop.must('import', 'news', 'news.csv');
  await shop.must('keys', 'create', 'me');
  sound = await hashOf(shop.store);
});

function damaged(...statements: readonly string[]): string {
  const path = shop.path(`case-${++made}.db`);
  copyFileSync(storeFile(shop.store), path);
  copyFileSync(shop.path('bourse.control.db'), path.replace('.db', '.control.db'));
  for (const statement of statements) alter(path, statement);
  return fileStore(path);
}

/** Statements that run while an index is not kept: afterwards it differs from its table. */
function behind(index: string, statement: string): string[] {
  const [entry] = rowsOfFile(storeFile(shop.store), `select * from sqlite_schema where name = '${index}'`);
  const { tbl_name, rootpage, sql } = entry as { tbl_name: string; rootpage: number; sql: string };
  const within = (change: string): string =>
    `pragma writable_schema = on; ${change}; pragma writable_schema = reset`;
  return [
    within(`delete from sqlite_schema where name = '${index}'`),
    statement,
    within(`insert into sqlite_schema values ('index', '${index}', '${tbl_name}', ${rootpage}, '${sql}')`),
  ];
}

type Found = {
  readonly check: string;
  readonly state: string;
  readonly message: string;
  readonly cure: string | null;
};

/** What doctor says of the data, and of repairs. */
async function examine(store: string, ...more: readonly string[]): Promise<readonly Found[]> {
  const { stdout } = await shop.run('doctor', '--deep', ...more, '--json', '--port', '0', '--store', store);
  return (JSON.parse(stdout) as Found[]).filter(({ check }) => check === 'data' || check === 'repair');
}

const statesOf = (found: readonly Found[]): string[] => found.map(({ check, state }) => `${check} ${state}`);

/** A row that its table has, and one of its indexes has not. */
const lostByIndex = (table: string, index: string, where: string): string[] => [
  `create table kept as select * from ${table} where ${where}`,
  `delete from ${table} where ${where}`,
  ...behind(index, `insert into ${table} select * from kept`),
  'drop table kept',
];

const lost: readonly (readonly [table: string, index: string, where: string])[] = [
  ['instruments', 'instruments_by_instrument_id', "symbol = 'A'"],
  ['news', 'news_by_published_date_news_id', "title = 'One'"],
  ['bar_blocks', 'bar_blocks_key', 'rowid = 1'],
];
for (const [table, index, where] of lost)
  test(`an index of ${table} that lost a row is rebuilt from its table`, async () => {
    const store = damaged(...lostByIndex(table, index, where));
    const found = await examine(store);
    assert.ok(found.length > 0 && found.every(({ state }) => state === 'fail'));
    for (const { cure } of found) assert.equal(cure, 'bourse doctor --deep --repair-indexes');
    const repaired = await examine(store, '--repair-indexes');
    assert.deepEqual(statesOf(repaired), ['repair ok', 'data ok'], JSON.stringify(repaired));
    assert.equal(await hashOf(store), sound);
  });

test('an index that still has a row of which its table has lost the rest stays: it alone shows that there was one', async () => {
  const store = damaged(...behind('news_by_published_date_news_id', "delete from news where title = 'One'"));
  const before = readFileSync(storeFile(store));
  for (const more of [[], ['--repair-indexes']]) {
    const found = await examine(store, ...more);
    assert.ok(statesOf(found).every((state) => state === 'data fail'));
    assert.ok(found.every(({ cure }) => /bourse restore FILE --force/.test(cure!)));
  }
  assert.ok(readFileSync(storeFile(store)).equals(before));
});

test('an index beside a damaged row stays until that is repaired', async () => {
  const store = damaged(
    ...lostByIndex('news', 'news_by_published_date_news_id', "title = 'One'"),
    "update news set title = 'Twp' where title = 'Two'",
  );
  assert.ok(statesOf(await examine(store, '--repair-indexes')).every((state) => state === 'data fail'));
});

const termsOf = (store: string): unknown =>
  rowsOfFile(
    storeFile(store),
    'select asset_schema, country_iso_code, symbol, kind, term from instrument_terms order by 1, 2, 3, 4, 5',
  );

for (const statement of [
  "update instrument_terms set term = 'alphb works' where term = 'alpha works'",
  "update instrument_terms set row_check = row_check + 1 where kind = 'symbol'",
])
  test(`search terms are rebuilt from the instruments: ${statement}`, async () => {
    const store = damaged(statement);
    const found = await examine(store);
    assert.ok(found.every(({ cure }) => cure === 'bourse doctor --deep --repair-indexes'));
    assert.deepEqual(statesOf(await examine(store, '--repair-indexes')), ['repair ok', 'data ok']);
    assert.deepEqual(termsOf(store), termsOf(shop.store));
  });

test('search terms of damaged instruments wait for the import of these', async () => {
  const store = damaged(
    "update instrument_terms set row_check = 1 where symbol = 'B'",
    "update instruments set name = 'Alpha Worms' where symbol = 'A'",
  );
  const found = await examine(store, '--repair-indexes');
  assert.equal(found[0]!.check, 'repair');
  assert.match(found[0]!.message, /instrument_terms .*instruments, row .*symbol "A"/);
  assert.ok(statesOf(found).every((state) => state.endsWith('fail')));
  await shop.must('import', 'instruments', 'instruments.csv', ...flags, '--store', store);
  assert.deepEqual(statesOf(await examine(store, '--repair-indexes')), ['repair ok', 'data ok']);
});

test('search terms stay where the table of instruments has lost a row: they alone show that there was one', async () => {
  const store = damaged(
    `create temp table kept as select * from instruments_sums; delete from instruments where symbol = 'A';
     delete from instruments_sums; insert into instruments_sums select * from kept`,
    "update instrument_terms set row_check = row_check + 1 where symbol = 'B'",
  );
  const found = await examine(store, '--repair-indexes');
  assert.equal(found[0]!.check, 'repair');
  assert.match(
    found[0]!.message,
    /^instrument_terms cannot be rebuilt: instruments, its table or an index: /,
  );
  assert.ok(statesOf(found).every((state) => state.endsWith('fail')));
  assert.deepEqual(termsOf(store), termsOf(shop.store));
});

test('where SQLite cannot even empty an index, that is said, and nothing is changed', async () => {
  const store = damaged();
  const path = storeFile(store);
  const [index] = rowsOfFile(
    path,
    "select rootpage from sqlite_schema where name = 'news_by_published_date_news_id'",
  );
  const bytes = readFileSync(path);
  bytes.fill(0, ((index!.rootpage as number) - 1) * 16_384, (index!.rootpage as number) * 16_384);
  writeFileSync(path, bytes);
  const found = await examine(store, '--repair-indexes');
  assert.ok(found.length > 0 && found.every(({ state }) => state === 'fail'));
  assert.ok(
    found.every(({ cure }) => /bourse restore FILE --force/.test(cure!)),
    JSON.stringify(found),
  );
  assert.ok(readFileSync(path).equals(bytes));
});
