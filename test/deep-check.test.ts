// A damaged store: doctor names the damage, no backup is made of it, and an answer that needs the damaged
// part says so.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { scrub, scrubWhenDue } from '../src/cli/serve/scrubbing.ts';
import { claimScrub, readScrub } from '../src/store/control.ts';
import { type Damage, damageWords } from '../src/store/damage.ts';
import { openControl } from '../src/store/engines.ts';
import { Workshop } from './service.ts';
import { alterStore, testOfSqlite, zeroBytes } from './stores.ts';

const shops: Workshop[] = [];
after(() => {
  for (const shop of shops) shop.close();
});

const named = '--schema stock --country US --interval 1M'.split(' ');

/** A store with minutes of two stocks and one piece of news, then changed past the service. */
async function damagedShop(...statements: readonly string[]): Promise<Workshop> {
  const shop = new Workshop();
  shops.push(shop);
  for (const symbol of ['AA', 'BB']) {
    const file = shop.path(`${symbol}.csv`);
    writeFileSync(file, 'datetime,open,high,low,close\n2025-03-03T14:30:00Z,1,1,1,1\n');
    await shop.must('import', 'bars', file, ...named, '--symbol', symbol);
  }
  const news = shop.path('news.csv');
  writeFileSync(news, 'published_date,title,publisher_url\n2025-03-03T10:00:00Z,Up,https://a.example.com/\n');
  await shop.must('import', 'news', news);
  alterStore(shop.store, ...statements);
  return shop;
}

const longer = `update bar_blocks set bytes = bytes || ${zeroBytes(1)}`;

const damages = [
  {
    dataset: 'bars',
    statement: `${longer} where series_id = 1`,
    words: /bars, stock:US:AA 1M, 2025-03-03, imported by run 1: the checksum of its place does not match/,
    target: '/api/v2/stock/bars/US:AA/1M/latest',
    other: '/api/v2/stock/bars/US:BB/1M/latest',
  },
  {
    dataset: 'news',
    statement: "update news set title = 'Down'",
    words: /news, row news_id "[^"]+": its checksum does not match/,
    target: '/api/v2/news/latest',
    other: '/api/v2/stock/bars/US:AA/1M/latest',
  },
];
for (const { dataset, statement, words, target, other } of damages) {
  test(`what is damaged is named and not served, the rest is served: ${dataset} (house, Rules)`, async () => {
    const shop = await damagedShop(statement);
    const found = await shop.run('doctor', '--deep', '--json');
    assert.equal(found.status, 1);
    const told = (
      JSON.parse(found.stdout) as { check: string; state: string; message: string; cure: string }[]
    ).filter(({ check }) => check === 'data');
    assert.ok(
      told.some(({ state, message, cure }) => state === 'fail' && words.test(message) && /import/.test(cure)),
    );

    const secret = (await shop.must('keys', 'create', 'test')).trim();
    const server = await shop.serve();
    const answer = await server.get(`${target}?secret_key=${secret}`);
    assert.equal(answer.status, 500);
    const body = (await answer.json()) as { message: string; detail: { error: string } };
    assert.equal(body.detail.error, 'internal');
    assert.match(body.message, /Stored data that this answer needs is damaged: /);
    assert.match(body.message, words);
    assert.equal((await server.get(`${other}?secret_key=${secret}`)).status, 200);
    const ready = (await (await server.get('/readyz')).json()) as { result: { damaged: number } };
    assert.equal(ready.result.damaged, 1);
    await server.stop();
  });

  testOfSqlite(`no backup is made of what is damaged: ${dataset} (house, Rules)`, async () => {
    const shop = await damagedShop(statement);
    const copy = shop.path('copy.backup');
    writeFileSync(copy, 'the good one');
    const backup = await shop.run('backup', copy, '--force');
    assert.equal(backup.status, 3);
    assert.match(backup.stderr, /(?:bars, block \d+ of series 1, written by run 1|news, row .*): /);
    assert.match(backup.stderr, /is damaged, and is not copied/);
    assert.equal(readFileSync(copy, 'utf8'), 'the good one');
  });
}

test('beside a service the store is read once in the time that is set, by one process, and what it finds is kept', async () => {
  const shop = await damagedShop("update news set title = 'Down'");
  const [first, second] = await Promise.all([
    scrubWhenDue(shop.store, 3_600_000, assert.fail, 0),
    scrubWhenDue(shop.store, 3_600_000, assert.fail, 0),
  ]);
  assert.equal(first!.startedMs, second!.startedMs);
  const control = await openControl(shop.store, 'read');
  const kept = await readScrub(control);
  await control.close();
  assert.ok(kept!.finishedMs! >= kept!.startedMs);
  assert.deepEqual(
    kept!.damage.map(({ dataset }) => dataset),
    ['news'],
  );
});

test('a reading is begun once, also where the second process to ask took its time before the first one did', async () => {
  const { store } = await damagedShop();
  const control = await openControl(store, 'write');
  const [hourMs, nowMs] = [3_600_000, Date.UTC(2026, 0, 5)];
  assert.equal(await claimScrub(control, nowMs, hourMs), true);
  assert.equal(await claimScrub(control, nowMs - 7, hourMs), false);
  assert.equal(await claimScrub(control, nowMs + hourMs - 1, hourMs), false);
  // A clock that was a year ahead does not keep a store from being read.
  assert.equal(await claimScrub(control, nowMs - 365 * 24 * hourMs, hourMs), true);
  await control.close();
});

testOfSqlite(
  'where a store is gone while it is read, a message says why damaged bars are listed by their numbers',
  async () => {
    const shop = await damagedShop(longer);
    const damaged: string[] = [];
    const why: string[] = [];
    const onStep = (_: string, found: readonly Damage[]): void => {
      rmSync(shop.path('bourse.db'), { force: true });
      damaged.push(...found.map(damageWords));
    };
    await scrub(shop.store, onStep, (reason) => void why.push(reason));
    assert.match(damaged.join('\n'), /bars, block \d+ of series 1, written by run 1: /);
    assert.equal(why.length, 1);
    assert.match(why[0]!, /^damaged bars are listed by the numbers of their blocks and series: .*bourse\.db/);
  },
);

test('a damaged key opens nothing and stops no other (house, Rules)', async () => {
  const shop = await damagedShop();
  const [one, two] = [await shop.must('keys', 'create', 'one'), await shop.must('keys', 'create', 'two')].map(
    (key) => key.trim(),
  );
  alterStore(shop.store, "update api_keys set name = 'ond' where name = 'one'");
  const server = await shop.serve();
  const statusWith = async (key: string): Promise<number> =>
    (await server.get(`/api/v2/stock/bars/US:AA/1M/latest?secret_key=${key}`)).status;
  assert.deepEqual([await statusWith(one!), await statusWith(two!)], [401, 200]);
  await server.stop();
  const found = JSON.parse((await shop.run('doctor', '--deep', '--json')).stdout) as {
    message: string;
    cure: string;
  }[];
  assert.ok(
    found.some(({ message, cure }) => /api_keys, row key_id/.test(message) && /keys create/.test(cure)),
  );
});

test('doctor names a bounded number of damaged parts, and counts the others', async () => {
  const rows =
    "with recursive at(n) as (select 1 union all select n + 1 from at where n < 1200) select 'news', cast(n as text), 'x', 1, 0 from at";
  const shop = await damagedShop(`insert into failed_files ${rows}`);
  const { stdout } = await shop.run('doctor', '--deep', '--json', '--port', '0');
  const told = (JSON.parse(stdout) as { check: string; message: string }[]).filter(
    (one) => one.check === 'data',
  );
  assert.equal(told.length, 1_001);
  assert.equal(told.at(-1)!.message, 'damaged: 200 more parts');
});

/**
 * The bytes of a database's header that say who may write and read it (sqlite.org/fileformat2.html, 1.3.3).
 */
const WRITE_VERSION = 18;

testOfSqlite(
  'a header that no longer lets the file be written is damage, which the scrub finds and a write names',
  async () => {
    const shop = await damagedShop('pragma wal_checkpoint(truncate)');
    const file = shop.path('bourse.db');
    const bytes = readFileSync(file);
    bytes[WRITE_VERSION]! ^= 16;
    writeFileSync(file, bytes);
    const { status, stdout } = await shop.run('doctor', '--deep', '--json');
    assert.equal(status, 1);
    const [told] = (JSON.parse(stdout) as { check: string; state: string; message: string }[]).filter(
      ({ check, state }) => check === 'data' && state === 'fail',
    );
    assert.match(told?.message ?? 'nothing', /its header says that it cannot be written/);
  },
);
