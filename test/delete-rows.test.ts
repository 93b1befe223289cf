// `bourse delete` of rows as its users have it: what it chooses, what it refuses, and that its undoing brings
// everything back (contract 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { undoRun } from '../src/runs/undo-run.ts';
import { openStore } from '../src/store/engines.ts';
import { Workshop } from './service.ts';
import { contentOf, rowsOf } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());
const url = shop.store;

const files: Readonly<Record<string, readonly string[]>> = {
  'corporate-actions': [
    'country_iso_code,symbol,action_type,ex_date,cash_amount,split_from,split_to',
    'US,ACORN,dividend,2024-02-09,0.1,,',
    'US,ACORN,dividend,2024-05-10,0.2,,',
    'US,ACORN,split,2024-05-10,,1,2',
    'US,BIRCH,dividend,2024-02-09,0.3,,',
  ],
  news: [
    'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
    '2024-03-01T23:59:59Z,One,https://example.com/1,stock,US,ACORN',
    '2024-03-02T00:00:00Z,Two,https://example.com/2,stock,US,ACORN',
    '2024-03-02T23:59:59Z,Three,https://example.com/3,stock,US,BIRCH',
    '2024-03-03T00:00:00Z,Four,https://example.com/4,crypto,GLOBAL,OAK',
    '2024-03-04T12:00:00Z,Five,https://example.com/5,,,',
  ],
  'option-contracts': [
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
    'ACORN240621C00010000,US,stock,ACORN,10,2024-06-21,call',
    'ACORN240621P00010000,US,stock,ACORN,10,2024-06-21,put',
    'ACORN240719C00010000,US,stock,ACORN,10,2024-07-19,call',
    'BIRCH240621C00010000,US,stock,BIRCH,10,2024-06-21,call',
  ],
  holidays: [
    'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
    'Flood,HOLIDAY_FLOOD,2024-03-05,stock,US,*,CLOSED',
    'Storm,HOLIDAY_STORM,2024-03-06,stock,US,*,CLOSED',
    'Halt,HOLIDAY_HALT,2024-03-07,stock,US,ACORN,CLOSED',
  ],
  'economic-events': [
    'country_iso_code,event_code,event_name,event_timestamp',
    'US,EMPLOYMENT_NFP_HEADLINE,Payrolls,2024-02-02T13:30:00Z',
    'US,EMPLOYMENT_NFP_HEADLINE,Payrolls,2024-03-08T13:30:00Z',
    'US,HOUSING_STARTS_ABSOLUTE,Starts,2024-03-08T13:30:00Z',
    'JP,GDP_GROWTH_RATE_QOQ,GDP,2024-03-10T23:50:00Z',
  ],
  'economic-event-codes': [
    'country_iso_code,event_code,description',
    'US,OWN_ONE,One',
    'US,OWN_TWO,Two',
    'JP,OWN_ONE,One',
  ],
};

before(async () => {
  for (const [dataset, lines] of Object.entries(files)) {
    writeFileSync(shop.path('rows.csv'), `${lines.join('\n')}\n`);
    await shop.must('import', dataset, 'rows.csv');
  }
});

const source = (timestamp: string): string =>
  String(
    rowsOf(
      url,
      `select source_id from economic_events where event_code like 'EMPL%' and event_timestamp = ${Date.parse(timestamp)}`,
    )[0]!.source_id,
  );

const dateOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);

/** What a dataset holds, one cell a row: with its date, where it has one. */
const cells: Readonly<Record<string, string>> = {
  'corporate-actions': `select symbol || ' ' || action_type as cell, ex_date as day from corporate_actions`,
  news: 'select title as cell from news',
  'option-contracts': 'select symbol as cell from option_contracts',
  holidays: 'select name as cell from holidays',
  'economic-events': 'select event_code as cell, event_timestamp / 86400000 as day from economic_events',
  'economic-event-codes': `select country_iso_code || ' ' || event_code as cell from economic_event_codes`,
};
const held = (dataset: string): string[] =>
  rowsOf(url, cells[dataset]!)
    .map(({ cell, day }) => (day === undefined ? String(cell) : `${String(cell)} ${dateOf(Number(day))}`))
    .sort();

const acorn = ['--country', 'us', '--symbol', 'acorn'];
const NFP = 'EMPLOYMENT_NFP_HEADLINE';

/** Each choice, and the rows that it takes. */
const choices: readonly (readonly [
  dataset: string,
  flags: () => readonly string[],
  gone: readonly string[],
])[] = [
  [
    'corporate-actions',
    () => acorn,
    ['ACORN dividend 2024-02-09', 'ACORN dividend 2024-05-10', 'ACORN split 2024-05-10'],
  ],
  ['corporate-actions', () => [...acorn, '--action-type', 'SPLIT'], ['ACORN split 2024-05-10']],
  [
    'corporate-actions',
    () => [...acorn, '--from', '2024-02-09', '--to', '2024-05-09 23:00:00-11:00'],
    ['ACORN dividend 2024-02-09'],
  ],
  ['news', () => [...acorn, '--schema', 'stock', '--from', '2024-03-02'], ['Two']],
  ['news', () => ['--from', '2024-03-02', '--to', '2024-03-02'], ['Three', 'Two']],
  ['news', () => ['--to', '2024-03-02T00:00:00Z'], ['One', 'Two']],
  ['news', () => ['--schema', 'stock', '--country', 'US', '--to', '2024-03-02'], ['One', 'Three', 'Two']],
  ['news', () => ['--schema', 'crypto', '--country', 'GLOBAL', '--all'], ['Four']],
  ['news', () => ['--all'], ['Five', 'Four', 'One', 'Three', 'Two']],
  ['option-contracts', () => acorn, ['ACORN240621C00010000', 'ACORN240621P00010000', 'ACORN240719C00010000']],
  [
    'option-contracts',
    () => [...acorn, '--schema', 'stock', '--to', '2024-06-21'],
    ['ACORN240621C00010000', 'ACORN240621P00010000'],
  ],
  [
    'option-contracts',
    () => ['--country', 'US', '--contract', 'birch240621c00010000'],
    ['BIRCH240621C00010000'],
  ],
  ['holidays', () => ['--schema', 'stock', '--country', 'US', '--symbol', '*'], ['Flood', 'Storm']],
  ['holidays', () => ['--schema', 'stock', ...acorn], ['Halt']],
  [
    'holidays',
    () => ['--schema', 'stock', '--country', 'US', '--symbol', '*', '--from', '2024-03-06'],
    ['Storm'],
  ],
  [
    'economic-events',
    () => ['--country', 'US', '--from', '2024-03-08', '--to', '2024-03-08T13:30:00Z'],
    [`${NFP} 2024-03-08`, 'HOUSING_STARTS_ABSOLUTE 2024-03-08'],
  ],
  [
    'economic-events',
    () => ['--country', 'US', '--event-code', NFP, '--to', '2024-02-02'],
    [`${NFP} 2024-02-02`],
  ],
  ['economic-events', () => ['--source-id', source('2024-03-08T13:30:00Z')], [`${NFP} 2024-03-08`]],
  ['economic-events', () => ['--country', 'JP', '--all'], ['GDP_GROWTH_RATE_QOQ 2024-03-10']],
  ['economic-event-codes', () => ['--country', 'US', '--all'], ['US OWN_ONE', 'US OWN_TWO']],
];

async function undo(runId: number): Promise<void> {
  const store = await openStore(shop.store, 'write');
  await undoRun(store, { runId, dryRun: false, nowMs: Date.now });
  await store.close();
}

type Report = {
  readonly runId: number | null;
  readonly rowsDeleted: number;
  readonly instrumentsDeleted: number;
};

for (const [dataset, flags, gone] of choices) {
  const given = (): readonly string[] => ['delete', dataset, ...flags(), '--json'];
  test(`delete ${dataset} takes ${gone.join(', ')}, and undo brings it back (contract 2.2, 10)`, async () => {
    const {
      import_runs: _,
      counters: __,
      counters_sums: _a,
      row_sums: _sums,
      changes: _c,
      former_rows: _f,
      ...content
    } = contentOf(url);
    const { runId, rowsDeleted, instrumentsDeleted } = JSON.parse(await shop.must(...given())) as Report;
    assert.equal(rowsDeleted, gone.length);
    assert.equal(instrumentsDeleted, dataset === 'option-contracts' ? gone.length : 0);
    const rows = held(dataset);
    const all = (content[dataset.replaceAll('-', '_')] ?? []).length;
    assert.equal(rows.length, all - gone.length);
    for (const row of gone) assert.ok(!rows.includes(row), row);
    await undo(runId!);
    const {
      import_runs: ___,
      counters: ____,
      counters_sums: _b,
      changes: _d,
      former_rows: _g,
      row_sums: _sumsNow,
      ...now
    } = contentOf(url);
    assert.deepEqual(now, content);
  });
}

test('a dry run tells what the real call then does, and stores nothing; the run says what was asked for', async () => {
  const asked = ['delete', 'news', ...acorn, '--to', '2024-03-01'];
  const content = contentOf(url);
  const trial = await shop.must(...asked, '--dry-run');
  assert.equal(trial, 'news US:ACORN to 2024-03-01: 1 row would be deleted; nothing was stored');
  assert.deepEqual(contentOf(url), content);
  const run = /^news US:ACORN to 2024-03-01: 1 row deleted \(run (\d+)\)\. Undo with: bourse undo/.exec(
    await shop.must(...asked),
  )![1]!;
  assert.match(await shop.must(...asked), /: there is nothing to delete$/);
  const { stderr } = await shop.run('undo');
  assert.match(stderr, new RegExp(`^ *${run} .* delete +news +US:ACORN to 2024-03-01 +1 +-$`, 'm'));
  assert.match(await shop.must('undo', run), /1 row restored/);
});

test('a contract that has bars is deleted without its instrument', async () => {
  const symbol = 'ACORN240719C00010000';
  const flags = ['--schema', 'option', '--country', 'US', '--symbol', symbol, '--interval', 'DAY'];
  writeFileSync(shop.path('bars.csv'), 'datetime,open,high,low,close\n2024-01-08,1,1,1,1\n');
  await shop.must('import', 'bars', 'bars.csv', ...flags);
  const asked = ['delete', 'option-contracts', '--country', 'US', '--contract', symbol, '--json'];
  const { runId, rowsDeleted, instrumentsDeleted } = JSON.parse(await shop.must(...asked)) as Report;
  assert.deepEqual([rowsDeleted, instrumentsDeleted], [1, 0]);
  await undo(runId!);
});

const named: readonly (readonly [symbol: string, schema: string, says: RegExp])[] = [
  ['ACORN', 'stock', /by bourse delete corporate-actions --country US --symbol ACORN/],
  ['ACORN240621C00010000', 'option', /delete option-contracts --country US --contract ACORN240621C00010000/],
  ['OAK', 'crypto', /by bourse delete news --schema crypto --country GLOBAL --symbol OAK/],
];
test('an instrument that rows name is not deleted, and the message says how to delete them', async () => {
  for (const [symbol, schema, says] of named) {
    const country = schema === 'crypto' ? 'GLOBAL' : 'US';
    const { status, stderr } = await shop.run(
      'delete',
      'instruments',
      '--symbol',
      symbol,
      '--country',
      country,
    );
    assert.match(stderr, says);
    assert.equal(status, 2);
  }
});

const mistakes: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [['news'], /this would delete all news of the store: narrow it by --symbol, --from or --to, or add --all/],
  [['news', '--country', 'US'], /--country and --schema name a market together/],
  [['news', '--symbol', 'ACRON', '--country', 'US'], /no instrument US:ACRON; is it ACORN\?/],
  [['news', '--from', '2024-03-03', '--to', '2024-03-02'], /--from is after --to/],
  [['news', '--symbol', '*', '--country', 'US'], /--symbol \*: must be/],
  [['corporate-actions', '--country', 'US'], /--symbol/],
  [['corporate-actions', ...acorn, '--action-type', 'merger'], /must be one of dividend, split/],
  [['option-contracts', '--country', 'US'], /give --symbol, the underlying, or --contract/],
  [
    ['option-contracts', '--country', 'US', '--contract', 'X', '--to', '2024-01-01'],
    /have no range: leave out --from and --to/,
  ],
  [['economic-events', '--country', 'US'], /this would delete all events of US: narrow it by --event-code/],
  [['economic-events', '--source-id', 'abc'], /--source-id abc: must be 64 hexadecimal digits/],
  [['economic-event-codes', '--country', 'US'], /this would delete all codes of US/],
];
test('a deletion that says too little, or something wrong, is wrong usage and deletes nothing', async () => {
  const content = contentOf(url);
  for (const [args, says] of mistakes) {
    const { status, stdout, stderr } = await shop.run('delete', ...args);
    assert.match(stderr, says);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
  }
  assert.deepEqual(contentOf(url), content);
});
