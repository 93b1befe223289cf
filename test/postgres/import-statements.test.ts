// Imports into PostgreSQL ask it seldom: each question is a way to another machine and back.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { random } from '../../bench/minutes.ts';
import { undoRun } from '../../src/runs/undo-run.ts';
import { openStore } from '../../src/store/engines.ts';
import { Session } from '../../src/store/postgres/session.ts';
import { type FileRow, fillStore } from '../importing.ts';
import { listening } from '../list-plans.ts';
import { TestFolder } from '../stores.ts';
import { everythingIn } from './copying.ts';
import { openDatabase, skip } from './server.ts';

const server = skip === false ? await openDatabase() : null;
const temporary = new TestFolder();
after(async () => {
  temporary.close();
  await server?.stop();
});

const nowMs = Date.UTC(2025, 5, 1);
let stores = 0;

/** Imports files one after the other into a new store; its address, and the statements of the last file. */
async function imported(
  dataset: string,
  ...files: readonly (readonly FileRow[])[]
): Promise<{ readonly url: string; readonly statements: number }> {
  const url = `${server!.url}?schema=statements${stores++}`;
  await (await openStore(url, 'write')).close();
  let statements = 0;
  for (const rows of files) statements = await statementsOf(url, dataset, rows);
  return { url, statements };
}

/** Imports a file; how many statements it took. */
async function statementsOf(url: string, dataset: string, rows: readonly FileRow[]): Promise<number> {
  let statements = 0;
  await listening(
    Session.prototype,
    'ask',
    () => statements++,
    () => fillStore(url, temporary.folder, nowMs, [[dataset, rows]]),
  );
  return statements;
}

const SESSIONS = 15;
const MINUTES = 100;

const minute = (at: number): FileRow => {
  const ms = Date.UTC(2025, 2, 3 + Math.floor(at / MINUTES), 15, at % MINUTES);
  const prices = { open: 1 + at, high: 2 + at, low: 1 + at, close: 1 + at, volume: at };
  const named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL', interval: '1M' };
  return { ...named, datetime: new Date(ms).toISOString(), ...prices };
};
const sorted = Array.from({ length: SESSIONS * MINUTES }, (_, at) => minute(at));

/** The same rows in no order. */
function shuffled<T>(rows: readonly T[]): T[] {
  const next = random(7);
  return rows
    .map((row) => [next(), row] as const)
    .sort(([a], [b]) => a - b)
    .map(([, row]) => row);
}

test('bars in no order take hardly more statements than bars in order, and store the same (contract 11)', {
  skip,
}, async () => {
  const other = sorted.filter((_, at) => at % 2 === 0).map((row) => ({ ...row, close: row.open }));
  for (const earlier of [[], [other]]) {
    const inOrder = await imported('bars', ...earlier, sorted);
    const inNone = await imported('bars', ...earlier, shuffled(sorted));
    assert.ok(inOrder.statements < 40 + 8 * SESSIONS, `${inOrder.statements} statements in order`);
    assert.ok(inNone.statements < 40 + 8 * SESSIONS, `${inNone.statements} statements in no order`);
    const [one, two] = [await everythingIn(inOrder.url), await everythingIn(inNone.url)];
    assert.deepEqual(two.blocks, one.blocks);
    assert.deepEqual(two.series, one.series);
  }
});

test('instruments are looked up together: new, known and changed ones (contract 11)', {
  skip,
}, async () => {
  const named = Array.from({ length: 3_000 }, (_, at) => ({
    asset_schema: 'stock',
    country_iso_code: 'US',
    symbol: `S${at}`,
    name: `Company number ${at}`,
  }));
  const renamed = named.map((row, at) => (at % 2 === 0 ? row : { ...row, name: `${row.name} Limited` }));
  const made = await imported('instruments', named);
  const again = await imported('instruments', named, named);
  const changed = await imported('instruments', named, renamed);
  for (const { statements } of [made, again, changed])
    assert.ok(statements < 150, `${statements} statements for ${named.length} instruments`);
  const { instruments, row_changes: changes } = await everythingIn(changed.url);
  const names = new Map((instruments as FileRow[]).map((row) => [row.symbol, row.name]));
  for (const { symbol, name } of renamed) assert.equal(names.get(symbol), name);
  const before = (changes as FileRow[]).filter((row) => row.run_id === 2);
  assert.equal(before.length, named.length / 2);
});

test('bars of known symbols are looked up together: their series, their blocks and which bars are unfinished (contract 11)', {
  skip,
}, async () => {
  const closesOf = (day: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: `S${at}`, interval: 'DAY', datetime: day },
      ...{ open: 1, high: 2_000, low: 1, close: 1 + at, volume: at },
    }));
  const { url, statements } = await imported(
    'bars',
    closesOf('2025-03-03', 1_000),
    closesOf('2025-03-04', 2_000),
  );
  assert.ok(statements < 300, `${statements} statements for 1,000 known and 1,000 new symbols`);
  const { series } = await everythingIn(url);
  const counts = (series as FileRow[]).map((row) => Number(row.bar_count));
  assert.deepEqual([counts.filter((count) => count === 2).length, counts.length], [1_000, 2_000]);
});

test('rows that name known instruments ask for them together (contract 11)', { skip }, async () => {
  // A symbol with a separator may be an alias (contract 9.21): not one that the store has.
  const stocks = Array.from({ length: 1_000 }, (_, at) => ({
    asset_schema: 'stock',
    country_iso_code: 'US',
    symbol: at % 2 === 0 ? `S${at}` : `S${at}.A`,
  }));
  const actions = stocks.map((row) => ({
    ...row,
    action_type: 'dividend',
    ex_date: '2025-03-03',
    cash_amount: 1,
  }));
  const { url } = await imported('instruments', stocks);
  const statements = await statementsOf(url, 'corporate-actions', actions);
  assert.ok(statements < 150, `${statements} statements for ${actions.length} actions`);
  assert.equal((await everythingIn(url)).corporate_actions!.length, actions.length);
});

test('new and known option contracts are looked up together, with their instruments (contract 11)', {
  skip,
}, async () => {
  const contracts = Array.from({ length: 400 }, (_, at) => ({
    country_iso_code: 'US',
    symbol: `AAPL250919C${String(at + 1).padStart(5, '0')}000`,
    parent_asset_schema: 'stock',
    underlying_name: 'AAPL',
    option_type: 'call',
    expiration_date: '2025-09-19',
    strike_price: at + 1,
  }));
  const made = await imported('option-contracts', contracts);
  assert.ok(made.statements < contracts.length / 4, `${made.statements} statements for new contracts`);
  const changed = contracts.map((row) => ({ ...row, exercise_style: 'european' }));
  const again = await imported('option-contracts', contracts, contracts);
  assert.ok(again.statements < contracts.length / 4, `${again.statements} statements for known contracts`);
  const { url } = await imported('option-contracts', contracts, changed);
  const { option_contracts: stored, instruments } = await everythingIn(url);
  assert.equal(stored!.length, contracts.length);
  assert.ok(stored!.every((row) => (row as FileRow).exercise_style === 'european'));
  assert.equal(instruments!.length, contracts.length + 1);
});

test('an undo looks up the rows that it takes back together, new and replaced ones (contract 10)', {
  skip,
}, async () => {
  const actions = Array.from({ length: 1_000 }, (_, at) => ({
    ...{ country_iso_code: 'US', symbol: `S${at % 10}`, action_type: 'dividend' },
    ...{ ex_date: new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10), cash_amount: 1 },
  }));
  const corrected = actions.map((row) => ({ ...row, cash_amount: 2 }));
  const added = corrected.map((row) => ({ ...row, symbol: `T${row.symbol}` }));
  const { url } = await imported('corporate-actions', actions);
  const before = (await everythingIn(url)).corporate_actions;
  await statementsOf(url, 'corporate-actions', [...corrected, ...added]);
  const store = await openStore(url, 'write');
  let statements = 0;
  await listening(
    Session.prototype,
    'ask',
    () => statements++,
    async () => {
      const report = await undoRun(store, { runId: 2, dryRun: false, nowMs: () => nowMs });
      assert.deepEqual([report.rowsRemoved, report.rowsRestored], [1_010, 1_000]);
    },
  );
  await store.close();
  assert.ok(statements < 250, `${statements} statements for ${corrected.length + added.length} rows`);
  assert.deepEqual((await everythingIn(url)).corporate_actions, before);
});
