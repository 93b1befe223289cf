// `bourse undo` and `bourse delete` as their users have them: what they print, refuse, and what a running
// server then answers (contract 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parseInstant } from '../src/base/instant.ts';
import { parseInterval } from '../src/contract/interval.ts';
import { deleteBars } from '../src/runs/delete-bars.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import { engineAt, openStore } from '../src/store/engines.ts';
import { type Server, Workshop } from './service.ts';
import { contentOf } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

const header = 'datetime,open,high,low,close';
const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'ACORN'];
const ofAcorn = ['--symbol', 'ACORN', '--country', 'US'];

let server: Server;
let key = '';

/** Imports rows `datetime price` at an interval; the run. */
async function load(interval: string, rows: readonly string[]): Promise<number> {
  const lines = rows.map((row) => {
    const [datetime, price] = row.split(' ');
    return [datetime, price, price, price, price].join();
  });
  writeFileSync(shop.path('bars.csv'), `${[header, ...lines].join('\n')}\n`);
  const printed = await shop.must('import', 'bars', 'bars.csv', ...flags, '--interval', interval, '--json');
  return (JSON.parse(printed) as { runId: number }).runId;
}

type Answer = {
  readonly result: { readonly data: readonly { readonly datetime: string; readonly close: number }[] };
};

/** What the server answers: `datetime close` of each bar. */
async function served(interval: string, from: string, to: string, query = ''): Promise<string[]> {
  const path = `/api/v2/stock/bars/US:ACORN/${interval}/from/${encodeURIComponent(from)}/to/${encodeURIComponent(to)}`;
  const response = await server.get(`${path}?secret_key=${key}${query}`);
  assert.equal(response.status, 200);
  const { data } = ((await response.json()) as Answer).result;
  return data.map((bar) => `${bar.datetime.slice(0, 16)} ${bar.close}`);
}

/** A deletion, told in JSON. */
async function remove(...more: readonly string[]): Promise<{ runId: number | null; bars: unknown[] }> {
  return JSON.parse(await shop.must('delete', 'bars', ...ofAcorn, '--json', ...more)) as never;
}

const undo = (run: number | null): Promise<string> => shop.must('undo', String(run));

before(async () => {
  await load('1M', ['2024-01-08T14:30:00Z 1', '2024-01-09T14:30:00Z 1', '2024-01-10T14:30:00Z 1']);
  key = await shop.must('keys', 'create', 'test');
  server = await shop.serve();
});

test('the next request of a running server shows what was taken back, and what was deleted', async () => {
  const all = ['2024-01-08T14:30 1', '2024-01-09T14:30 1', '2024-01-10T14:30 1'];
  assert.deepEqual(await served('1M', '2024-01-08', '2024-01-10'), all);
  const run = await load('1M', ['2024-01-09T14:30:00Z 2', '2024-01-09T14:31:00Z 2']);
  assert.deepEqual(await served('1M', '2024-01-09', '2024-01-09'), [
    '2024-01-09T14:30 2',
    '2024-01-09T14:31 2',
  ]);
  await undo(run);
  assert.deepEqual(await served('1M', '2024-01-08', '2024-01-10'), all);
  const { runId } = await remove('--from', '2024-01-09', '--to', '2024-01-09');
  // The block between the two others is there without bars.
  const left = [all[0]!, all[2]!];
  assert.deepEqual(await served('1M', '2024-01-08', '2024-01-10'), left);
  assert.deepEqual(await served('1M', '2024-01-08', '2024-01-10', '&sort=desc&limit=1'), [all[2]!]);
  assert.deepEqual(await served('1M', '2024-01-08', '2024-01-10', '&sort=desc'), left.toReversed());
  assert.deepEqual(await served('DAY', '2024-01-08', '2024-01-10'), left);
  await undo(runId);
  assert.deepEqual(await served('1M', '2024-01-08', '2024-01-10'), all);
});

test('an instrument whose bars are all deleted is still known and has none, at any interval', async () => {
  const { runId } = await remove();
  assert.deepEqual(await served('1M', '2024-01-08', '2024-01-10'), []);
  assert.deepEqual(await served('60M', '2024-01-08', '2024-01-10'), []);
  assert.deepEqual(await served('DAY', '2024-01-08', '2024-01-10', '&is_eth=true'), []);
  await undo(runId);
});

/**
 * Stored bars by interval, each with a price of its own: bars that are derived have the price of finer ones.
 */
const prices: Readonly<Record<string, string>> = { '1M': '1', DAY: '2', WEEK: '3', MON: '4' };
const bounds: readonly [interval: string, from: string, to: string][] = [
  ['DAY', '2024-01-09', '2024-01-10'],
  ['DAY', '2024-01-09T14:30:00Z', '2024-01-10 00:00:00'],
  ['DAY', '2024-01-09T14:31:00Z', '2024-01-11T14:29:59Z'],
  ['DAY', '2024-01-09 09:30:00-05:00', '2024-01-11'],
  ['WEEK', '2024-01-02', '2024-01-08'],
  ['WEEK', '2024-01-01', '2024-01-01'],
  ['WEEK', '2024-01-02T14:31:00Z', '2024-01-31'],
  ['MON', '2024-01-02', '2024-01-02'],
  ['1M', '2024-01-09', '2024-01-09'],
  ['1M', '2024-01-08T14:30:01Z', '2024-01-10T14:30:00Z'],
];

test('a range deletes exactly the stored bars that it serves (contract 2.2, 2.3)', async () => {
  const runs = [
    await load(
      'DAY',
      [8, 9, 10, 11, 12].map((day) => `${day < 10 ? '2024-01-0' : '2024-01-'}${day} 2`),
    ),
    await load('WEEK', ['2024-01-01 3', '2024-01-08 3', '2024-01-15 3']),
    await load('MON', ['2023-12-01 4', '2024-01-01 4', '2024-02-01 4']),
  ];
  const store = await openStore(shop.store, 'write');
  for (const [interval, from, to] of bounds) {
    const what = `${interval} from ${from} to ${to}`;
    const stored = async (first: string, last: string): Promise<string[]> =>
      (await served(interval, first, last)).filter((bar) => bar.endsWith(` ${prices[interval]}`));
    const all = await stored('2023-12-01', '2024-03-01');
    const asked = await stored(from, to);
    const { runId, bars } = await deleteBars(store, {
      ...{ assetSchema: null, country: 'US', symbol: 'ACORN', interval: parseInterval(interval) },
      ...{ from: parseInstant(from), to: parseInstant(to), words: what, dryRun: false, nowMs: Date.now },
    });
    assert.deepEqual(bars, asked.length === 0 ? [] : [{ interval, count: asked.length }], what);
    const rest = all.filter((bar) => !asked.includes(bar));
    assert.deepEqual(await stored('2023-12-01', '2024-03-01'), rest, what);
    if (runId !== null) await undoRun(store, { runId, dryRun: false, nowMs: Date.now });
    assert.deepEqual(await stored('2023-12-01', '2024-03-01'), all, what);
  }
  for (const runId of runs) await undoRun(store, { runId, dryRun: false, nowMs: Date.now });
  await store.close();
});

test('a dry run tells what the real call then does, and stores nothing', async () => {
  const url = shop.store;
  const content = contentOf(url);
  const trial = await shop.must('delete', 'bars', ...ofAcorn, '--to', '2024-01-08', '--dry-run');
  assert.match(trial, /^stock:US:ACORN: 1 bar at 1M would be deleted; nothing was stored$/);
  assert.deepEqual(contentOf(url), content);
  const real = await shop.must('delete', 'bars', ...ofAcorn, '--to', '2024-01-08');
  const run = /^stock:US:ACORN: 1 bar at 1M deleted \(run (\d+)\)/.exec(real)![1]!;
  const deleted = contentOf(url);
  assert.match(
    await shop.must('undo', run, '--dry-run'),
    /would be undone; nothing was stored\n {2}1 bar restored$/,
  );
  assert.deepEqual(contentOf(url), deleted);
  const told = JSON.parse(await shop.must('undo', run, '--json')) as Record<string, unknown>;
  assert.equal(told.barsRestored, 1);
  assert.deepEqual(contentOf(url).series, content.series);
});

test('a deletion is a run that says what was asked for; one of nothing is none', async () => {
  const words = ['--interval', '1M', '--from', '2024-01-08', '--to', '2024-01-09'];
  const { runId } = await remove(...words);
  const listed = await shop.run('undo');
  assert.match(
    listed.stderr,
    new RegExp(`^ *${runId} .* delete +bars +US:ACORN 1M from 2024-01-08 to 2024-01-09 +2 +-$`, 'm'),
  );
  assert.match(await shop.must('delete', 'bars', ...ofAcorn, ...words), /nothing to delete/);
  await undo(runId);
  const [newest] = (contentOf(shop.store).import_runs ?? [])
    .map((row) => row.run_id as number)
    .sort((a, b) => b - a);
  assert.equal(newest, runId);
});

const mistakes: readonly [args: readonly string[], says: RegExp][] = [
  [['undo'], /name the run to undo: bourse undo RUN[\s\S]*finished[\s\S]*bars\.csv/],
  [['undo', '9999'], /there is no run 9999[\s\S]*bars\.csv/],
  [['undo', 'last'], /there is no run last[\s\S]*bars\.csv/],
  [['delete', 'bars'], /--symbol/],
  [['delete', 'bars', '--symbol', 'ACORN'], /--country/],
  [['delete', 'bars', '--symbol', 'ACRON', '--country', 'US'], /no instrument US:ACRON; is it ACORN\?/],
  [['delete', 'bars', ...ofAcorn, '--schema', 'crypto'], /no crypto US:ACORN/],
  [['delete', 'bars', ...ofAcorn, '--schema', 'stok'], /--schema stok: must be one of stock/],
  [['delete', 'bars', ...ofAcorn, '--interval', '7X'], /--interval 7X: must be one of 1M/],
  [['delete', 'bars', ...ofAcorn, '--from', 'monday'], /--from monday: must be a date such as/],
  [['delete', 'bars', ...ofAcorn, '--from', '2024-02-01', '--to', '2024-01-01'], /--from is after --to/],
  [
    ['delete', 'instruments', ...ofAcorn],
    /has bars \(1M\): .*bourse delete bars --schema stock --country US --symbol ACORN/,
  ],
  [['delete', 'bras', ...ofAcorn], /bras/],
];
/**
 * All that the store holds but its keys: the running server writes when they were last used, at any moment.
 */
function heldBy(url: string) {
  const { api_keys: _keys, ...held } = contentOf(url);
  return held;
}

for (const [args, says] of mistakes) {
  test(`asked for wrongly: bourse ${args.join(' ')}`, async () => {
    const content = heldBy(shop.store);
    const { status, stdout, stderr } = await shop.run(...args);
    assert.match(stderr, says);
    assert.deepEqual([status, stdout], [2, '']);
    assert.deepEqual(heldBy(shop.store), content);
  });
}

test('a store that is not there is not made', async () => {
  for (const args of [['undo'], ['delete', 'bars', ...ofAcorn]]) {
    const { status, stderr } = await shop.run(...args, '--store', shop.storeUrl('none'));
    assert.equal(status, 3);
    assert.match(stderr, /there is no store at \S+/);
    assert.ok(!(await engineAt(shop.storeUrl('none')).isMade()));
  }
});

test('a run is undone once, and the message says how to restore it', async () => {
  const run = await load('60M', ['2024-01-08T14:30:00Z 5']);
  await undo(run);
  const again = await shop.run('undo', String(run));
  assert.equal(again.status, 2);
  assert.match(again.stderr, /undone already, at .*: import bars\.csv again/);
});

test('a symbol of several asset types is deleted only with its type named', async () => {
  writeFileSync(shop.path('coins.csv'), 'symbol,country_iso_code\nACORN,US\n');
  await shop.must('import', 'instruments', 'coins.csv', '--schema', 'future');
  const { status, stderr } = await shop.run('delete', 'instruments', ...ofAcorn);
  assert.equal(status, 2);
  assert.match(stderr, /several asset types: choose by --schema one of stock, future/);
  await shop.must('delete', 'instruments', ...ofAcorn, '--schema', 'future');
});
