// A row that an index has lost is missed where an answer depends on its absence: a fault that names it, and
// the rest is served.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readHoldings } from '../../src/cli/commands/status.ts';
import { ndjson } from '../../src/queries/export/export-table.ts';
import { everything, exportTable } from '../../src/queries/export/tables.ts';
import { newestRuns, undoRun } from '../../src/runs/undo-run.ts';
import { collectRows } from '../../src/store/all-rows.ts';
import { contentHash } from '../../src/store/copy.ts';
import { type Damage, damageWords } from '../../src/store/damage.ts';
import { engineAt } from '../../src/store/engines.ts';
import { corporateActions } from '../../src/store/schema/corporate-actions.ts';
import { instruments } from '../../src/store/schema/reference.ts';
import type { Reader } from '../../src/store/store.ts';
import { fillStore } from '../importing.ts';
import { type Got, Service } from '../reliability/flips-asking.ts';
import { ASKED_MS, sourceIds } from '../reliability/flips-data.ts';
import { contentOfFile, storeFile } from './files.ts';
import { asking, LosingStores, lose } from './losing.ts';

const stores = new LosingStores();
before(() => stores.make());
after(() => stores.close());
const losing = stores.losing.bind(stores);
const losingInIndex = stores.losingInIndex.bind(stores);
const losingInTable = stores.losingInTable.bind(stores);
const changed = stores.changed.bind(stores);

async function exportBars(reader: Reader): Promise<void> {
  const table = await exportTable(reader, 'bars', everything);
  for await (const { rows } of table.lines(ndjson)) assert.ok(rows > 0);
}

async function scrubbed(url: string): Promise<string> {
  const found: Damage[] = [];
  for await (const { damage } of engineAt(url).scrub()) found.push(...damage);
  return found.map(damageWords).join('\n');
}

const seriesOf = (symbol: string, interval: string): string =>
  `(select series_id from series join instruments using (instrument_id) where symbol = '${symbol}' and interval = '${interval}')`;

const bars = (symbol: string, rest: string): string => `/api/v2/stock/bars/US:${symbol}/${rest}`;
const ofDays = 'DAY/from/2025-01-01/to/2025-03-31';

const lost: readonly {
  readonly what: string;
  readonly table: string;
  readonly where: string;
  readonly faults: readonly string[];
  readonly named: RegExp;
  readonly served: readonly string[];
}[] = [
  {
    what: 'that a run held a day (contract 3.9)',
    table: 'run_spans',
    where: `run_id = (select max(run_id) from block_changes where series_id = ${seriesOf('AB01', 'DAY')})`,
    faults: [bars('AB01', ofDays)],
    named: /run_spans, the rows of run_id \d+: rows are missing/,
    // The run held the days of every stock.
    served: ['/api/v2/stock/reference/US:AB01'],
  },
  {
    what: 'of a split (contract 9.4)',
    table: 'corporate_actions',
    where: "symbol = 'AB00' and action_type = 'split'",
    faults: [bars('AB00', `${ofDays}?adjust=all`)],
    named: /corporate_actions, the rows of country_iso_code "US", symbol "AB00"/,
    served: [bars('AB00', ofDays), bars('AB01', `${ofDays}?adjust=all`)],
  },
  {
    what: 'of a series',
    table: 'series',
    where: `series_id = ${seriesOf('AB01', 'DAY')}`,
    faults: [bars('AB01', ofDays), '/api/v2/stock/coverage?limit=100'],
    named: /series, the rows of instrument_id \d+/,
    served: [bars('AB02', ofDays)],
  },
  {
    what: 'of an instrument',
    table: 'instruments',
    where: "symbol = 'AB05'",
    faults: [
      '/api/v2/stock/reference/US:AB05',
      '/api/v2/stock/stock_corporate_action/list/US:AB05?from_date=2020-01-01',
    ],
    named: /instruments, row asset_schema "stock", country_iso_code "US", symbol "AB05": the row is lost/,
    served: ['/api/v2/stock/reference/US:AB06'],
  },
  {
    what: 'of a holiday (contract 8.6)',
    table: 'holidays',
    where: "name = 'Day 7 of the sample'",
    faults: ['/api/v2/holiday/holiday_codes/ZZ'],
    named: /holidays, the rows of country_iso_code "ZZ", asset_name "stock"/,
    served: ['/api/v2/holiday/holiday_codes/US'],
  },
  {
    what: 'of an event code (contract 8.8)',
    table: 'economic_event_codes',
    where: "event_code = 'SAMPLE_CODE_3'",
    faults: ['/api/v2/economic_calendar/event_codes/ZZ'],
    named: /economic_event_codes, the rows of country_iso_code "ZZ"/,
    served: ['/api/v2/economic_calendar/event_codes/US'],
  },
  {
    what: 'of an economic event before the one that is asked for (contract 9.8)',
    table: 'economic_events',
    where: "event_name = 'Sample event 24'",
    faults: [`/api/v2/economic_calendar/event?source_id=${sourceIds[36]}&as_of=2025-02-28T00:00:00Z`],
    named: /economic_events, the rows of country_iso_code "US", event_code "SAMPLE_0"/,
    served: [
      `/api/v2/economic_calendar/event?source_id=${sourceIds[36]}`,
      `/api/v2/economic_calendar/event?source_id=${sourceIds[38]}&as_of=2025-02-28T00:00:00Z`,
      '/api/v2/economic_calendar/event_codes/US?as_of=2025-02-28T00:00:00Z',
    ],
  },
  {
    what: 'of a block in the middle of a series',
    table: 'bar_blocks',
    where: `series_id = ${seriesOf('AB02', '5M')} and bucket = (select max(bucket) - 1 from bar_blocks where series_id = ${seriesOf('AB02', '5M')})`,
    faults: [
      bars('AB02', '5M/from/2025-01-01/to/2025-03-31'),
      bars('AB02', '60M/from/2025-02-18/to/2025-02-19'),
    ],
    named: /bars, stock:US:AB02 5M: blocks of it are lost/,
    served: [bars('AB07', ofDays)],
  },
];

for (const { what, table, where, faults, named, served } of lost) {
  test(`an answer is a fault where a row is lost ${what}, doctor finds it, and the rest is served (house rules)`, async () => {
    const url = losing(table, where);
    await asking(url, 'read', async (store) => {
      const service = new Service(store);
      for (const target of faults) {
        const { status, why } = await service.get(target);
        assert.equal(status, 500, target);
        assert.match(why, named);
      }
      for (const target of served) assert.equal((await service.get(target)).status, 200, target);
    });
    assert.match(await scrubbed(url), new RegExp(`^${table}, .*(?:do not have|rows are missing)`, 'm'));
  });
}

test('coverage of a series that the index of numbers has lost is a fault, and the list is as it was (contract 9.9)', async () => {
  const where = `series_id = ${seriesOf('AB01', 'DAY')}`;
  const list = '/api/v2/stock/coverage?limit=100';
  const sound = await asking(losingInIndex('series_by_series_id', 'FALSE'), 'read', (store) =>
    new Service(store).get(list),
  );
  await asking(losingInIndex('series_by_series_id', where), 'read', async (store) => {
    const service = new Service(store);
    assert.deepEqual(await service.get(list), sound);
    const { status, why } = await service.get('/api/v2/stock/coverage/US:AB01?interval=DAY');
    assert.equal(status, 500);
    assert.match(why, /series, row series_id \d+: an index has lost it/);
  });
});

test('coverage is a fault where an index has lost the last block (contract 9.9)', async () => {
  const url = losingInIndex('bar_blocks_key', `series_id = ${seriesOf('AB21', 'DAY')}`);
  await asking(url, 'read', async (store) => {
    const service = new Service(store);
    for (const target of [
      '/api/v2/stock/coverage?limit=100',
      '/api/v2/stock/coverage/US:AB21?interval=DAY',
    ]) {
      const { status, why } = await service.get(target);
      assert.equal(status, 500, target);
      assert.match(why, /bars, block \d+ of series \d+.*: it is lost/, target);
    }
    const other = await service.get(bars('AB02', 'DAY/latest'));
    assert.equal(other.status, 200, other.why);
  });
});

test('an earlier version of rows of which the journal has lost an entry is a fault (contract 9.12)', async () => {
  const contracts =
    '/api/v2/option/search/stock/US:AB01/call/moneyness/in_the_money?limit=100&ref_asset_price=5000';
  const changed = "dataset = 'option_contracts' and run_id = 28";
  const where = `${changed} and row_key = (select min(row_key) from row_changes where ${changed})`;
  await asking(losing('row_changes', where), 'read', async (store) => {
    const service = new Service(store);
    const { status, why } = await service.get(`${contracts}&data_version=20`);
    assert.equal(status, 500);
    assert.match(why, /row_changes, the entries of run 28 about option_contracts: 4 are there, and 5 were/);
    assert.equal((await service.get(contracts)).status, 200);
    assert.equal((await service.get(`${contracts}&data_version=28`)).status, 200);
  });
});

/** A row of `former_rows`: its dataset and key, and what reads it at version 20, before it. */
const formerLost = [
  [
    'option_contracts',
    '28',
    '/api/v2/option/search/stock/US:AB01/call/moneyness/in_the_money?ref_asset_price=5000',
  ],
  ['import_runs', '[21]', '/api/v2/stock/coverage/US:AB00?interval=DAY'],
] as const;

for (const [place, loseOne] of Object.entries({ table: losingInTable, index: losingInIndex }))
  for (const [dataset, key, target] of formerLost)
    test(`a version is a fault where its ${place} lost a row of ${dataset} (contract 9.12)`, async () => {
      const url = loseOne(
        'former_rows_by_dataset_version_part_row_key',
        `dataset = '${dataset}' and row_key = '${key}'`,
      );
      await asking(url, 'read', async (store) => {
        const service = new Service(store);
        const { status, why } = await service.get(`${target}&data_version=20`);
        assert.equal(status, 500);
        assert.match(
          why,
          new RegExp(`former_rows, the rows of ${dataset} after version 20: \\d+ are there, and`),
        );
        for (const served of [target, `${target}&data_version=28`])
          assert.equal((await service.get(served)).status, 200, served);
      });
    });

test('so it is where a series has lost what it was', async () => {
  const url = losing(
    'former_rows',
    `dataset = 'series' and part = (select instrument_id from instruments where symbol = 'AB21')`,
  );
  await asking(url, 'read', async (store) => {
    const service = new Service(store);
    for (const target of [
      '/api/v2/stock/coverage?limit=100&data_version=20',
      '/api/v2/stock/coverage/US:AB21?interval=DAY&data_version=20',
      bars('AB21', `${ofDays}?data_version=20`),
    ]) {
      const { status, why } = await service.get(target);
      assert.equal(status, 500, target);
      assert.match(why, /series|run_spans/, target);
    }
  });
});

test('a bar is a fault where the journal has lost the run that brought it (contract 3.9 (5))', async () => {
  const where = `series_id = ${seriesOf('AB01', 'DAY')}`;
  const last = `select run_id from bar_blocks where ${where} order by bucket desc limit 1`;
  const url = losing('block_changes', `${where} and run_id = (${last})`);
  await asking(url, 'read', async (store) => {
    const service = new Service(store);
    const { status, why } = await service.get(bars('AB01', 'DAY/latest'));
    assert.equal(status, 500);
    assert.match(why, /block_changes, block \d+ of series \d+: the entry of run \d+ is lost/);
    assert.equal((await service.get(bars('AB02', 'DAY/latest'))).status, 200);
    const earlier = await service.get(bars('AB01', `${ofDays}?data_version=20`));
    assert.equal(earlier.status, 500);
    assert.match(earlier.why, /the entry of run \d+ is lost/);
  });
});

test('so it is where a later run changed other bars of the block', async () => {
  const where = `series_id = ${seriesOf('AB21', 'DAY')}`;
  const last = `select run_id from bar_blocks where ${where} order by bucket desc limit 1`;
  const url = losing('block_changes', `${where} and run_id <> (${last})`);
  await asking(url, 'read', async (store) => {
    const { status, why } = await new Service(store).get(bars('AB21', ofDays));
    assert.equal(status, 500);
    assert.match(why, /block_changes, block \d+ of series \d+: the entry of a run is lost/);
  });
});

test('bars before the first of a file are a fault where the journal lost it (contract 3.9 (1))', async () => {
  const series = seriesOf('VOD.L', '1M');
  const index = 'block_changes_by_run_id_series_id_bucket';
  const target = '/api/v2/stock/bars/UK:VOD.L/30M/from/2025-03-03/to/2025-03-04';
  for (const asked of [target, `${target}?data_version=20`]) {
    const ask = (where: string): Promise<Got> =>
      asking(losingInTable(index, where), 'read', (store) => new Service(store).get(asked));
    // The file begins in the middle of the session: a half hour of which it has only the end is not served.
    assert.doesNotMatch((await ask('FALSE')).body.toString(), /2025-03-03T14:00/);
    const { status, why } = await ask(`series_id = ${series}`);
    assert.equal(status, 500);
    assert.match(why, /block_changes, block \d+ of series \d+: the entry of run \d+ is lost/);
  }
});

test('bars that are finished by what other instruments have are a fault where one of these is lost (contract 3.9)', async () => {
  const where = "symbol = 'ESM25'";
  await asking(losingInIndex('instruments_by_instrument_id', where), 'read', async (store) => {
    const service = new Service(store);
    const { status, why } = await service.get('/api/v2/future/bars/US:ESM25/DAY/latest?is_eth=true');
    assert.equal(status, 500);
    assert.match(why, /instruments, the rows of instrument_id \d+: rows are missing/);
  });
});

test('the newest event of a code that an index has lost names no other event (contract 8.8)', async () => {
  const index = 'economic_events_by_country_iso_code_event_code_event_timestamp_rank_source_id';
  const newest = "event_name = 'Sample event 47'";
  await asking(losingInIndex(index, newest), 'read', async (store) => {
    const { status, why } = await new Service(store).get('/api/v2/economic_calendar/event_codes/ZZ');
    assert.equal(status, 500);
    assert.match(why, /economic_events, row source_id "2fab.*: an index has lost it/);
  });
});

test('no flipped bit of the time by which an index finds an economic event brings forward what is known of a later one (contract 9.8)', async () => {
  // Of each code in each country the events are six days apart: 24 and 36 are the last two of theirs.
  const next = Date.UTC(2025, 2, 4, 13, 30);
  const time = Buffer.alloc(8);
  time.writeBigInt64BE(BigInt(next));
  // The columns of an index entry follow each other; six bytes hold a time of these years (SQLite's file
  // format, 2.1).
  const entry = Buffer.concat([Buffer.from('USSAMPLE_0'), time.subarray(2)]);
  const target = `/api/v2/economic_calendar/event_list?format=json&limit=100&as_of=${new Date(next - 1_000).toISOString()}`;
  const ask = (url: string) => asking(url, 'read', (store) => new Service(store).get(target));
  const isAhead = ({ body }: Got): boolean => {
    const { data } = (JSON.parse(body.toString()) as { result: { data: Record<string, unknown>[] } }).result;
    const { previous_value, forecast_value } = data.find((one) => one.source_id === sourceIds[36])!;
    return previous_value !== null || forecast_value !== null;
  };
  assert.equal(isAhead(await ask(changed(() => undefined))), false);
  for (let bit = 0; bit < 48; bit++) {
    const url = stores.flipping(entry, entry.length - 6 + (bit >> 3), bit & 7);
    const got = await ask(url);
    if (got.status === 200) assert.equal(isAhead(got), false, `bit ${bit}`);
    else assert.match(got.why, /economic_events/);
  }
});

test('what is left of rows that lost one can be deleted and imported again: then they are served (contract 10)', async () => {
  const url = losing(
    'corporate_actions',
    "symbol = 'AB01' and ex_date = (select min(ex_date) from corporate_actions where symbol = 'AB01')",
  );
  const target = bars('AB01', `${ofDays}?adjust=all`);
  await asking(url, 'write', async (store) => {
    await store.write(async (writer) => {
      const { country_iso_code, symbol } = { country_iso_code: 'US', symbol: 'AB01' };
      const rest = await collectRows(writer, corporateActions, { country_iso_code, symbol });
      await writer.remove(corporateActions, rest);
      await writer.upsert(corporateActions, rest);
    });
    assert.equal((await new Service(store).get(target)).status, 200);
  });
});

test('an export and a content hash name a series that lost a block (contract 10)', async () => {
  const series = seriesOf('AB07', 'DAY');
  const url = losing(
    'bar_blocks',
    `series_id = ${series} and bucket = (select min(bucket) from bar_blocks where series_id = ${series})`,
  );
  await asking(url, 'read', (store) =>
    store.snapshot(async (reader) => {
      await assert.rejects(contentHash(reader), /bars, series \d+: blocks of it are lost$/);
      await assert.rejects(exportBars(reader), /bars, stock:US:AB07 DAY: blocks of it are lost$/);
    }),
  );
});

const blocksLost = {
  'lost a block': (series: string): string =>
    losing(
      'bar_blocks',
      `series_id = ${series} and bucket = (select min(bucket) from bar_blocks where series_id = ${series})`,
    ),
  'has a block under another name in the index': (series: string): string => stores.misnamingBlock(series),
};

for (const [what, make] of Object.entries(blocksLost))
  test(`an undo is refused where a series ${what}, and names it (contract 10)`, async () => {
    const url = make(seriesOf('AB07', 'DAY'));
    await asking(url, 'write', async (store) => {
      const runs = await store.snapshot((reader) => newestRuns(reader, 1_000));
      const { run_id: runId } = runs.findLast(({ dataset }) => dataset === 'bars')!;
      await assert.rejects(
        undoRun(store, { runId, dryRun: false, nowMs: () => ASKED_MS }),
        /bars, stock:US:AB07 DAY: blocks of it are lost; run \d+ is not undone: restore a backup/,
      );
    });
  });

test('an instrument that the index of identifiers has lost is missed', async () => {
  const [index, where] = ['instruments_by_instrument_id', "symbol = 'AB13'"];
  await asking(losingInIndex(index, where), 'read', (store) =>
    store.snapshot(async (reader) => {
      const [named] = await reader.rows(instruments, {
        where: { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AB13' },
        order: [['symbol', 'asc']],
        limit: 1,
      });
      const { instrument_id } = named!;
      await assert.rejects(
        reader.group(instruments, { instrument_id }),
        /instruments, the rows of instrument_id/,
      );
      assert.deepEqual(await reader.group(instruments, { instrument_id: 999 }), []);
    }),
  );
});

const named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AB05' };
const news = {
  published_date: '2025-03-03T12:00:00Z',
  title: 'One',
  publisher_url: 'https://example.com/1',
  ...{ asset_name: 'stock', country_iso_code: 'US', symbol: 'AB05' },
};
const noon = { open_timestamp: null, close_timestamp: '2025-03-05T17:00:00Z' };

/** A dataset, and a row of it that names the lost instrument AB05. */
const naming: readonly (readonly [dataset: string, row: Readonly<Record<string, unknown>>])[] = [
  ['bars', { ...named, interval: 'DAY', datetime: '2025-03-03', open: 1, high: 1, low: 1, close: 1 }],
  ['instruments', { ...named, name: 'Another name' }],
  ['news', news],
  [
    'holidays',
    {
      ...{ name: 'Short', holiday_code: 'HOLIDAY_SHORT', calendar_date: '2025-03-05', ...noon },
      ...{ asset_name: 'stock', country_iso_code: 'US', symbol: 'AB05', session_template: 'EARLY_CLOSE' },
    },
  ],
];

for (const [dataset, row] of naming) {
  test(`an import of ${dataset} that names an instrument whose row is lost is refused, and stores nothing (contract 10)`, async () => {
    const url = losing('instruments', "symbol = 'AB05'");
    const before = contentOfFile(storeFile(url));
    await assert.rejects(
      fillStore(url, stores.folder, ASKED_MS, [[dataset, [row]]]),
      /instruments, row asset_schema "stock", country_iso_code "US", symbol "AB05": the row is lost/,
    );
    assert.deepEqual(contentOfFile(storeFile(url)), before);
  });
}

test('a row named by the former symbol of an instrument whose row is lost goes to no other one (contract 9.6)', async () => {
  const url = changed(() => undefined);
  const former_symbols = 'OLD5:2024-01-01..2024-12-31';
  await fillStore(url, stores.folder, ASKED_MS, [['instruments', [{ ...named, former_symbols }]]]);
  lose(storeFile(url), 'instruments', "symbol = 'AB05'");
  const old = { ...news, symbol: 'OLD5', published_date: '2024-06-03T12:00:00Z' };
  await assert.rejects(
    fillStore(url, stores.folder, ASKED_MS, [['news', [old]]]),
    /instruments, row .*symbol "AB05": the row is lost/,
  );
});

/** An index and rows that it loses, and the dataset that status then names. */
const miscounted: readonly (readonly [index: string, where: string, dataset: string])[] = [
  ['news_by_published_date_news_id', "title like 'Headline 7 %'", 'news'],
  [
    'economic_events_by_country_iso_code_event_code_event_timestamp_rank_source_id',
    "event_name = 'Sample event 7'",
    'economic_events',
  ],
  ['instruments_by_instrument_id', "symbol = 'AB13'", 'instruments'],
  ['import_runs_by_file_run_id', 'run_id = 3', 'import_runs'],
  ['series_by_series_id', 'series_id = 3', 'series'],
];

for (const [index, where, dataset] of miscounted) {
  test(`the counts of a store name ${dataset} where its index has lost a row`, async () => {
    const found = new Set<string | null>();
    await asking(losingInIndex(index, where), 'read', (store) =>
      store.snapshot((reader) => readHoldings(reader, ({ dataset: of }) => found.add(of))),
    );
    assert.deepEqual([...found], [dataset]);
  });
}

for (const [table, where] of [
  ['holidays', "name = 'Day 7 of the sample'"],
  ['corporate_actions', "symbol = 'AB03'"],
  ['economic_event_codes', "event_code = 'SAMPLE_CODE_3'"],
  ['series', 'series_id = 3'],
  ['counters', "name = 'data_version'"],
] as const) {
  test(`the counts of a store name ${table} where it has lost a row`, async () => {
    const found = new Set<string | null>();
    await asking(losing(table, where), 'read', (store) =>
      store.snapshot((reader) => readHoldings(reader, ({ dataset }) => found.add(dataset))),
    );
    assert.deepEqual([...found], [table]);
  });
}

test('the counts of a sound store name nothing', async () => {
  await asking(
    changed(() => undefined),
    'read',
    (store) => store.snapshot((reader) => readHoldings(reader)),
  );
});

test('the counts of a store name the terms of instruments where one market has the symbol of another', async () => {
  // A damaged pointer gives one entry twice and another not at all: all together are as many.
  const moved = `update instrument_terms
    set (asset_schema, country_iso_code) =
      (select asset_schema, country_iso_code from instruments where asset_schema <> 'stock' limit 1)
    where kind = 'symbol' and asset_schema = 'stock' and symbol = 'AB13'`;
  const found = new Set<string | null>();
  await asking(
    changed((database) => database.exec(moved)),
    'read',
    (store) => store.snapshot((reader) => readHoldings(reader, ({ dataset }) => found.add(dataset))),
  );
  assert.deepEqual([...found], ['instrument_terms']);
});

test('the counts of a store name the terms of instruments where they have lost a symbol', async () => {
  const lost = "delete from instrument_terms where kind = 'symbol' and symbol = 'AB13'";
  const found = new Set<string | null>();
  await asking(
    changed((database) => database.exec(lost)),
    'read',
    (store) => store.snapshot((reader) => readHoldings(reader, ({ dataset }) => found.add(dataset))),
  );
  assert.deepEqual([...found], ['instrument_terms']);
});

test('a changed number of the layout is found', async () => {
  const url = changed((database) => database.exec('pragma user_version = 4194311'));
  assert.match(await scrubbed(url), /the store: its layout is 4194311, and \d+ was written/);
});

const sessionsOfDays = '/api/v2/stock/coverage/US:AB00?interval=DAY&sort=desc';

test('a session is not called missing where an index has lost a run that might vouch (contract 9.9)', async () => {
  const index = 'run_spans_by_market_interval_reach_ms_run_id';
  await asking(losingInIndex(index, 'run_id = 2'), 'read', async (store) => {
    const { status, why } = await new Service(store).get(sessionsOfDays);
    assert.equal(status, 500);
    assert.match(why, /run_spans, its table or an index/);
  });
});

test('a session whose run is lost is a fault that names it (contract 9.9)', async () => {
  const ofDays = `select run_id from block_changes where series_id = ${seriesOf('AB00', 'DAY')}`;
  const url = changed((database) => database.exec(`delete from import_runs where run_id in (${ofDays})`));
  await asking(url, 'read', async (store) => {
    const { status, why } = await new Service(store).get(sessionsOfDays);
    assert.equal(status, 500);
    assert.match(why, /import_runs, row run_id \d+: the row is lost/);
  });
});
