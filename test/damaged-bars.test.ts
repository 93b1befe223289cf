// Damaged bars stop nothing else, and are deleted and imported again (contract 10).
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Workshop } from './service.ts';
import { alterStore, changedByte, copyStore, rowsOf, zeroBytes } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** 15:00 UTC on a Monday: the days after it are sessions too. */
const firstMs = Date.UTC(2025, 2, 3, 15);
const bucketOf = (day: number): number => Math.floor(firstMs / DAY_MS) + day;
const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

/** A file of some minutes of some days of a symbol. */
function write(name: string, symbol: string, days: readonly number[], minutes: number, price = 10): string {
  const rows = days.flatMap((day) =>
    Array.from({ length: minutes }, (_, minute) => {
      const open = new Date(firstMs + day * DAY_MS + minute * MINUTE_MS).toISOString();
      return `${symbol},${open},${price + day},${price + 12},${price - 9},${price + minute},100`;
    }),
  );
  writeFileSync(shop.path(name), ['symbol,datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  return name;
}

const seriesOf = (symbol: string): string =>
  `select series_id from series join instruments using (instrument_id) where symbol = '${symbol}'`;

/** A byte of the bars of a day is another one. */
const flipped = (symbol: string, day: number): string =>
  `update bar_blocks set bytes = ${changedByte(41, 0xee)} where bucket = ${bucketOf(day)} and series_id = (${seriesOf(symbol)})`;

let made = 0;

/** A copy of the store with damage. */
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

const totalOf = async (store: string): Promise<number> =>
  JSON.parse((await shop.run('status', '--json', '--store', store)).stdout).totals.bars;

let sound = '';

before(async () => {
  write('a.csv', 'A', [0, 1, 2], 5);
  write('b.csv', 'B', [0, 1], 3);
  // Run 1 brings A, run 2 corrects and adds some of its second day, run 3 brings B.
  write('a-more.csv', 'A', [1], 6, 11);
  await shop.must('import', 'bars', 'a.csv', ...flags);
  await shop.must('import', 'bars', 'a-more.csv', ...flags);
  await shop.must('import', 'bars', 'b.csv', ...flags);
  sound = await hashOf(shop.store);
});

const place = 'stock:US:A 1M, 2025-03-03, imported by run 1';
const named = new RegExp(`^bourse: stored data is damaged: bars, ${place}: its checksum does not match`, 'm');

/** A day of A, in the days and the interval that a deletion takes. */
const ofDay = (day: number): string[] => {
  const date = new Date(firstMs + day * DAY_MS).toISOString().slice(0, 10);
  const range = ['--from', `${date}T00:00:00Z`, '--to', `${date}T23:59:00Z`];
  return ['delete', 'bars', '--symbol', 'A', '--country', 'US', '--interval', '1M', ...range];
};

test('an export that meets damaged bars is refused and names them, and one of other bars is written (contract 10)', async () => {
  const store = damaged(flipped('A', 0));
  const out = shop.path('left.csv');
  const done = await shop.run('export', 'bars', '--out', out, '--store', store);
  assert.equal(done.status, 3);
  assert.match(done.stderr, named);
  assert.match(done.stderr, /^bourse: bourse doctor --deep lists all that is damaged, and what to do$/m);
  assert.deepEqual(
    readdirSync(shop.path('.')).filter((name) => name.startsWith('left.csv')),
    [],
  );
  await shop.must('export', 'bars', '--symbol', 'B', '--country', 'US', '--out', out, '--store', store);
});

test('status has no content hash of damaged bars, names them, counts the rest, and ends with 1', async () => {
  const store = damaged(flipped('A', 0));
  const done = await shop.run('status', '--content-hash', '--store', store);
  assert.equal(done.status, 1);
  assert.doesNotMatch(done.stdout, /^content hash/m);
  assert.match(done.stdout, /^bars +22$/m);
  assert.match(done.stderr, new RegExp(`damaged, not counted: bars, ${place}`));
});

test('an import of damaged days is refused and names them, others are imported (contract 11)', async () => {
  const store = damaged(flipped('A', 0));
  const refused = await shop.run('import', 'bars', 'a.csv', ...flags, '--store', store);
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, named);
  write('third.csv', 'A', [2], 7);
  await shop.must('import', 'bars', 'third.csv', 'b.csv', ...flags, '--store', store);
  assert.equal(await totalOf(store), 22 + 2);
});

test('damaged bars are deleted without being read, and imported again (contract 10)', async () => {
  const store = damaged(flipped('A', 0));
  const words = await shop.must(...ofDay(0), '--store', store);
  assert.match(words, /5 bars at 1M, 5 of them damaged, which no undo restores deleted/);
  assert.equal(await totalOf(store), 22 - 5);
  await shop.must('status', '--content-hash', '--store', store);
  await shop.must('import', 'bars', 'a.csv', ...flags, '--store', store);
  await shop.must('import', 'bars', 'a-more.csv', ...flags, '--store', store);
  assert.equal(await hashOf(store), sound);
});

test('versions before a deletion of damaged bars cannot be read (contract 9.12)', async () => {
  const path = '/api/v2/stock/bars/US:A/1M/latest?limit=50';
  const store = damaged(flipped('A', 0));
  const statusOf = async () => JSON.parse(await shop.must('status', '--json', '--store', store));
  const ask = (version: number) => shop.run('query', `${path}&data_version=${version}`, '--store', store);
  const { data_version: before } = await statusOf();
  await shop.must(...ofDay(0), '--store', store);
  const { data_version: now, oldest_version } = await statusOf();
  assert.equal(oldest_version, now);
  const refused = await ask(before);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, new RegExp(`data_version is before ${now}, the oldest version`));
  assert.equal((await ask(now)).status, 0);
});

test('a deletion of a part of a damaged block is refused with the range that would do', async () => {
  const store = damaged(flipped('A', 0));
  const about = ['delete', 'bars', '--symbol', 'A', '--country', 'US', '--interval', '1M', '--store', store];
  const refused = await shop.run(...about, '--from', '2025-03-03T15:02:00Z', '--to', '2025-03-05');
  assert.equal(refused.status, 2);
  assert.match(
    refused.stderr,
    /can be deleted only together: 2025-03-03, imported by run 1\. Delete all of them, by bourse delete bars --schema stock --country US --symbol A --interval 1M --from 2025-03-03T00:00:00Z --to 2025-03-03T23:59:00Z\n/,
  );
  const done = JSON.parse(await shop.must(...about, '--json'));
  assert.deepEqual([done.bars, done.damagedDeleted], [[{ interval: '1M', count: 16 }], 5]);
  // Its undo restores the sound bars.
  await shop.must('undo', String(done.runId), '--store', store);
  assert.equal(await totalOf(store), 22 - 5);
  assert.equal((await shop.run('status', '--content-hash', '--store', store)).status, 0);
});

test('a deletion that reads a damaged end of its series is refused whole, and names it', async () => {
  const store = damaged(flipped('A', 0));
  const refused = await shop.run(...ofDay(1), '--store', store);
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, named);
  assert.equal(await totalOf(store), 22);
});

test('several damaged blocks of a series are deleted together, whatever their bytes', async () => {
  const store = damaged(
    flipped('A', 0),
    `update bar_blocks set bytes = ${zeroBytes(90)} where bucket = ${bucketOf(2)} and series_id = (${seriesOf('A')})`,
  );
  const refused = await shop.run(...ofDay(0), '--store', store);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /2025-03-03, imported by run 1; 2025-03-05, imported by run 1\. Delete all/);
  const [, command] = /Delete all of them, by bourse (.*)\n/.exec(refused.stderr)!;
  assert.match(command!, /--from 2025-03-03T00:00:00Z --to 2025-03-05T23:59:00Z$/);
  const done = JSON.parse(await shop.must(...command!.split(' '), '--json', '--store', store));
  assert.deepEqual([done.bars, done.damagedDeleted], [[{ interval: '1M', count: 16 }], 10]);
  write('middle.csv', 'A', [1], 3, 11);
  await shop.must('import', 'bars', 'middle.csv', ...flags, '--store', store);
  const [row] = rowsOf(
    store,
    `select first_ms, last_ms, bar_count from series where series_id = (${seriesOf('A')})`,
  );
  assert.deepEqual(
    { ...row },
    { first_ms: firstMs + DAY_MS, last_ms: firstMs + DAY_MS + 2 * MINUTE_MS, bar_count: 3 },
  );
});

test('an undo that reads a damaged block is refused whole, and names it', async () => {
  const store = damaged(flipped('A', 1));
  const done = await shop.run('undo', '1', '--store', store);
  assert.equal(done.status, 3);
  assert.match(
    done.stderr,
    /^bourse: stored data is damaged: bars, stock:US:A 1M, 2025-03-04, imported by run 2: its checksum does not match; run 1 is not undone: restore a backup, or delete what is damaged and import it again$/m,
  );
  assert.equal(await totalOf(store), 22);
  await shop.must('undo', '3', '--store', store);
  await shop.must(...ofDay(1), '--store', store);
  await shop.must('undo', '1', '--store', store);
  assert.equal(await totalOf(store), 0);
});

test('a run whose journal is damaged is not undone', async () => {
  const store = damaged(
    `update block_changes set row_check = row_check + 1 where run_id = 1 and bucket = ${bucketOf(0)}`,
  );
  const done = await shop.run('undo', '1', '--store', store);
  assert.equal(done.status, 3);
  assert.match(
    done.stderr,
    /damaged: block_changes, row series_id \d+, bucket \d+, run_id 1: its checksum does not match; run 1 is not undone/,
  );
  assert.equal(await totalOf(store), 22);
});

for (const more of [[], [flipped('A', 1)]])
  test(`a series whose record is damaged is deleted whole, and imported again${more.length > 0 ? ', also with a damaged block' : ''} (contract 10)`, async () => {
    const store = damaged(
      `update series set bar_count = 7, first_ms = 5 where series_id = (${seriesOf('A')})`,
      ...more,
    );
    const status = await shop.run('status', '--json', '--store', store);
    assert.equal(status.status, 1);
    assert.match(status.stderr, /series, row instrument_id \d+, interval "1M"/);
    assert.deepEqual(JSON.parse(status.stdout).totals, { instruments: 2, series: null, bars: null });
    for (const words of [['import', 'bars', 'a.csv', ...flags], ofDay(0)]) {
      const refused = await shop.run(...words, '--store', store);
      assert.equal(refused.status, 3);
      assert.match(refused.stderr, /stored data is damaged: series, row instrument_id \d+, interval "1M"/);
    }
    const about = ['delete', 'bars', '--symbol', 'A', '--country', 'US'];
    const done = JSON.parse(await shop.must(...about, '--json', '--store', store));
    const count = more.length > 0 ? 10 : 16;
    assert.deepEqual([done.bars, done.damagedDeleted], [[{ interval: '1M', count }], count]);
    await shop.must('import', 'bars', 'a.csv', ...flags, '--store', store);
    await shop.must('import', 'bars', 'a-more.csv', ...flags, '--store', store);
    assert.equal(await hashOf(store), sound);
    for (const run of ['1', '2', String(done.runId)]) await shop.must('undo', run, '--store', store);
    assert.equal(await hashOf(store), sound);
  });

/** A store of bars of one interval whose single file is damaged in its first block. */
async function damagedOf(
  interval: string,
  dates: readonly string[],
): Promise<{ store: string; import: string[] }> {
  const store = shop.storeUrl(interval);
  const rows = dates.map((date) => `${date},10,12,9,11,100`);
  writeFileSync(
    shop.path(`${interval}.csv`),
    ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'),
  );
  const words = [
    'import',
    'bars',
    `${interval}.csv`,
    ...flags.slice(0, 4),
    '--symbol',
    'A',
    '--interval',
    interval,
    '--store',
    store,
  ];
  await shop.must(...words);
  return { store, import: words };
}

for (const [interval, dates, range] of [
  ['DAY', ['2022-01-03', '2022-01-04', '2025-03-03'], ' --from 2020-06-19 --to 2023-04-08'],
  ['WEEK', ['2022-01-03', '2022-01-10', '2025-03-03'], ''],
  ['MON', ['2022-01-03', '2022-02-01', '2025-03-03'], ''],
  [
    '5M',
    ['2025-03-03T15:00:00Z', '2025-03-03T15:05:00Z', '2025-03-10T15:00:00Z'],
    ' --from 2025-02-27T00:00:00Z --to 2025-03-05T23:59:00Z',
  ],
  [
    '60M',
    ['2025-03-03T15:30:00Z', '2025-03-03T16:30:00Z', '2025-07-07T15:30:00Z'],
    ' --from 2025-01-23T00:00:00Z --to 2025-04-23T23:59:00Z',
  ],
] as const)
  test(`damaged bars of ${interval} are deleted by the command of a refusal, and imported again`, async () => {
    const { store, import: words } = await damagedOf(interval, dates);
    const hash = await hashOf(store);
    alterStore(
      store,
      `update bar_blocks set bytes = ${changedByte(27, 0x77)} where bucket = (select min(bucket) from bar_blocks)`,
    );
    assert.equal((await shop.run('status', '--content-hash', '--store', store)).status, 1);
    const about = ['delete', 'bars', '--symbol', 'A', '--country', 'US', '--store', store];
    const refused = await shop.run(...about, '--to', dates[0]);
    assert.equal(refused.status, 2, refused.stderr);
    const [, command] = /Delete all of them, by bourse (.*)\n/.exec(refused.stderr)!;
    assert.equal(
      command,
      `delete bars --schema stock --country US --symbol A --interval ${interval}${range}`,
    );
    await shop.must(...command!.split(' '), '--store', store);
    await shop.must(...words);
    assert.equal(await hashOf(store), hash);
  });

const days = ['2025-03-03', '2025-03-04', '2025-03-05', '2025-03-06', '2025-03-07'];
const daily = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY'];
const choice = ['--symbol', 'A', '--country', 'US', '--schema', 'stock'];
const ofA = "instrument_id = (select instrument_id from instruments where symbol = 'A')";

/** A file of one day or more of a market of four stocks. */
function market(name: string, ...dates: readonly string[]): string {
  const rows = dates.flatMap((date) =>
    ['A', 'B', 'C', 'D'].map((symbol) => `${symbol},${date},10,11,9,10,1`),
  );
  writeFileSync(shop.path(name), ['symbol,datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  return name;
}

for (const [what, damage, dataset] of [
  ['sound', null, 'bars'],
  ['of a damaged record', `update series set last_ms = last_ms + 1 where ${ofA}`, 'bars'],
  [
    'of a damaged block',
    `update bar_blocks set bytes = ${changedByte(41, 0xee)} where series_id = (${seriesOf('A')})`,
    'bars',
  ],
  ['of a damaged instrument', "update instruments set name = 'Other' where symbol = 'A'", 'instruments'],
] as const)
  test(`no week is made of the first and the last day of a series that was deleted, ${what}: no file of before proves that it did not trade between them (contract 3.9 (4))`, async () => {
    const store = ['--store', shop.storeUrl(`hole-${what.replaceAll(' ', '-')}`)];
    await shop.must('import', 'bars', market('week.csv', ...days), ...daily, ...store);
    if (damage !== null) alterStore(store[1]!, damage);
    await shop.must('delete', dataset, ...choice, ...store);
    for (const day of [days[0]!, days[4]!])
      await shop.must('import', 'bars', market(`${day}.csv`, day), ...daily, ...store);
    const bars = async (symbol: string, interval: string): Promise<number> => {
      const path = `/api/v2/stock/bars/US:${symbol}/${interval}/from/2025-03-03/to/2025-03-09`;
      return JSON.parse(await shop.must('query', path, ...store)).result.data.length;
    };
    assert.deepEqual([await bars('A', 'DAY'), await bars('B', 'WEEK')], [2, 1]);
    assert.equal(await bars('A', 'WEEK'), 0);
    await shop.must('import', 'bars', market('again.csv', ...days), ...daily, ...store);
    assert.equal(await bars('A', 'WEEK'), 1);
    for (const run of ['5', '4', '3', '2', '1']) await shop.must('undo', run, ...store);
    assert.equal(await totalOf(store[1]!), 0);
    assert.deepEqual(rowsOf(store[1]!, 'select series_id from series'), []);
  });
