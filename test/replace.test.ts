// `bourse import … --replace` as its users have it: what goes, what stays, what is told and refused (contract
// 9.12, 10, 11).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { type Finished, Workshop } from './service.ts';
import { contentOf, rowsOf } from './stores.ts';
import { until } from './until.ts';

const shops: Workshop[] = [];
after(() => {
  for (const shop of shops) shop.close();
});

function newShop(): Workshop {
  const shop = new Workshop();
  shops.push(shop);
  return shop;
}

type Report = {
  readonly runId: number | null;
  readonly rowsRemoved?: number;
  readonly rowsLeft: number;
  readonly instrumentsDeleted: number;
  readonly removed: readonly { readonly runId: number; readonly file: string; readonly rows: number }[];
  readonly removedRows: readonly Readonly<Record<string, string>>[];
};

const put = (shop: Workshop, name: string, lines: readonly string[]): void =>
  writeFileSync(shop.path(name), lines.map((line) => `${line}\n`).join(''));

/** How a dataset writes something about a subject on a day of March 2024, and how it is read again. */
type Kind = {
  readonly dataset: string;
  readonly header: string;
  readonly line: (subject: string, day: string) => string;
  /** Its subject and date. */
  readonly cell: string;
};

const dateText = (column: string) => `${column} as day`;

const kinds: readonly Kind[] = [
  {
    dataset: 'corporate-actions',
    header: 'country_iso_code,symbol,action_type,ex_date,cash_amount',
    line: (subject, day) => `US,${subject},dividend,2024-03-${day},0.5`,
    cell: `select symbol as subject, ${dateText('ex_date')} from corporate_actions`,
  },
  {
    dataset: 'news',
    header: 'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
    line: (subject, day) =>
      `2024-03-${day}T23:59:59Z,Item ${day},https://example.com/${day},stock,US,${subject}`,
    cell: `select symbol as subject, ${dateText('published_date / 86400000')} from news`,
  },
  {
    dataset: 'option-contracts',
    header:
      'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
    line: (subject, day) => `${subject}2403${day}C00010000,US,stock,${subject},10,2024-03-${day},call`,
    cell: `select underlying_name as subject, ${dateText('expiration_date')} from option_contracts`,
  },
  {
    dataset: 'holidays',
    header: 'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
    line: (subject, day) => `Halt,HOLIDAY_HALT,2024-03-${day},stock,US,${subject},CLOSED`,
    cell: `select symbol as subject, ${dateText('calendar_date')} from holidays`,
  },
  {
    dataset: 'economic-events',
    header: 'country_iso_code,event_code,event_name,event_timestamp',
    line: (subject, day) => `US,${subject},Event,2024-03-${day}T00:00:00Z`,
    cell: `select event_code as subject, ${dateText('event_timestamp / 86400000')} from economic_events`,
  },
];

/** What a store has, as `ACORN 05`. */
const held = (shop: Workshop, { cell }: Kind): string[] =>
  rowsOf(shop.store, cell)
    .map(({ subject, day }) => {
      const date = new Date(Number(day) * 86_400_000).toISOString();
      return `${String(subject)} ${date.slice(8, 10)}`;
    })
    .sort();

/** A file of `ACORN 05` and the like. */
function fileOf(shop: Workshop, name: string, { header, line }: Kind, rows: readonly string[]): void {
  put(shop, name, [header, ...rows.map((row) => line(...(row.split(' ') as [string, string])))]);
}

async function reportOf(shop: Workshop, ...words: readonly string[]): Promise<Report> {
  return JSON.parse(await shop.must('import', ...words, '--json')) as Report;
}

for (const kind of kinds) {
  const { dataset } = kind;
  test(`${dataset}: what the same source brought before between the first and the last date of a file, and the file lacks, is removed and counted, and undone with the run (contract 10, 11)`, async () => {
    const shop = newShop();
    const first = ['ACORN 04', 'ACORN 05', 'ACORN 06', 'ACORN 11', 'BIRCH 06'];
    fileOf(shop, 'first.csv', kind, first);
    await shop.must('import', dataset, 'first.csv', '--source', 'acme');
    fileOf(shop, 'other.csv', kind, ['ACORN 07']);
    await shop.must('import', dataset, 'other.csv', '--source', 'other');
    const before = [...first, 'ACORN 07'].sort();
    const content = contentOf(shop.store);
    // The fifth is dropped, the sixth moved to the eighth; the fourth and the eleventh are outside.
    fileOf(shop, 'second.csv', kind, ['ACORN 05', 'ACORN 08']);
    const trial = await shop.must(
      'import',
      dataset,
      'second.csv',
      '--source',
      'acme',
      '--replace',
      '--dry-run',
    );
    assert.match(
      trial,
      /1 removed; nothing was stored\n +would remove 1 row of acme that the file does not have: 1 of run 1 \(first\.csv\)\n/,
    );
    assert.match(trial, /would remove .*ACORN.*2024-03-06/);
    assert.deepEqual(held(shop, kind), before);
    const report = await reportOf(shop, dataset, 'second.csv', '--source', 'acme', '--replace');
    assert.deepEqual([report.rowsRemoved, report.rowsLeft, report.removedRows.length], [1, 0, 1]);
    assert.deepEqual(
      report.removed.map(({ runId, rows }) => [runId, rows]),
      [[1, 1]],
    );
    const after = ['ACORN 04', 'ACORN 05', 'ACORN 07', 'ACORN 08', 'ACORN 11', 'BIRCH 06'];
    assert.deepEqual(held(shop, kind), after);
    assert.match(await shop.must('undo', '3'), /(\d) rows? removed\n +\1 rows? restored$/);
    assert.deepEqual(held(shop, kind), before);
    for (const table of ['instruments', 'instrument_terms', 'row_changes', 'held_rows'])
      assert.deepEqual(contentOf(shop.store)[table], content[table], table);
    // With days of its own the file stands for them, whatever dates it has.
    fileOf(shop, 'third.csv', kind, ['ACORN 05']);
    const days = ['--replace', '2024-03-04..2024-03-10'];
    await shop.must('import', dataset, 'third.csv', '--source', 'acme', ...days);
    assert.deepEqual(held(shop, kind), ['ACORN 05', 'ACORN 07', 'ACORN 11', 'BIRCH 06']);
  });
}

const actions = kinds[0]!;

test('a dividend that a corrected file has on another day is deducted once, and as before from the version before (contract 8.2, 9.12, 11)', async () => {
  const shop = newShop();
  put(shop, 'p.csv', [
    'symbol,datetime,open,high,low,close,volume',
    ...['2024-03-04', '2024-03-05', '2024-03-06', '2024-03-07'].map((day) => `REVX,${day},50,51,49,50,100`),
  ]);
  const named = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY', '--no-check'];
  await shop.must('import', 'bars', 'p.csv', ...named);
  fileOf(shop, 'a.csv', actions, ['REVX 05']);
  fileOf(shop, 'b.csv', actions, ['REVX 06']);
  await shop.must('import', 'corporate-actions', 'a.csv', '--source', 'acme');
  const days = ['--replace', '2024-01-01..2024-12-31'];
  const versionOf = async () =>
    (JSON.parse(await shop.must('status', '--json')) as { data_version: number }).data_version;
  const firstClose = async (more = '') => {
    const list = '/api/v2/stock/bars/US:REVX/DAY/from/2024-03-04/to/2024-03-07?format=csv&columns=close';
    const path = list.replace('&columns=close', '') + more;
    const [head, row] = (await shop.must('query', `${path}&adjust=dividend`)).split(/\r?\n/);
    return row!.split(',')[head!.split(',').indexOf('close')];
  };
  const once = await firstClose();
  const before = await versionOf();
  const report = await reportOf(shop, 'corporate-actions', 'b.csv', '--source', 'acme', ...days);
  assert.deepEqual(report.removedRows, [
    { country_iso_code: 'US', symbol: 'REVX', action_type: 'dividend', ex_date: '2024-03-05' },
  ]);
  assert.deepEqual([once, await firstClose()], ['49.5', '49.5']);
  const listed = await shop.must(
    'query',
    `/api/v2/stock/stock_corporate_action/list/US:REVX?from_date=2024-01-01&format=csv&data_version=${before}`,
  );
  assert.match(listed, /2024-03-05/);
  assert.doesNotMatch(listed, /2024-03-06/);
});

test('an event without a period that moved within the days of a preset’s file leaves no ghost (contract 8.7, 11)', async () => {
  const shop = newShop();
  const event = (date: string) =>
    `[{"title":"Consumer Credit m/m","country":"USD","date":"${date}","impact":"Low","forecast":"","previous":"10.2B"}]`;
  put(shop, 'w1.json', [event('2026-11-30T15:00:00-05:00')]);
  put(shop, 'w2.json', [event('2026-12-01T15:00:00-05:00')]);
  await shop.must('import', 'economic-events', 'w1.json');
  await shop.must('import', 'economic-events', 'w2.json', '--replace', '2026-11-30..2026-12-06');
  assert.deepEqual(
    rowsOf(shop.store, 'select event_timestamp as ms from economic_events').map(({ ms }) => Number(ms)),
    [Date.parse('2026-12-01T20:00:00Z')],
  );
});

test('a row that a run of another source holds with the same value stays, and is that run’s from then on (contract 10, 11)', async () => {
  const shop = newShop();
  for (const [name, source] of [
    ['a.csv', 'acme'],
    ['b.csv', 'other'],
  ] as const) {
    fileOf(shop, name, actions, ['ACORN 05', 'ACORN 07']);
    await shop.must('import', 'corporate-actions', name, '--source', source);
  }
  fileOf(shop, 'c.csv', actions, ['ACORN 07']);
  const days = ['--replace', '2024-03-01..2024-03-31'];
  const report = await reportOf(shop, 'corporate-actions', 'c.csv', '--source', 'acme', ...days);
  assert.deepEqual([report.rowsRemoved, report.rowsLeft], [0, 1]);
  assert.deepEqual(held(shop, actions), ['ACORN 05', 'ACORN 07']);
  await shop.must('undo', '2');
  assert.deepEqual(held(shop, actions), ['ACORN 07']);
  await shop.must('undo', '3');
  assert.deepEqual(held(shop, actions), ['ACORN 05', 'ACORN 07']);
});

test('each file stands for itself: one after the other in a command as in several (contract 11)', async () => {
  for (const isOneCommand of [true, false]) {
    const shop = newShop();
    fileOf(shop, '1.csv', actions, ['ACORN 05', 'ACORN 06', 'ACORN 07']);
    fileOf(shop, '2.csv', actions, ['ACORN 05', 'ACORN 07']);
    fileOf(shop, '3.csv', actions, ['BIRCH 06']);
    const flags = ['--source', 'acme', '--replace'];
    const calls = isOneCommand ? [['1.csv', '2.csv', '3.csv']] : [['1.csv'], ['2.csv'], ['3.csv']];
    let said = '';
    for (const names of calls) {
      const { stderr, status } = await shop.run('import', 'corporate-actions', ...names, ...flags);
      assert.equal(status, 0);
      said += stderr;
    }
    if (isOneCommand) assert.match(said, /3 files: 0 failed; rows: 4 new, .* 1 removed/);
    assert.deepEqual(held(shop, actions), ['ACORN 05', 'ACORN 07', 'BIRCH 06']);
  }
});

test('where any row is refused nothing is written and nothing goes, whatever is allowed (contract 11)', async () => {
  const shop = newShop();
  fileOf(shop, 'a.csv', actions, ['ACORN 05', 'ACORN 06', 'ACORN 07']);
  await shop.must('import', 'corporate-actions', 'a.csv', '--source', 'acme');
  const content = contentOf(shop.store);
  fileOf(shop, 'b.csv', actions, ['ACORN 05', 'ACORN 99', 'ACORN 08']);
  for (const more of [[], ['--allow-rejects', '5'], ['--dry-run']]) {
    const flags = ['--source', 'acme', '--replace', ...more];
    const { status, stdout } = await shop.run('import', 'corporate-actions', 'b.csv', ...flags);
    assert.equal(status, 1, more.join());
    assert.match(stdout, /1 refused; nothing was stored: --replace stores all of a file or nothing/);
    assert.doesNotMatch(stdout, /remove/);
  }
  assert.deepEqual(contentOf(shop.store), content);
});

test('an empty file takes nothing, nor does one of other instruments, whatever days are named (contract 11)', async () => {
  const shop = newShop();
  fileOf(shop, 'a.csv', actions, ['ACORN 05', 'ACORN 06']);
  await shop.must('import', 'corporate-actions', 'a.csv', '--source', 'acme');
  fileOf(shop, 'empty.csv', actions, []);
  fileOf(shop, 'other.csv', actions, ['BIRCH 05']);
  const flags = ['--source', 'acme', '--replace', '2024-01-01..2024-12-31'];
  const { status, stderr } = await shop.run('import', 'corporate-actions', 'empty.csv', ...flags);
  assert.deepEqual([status, /has no rows/.test(stderr)], [1, true]);
  await shop.must('import', 'corporate-actions', 'other.csv', ...flags);
  assert.deepEqual(held(shop, actions), ['ACORN 05', 'ACORN 06', 'BIRCH 05']);
});

test('the instrument of a removed contract goes with it and comes back with it, unless something needs it (contract 8.5, 10, 11)', async () => {
  const shop = newShop();
  const options = kinds[2]!;
  fileOf(shop, 'a.csv', options, ['ACORN 01', 'ACORN 08', 'ACORN 15']);
  await shop.must('import', 'option-contracts', 'a.csv', '--source', 'acme');
  put(shop, 'news.csv', [
    'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
    '2024-03-01T12:00:00Z,One,https://example.com/1,option,US,ACORN240308C00010000',
  ]);
  await shop.must('import', 'news', 'news.csv');
  const instruments = () =>
    rowsOf(shop.store, "select symbol from instruments where asset_schema = 'option' order by symbol").map(
      ({ symbol }) => String(symbol).slice(9, 11),
    );
  fileOf(shop, 'b.csv', options, ['ACORN 01']);
  const days = ['--replace', '2024-03-01..2024-03-31'];
  const report = await reportOf(shop, 'option-contracts', 'b.csv', '--source', 'acme', ...days);
  assert.deepEqual([report.rowsRemoved, report.instrumentsDeleted], [2, 1]);
  assert.deepEqual(instruments(), ['01', '08']);
  await shop.must('undo', '3');
  assert.deepEqual(instruments(), ['01', '08', '15']);
  assert.deepEqual(held(shop, options), ['ACORN 01', 'ACORN 08', 'ACORN 15']);
});

test('a contract that was removed where a file had moved it comes back where it was before, once that file is undone (contract 10, 11)', async () => {
  const shop = newShop();
  const options = kinds[2]!;
  const flags = ['--source', 'acme', '--quiet'];
  const moved = (day: string) => options.line('ACORN', '05').replace('2024-03-05', `2024-03-${day}`);
  put(shop, 'a.csv', [options.header, moved('05')]);
  put(shop, 'b.csv', [options.header, moved('15')]);
  put(shop, 'c.csv', [options.header, options.line('ACORN', '14')]);
  await shop.must('import', 'option-contracts', 'a.csv', ...flags);
  await shop.must('import', 'option-contracts', 'b.csv', ...flags);
  await shop.must('import', 'option-contracts', 'c.csv', ...flags, '--replace', '2024-03-10..2024-03-20');
  assert.deepEqual(held(shop, options), ['ACORN 14']);
  const names = () =>
    rowsOf(shop.store, "select symbol from instruments where asset_schema = 'option'").length;
  assert.equal(names(), 1);
  await shop.must('undo', '2');
  assert.deepEqual(held(shop, options), ['ACORN 05', 'ACORN 14']);
  assert.equal(names(), 2);
  await shop.must('undo', '3');
  await shop.must('undo', '1');
  for (const table of ['option_contracts', 'instruments', 'row_changes', 'held_rows'])
    assert.deepEqual(contentOf(shop.store)[table], [], table);
});

test('a row that two sources had, and each took back by a file of its own, comes back by the undo of either (contract 10, 11)', async () => {
  for (const undone of ['3', '4']) {
    const shop = newShop();
    const days = ['--replace', '2024-03-01..2024-03-31'];
    fileOf(shop, 'a.csv', actions, ['ACORN 05', 'ACORN 07']);
    fileOf(shop, 'b.csv', actions, ['ACORN 07']);
    for (const source of ['acme', 'other'])
      await shop.must('import', 'corporate-actions', 'a.csv', '--source', source);
    for (const source of ['acme', 'other'])
      await shop.must('import', 'corporate-actions', 'b.csv', '--source', source, ...days);
    assert.deepEqual(held(shop, actions), ['ACORN 07']);
    assert.match(await shop.must('undo', undone), /1 row restored/);
    assert.deepEqual(held(shop, actions), ['ACORN 05', 'ACORN 07'], undone);
  }
});

test('an instrument that went with its contract is there again for the run that named it, once the run of the contract is undone (contract 10, 11)', async () => {
  const shop = newShop();
  const options = kinds[2]!;
  fileOf(shop, 'a.csv', options, ['ACORN 01', 'ACORN 08']);
  fileOf(shop, 'c.csv', options, ['ACORN 01']);
  put(shop, 'i.csv', [
    'asset_schema,country_iso_code,symbol,description',
    'option,US,ACORN240308C00010000,By hand',
  ]);
  await shop.must('import', 'option-contracts', 'a.csv', '--source', 'acme');
  await shop.must('import', 'instruments', 'i.csv');
  const days = ['--replace', '2024-03-01..2024-03-31'];
  await shop.must('import', 'option-contracts', 'c.csv', '--source', 'acme', ...days);
  await shop.must('undo', '1');
  const named = "select description from instruments where symbol = 'ACORN240308C00010000'";
  assert.deepEqual(
    rowsOf(shop.store, named).map(({ description }) => description),
    ['By hand'],
  );
});

test('a contract that a file of bars brought along is none of a list of its source, and settled as others are once those bars are undone (contract 10, 11)', async () => {
  const options = kinds[2]!;
  for (const hasList of [false, true]) {
    const shop = newShop();
    put(shop, 'p.csv', ['symbol,datetime,open,high,low,close', 'ACORN240308C00010000,2024-03-04,1,2,1,2']);
    const flags = ['--schema', 'option', '--country', 'US', '--interval', 'DAY', '--no-check'];
    await shop.must('import', 'bars', 'p.csv', ...flags, '--source', 'acme');
    fileOf(shop, 'a.csv', options, ['ACORN 01', 'ACORN 08']);
    fileOf(shop, 'c.csv', options, ['ACORN 01']);
    if (hasList) await shop.must('import', 'option-contracts', 'a.csv', '--source', 'acme');
    const days = ['--replace', '2024-03-01..2024-03-31'];
    await shop.must('import', 'option-contracts', 'c.csv', '--source', 'acme', ...days);
    assert.deepEqual(held(shop, options), ['ACORN 01', 'ACORN 08']);
    await shop.must('undo', '1');
    assert.deepEqual(held(shop, options), ['ACORN 01']);
  }
});

test('a contract that went from a run which held it comes back with its instrument, also once the run that made both is undone (contract 10, 11)', async () => {
  const options = kinds[2]!;
  for (const isDeleted of [false, true]) {
    const shop = newShop();
    fileOf(shop, 'a.csv', options, ['ACORN 01', 'ACORN 08']);
    fileOf(shop, 'c.csv', options, ['ACORN 01']);
    const flags = ['--source', 'acme', '--quiet'];
    await shop.must('import', 'option-contracts', 'a.csv', ...flags);
    await shop.must('import', 'option-contracts', 'a.csv', ...flags);
    const days = ['--replace', '2024-03-01..2024-03-31'];
    if (isDeleted)
      await shop.must('delete', 'option-contracts', '--country', 'US', '--contract', 'ACORN240308C00010000');
    else await shop.must('import', 'option-contracts', 'c.csv', ...flags, ...days);
    await shop.must('undo', '1');
    await shop.must('undo', '3');
    assert.deepEqual(held(shop, options), ['ACORN 01', 'ACORN 08']);
    await shop.must('undo', '2');
    for (const table of ['option_contracts', 'instruments', 'row_changes', 'held_rows'])
      assert.deepEqual(contentOf(shop.store)[table], [], table);
  }
});

/** Calls that are wrong, and what is said of them. */
const wrong: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [['corporate-actions', 'a.csv', '--replace'], /a\.csv: --replace .*same source.*--source TEXT/],
  ...['bars', 'instruments', 'economic-event-codes'].map(
    (dataset) =>
      [
        [dataset, 'a.csv', '--source', 'acme', '--replace'],
        new RegExp(
          `--replace does not apply to ${dataset}: it is for corporate-actions, economic-events, holidays, news, option-contracts; .*bourse delete ${dataset}`,
        ),
      ] as const,
  ),
  ...['2024-01-01', 'a.csv', '2024-01-01..', '2024-02-30..2024-03-01', '2024-01-01..2024-01-02..x'].map(
    (days) =>
      [
        ['corporate-actions', 'a.csv', '--source', 'acme', '--replace', days],
        /--replace .*: must be days such as 2025-01-01\.\.2025-12-31, or nothing; name the files before it/,
      ] as const,
  ),
  [
    ['news', 'a.csv', '--source', 'acme', '--replace', '2024-02-01..2024-01-01'],
    /its first day is after its last: swap them/,
  ],
];

test('a wrong call with --replace says what would be right, and stores nothing (contract 10)', async () => {
  const shop = newShop();
  fileOf(shop, 'a.csv', actions, ['ACORN 05']);
  for (const [words, says] of wrong) {
    const { status, stderr }: Finished = await shop.run('import', ...words);
    assert.deepEqual([status, says.test(stderr)], [2, true], `${words.join(' ')}: ${stderr}`);
  }
  await shop.must('import', 'corporate-actions', 'a.csv');
  assert.equal(rowsOf(shop.store, 'select run_id from import_runs').length, 1);
});

test('a watched folder replaces file by file, in the order of their names (contract 10, 11)', async () => {
  const shop = newShop();
  mkdirSync(shop.path('incoming'));
  fileOf(shop, 'incoming/1.csv', actions, ['ACORN 05', 'ACORN 06', 'ACORN 07']);
  fileOf(shop, 'incoming/2.csv', actions, ['ACORN 05', 'ACORN 07', 'ACORN 08']);
  const watch = shop.start(
    ['import', 'corporate-actions', '--watch', 'incoming', '--source', 'acme', '--replace'],
    {},
  );
  let said = '';
  watch.stdout!.on('data', (piece) => {
    said += piece;
  });
  const saying = (what: RegExp) =>
    until(
      () => `${what} is said: ${said}`,
      () => what.test(said),
    );
  await saying(/2\.csv: .* 1 removed \(run 2,/);
  assert.deepEqual(held(shop, actions), ['ACORN 05', 'ACORN 07', 'ACORN 08']);
  fileOf(shop, 'incoming/3.csv', actions, ['ACORN 07', 'ACORN 99']);
  const told = new Promise((resolve) => watch.stderr!.once('data', resolve));
  await saying(/3\.csv: .* nothing was stored/);
  fileOf(shop, 'incoming/3.csv', actions, ['ACORN 05', 'ACORN 08']);
  await saying(/3\.csv: .* 1 removed \(run 3,/);
  watch.kill('SIGTERM');
  await Promise.race([told, new Promise((resolve) => watch.once('exit', resolve))]);
  assert.deepEqual(held(shop, actions), ['ACORN 05', 'ACORN 08']);
});
