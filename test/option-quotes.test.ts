// What files say of the market of option contracts: stored as imported, the newest is kept, and listed
// where it is asked for (contract 9.22, 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after as atEnd, before, test } from 'node:test';
import { SizedCache } from '../src/base/sized-cache.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { deleteRows } from '../src/runs/delete-rows.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import { allRows } from '../src/store/all-rows.ts';
import { contentHash } from '../src/store/copy.ts';
import { PastReader } from '../src/store/past/past-reader.ts';
import { PastState } from '../src/store/past/past-state.ts';
import { rowChanges } from '../src/store/schema/internal.ts';
import { optionContracts, optionQuotes } from '../src/store/schema/options.ts';
import type { Reader, Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { fc, times } from './seed.ts';
import { Workshop } from './service.ts';
import { openToWrite, TestFolder } from './stores.ts';

const shop = new Workshop();
const temporary = new TestFolder();
const terms = 'country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type';
const values =
  'bid ask last volume open_interest implied_volatility delta gamma theta vega rho quote_datetime'.split(' ');
const AT = '2026-01-16T21:00:00.250Z';
const unknown = Object.fromEntries(values.map((field) => [field, null]));

let server: LocalServer;
before(async () => {
  server = await LocalServer.open(shop.store, () => Date.UTC(2026, 0, 20));
});
atEnd(async () => {
  await server.close();
  shop.close();
  temporary.close();
});

const contractOf = (symbol: string, strike = 100): string =>
  `${symbol}270115C00${strike}000,US,stock,${symbol},${strike},2027-01-15,call`;

/** Reads the store. */
async function read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
  const store = await openToWrite(shop.store);
  try {
    return await store.snapshot(work);
  } finally {
    await store.close();
  }
}

/** Imports contracts, each with the cells of some more columns; the number of the run. */
async function imported(columns: string, ...lines: readonly string[]): Promise<string> {
  const file = shop.path('chain.csv');
  writeFileSync(file, `symbol,${terms},${columns}\n${lines.join('\n')}\n`);
  return /run (\d+)/.exec(await shop.must('import', 'option-contracts', file))![1]!;
}

type Row = Readonly<Record<string, unknown>>;
type Query = Readonly<Record<string, string>>;

async function ask(symbol: string, query: Query) {
  const given = new URLSearchParams({ ref_asset_price: '500', ...query, secret_key: server.key });
  const path = `/api/v2/option/search/stock/US:${symbol}/call/moneyness/in_the_money`;
  const response = await server.get(`${path}?${given.toString()}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

/** The contracts of an underlying. */
async function contracts(symbol: string, query: Query = { quotes: 'true' }): Promise<readonly Row[]> {
  const { result } = JSON.parse(await ask(symbol, query)) as { result: { data: Record<string, Row[]> } };
  return Object.values(result.data).flat();
}

/** What the only contract of an underlying has of its quote. */
async function quoteOf(symbol: string, query?: Query): Promise<Row> {
  const [contract, ...others] = await contracts(symbol, query);
  assert.equal(others.length, 0);
  return Object.fromEntries(values.map((field) => [field, contract![field]]));
}

test('quotes are served as imported, and only where asked for (contract 9.22)', async () => {
  await imported(
    values.join(),
    [
      contractOf('ALL', 110),
      '9.95,10.05,10,1250.5,30417',
      '0.2284719,0.51,1e-07,-0.012345678901234,0.3,-0.0001',
      AT,
    ].join(),
    `${contractOf('ALL', 100)},0,1e-05,,,,,,,,,,1768597200`,
  );
  const [near, far] = (await contracts('ALL')) as [Row, Row];
  const shown = [near, far].map((row) => values.map((field) => row[field]));
  assert.deepEqual(shown, [
    [9.95, 10.05, 10, 1250.5, 30417, 0.2284719, 0.51, 1e-7, -0.012345678901234, 0.3, -0.0001].concat(
      '2026-01-16T21:00:00+00:00' as never,
    ),
    [0, 0.00001, null, null, null, null, null, null, null, null, null, '2026-01-16T21:00:00+00:00'],
  ]);
  assert.deepEqual(Object.keys(near).slice(-13), ['listing_date', ...values]);
  for (const query of [{}, { quotes: 'false' }] as Query[])
    for (const row of await contracts('ALL', query)) assert.equal(Object.keys(row).at(-1), 'listing_date');
});

test('CSV has columns of quotes where asked for, pages too (contract 5.1, 9.22)', async () => {
  await imported(
    'bid,quote_datetime',
    `${contractOf('CSV', 100)},1.5,2026-01-16T21:00:00Z`,
    `${contractOf('CSV', 101)},1.25,`,
  );
  const [head, near, far] = (await ask('CSV', { quotes: 'true', format: 'csv' })).trimEnd().split('\r\n');
  assert.ok(head!.endsWith(`,listing_date,${values.join()}`));
  assert.ok(near!.endsWith(',1.25,,,,,,,,,,,'), near);
  assert.ok(far!.endsWith(',1.5,,,,,,,,,,,2026-01-16T21:00:00+00:00'), far);
  assert.ok((await ask('CSV', { format: 'csv' })).split('\r\n')[0]!.endsWith(',listing_date'));
  const { result } = JSON.parse(await ask('CSV', { quotes: 'true', limit: '1' }));
  const next = await (await server.get(`${result.next_page_url}&secret_key=${server.key}`)).json();
  const [[second]] = Object.values((next as { result: { data: object } }).result.data) as [[Row]];
  assert.deepEqual([second.strike_price, second.bid], [100, 1.5]);
});

test('the newest quote is kept, whichever file comes last (contract 9.22, 11)', async () => {
  const noon = '2026-01-16T12:00:00Z';
  /** Columns, cells, and the bid, ask and moment that are stored then. */
  const files: readonly (readonly [string, string, unknown[]])[] = [
    ['bid', '1', [1, null, null]],
    ['bid,ask', '2,3', [2, 3, null]],
    ['bid,quote_datetime', `4,${noon}`, [4, null, '2026-01-16T12:00:00+00:00']],
    ['bid,ask', '5,6', [4, null, '2026-01-16T12:00:00+00:00']],
    ['bid,quote_datetime', '7,2026-01-16T11:59:59.999Z', [4, null, '2026-01-16T12:00:00+00:00']],
    ['exercise_style', 'european', [4, null, '2026-01-16T12:00:00+00:00']],
    ['ask,quote_datetime', `8,${noon}`, [null, 8, '2026-01-16T12:00:00+00:00']],
    ['bid,quote_datetime', '9,2026-01-16T16:00:00Z', [9, null, '2026-01-16T16:00:00+00:00']],
    ['bid,ask', ',', [9, null, '2026-01-16T16:00:00+00:00']],
  ];
  for (const [columns, cells, [bid, ask_, moment]] of files) {
    await imported(columns, `${contractOf('NEW')},${cells}`);
    assert.deepEqual(await quoteOf('NEW'), { ...unknown, bid, ask: ask_, quote_datetime: moment }, cells);
  }
  const [{ exercise_style: style }] = (await contracts('NEW')) as [Row];
  assert.equal(style, 'american', 'the rest of a contract is that of the last file');
});

test('of several quotes of a contract in a file the newest is kept (contract 9.22, 11)', async () => {
  const line = (strike: number, bid: number, day: string) =>
    `${contractOf('SEV', strike)},${bid},${day && `2026-01-${day}T21:00:00Z`}`;
  const file = shop.path('several.csv');
  const bring = async (lines: readonly string[]) => {
    writeFileSync(file, `symbol,${terms},bid,quote_datetime\n${lines.join('\n')}\n`);
    const { stdout } = await shop.run('import', 'option-contracts', file, '--json');
    const { runId, rowsNew, rowsReplaced, rowsUnchanged, rowsRefused, replaced } = JSON.parse(stdout);
    const counts = [rowsNew, rowsReplaced, rowsUnchanged, rowsRefused];
    return { runId: String(runId), counts, replaced: replaced.length };
  };
  const bids = async () => (await contracts('SEV', { quotes: 'true', limit: '1000' })).map(({ bid }) => bid);
  assert.deepEqual(
    (await bring([line(1, 1, '14'), line(1, 3, '16'), line(1, 2, '15')])).counts,
    [1, 0, 2, 0],
  );
  assert.deepEqual(await bids(), [3]);
  const wrong = await bring([line(1, 4, ''), line(1, 5, '14'), line(1, 3, '16'), line(1, 6, '19')]);
  assert.deepEqual([wrong.counts, wrong.replaced], [[0, 1, 3, 0], 1]);
  assert.deepEqual(await bids(), [6]);
  await shop.must('undo', wrong.runId);
  assert.deepEqual(await bids(), [3]);
  const twice = await bring([line(1, 7, '19'), line(1, 7, '19'), line(1, 8, '19')]);
  assert.deepEqual(twice.counts, [0, 1, 1, 1], 'two of one moment contradict each other');
  assert.deepEqual(await bids(), [7]);
  // More rows than are read at a time, day by day.
  const strikes = Array.from({ length: 3_000 }, (_, at) => at + 2);
  const chain = (bid: number, day: string) => strikes.map((strike) => line(strike, bid, day));
  const days = [...chain(1, '14'), ...chain(2, '15')];
  const all = await bring(days);
  assert.deepEqual([all.counts, all.replaced], [[3_000, 0, 3_000, 0], 0]);
  const seen = await bids();
  assert.deepEqual(new Set(seen.slice(-400)), new Set([2, 7]));
  assert.deepEqual((await bring(days)).counts, [0, 0, 6_000, 0]);
  const later = await bring([...days, ...chain(3, '16')]);
  assert.deepEqual([later.counts, later.replaced], [[0, 3_000, 6_000, 0], 1]);
  assert.deepEqual(new Set(await bids()), new Set([3, 7]));
  await shop.must('undo', later.runId);
  assert.deepEqual(await bids(), seen);
});

test('as of a moment a later quote is hidden, and one without a moment (contract 9.8, 9.22)', async () => {
  await imported('bid,quote_datetime', `${contractOf('PAST')},1,2026-01-16T12:00:00Z`);
  await imported('bid', `${contractOf('PASU')},2`);
  const at = (symbol: string, as_of: string) => quoteOf(symbol, { quotes: 'true', as_of });
  assert.deepEqual(await at('PAST', '2026-01-16T11:59:59Z'), unknown);
  assert.equal((await at('PAST', '2026-01-16T12:00:00Z')).bid, 1);
  assert.deepEqual(await at('PASU', '2026-01-16T12:00:00Z'), unknown);
});

test('an undo gives the former quote back, and an earlier version has it (contract 9.12, 9.22)', async () => {
  await imported('bid,quote_datetime', `${contractOf('UND')},1,2026-01-15T12:00:00Z`);
  const version = JSON.parse(await shop.must('status', '--json')).data_version as number;
  const wrong = await imported('bid,quote_datetime', `${contractOf('UND')},2,2026-01-16T12:00:00Z`);
  await imported('exercise_style', `${contractOf('UND')},american`);
  assert.equal((await quoteOf('UND')).bid, 2);
  assert.equal((await quoteOf('UND', { quotes: 'true', data_version: String(version) })).bid, 1);
  await shop.must('undo', wrong);
  assert.deepEqual(await quoteOf('UND'), { ...unknown, bid: 1, quote_datetime: '2026-01-15T12:00:00+00:00' });
});

test('what no quote can be is refused with its column (contract 11)', async () => {
  const file = shop.path('wrong.csv');
  for (const [column, cell, reason] of [
    ['bid', '-0.01', /bid: must be a number from 0 on/],
    ['open_interest', '-1', /open_interest: must be a number from 0 on/],
    ['implied_volatility', 'high', /implied_volatility: must be a number from 0 on/],
    ['delta', 'x', /delta: must be a number, such as 3.1/],
    ['quote_datetime', 'noon', /quote_datetime: /],
  ] as const) {
    writeFileSync(file, `symbol,${terms},${column}\n${contractOf('BAD')},${cell}\n`);
    const { stdout, stderr } = await shop.run('import', 'option-contracts', file, '--preset', 'none');
    assert.match(stdout + stderr, reason);
  }
  // With negative rates the delta of a call on a future is above 1.
  await imported('delta', `${contractOf('BAD')},1.0004`);
  assert.equal((await quoteOf('BAD')).delta, 1.0004);
});

/** A file about one contract: its style, and its quote where it has one. */
type Brought = {
  readonly style: 'american' | 'european';
  readonly quote: { at: number; bid: number } | null;
};

const broughtFiles = fc.record({
  style: fc.constantFrom('american', 'european'),
  quote: fc.option(
    fc.record(
      { at: fc.integer({ min: 0, max: 3 }), bid: fc.integer({ min: 1, max: 2 }) },
      { noNullPrototype: true },
    ),
  ),
}) as fc.Arbitrary<Brought>;

let stores = 0;

/** Imports a file into a store; the number of its run. */
async function bring(store: Store, path: string, { style, quote }: Brought): Promise<number> {
  const cells = quote === null ? ',' : `${quote.bid},2026-01-16T12:00:0${quote.at}Z`;
  const lines = [
    `symbol,${terms},exercise_style,bid,quote_datetime`,
    `${contractOf('ANY')},${style},${cells}`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  const file = await opened(path);
  const request = { file, flags: new Map(), zone: null, source: null, dryRun: false, nowMs: Date.now };
  const { runId } = await importFile(store, 'option-contracts', request as never);
  await file.close();
  return runId!;
}

/** A contract and its quote as stored; null where there is none. */
type Stored = { readonly style: string; readonly quote: { at: number; bid: number } | null } | null;

/** A run, and what it said or that it deleted the contract. */
type Live = { readonly run: number; readonly said: Brought | 'deleted' };

const after = ({ style, quote }: Brought, before: Stored): Stored => ({
  style,
  quote: quote ?? before?.quote ?? null,
});

/** What some runs come to, one after the other; a quote older than the stored one was not taken. */
function replayed(live: readonly Live[]): Stored {
  let stored: Stored = null;
  for (const { said } of live) stored = said === 'deleted' ? null : after(said, stored);
  return stored;
}

async function storedIn(reader: Reader): Promise<Stored> {
  const [contract, ...others] = await Array.fromAsync(allRows(reader, optionContracts));
  const [quote, ...more] = await Array.fromAsync(allRows(reader, optionQuotes));
  assert.deepEqual([...others, ...more], []);
  if (contract === undefined) assert.equal(quote, undefined, 'a quote goes with its contract');
  const seen = quote && { at: (quote.quote_datetime! / 1000) % 60, bid: quote.bid! };
  return contract === undefined ? null : { style: contract.exercise_style, quote: seen ?? null };
}

test('imports, deletions and undos leave what the other runs said (contract 9.12, 9.22, 10)', async () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: broughtFiles },
      { weight: 3, arbitrary: fc.record({ undone: fc.nat() }) },
      { weight: 1, arbitrary: fc.constant('deletion' as const) },
    ),
    { minLength: 2, maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const store = await openToWrite(temporary.storeUrl(String(++stores)));
      const live: Live[] = [];
      const seen: { version: number; runs: readonly number[]; stored: Stored }[] = [];
      for (const step of all) {
        const stored = replayed(live);
        if (step === 'deletion') {
          if (stored === null) continue;
          const request = { words: 'x', dryRun: false, nowMs: Date.now, dataset: optionContracts };
          const flags = { '--country': 'US', '--contract': 'ANY270115C00100000' };
          const { runId } = await deleteRows(store, { ...request, flags });
          live.push({ run: runId!, said: 'deleted' });
        } else if ('undone' in step) {
          if (live.length === 0) continue;
          const [gone] = live.splice(step.undone % live.length, 1);
          await undoRun(store, { runId: gone!.run, dryRun: false, nowMs: Date.now });
        } else {
          const run = await bring(store, temporary.path('file.csv'), step);
          const isOlder = step.quote !== null && step.quote.at < (stored?.quote?.at ?? 0);
          live.push({ run, said: isOlder ? { ...step, quote: null } : step });
        }
        await store.snapshot(async (reader) => {
          assert.deepEqual(await storedIn(reader), replayed(live));
          const version = (await reader.version())!;
          const runs = live.map(({ run }) => run);
          for (const one of seen) {
            if (!one.runs.every((run) => runs.includes(run))) continue;
            const bounds = { found: new SizedCache<never>(0), entriesMax: 100_000, bytesMax: 100_000_000 };
            const past = await PastState.open(reader, version, one.version, bounds);
            assert.deepEqual(await storedIn(new PastReader(reader, past)), one.stored);
          }
          seen.push({ version, runs, stored: replayed(live) });
        });
      }
      await store.close();
    }),
    { numRuns: times(25) },
  );
});

test('a chain of the next night changes its quotes alone (contract 9.22, 11)', async () => {
  const lines = (bid: number, day: number) =>
    [100, 101].map((strike) => `${contractOf('DAY', strike)},${bid},2026-01-${day}T21:00:00Z`);
  await imported('bid,quote_datetime', ...lines(1, 14));
  const run = Number(await imported('bid,quote_datetime', ...lines(2, 15)));
  const changed: string[] = [];
  await read(async (reader) => {
    for await (const entry of allRows(reader, rowChanges))
      if (entry.run_id === run) changed.push(entry.dataset);
  });
  assert.deepEqual(changed, ['option_quotes', 'option_quotes']);
  const file = shop.path('again.csv');
  writeFileSync(file, `symbol,${terms},bid,quote_datetime\n${lines(2, 15).join('\n')}\n`);
  const again = JSON.parse(await shop.must('import', 'option-contracts', file, '--json'));
  assert.deepEqual([again.rowsUnchanged, again.rowsWritten], [2, 0]);
  writeFileSync(file, `symbol,${terms},bid,quote_datetime\n${lines(3, 16).join('\n')}\n`);
  const next = JSON.parse(await shop.must('import', 'option-contracts', file, '--json'));
  assert.deepEqual([next.rowsNew, next.rowsReplaced, next.replaced[0].runId], [0, 2, run]);
});

test('exports have the quotes of their contracts, and import again (contract 10, 9.22)', async () => {
  await imported(
    'bid,delta,quote_datetime',
    `${contractOf('EXP')},1.25,1e-07,${AT}`,
    `${contractOf('EXP', 101)},,,`,
  );
  const file = shop.path('exported.csv');
  await shop.must('export', 'option-contracts', '--symbol', 'EXP', '--country', 'US', '--out', file);
  const before = await contracts('EXP');
  const again = JSON.parse(await shop.must('import', 'option-contracts', file, '--json'));
  assert.deepEqual([again.rowsRead, again.rowsUnchanged, again.ignoredColumns], [2, 2, []]);
  await shop.must('delete', 'option-contracts', '--symbol', 'EXP', '--country', 'US');
  await shop.must('import', 'option-contracts', file);
  const idless = (rows: readonly Row[]) => rows.map((row) => values.map((field) => row[field]));
  assert.deepEqual(idless(await contracts('EXP')), idless(before));
});

test('a copy has the quotes, and other quotes are another content (contract 10, 9.22)', async () => {
  const hashNow = () => read((reader) => contentHash(reader));
  await imported('bid', `${contractOf('COP')},1`);
  const one = await hashNow();
  await imported('bid', `${contractOf('COP')},2`);
  const two = await hashNow();
  assert.notEqual(one, two);
  const url = temporary.storeUrl('copied');
  await shop.must('copy', '--from', shop.store, '--to', url);
  const copied = await openToWrite(url);
  assert.equal(await copied.snapshot((reader) => contentHash(reader)), two);
  await copied.close();
});
