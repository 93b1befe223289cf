// The SQLite engine on real files: the suite of every engine, and what is SQLite's own.
import assert from 'node:assert/strict';
import fs, { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { engineSuite } from '../../../test/suites/engine-suite.ts';
import { engineAt, openControl, openStore } from '../engines.ts';
import { newestLayout, storeHistory } from '../migrations/index.ts';
import { runSpans, series } from '../schema/bars.ts';
import { corporateActions } from '../schema/corporate-actions.ts';
import type { Dataset } from '../schema/dataset.ts';
import { eventCodes, events } from '../schema/economic.ts';
import { holidays } from '../schema/holidays.ts';
import { dataDatasets } from '../schema/index.ts';
import { blockChanges, counters, formerRows, importRuns, rowChanges } from '../schema/internal.ts';
import { news } from '../schema/news.ts';
import { optionContracts } from '../schema/options.ts';
import { instruments, instrumentTerms } from '../schema/reference.ts';
import { type Direction, type Mode, type RankedRead, type Read, StoreUnusable } from '../store.ts';
import { Database } from './connection.ts';
import { controlPathOf } from './control.ts';
import { sqliteCompiler } from './rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-sqlite-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const freshPath = (): string => join(folder, `${++files}`, 'store.db');
const open = (path: string, mode: Mode) => openStore(`sqlite:${path}`, mode);

/** Moves a store's file away, as with its disk; the result moves it back. */
async function takeAway(url: string): Promise<() => Promise<void>> {
  const path = url.slice('sqlite:'.length);
  await rename(path, `${path}.away`);
  return () => rename(`${path}.away`, path);
}

engineSuite('SQLite', async () => `sqlite:${freshPath()}`, takeAway);

/** A path in a folder that is there. */
function freshFile(): string {
  return join(mkdtempSync(join(folder, 'file-')), 'store.db');
}

/** A store without rows, of which the others are copies. */
const newest = newestLayout(storeHistory);

const emptyStore = freshFile();
await (await open(emptyStore, 'write')).close();

function madeStore(): string {
  const path = freshFile();
  copyFileSync(emptyStore, path);
  return path;
}

/** Changes a file behind the store's back. */
function alter(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

const unusable: readonly {
  name: string;
  modes: readonly Mode[];
  make: () => Promise<string> | string;
  message: RegExp;
}[] = [
  {
    name: 'a file that is not a database',
    modes: ['read', 'write'],
    make: () => {
      const path = freshFile();
      writeFileSync(path, 'datetime,open,high,low,close\n'.repeat(100));
      return path;
    },
    message: /cannot be opened: file is not a database/,
  },
  {
    name: 'a database of another program',
    modes: ['read', 'write'],
    make: () => {
      const path = freshFile();
      alter(path, 'create table notes (text)');
      return path;
    },
    message: /is not a Bourse store/,
  },
  {
    name: 'the control file of a store',
    modes: ['read', 'write'],
    make: async () => {
      const path = freshFile();
      await (await openControl(`sqlite:${path}`, 'write')).close();
      return controlPathOf(path);
    },
    message: /is not a Bourse store/,
  },
  {
    name: 'a folder',
    modes: ['read', 'write'],
    make: () => folder,
    message: /is not a Bourse store: it is a folder/,
  },
  { name: 'a path with nothing there', modes: ['read'], make: freshFile, message: /there is no store at/ },
  {
    name: 'an empty file',
    modes: ['read'],
    make: () => {
      const path = freshFile();
      writeFileSync(path, '');
      return path;
    },
    message: /is empty: it has not been set up as a store/,
  },
  {
    name: 'a newer layout',
    modes: ['read', 'write'],
    make: () => {
      const path = madeStore();
      alter(path, "pragma user_version = 99; update row_sums set rows = 99 where name = 'sqlite_schema'");
      return path;
    },
    message: /was written by a newer Bourse \(layout 99, this one knows \d+\)/,
  },
  ...[0, newest - 2, newest - 1, newest + 1, 99].map((layout) => ({
    name: `a damaged number of the layout, ${layout},`,
    modes: ['read', 'write'] as const,
    make: () => {
      const path = madeStore();
      alter(path, `pragma user_version = ${layout}`);
      return path;
    },
    message: new RegExp(`is damaged: its layout is ${layout}, and ${newest} was written; restore a backup`),
  })),
  {
    name: 'a schema that was changed past the service',
    modes: ['read', 'write'],
    make: () => {
      const path = madeStore();
      alter(path, 'alter table instruments drop column former_symbols');
      return path;
    },
    message: /is damaged: its schema is not what was written; restore a backup/,
  },
];

for (const { name, modes, make, message } of unusable) {
  for (const mode of modes) {
    test(`${name} is refused for ${mode === 'read' ? 'reading' : 'writing'}, and left as it was`, async () => {
      const path = await make();
      const before = existsSync(path) && path !== folder ? readFileSync(path) : null;
      await assert.rejects(open(path, mode), (error) => {
        assert.ok(error instanceof StoreUnusable, String(error));
        assert.match(error.message, message);
        assert.ok(error.message.includes(path));
        return true;
      });
      if (before !== null) assert.ok(readFileSync(path).equals(before));
      else if (path !== folder) assert.ok(!existsSync(path));
    });
  }
}

test('an empty file is set up by opening it for writing', async () => {
  const path = freshFile();
  writeFileSync(path, '');
  await (await open(path, 'write')).close();
  await (await open(path, 'read')).close();
});

test('a new store is in WAL mode with pages of 16 KiB and the marks of its owner and layout', () => {
  const database = new DatabaseSync(emptyStore, { readOnly: true });
  const pragma = (name: string) => Object.values(database.prepare(`pragma ${name}`).get()!)[0];
  assert.equal(pragma('page_size'), 16_384);
  assert.equal(pragma('journal_mode'), 'wal');
  assert.equal(pragma('application_id'), 0x4252_5345);
  assert.equal(pragma('user_version'), newest);
  assert.equal(pragma('integrity_check'), 'ok');
  database.close();
});

test('the log is empty after a write, so that it does not grow from import to import', async () => {
  const path = freshFile();
  const store = await open(path, 'write');
  await store.write((writer) => writer.upsert(counters, [{ name: 'a', value: 1 }]));
  assert.equal(readFileSync(`${path}-wal`).length, 0);
  await store.close();
});

/**
 * The reads of a walk in one direction: whole, as the newest are taken; from a bound, up to one, of a range;
 * behind a row up to the far bound, and behind it alone.
 */
function readsOf(
  walk: Omit<Read, 'limit' | 'order'>,
  columns: readonly string[],
  direction: Direction,
): Read[] {
  const base = { ...walk, order: columns.map((column) => [column, direction] as const), limit: 101 };
  const after = columns.map(() => 5);
  return [
    base,
    { ...base, range: { from: 1 } },
    { ...base, range: { to: 9 } },
    { ...base, range: { from: 1, to: 9 } },
    { ...base, range: direction === 'asc' ? { to: 9 } : { from: 1 }, after },
    { ...base, after },
  ];
}

/** The steps by which SQLite would do a read. */
function planOf(database: DatabaseSync, dataset: Dataset, read: Read): string[] {
  const statement = sqliteCompiler.read(dataset, read);
  const steps = database.prepare(`explain query plan ${statement.sql}`);
  return steps.all(...(statement.values(read) as number[])).map((step) => String(step.detail));
}

/**
 * Holds the plan of a read to one walk of an index: entered at its bounds on the leading column, nothing
 * sorted.
 */
function assertWalks(database: DatabaseSync, dataset: Dataset, read: Read, what: string): string {
  const [plan = '', ...more] = planOf(database, dataset, read);
  const told = `${what}: ${JSON.stringify(read)}: ${plan}`;
  assert.deepEqual(more, [], told);
  const [column, direction] = read.order[0]!;
  const bounds = [
    ...(read.range?.from !== undefined || (read.after && direction === 'asc') ? [`${column}>?`] : []),
    ...(read.range?.to !== undefined || (read.after && direction === 'desc') ? [`${column}<?`] : []),
  ];
  // Without anything to look for a walk begins at an end of its index.
  const isWhole = bounds.length === 0 && Object.keys(read.where ?? {}).length === 0;
  assert.match(plan, isWhole ? /^SCAN \w+ USING INDEX/ : /^SEARCH /, told);
  for (const name of Object.keys(read.where ?? {})) {
    // What the end of a key says is compared along it.
    if (name !== 'action_type') assert.ok(plan.includes(`${name}=?`), told);
  }
  // A key of one whole number is SQLite's own number of the row.
  for (const bound of bounds)
    assert.ok(plan.includes(bound) || plan.includes(bound.replace(column, 'rowid')), told);
  return plan;
}

/** Values of the filters of events, and the order that is left beside them. */
const eventFilters = { country_iso_code: 'US', event_code: 'A', rank: 0, source_id: 'a' } as const;
const eventOrder = ['event_timestamp', 'rank', 'event_code', 'source_id'] as const;
const eventFilterSets = Array.from({ length: 16 }, (_, bits) =>
  Object.keys(eventFilters).filter((_name, at) => bits & (1 << at)),
) as (keyof typeof eventFilters)[][];

/**
 * Pages of events under some filters, as queries ask for them: the rank beside others is compared along the
 * walk.
 */
function eventReads(filters: readonly (keyof typeof eventFilters)[], direction: Direction): Read[] {
  const isAlong = filters.includes('rank') && filters.length > 1;
  const entered = filters.filter((name) => name !== 'rank' || !isAlong);
  const columns = eventOrder.filter((column) => !entered.some((name) => name === column));
  const where = Object.fromEntries(entered.map((name) => [name, eventFilters[name]]));
  return readsOf({ where, along: isAlong ? { rank: 0 } : {} }, columns, direction);
}

const reads: readonly {
  what: string;
  dataset: Dataset;
  read: Read;
}[] = [
  {
    what: 'an instrument by its key',
    dataset: instruments,
    read: {
      where: { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' },
      order: [['symbol', 'asc']],
      limit: 1,
    },
  },
  {
    what: 'instruments by a beginning',
    dataset: instruments,
    read: {
      where: { asset_schema: 'stock', country_iso_code: 'US' },
      range: { from: 'A', to: 'B' },
      order: [['symbol', 'asc']],
      limit: 64,
    },
  },
  ...(['asc', 'desc'] as const).map((direction) => ({
    what: `instruments behind one, ${direction}`,
    dataset: instruments,
    read: {
      where: { asset_schema: 'stock' },
      order: [
        ['country_iso_code', direction],
        ['symbol', direction],
      ] as const,
      after: ['US', 'A'],
      limit: 10,
    },
  })),
  ...(['asc', 'desc'] as const).map((direction) => ({
    what: `import runs behind one, ${direction}`,
    dataset: importRuns,
    read: { order: [['run_id', direction]] as const, after: [5], limit: 10 },
  })),
  {
    what: 'blocks that a run changed',
    dataset: blockChanges,
    read: {
      where: { run_id: 3 },
      order: [
        ['series_id', 'asc'],
        ['bucket', 'asc'],
      ] as const,
      after: [1, 2],
      limit: 10,
    },
  },
  {
    what: 'rows that a run changed',
    dataset: rowChanges,
    read: {
      where: { run_id: 3 },
      order: [
        ['dataset', 'asc'],
        ['row_key', 'asc'],
      ] as const,
      after: ['instruments', ''],
      limit: 10,
    },
  },
  {
    what: 'what later runs changed in a block',
    dataset: blockChanges,
    read: {
      where: { series_id: 1, bucket: 2 },
      order: [['run_id', 'asc']] as const,
      after: [3],
      limit: 10,
    },
  },
  {
    what: 'the newest changes of rows',
    dataset: rowChanges,
    read: {
      order: [
        ['run_id', 'desc'],
        ['dataset', 'desc'],
        ['row_key', 'desc'],
      ] as const,
      after: [3, 'instruments', ''],
      limit: 10,
    },
  },
  ...(['from the start', 'behind one'] as const).flatMap((place) => [
    {
      what: `instruments by a term, in all countries, ${place}`,
      dataset: instrumentTerms,
      read: {
        where: { asset_schema: 'stock', kind: 'name' },
        range: { from: 'apple', to: 'apple\u{10ffff}' },
        order: [
          ['term', 'asc'],
          ['country_iso_code', 'asc'],
          ['symbol', 'asc'],
        ] as const,
        ...(place === 'behind one' ? { after: ['apple', 'US', 'AAPL'] } : {}),
        limit: 100,
      },
    },
    {
      what: `instruments by a term, in one country, ${place}`,
      dataset: instrumentTerms,
      read: {
        where: { asset_schema: 'stock', kind: 'name', country_iso_code: 'US' },
        range: { from: 'apple', to: 'apple\u{10ffff}' },
        order: [
          ['term', 'asc'],
          ['symbol', 'asc'],
        ] as const,
        ...(place === 'behind one' ? { after: ['apple', 'AAPL'] } : {}),
        limit: 100,
      },
    },
  ]),
  {
    what: 'who had a symbol',
    dataset: instrumentTerms,
    read: {
      where: { asset_schema: 'stock', country_iso_code: 'US', kind: 'former', term: 'FB' },
      order: [['symbol', 'asc']] as const,
      limit: 10,
    },
  },
  {
    what: 'an instrument by its number',
    dataset: instruments,
    read: { where: { instrument_id: 1 }, order: [['instrument_id', 'asc']] as const, limit: 1 },
  },
  {
    what: 'a series by its number',
    dataset: series,
    read: { where: { series_id: 1 }, order: [['series_id', 'asc']] as const, limit: 1 },
  },
  {
    what: 'the next expiration of an underlying',
    dataset: optionContracts,
    read: {
      where: {
        country_iso_code: 'US',
        parent_asset_schema: 'stock',
        underlying_name: 'A',
        option_type: 'put',
      },
      range: { from: 5 },
      order: [
        ['expiration_date', 'asc'],
        ['expiration_datetime', 'asc'],
      ] as const,
      limit: 1,
    },
  },
  {
    what: 'the next instant at which contracts of a date expire',
    dataset: optionContracts,
    read: {
      where: {
        country_iso_code: 'US',
        parent_asset_schema: 'stock',
        underlying_name: 'A',
        option_type: 'put',
        expiration_date: 5,
      },
      range: { from: 6 },
      order: [['expiration_datetime', 'asc']] as const,
      limit: 1,
    },
  },
  {
    what: 'the next code of the events of a country',
    dataset: events,
    read: {
      where: { country_iso_code: 'US' },
      range: { from: 'GDP_A!' },
      order: [['event_code', 'asc']] as const,
      limit: 1,
    },
  },
  ...[{}, { action_type: 'split' }].flatMap((type) =>
    (['asc', 'desc'] as const).flatMap((direction) =>
      readsOf(
        { where: { country_iso_code: 'US', symbol: 'A', ...type } },
        ['ex_date', 'occurrence', 'action_type'],
        direction,
      ).map((read) => ({ what: 'actions of a stock', dataset: corporateActions, read })),
    ),
  ),
  ...[
    {},
    { asset_name: 'stock', country_iso_code: 'US' },
    { asset_name: 'stock', country_iso_code: 'US', symbol: 'A' },
  ].flatMap((where) =>
    (['asc', 'desc'] as const).flatMap((direction) =>
      readsOf({ where }, ['published_date', 'news_id'], direction).map((read) => ({
        what: 'news',
        dataset: news,
        read,
      })),
    ),
  ),
  ...readsOf(
    { where: { country_iso_code: 'US', asset_name: 'stock' } },
    ['symbol', 'calendar_date', 'priority'],
    'asc',
  ).map((read) => ({ what: 'days of an operator’s own in a market', dataset: holidays, read })),
  ...readsOf({ where: { country_iso_code: 'US' } }, ['event_code'], 'asc').map((read) => ({
    what: 'what the codes of a country mean',
    dataset: eventCodes,
    read,
  })),
  {
    what: 'the series of an instrument',
    dataset: series,
    read: { where: { instrument_id: 1 }, order: [['interval', 'asc']] as const, limit: 10 },
  },
  {
    what: 'the runs of a market that reach an instant',
    dataset: runSpans,
    read: {
      where: { market: 'stock/US_STOCK', interval: '1M' },
      range: { from: 1 },
      order: [
        ['reach_ms', 'asc'],
        ['run_id', 'asc'],
      ] as const,
      limit: 10,
    },
  },
  {
    what: 'the files of a command in a market',
    dataset: runSpans,
    read: {
      where: { market: 'stock/US_STOCK', interval: '1M', command: 1 },
      order: [['run_id', 'asc']] as const,
      limit: 10,
    },
  },
  {
    what: 'what a run holds',
    dataset: runSpans,
    read: {
      where: { run_id: 1 },
      order: [
        ['market', 'asc'],
        ['interval', 'asc'],
      ] as const,
      limit: 10,
    },
  },
  ...dataDatasets.map((dataset) => ({
    what: `${dataset.name} behind a row of their key`,
    dataset,
    read: {
      order: dataset.key.map((column) => [column, 'asc'] as const),
      after: dataset.key.map(() => 1),
      limit: 10,
    },
  })),
];

test('every list walks an index in its order from where the page starts, and sorts nothing', () => {
  const database = new DatabaseSync(emptyStore, { readOnly: true });
  for (const { what, dataset, read } of reads) assertWalks(database, dataset, read, what);
  database.close();
});

test('contracts and instruments are read by their symbols, expirations by their index (spec 4.6, 4.7)', () => {
  const database = new DatabaseSync(emptyStore, { readOnly: true });
  const plan = (sql: string): string => String(database.prepare(`explain query plan ${sql}`).get()!.detail);
  const ofKey = (dataset: Dataset, key: Readonly<Record<string, string>>): string =>
    database
      .prepare(`explain query plan ${sqliteCompiler.atKeys(dataset, [key]).sql}`)
      .all()
      .map(({ detail }) => detail)
      .join();
  assert.match(
    ofKey(optionContracts, { country_iso_code: 'US', symbol: 'A' }),
    /SEARCH option_contracts USING PRIMARY KEY \(country_iso_code=\? AND symbol=\?\)$/,
  );
  assert.match(
    ofKey(instruments, { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' }),
    /SEARCH instruments USING PRIMARY KEY \(asset_schema=\? AND country_iso_code=\? AND symbol=\?\)$/,
  );
  const next = reads.find(({ what }) => what === 'the next expiration of an underlying')!;
  assert.match(
    plan(sqliteCompiler.read(next.dataset, next.read).sql),
    /^SEARCH option_contracts USING INDEX/,
  );
  database.close();
});

test('option search enters a covering index at each expiration, sorts what it finds there and walks nothing (spec 4.6)', () => {
  const database = new DatabaseSync(emptyStore, { readOnly: true });
  const spans = [{}, { within: 'symbol', from: 'A', below: 'B' }];
  for (const [side, { within, ...span }] of spans.flatMap(
    (one) =>
      [
        ['above', one],
        ['below', one],
      ] as const,
  )) {
    for (const after of [undefined, [1, 2, 'A', 'A', 3, 'A']]) {
      const read: RankedRead = {
        where: {
          country_iso_code: 'US',
          parent_asset_schema: 'stock',
          underlying_name: 'A',
          option_type: 'call',
        },
        groupBy: ['expiration_date', 'expiration_datetime'],
        ...(within && { within }),
        groups: [
          { at: [1, null], rank: 1, ...span },
          { at: [2, 3], rank: 2, ...span },
        ],
        between: { column: 'strike_price', [side]: 5 },
        order: [
          ['rank', 'asc'],
          ['strike_price', 'desc'],
          ['status', 'asc'],
          ['exercise_style', 'asc'],
          ['instrument_id', 'asc'],
          ['symbol', 'asc'],
        ],
        ...(after === undefined ? {} : { after }),
        limit: 5,
      };
      const statement = sqliteCompiler.ranked(optionContracts, read);
      const steps = database
        .prepare(`explain query plan ${statement.sql}`)
        .all(...(statement.values(read) as number[]));
      const plan = steps.map((step) => String(step.detail)).join('; ');
      const bound = side === 'above' ? '>' : '<';
      assert.match(plan, /SEARCH option_contracts USING COVERING INDEX option_contracts_by_\w+ \(/);
      assert.ok(plan.includes(`expiration_date=? AND expiration_datetime=? AND strike_price${bound}?`), plan);
      assert.doesNotMatch(plan, /SCAN option_contracts/);
    }
  }
  database.close();
});

test('counting walks the least index', () => {
  const database = new DatabaseSync(emptyStore, { readOnly: true });
  const planOf = (sql: string, ...values: string[]): string =>
    database
      .prepare(`explain query plan ${sql}`)
      .all(...values)
      .map(({ detail }) => String(detail))
      .join('\n');
  assert.match(planOf(sqliteCompiler.count(news, {}).sql), /^SCAN news USING COVERING INDEX/);
  const market = { asset_schema: 'option', country_iso_code: 'US', kind: 'symbol' };
  assert.match(
    planOf(sqliteCompiler.count(instrumentTerms, market).sql, ...Object.values(market)),
    /^SEARCH instrument_terms USING (PRIMARY KEY|COVERING INDEX)[^\n]*$/,
  );
  // The table is compared with it.
  const counted = sqliteCompiler.count(formerRows, { dataset: 'news' }, { version: 1 });
  assert.match(
    planOf(counted.sql, 'news', '1'),
    /^SEARCH former_rows USING COVERING INDEX former_rows_by_\w+ \(dataset=\? AND version>\?\)$/,
  );
  database.close();
});

test('each set of filters of events has an index that leads to its place, and compares the rank in it', () => {
  const database = new DatabaseSync(emptyStore, { readOnly: true });
  for (const filters of eventFilterSets) {
    for (const direction of ['asc', 'desc'] as const) {
      for (const read of eventReads(filters, direction)) {
        if (filters.includes('source_id')) {
          // One row at the most.
          const plan = planOf(database, events, read).join('; ');
          assert.match(plan, /^SEARCH economic_events USING INDEX sqlite_autoindex_economic_events_1/);
          continue;
        }
        const walked = assertWalks(database, events, read, filters.join());
        // An event of another rank is passed over without its row.
        if (read.along !== undefined)
          for (const name of filters) assert.match(walked, new RegExp(`_by_\\w*${name}`));
      }
    }
  }
  database.close();
});

test('reading blocks of a series enters their key and sorts nothing', () => {
  const database = new DatabaseSync(emptyStore, { readOnly: true });
  for (const direction of ['asc', 'desc']) {
    const [step, ...more] = database
      .prepare(
        `explain query plan select bytes from bar_blocks where series_id = 1 and bucket >= 1 and bucket <= 9 order by bucket ${direction} limit 5`,
      )
      .all();
    assert.match(String(step!.detail), /SEARCH bar_blocks USING INDEX bar_blocks_key/);
    assert.deepEqual(more, []);
  }
  database.close();
});

test('the control file lies beside the store', async () => {
  const path = freshFile();
  await (await openControl(`sqlite:${path}`, 'write')).close();
  assert.equal(controlPathOf(path), path.replace(/\.db$/, '.control.db'));
  assert.equal(controlPathOf('data/store'), 'data/store.control.db');
  assert.ok(existsSync(controlPathOf(path)));
  assert.ok(!existsSync(path));
});

test('an address that names no engine is refused with those that do', async () => {
  for (const url of ['', 'mysql://host/db', 'sqlite:', 'toString:x']) {
    await assert.rejects(openStore(url, 'read'), (error) => {
      return error instanceof StoreUnusable && error.message.includes('sqlite:PATH');
    });
  }
});

test('a relative address becomes one that holds in every folder', () => {
  assert.equal(engineAt('sqlite:data/x.db').address, `sqlite:${join(process.cwd(), 'data/x.db')}`);
  assert.equal(engineAt('sqlite:/data/x.db').address, 'sqlite:/data/x.db');
});

test('two that make a file at the same time share it: the later leaves the log of the quicker', (t) => {
  const path = freshFile();
  const { openSync } = fs;
  let quicker: Database | undefined;
  let isFirst = true;
  const opening = t.mock.method(fs, 'openSync', (...asked: Parameters<typeof openSync>) => {
    // The later has seen that there is no file, and is about to make it.
    if (asked[0] === path && isFirst) {
      isFirst = false;
      quicker = new Database(path, 'write', 'store');
      quicker.exec('create table made (value)');
    }
    return openSync(...asked);
  });
  syncBuiltinESMExports();
  t.after(() => {
    opening.mock.restore();
    syncBuiltinESMExports();
    quicker?.close();
  });
  using later = new Database(path, 'write', 'store');
  assert.deepEqual(later.rows('select name from sqlite_schema'), [['made']]);
});
