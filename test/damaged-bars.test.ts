// Damaged bars stop nothing else, and import, delete and undo repair them (contract 10).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
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

test('an export leaves damaged bars out, names them, and ends with 1 (contract 10)', async () => {
  const store = damaged(flipped('A', 0));
  const out = shop.path('left.csv');
  const done = await shop.run('export', 'bars', '--out', out, '--json', '--store', store);
  assert.equal(done.status, 1);
  const place = 'stock:US:A 1M, 2025-03-03, imported by run 1';
  assert.equal(done.stderr, `bourse: damaged, not exported: bars, ${place}: its checksum does not match\n`);
  const { rows, damaged: told } = JSON.parse(done.stdout);
  assert.deepEqual(told, [{ dataset: 'bars', place, problem: 'its checksum does not match' }]);
  assert.equal(rows, 17);
  assert.equal(readFileSync(out, 'utf8').trimEnd().split('\n').length, 18);
  assert.doesNotMatch(readFileSync(out, 'utf8'), /2025-03-03.*A|A.*2025-03-03/);
  await shop.must('import', 'bars', out, ...flags, '--store', shop.storeUrl('again'));
});

test('a content hash leaves damaged bars out, names them, and ends with 1', async () => {
  const store = damaged(flipped('A', 0), flipped('B', 1));
  const done = await shop.run('status', '--content-hash', '--store', store);
  assert.equal(done.status, 1);
  assert.match(done.stdout, /^content hash +[0-9a-f]{64}$/m);
  assert.match(done.stderr, /stock:US:A 1M, 2025-03-03, imported by run 1/);
  assert.match(done.stderr, /stock:US:B 1M, 2025-03-04, imported by run 3/);
});

test('an import replaces damaged bars where it brings as many, and says so (contract 11)', async () => {
  const store = damaged(flipped('A', 0));
  const report = JSON.parse(await shop.must('import', 'bars', 'a.csv', ...flags, '--json', '--store', store));
  assert.deepEqual(
    [report.rowsNew, report.rowsReplaced, report.damagedReplaced],
    // The file has the older values of the five bars that run 2 corrected.
    [0, 5 + 5, 5],
  );
  await shop.must('undo', String(report.runId), '--store', store, '--dry-run');
  await shop.must('import', 'bars', 'a-more.csv', ...flags, '--store', store);
  assert.equal(await hashOf(store), sound);
  assert.equal(await totalOf(store), 22);
  const said = await shop.must('import', 'bars', 'a.csv', ...flags, '--store', damaged(flipped('A', 0)));
  assert.match(said, /^ {2}replaced 5 damaged bars: undoing this run does not restore what they were$/m);
});

test('versions before a repair cannot be read: the journal of damaged bars is gone (contract 9.12)', async () => {
  const path = '/api/v2/stock/bars/US:A/1M/latest?limit=50';
  const store = damaged(flipped('A', 0));
  const told = JSON.parse(await shop.must('status', '--json', '--store', store)).data_version as number;
  const ask = (version: number) => shop.run('query', `${path}&data_version=${version}`, '--store', store);
  await shop.must('import', 'bars', 'a.csv', ...flags, '--store', store);
  const refused = await ask(told);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, new RegExp(`data_version is before ${told + 1}, the oldest version`));
  assert.equal((await ask(told + 1)).status, 0);
});

for (const shape of ['in order', 'a bucket several times'])
  test(`an import that writes a bucket again is judged at its end: ${shape}`, async () => {
    const store = damaged(flipped('A', 0));
    const [head, ...rows] = readFileSync(shop.path('a.csv'), 'utf8').trimEnd().split('\n');
    const mixed = [0, 5, 10, 1, 6, 2, 3, 4, 7, 8, 9, 11, 12, 13, 14].map((at) => rows[at]!);
    const lines = shape === 'in order' ? rows : mixed;
    writeFileSync(shop.path('mixed.csv'), [head, ...lines, ''].join('\n'));
    await shop.must('import', 'bars', 'mixed.csv', ...flags, '--store', store);
    await shop.must('import', 'bars', 'a-more.csv', ...flags, '--store', store);
    assert.equal(await hashOf(store), sound);
  });

test('an import with fewer bars is refused whole, with the deletion that helps; after it everything can be imported', async () => {
  const store = damaged(flipped('A', 0));
  const before = await totalOf(store);
  write('few.csv', 'A', [0, 3], 4);
  const refused = await shop.run('import', 'bars', 'few.csv', ...flags, '--store', store);
  assert.equal(refused.status, 2);
  const command =
    'bourse delete bars --schema stock --country US --symbol A --interval 1M --from 2025-03-03T00:00:00Z --to 2025-03-03T23:59:00Z';
  assert.equal(
    refused.stderr,
    `bourse: few.csv: stored bars of stock:US:A 1M are damaged, and the file has fewer bars of the same days: 2025-03-03, imported by run 1 (5 stored, 4 in the file). Import a file with all bars of these days, or delete them first, by ${command}. Nothing was imported.\n`,
  );
  assert.equal(await totalOf(store), before);
  const deleted = await shop.must(...command.split(' ').slice(1), '--store', store);
  assert.match(deleted, /5 bars at 1M, 5 of them damaged, which no undo restores deleted/);
  assert.equal(await totalOf(store), before - 5);
  await shop.must('status', '--content-hash', '--store', store);
  await shop.must('import', 'bars', 'a.csv', ...flags, '--store', store);
  await shop.must('import', 'bars', 'a-more.csv', ...flags, '--store', store);
  assert.equal(await hashOf(store), sound);
});

test('of several damaged blocks each is judged by its own number; without it all must be brought', async () => {
  const store = damaged(flipped('A', 0), flipped('A', 1));
  write('second.csv', 'A', [1], 6, 11);
  await shop.must('import', 'bars', 'second.csv', ...flags, '--store', store);
  assert.equal(await totalOf(store), 22);
  // Without headers nothing tells which of the two had five bars, and which six.
  const zeroed = damaged(
    `update bar_blocks set bytes = ${zeroBytes(90)} where bucket < ${bucketOf(2)} and series_id = (${seriesOf('A')})`,
  );
  const refused = await shop.run('import', 'bars', 'second.csv', ...flags, '--store', zeroed);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /2025-03-03, imported by run 1 \(an unknown number stored, 0 in the file\)/);
  assert.match(refused.stderr, /--from 2025-03-03T00:00:00Z --to 2025-03-04T23:59:00Z/);
  write('both.csv', 'A', [0, 1], 6, 11);
  await shop.must('import', 'bars', 'both.csv', ...flags, '--store', zeroed);
  assert.equal(await totalOf(zeroed), 23);
  assert.equal((await shop.run('status', '--content-hash', '--store', zeroed)).status, 0);
});

test('the first and the last bar are right after a repair', async () => {
  const store = damaged(flipped('A', 0), flipped('A', 2));
  writeFileSync(shop.path('later.csv'), readFileSync(shop.path('a.csv'), 'utf8').replaceAll('T15:', 'T16:'));
  await shop.must('import', 'bars', 'later.csv', ...flags, '--store', store);
  const [row] = rowsOf(
    store,
    `select first_ms, last_ms, bar_count from series where series_id = (${seriesOf('A')})`,
  );
  assert.deepEqual(
    { ...row },
    {
      first_ms: firstMs + 60 * MINUTE_MS,
      last_ms: firstMs + 2 * DAY_MS + 64 * MINUTE_MS,
      bar_count: 5 + 11 + 5,
    },
  );
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

test('an undo removes a damaged block that the run alone has brought, without reading it', async () => {
  const store = damaged(flipped('B', 1));
  const report = JSON.parse(await shop.must('undo', '3', '--json', '--store', store));
  assert.deepEqual([report.barsRemoved, report.left, report.lost], [6, [], []]);
  assert.equal((await shop.run('status', '--content-hash', '--store', store)).status, 0);
});

test('an undo goes on past a damaged block, names it, and does the rest after a repair', async () => {
  const store = damaged(flipped('A', 1));
  const done = await shop.run('undo', '1', '--store', store);
  assert.equal(done.status, 1);
  assert.match(done.stdout, /^run 1, import of a\.csv: undone in part\n {2}10 bars removed$/m);
  assert.match(
    done.stderr,
    /^bourse: damaged, not undone: repair it, then run bourse undo 1 again: bars, stock:US:A 1M, 2025-03-04, imported by run 2: its checksum does not match$/m,
  );
  assert.equal(await totalOf(store), 12);
  write('whole.csv', 'A', [1], 6, 11);
  await shop.must('import', 'bars', 'whole.csv', ...flags, '--store', store);
  await shop.must('undo', '1', '--store', store);
  assert.equal(await totalOf(store), 12);
  assert.equal((await shop.run('undo', '1', '--store', store)).status, 2);
});

test('an undo goes on past a damaged entry of the journal, which can never be undone', async () => {
  const store = damaged(
    `update block_changes set row_check = row_check + 1 where run_id = 1 and bucket = ${bucketOf(0)}`,
  );
  const done = await shop.run('undo', '1', '--store', store);
  assert.equal(done.status, 1);
  assert.match(done.stdout, /: undone\n/);
  assert.match(
    done.stderr,
    /^bourse: damaged, what it noted can never be undone: block_changes, row series_id \d+, bucket \d+, run_id 1: its checksum does not match$/m,
  );
  assert.equal((await shop.run('undo', '1', '--store', store)).status, 2);
  assert.equal(await totalOf(store), 6 + 5 + 6);
});

test('an import repairs the damaged record of a series, from its bars and the runs that hold it', async () => {
  const store = damaged(`update series set bar_count = 7, first_ms = 5 where series_id = (${seriesOf('A')})`);
  const status = await shop.run('status', '--store', store);
  assert.equal(status.status, 1);
  assert.match(status.stderr, /series, row instrument_id \d+, interval "1M"/);
  write('last.csv', 'A', [2], 5);
  const said = await shop.must('import', 'bars', 'last.csv', ...flags, '--store', store);
  assert.match(said, /damaged record of a series, worked out anew from its bars: 1 row/);
  assert.equal(await hashOf(store), sound);
  const recordOf = (url: string) =>
    rowsOf(url, `select first_ms, last_ms, bar_count from series where series_id = (${seriesOf('A')})`);
  assert.deepEqual(recordOf(store), recordOf(shop.store));
  // Without all its blocks nothing tells how many bars it had.
  const both = damaged(
    flipped('A', 1),
    `update series set bar_count = 7 where series_id = (${seriesOf('A')})`,
  );
  const refused = await shop.run('import', 'bars', 'last.csv', ...flags, '--store', both);
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, /stored data is damaged/);
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
  test(`damaged bars of ${interval} are replaced, and deleted by the command of a refusal`, async () => {
    const { store, import: words } = await damagedOf(interval, dates);
    const hash = await hashOf(store);
    const damage = `update bar_blocks set bytes = ${changedByte(27, 0x77)} where bucket = (select min(bucket) from bar_blocks)`;
    alterStore(store, damage);
    assert.equal((await shop.run('status', '--content-hash', '--store', store)).status, 1);
    await shop.must(...words);
    assert.equal(await hashOf(store), hash);
    alterStore(store, damage);
    writeFileSync(shop.path('one.csv'), `datetime,open,high,low,close,volume\n${dates[0]},1,1,1,1,1\n`);
    const refused = await shop.run(...words.with(2, 'one.csv'));
    assert.equal(refused.status, 2);
    const [, command] = /delete them first, by bourse (.*)\. Nothing/.exec(refused.stderr)!;
    assert.equal(
      command,
      `delete bars --schema stock --country US --symbol A --interval ${interval}${range}`,
    );
    await shop.must(...command!.split(' '), '--store', store);
    await shop.must(...words);
    assert.equal(await hashOf(store), hash);
  });

test('bars that an import leaves unfinished stay so over a repair (contract 3.9)', async () => {
  const store = shop.storeUrl('unfinished');
  const open = (Math.floor(Date.now() / MINUTE_MS) + 60) * MINUTE_MS;
  const rows = [open - 120 * MINUTE_MS, open].map((ms) => `${new Date(ms).toISOString()},1,1,1,1,1`);
  writeFileSync(shop.path('now.csv'), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const words = [
    '--schema',
    'crypto',
    '--country',
    'GLOBAL',
    '--symbol',
    'X',
    '--interval',
    '1M',
    '--store',
    store,
  ];
  await shop.must('import', 'bars', 'now.csv', ...words);
  const served = async (): Promise<number> => {
    const path = '/api/v2/crypto/bars/GLOBAL:X/1M/latest';
    const { result } = JSON.parse(await shop.must('query', path, '--store', store)) as {
      result: { count: number };
    };
    return result.count;
  };
  assert.equal(await served(), 1);
  alterStore(store, 'update bar_blocks set run_id = run_id + 1');
  await shop.must('import', 'bars', 'now.csv', ...words);
  assert.equal(await served(), 1);
  alterStore(store, 'update bar_blocks set run_id = run_id + 1');
  await shop.must('delete', 'bars', ...words);
  assert.equal(await served(), 0);
});
