// Whose the rows of a symbol are that several instruments had: by the day, by `--symbols`, or refused
// (contract 9.6).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';
import { barsOf } from './stored.ts';
import { rowsOf } from './stores.ts';
import { endWatches, Watch } from './watching.ts';

const shop = new Workshop();
after(() => {
  endWatches();
  shop.close();
});

type Refusal = { readonly row: number; readonly column: string; readonly reason: string };
type Report = {
  readonly runId: number | null;
  readonly rowsRead: number;
  readonly rowsNew: number;
  readonly rowsReplaced: number;
  readonly rowsUnchanged: number;
  readonly rowsRefused: number;
  readonly refused: readonly Refusal[];
  readonly findings: Readonly<Record<string, number>>;
};

/** Waste Management had UW, then WMI, and took WM after Washington Mutual. */
const wasteManagement = 'stock,US,WM,Waste Management,UW:1998-01-02..1998-07-16 WMI:1998-07-17..2009-08-04';
/** LEAN's name of Washington Mutual. */
const washingtonMutual = 'stock,US,WM.1,Washington Mutual,WM:1998-01-02..2008-09-26';

const us = ['--schema', 'stock', '--country', 'US'];
const daily = [...us, '--interval', 'DAY'];
const bar = (symbol: string, day: string, price: number): string =>
  [symbol, day, price, price, price, price].join();
const barsHead = 'symbol,datetime,open,high,low,close';

let stores = 0;

/** A store of its own that knows some instruments, and imports into it. */
class Shelf {
  readonly url = shop.storeUrl(`symbols${++stores}`);

  static async of(...instruments: readonly string[]): Promise<Shelf> {
    const shelf = new Shelf();
    if (instruments.length > 0) await shelf.instruments(...instruments);
    return shelf;
  }

  instruments(...rows: readonly string[]): Promise<Report> {
    return this.import('instruments', ['asset_schema,country_iso_code,symbol,name,former_symbols', ...rows]);
  }

  bars(rows: readonly string[], ...flags: readonly string[]): Promise<Report> {
    return this.import('bars', [barsHead, ...rows], ...daily, ...flags);
  }

  async import(dataset: string, lines: readonly string[], ...flags: readonly string[]): Promise<Report> {
    const name = `file${stores}.csv`;
    writeFileSync(shop.path(name), `${lines.join('\n')}\n`);
    return this.file(dataset, name, ...flags);
  }

  async file(dataset: string, name: string, ...flags: readonly string[]): Promise<Report> {
    const more = dataset === 'bars' ? ['--no-check'] : [];
    const { stdout, stderr, status } = await shop.run(
      ...['import', dataset, name, '--json', '--store', this.url, ...more, ...flags],
    );
    assert.ok(status === 0 || status === 1, stderr);
    const report = JSON.parse(stdout) as Report;
    assert.equal(status, report.rowsRefused > 0 ? 1 : 0);
    return report;
  }

  /** The stored closes of each instrument: `WM 2003-03-04 21`. */
  get stored(): string[] {
    return Object.entries(barsOf(this.url))
      .flatMap(([name, bars]) =>
        bars.map(([key, , , , close]) => `${name.split(':')[2]} ${key.slice(0, 10)} ${close}`),
      )
      .sort();
  }

  async undo({ runId }: Report): Promise<void> {
    await shop.must('undo', String(runId), '--store', this.url);
  }
}

const reasons = ({ refused }: Report): string[] => refused.map(({ reason }) => reason);

const then = ['--symbols', 'then'] as const;
const now = ['--symbols', 'now'] as const;

test('a row under a symbol that its instrument took later is refused, unless the file is said to have present symbols (contract 9.6)', async () => {
  const shelf = await Shelf.of(wasteManagement);
  await shelf.bars([bar('WMI', '2003-03-04', 21)]);
  const unsaid = await shelf.bars([bar('WM', '2003-03-04', 34), bar('WM', '2009-08-05', 29)]);
  assert.deepEqual([unsaid.rowsNew, unsaid.rowsRefused], [1, 1]);
  assert.deepEqual(
    unsaid.refused.map(({ row, column }) => [row, column]),
    [[1, 'symbol']],
  );
  const [reason = ''] = reasons(unsaid);
  for (const word of [
    'Waste Management',
    '2009-08-05',
    'WMI from 1998-07-17 to 2009-08-04',
    'UW from 1998-01-02',
  ])
    assert.ok(reason.includes(word), reason);
  assert.match(reason, /--symbols then .*--symbols now /);
  const days = await shelf.bars([bar('WM', '2003-03-04', 34)], ...then);
  assert.equal(days.runId, null);
  assert.match(
    reasons(days)[0]!,
    /^WM has been the symbol of Waste Management since 2009-08-05 .*another company's/,
  );
  assert.doesNotMatch(reasons(days)[0]!, /--symbols now/);
  assert.deepEqual(shelf.stored, ['WM 2003-03-04 21', 'WM 2009-08-05 29']);
  const whole = await shelf.bars([bar('WM', '2003-03-04', 34.6)], ...now);
  assert.deepEqual([whole.rowsReplaced, whole.rowsRefused], [1, 0]);
  assert.deepEqual(shelf.stored, ['WM 2003-03-04 34.6', 'WM 2009-08-05 29']);
  await shelf.undo(whole);
  assert.deepEqual(shelf.stored, ['WM 2003-03-04 21', 'WM 2009-08-05 29']);
});

test('the company that is known to have had the symbol then gets the rows of files with the symbols of each day (contract 9.6)', async () => {
  const shelf = await Shelf.of(wasteManagement, washingtonMutual);
  const rows = [bar('WM', '2003-03-04', 34), bar('WM', '2008-10-01', 1), bar('WM', '2009-08-05', 29)];
  const report = await shelf.bars(rows, ...then);
  assert.deepEqual(
    report.refused.map(({ row }) => row),
    [2],
  );
  const held = ['WM 2009-08-05 29', 'WM.1 2003-03-04 34'];
  assert.deepEqual(shelf.stored, held);
  const again = await shelf.bars(rows, ...then);
  assert.deepEqual([again.rowsUnchanged, again.rowsNew, again.rowsRefused], [2, 0, 1]);
  // Nothing says whether the row is of one or of the other.
  assert.deepEqual(
    (await shelf.bars(rows)).refused.map(({ row }) => row),
    [1, 2],
  );
  assert.deepEqual(shelf.stored, held);
  await shelf.bars(rows, ...now);
  assert.deepEqual(shelf.stored, [
    'WM 2003-03-04 34',
    'WM 2008-10-01 1',
    'WM 2009-08-05 29',
    'WM.1 2003-03-04 34',
  ]);
});

test('two instruments that have exchanged symbols keep their rows apart (contract 9.6)', async () => {
  const rows = [
    bar('AA', '2020-06-01', 1),
    bar('BB', '2020-06-01', 2),
    bar('AA', '2021-06-01', 3),
    bar('BB', '2021-06-01', 4),
  ];
  const names = ['stock,US,AA,,BB:2010-01-04..2020-12-31', 'stock,US,BB,,AA:2010-01-04..2020-12-31'];
  const exchanged = await Shelf.of(...names);
  assert.equal((await exchanged.bars(rows, ...then)).rowsRefused, 0);
  assert.deepEqual(exchanged.stored, [
    'AA 2020-06-01 2',
    'AA 2021-06-01 3',
    'BB 2020-06-01 1',
    'BB 2021-06-01 4',
  ]);
  const present = await Shelf.of(...names);
  assert.equal((await present.bars(rows, ...now)).rowsRefused, 0);
  assert.deepEqual(present.stored, [
    'AA 2020-06-01 1',
    'AA 2021-06-01 3',
    'BB 2020-06-01 2',
    'BB 2021-06-01 4',
  ]);
  const unsaid = await Shelf.of(...names);
  assert.deepEqual(
    (await unsaid.bars(rows)).refused.map(({ row }) => row),
    [1, 2],
  );
});

test('an instrument that has its old symbol again has it on both spans, and not between them (contract 9.6)', async () => {
  const shelf = await Shelf.of('stock,US,OLD,,OLD:2010-01-04..2015-12-31 MID:2016-01-04..2018-12-31');
  const rows = [
    bar('OLD', '2012-06-01', 1),
    bar('OLD', '2017-06-01', 2),
    bar('OLD', '2019-06-03', 3),
    bar('MID', '2017-06-02', 4),
  ];
  for (const flags of [[], then]) {
    const report = await shelf.bars(rows, ...flags);
    assert.deepEqual(
      report.refused.map(({ row }) => row),
      [2],
    );
    assert.deepEqual(shelf.stored, ['OLD 2012-06-01 1', 'OLD 2017-06-02 4', 'OLD 2019-06-03 3']);
  }
});

test('days between former symbols are of no known symbol: an old one makes an instrument, the present one is refused (contract 9.6)', async () => {
  const shelf = await Shelf.of('stock,US,CC,,AA:2010-01-04..2012-12-31 BB:2015-01-05..2017-12-29');
  const rows = [
    bar('AA', '2013-06-03', 1),
    bar('BB', '2013-06-03', 2),
    bar('CC', '2013-06-03', 3),
    bar('CC', '2018-01-02', 4),
  ];
  for (let times = 0; times < 2; times++) {
    assert.deepEqual(
      (await shelf.bars(rows, ...then)).refused.map(({ row }) => row),
      [3],
    );
    assert.deepEqual(shelf.stored, ['AA 2013-06-03 1', 'BB 2013-06-03 2', 'CC 2018-01-02 4']);
  }
});

test('a symbol of the day is nobody’s before the listing of its instrument; other files may have bars of before (contract 9.6)', async () => {
  const shelf = new Shelf();
  await shelf.import('instruments', [
    'asset_schema,country_iso_code,symbol,listing_date',
    'stock,US,SNOW,2020-09-16',
  ]);
  const rows = [bar('SNOW', '2015-06-01', 9), bar('SNOW', '2020-09-16', 250)];
  const report = await shelf.bars(rows, ...then);
  assert.deepEqual(
    report.refused.map(({ row }) => row),
    [1],
  );
  assert.match(reasons(report)[0]!, /^SNOW is the symbol of US:SNOW, listed on 2020-09-16: /);
  assert.equal((await shelf.bars(rows)).rowsRefused, 0);
});

test('a week or month in which the instrument took its symbol is its own (contract 3.6, 9.6)', async () => {
  const shelf = await Shelf.of('stock,US,META,Meta,FB:2012-05-18..2022-06-08');
  for (const [interval, days] of [
    ['WEEK', ['2022-05-30', '2022-06-06', '2022-06-13']],
    ['MON', ['2022-05-31', '2022-06-01', '2022-07-01']],
  ] as const) {
    const rows = days.map((day) => bar('META', day, 1));
    const report = await shelf.import('bars', [barsHead, ...rows], ...us, '--interval', interval, ...then);
    assert.deepEqual(
      report.refused.map(({ row }) => row),
      [1],
      interval,
    );
  }
});

test('a week or month of former symbols is of who had the symbol first, whatever date of it the row has (contract 3.6, 9.6)', async () => {
  for (const [interval, days] of [
    ['WEEK', ['2012-05-14', '2012-05-18', '2022-06-06', '2022-06-10', '2022-06-12', '2022-06-13']],
    ['MON', ['2012-05-01', '2012-05-31', '2022-06-01', '2022-06-08', '2022-06-30', '2022-07-01']],
  ] as const) {
    const shelf = await Shelf.of('stock,US,META,Meta,FB:2012-05-18..2022-06-08');
    const rows = days.map((day) => bar('FB', day, 1));
    const report = await shelf.import('bars', [barsHead, ...rows], ...us, '--interval', interval);
    assert.equal(report.rowsRefused, 0);
    const [first, , changed, , , last] = days;
    assert.deepEqual(shelf.stored, [`FB ${last} 1`, `META ${first} 1`, `META ${changed} 1`], interval);
  }
});

test('minutes attach by the date in their market (contract 9.6)', async () => {
  const shelf = await Shelf.of('stock,US,META,Meta,FB:2012-05-18..2022-06-08');
  const minute = (symbol: string, at: string): string => bar(symbol, at, 1);
  const rows = [
    minute('META', '2022-06-08T23:59:00Z'),
    minute('META', '2022-06-09T03:59:00Z'),
    minute('META', '2022-06-09T08:00:00Z'),
  ];
  const report = await shelf.import('bars', [barsHead, ...rows], ...us, '--interval', '1M', ...then);
  assert.deepEqual(
    report.refused.map(({ row }) => row),
    [1, 2],
  );
});

test('with present symbols a file under an old one is the instrument that had it, or else whole another one (contract 9.6)', async () => {
  const shelf = await Shelf.of('stock,US,META,Meta,FB:2012-05-18..2022-06-08');
  const saved = [bar('FB', '2015-06-01', 80), bar('FB', '2022-06-08', 190)];
  for (let times = 0; times < 2; times++) {
    assert.equal((await shelf.bars(saved, ...now)).rowsRefused, 0);
    assert.deepEqual(shelf.stored, ['META 2015-06-01 80', 'META 2022-06-08 190']);
  }
  writeFileSync(
    shop.path('fund.csv'),
    `${[barsHead, bar('FB', '2022-06-08', 40), bar('FB', '2022-06-09', 41)].join('\n')}\n`,
  );
  const fund = ['import', 'bars', 'fund.csv', ...daily, ...now, '--store', shelf.url];
  const { status, stderr } = await shop.run(...fund);
  assert.equal(status, 2);
  assert.match(stderr, /FB .*META from 2012-05-18 to 2022-06-08.*bourse import instruments.*--symbols then/);
  assert.deepEqual(shelf.stored, ['META 2015-06-01 80', 'META 2022-06-08 190']);
  await shelf.instruments('stock,US,FB,A fund,');
  await shop.must(...fund);
  assert.deepEqual(shelf.stored, [
    'FB 2022-06-08 40',
    'FB 2022-06-09 41',
    'META 2015-06-01 80',
    'META 2022-06-08 190',
  ]);
});

test('actions, news, calendar days and contracts under a symbol that was taken later are refused likewise (contract 9.6)', async () => {
  const datasets = {
    'corporate-actions': [
      'country_iso_code,symbol,action_type,ex_date,cash_amount',
      'US,WM,dividend,2003-03-04,1',
    ],
    news: [
      'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
      '2003-03-04T15:00:00Z,x,https://example.com/x,stock,US,WM',
    ],
    holidays: [
      'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
      'Halt,HOLIDAY_HALT,2003-03-04,stock,US,WM,CLOSED',
    ],
    'option-contracts': [
      'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
      'WM030321C00035000,US,stock,WM,35,2003-03-21,call',
    ],
  };
  const tables = {
    'corporate-actions': 'symbol',
    news: 'symbol',
    holidays: 'symbol',
    'option-contracts': 'underlying_name',
  };
  for (const [dataset, lines] of Object.entries(datasets)) {
    const column = tables[dataset as 'news'];
    const held = (shelf: Shelf): unknown[] =>
      rowsOf(shelf.url, `select ${column} as symbol from ${dataset.replaceAll('-', '_')}`).map(
        ({ symbol }) => symbol,
      );
    const shelf = await Shelf.of(wasteManagement);
    const unsaid = await shelf.import(dataset, lines);
    assert.deepEqual(
      unsaid.refused.map((one) => [one.row, one.column]),
      [[1, column]],
      dataset,
    );
    assert.match(
      reasons(unsaid)[0]!,
      /Waste Management since 2009-08-05.*--symbols then .*--symbols now /,
      dataset,
    );
    assert.equal((await shelf.import(dataset, lines, ...then)).rowsRefused, 1, dataset);
    assert.deepEqual(held(shelf), [], dataset);
    assert.equal((await shelf.import(dataset, lines, ...now)).rowsNew, 1, dataset);
    assert.deepEqual(held(shelf), ['WM'], dataset);
    const both = await Shelf.of(wasteManagement, washingtonMutual);
    assert.equal((await both.import(dataset, lines, ...then)).rowsNew, 1, dataset);
    assert.deepEqual(held(both), ['WM.1'], dataset);
    assert.equal((await both.import(dataset, lines, ...then)).rowsUnchanged, 1, dataset);
  }
});

test('bars of an option go to the underlying that had its root when it expired, or are refused (contract 1.4, 9.6)', async () => {
  const rows = [bar('WM030321C00035000', '2003-03-04', 1), bar('WM100319C00035000', '2010-03-04', 2)];
  const flags = ['--schema', 'option', '--country', 'US', '--interval', 'DAY'];
  const shelf = await Shelf.of(wasteManagement);
  const report = await shelf.import('bars', [barsHead, ...rows], ...flags, ...then);
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [[1, 'symbol']],
  );
  const underlyings = (): unknown[] =>
    rowsOf(shelf.url, 'select underlying_name from option_contracts order by symbol').map(Object.values);
  assert.deepEqual(underlyings(), [['WM']]);
  await shelf.instruments(washingtonMutual);
  assert.equal((await shelf.import('bars', [barsHead, ...rows], ...flags, ...then)).rowsNew, 1);
  assert.deepEqual(underlyings(), [['WM.1'], ['WM']]);
});

test('--dry-run and --explain tell the same rows; the flag wins over a map, and is written to one (contract 9.6, 10)', async () => {
  const shelf = await Shelf.of(wasteManagement);
  const rows = [bar('WM', '2003-03-04', 34), bar('WM', '2009-08-05', 29)];
  assert.equal((await shelf.bars(rows, '--dry-run')).rowsRefused, 1);
  assert.equal((await shelf.bars(rows, '--dry-run', ...now)).rowsRefused, 0);
  assert.deepEqual(shelf.stored, []);
  writeFileSync(shop.path('map.csv'), `${[barsHead.replace('symbol', 'Ticker'), ...rows].join('\n')}\n`);
  const store = ['--store', shelf.url];
  const mapped = ['import', 'bars', 'map.csv', ...store];
  const { stdout, stderr } = await shop.run(
    ...mapped,
    ...daily,
    ...now,
    '--explain',
    '--write-map',
    'now.json',
  );
  assert.match(stdout, /symbols: now/);
  assert.doesNotMatch(stdout, /would be refused/);
  assert.match(stderr, /wrote now\.json/);
  const explained = await shop.run(...mapped, '--map', 'now.json', ...then, '--explain');
  assert.match(
    explained.stdout,
    /symbols: then\n.*1 of 2 rows would be refused:\n {2}data row 1, column Ticker: WM has been/s,
  );
  assert.match(await shop.must(...mapped, '--map', 'now.json', '--no-check'), /2 rows read, 2 new/);
  writeFileSync(shop.path('wrong.json'), '{"columns": {"symbol": "Ticker"}, "symbols": "today"}');
  const wrong = await shop.run(...mapped, ...daily, '--map', 'wrong.json');
  assert.match(wrong.stderr, /wrong\.json, line 1: "symbols" must be "then", "now"/);
  const other = await shop.run('import', 'economic-events', 'map.csv', ...store, ...now);
  assert.match(other.stderr, /--symbols does not apply to economic-events: it is for bars, .*news/);
  assert.equal(other.status, 2);
});

test('presets say which symbols their files have (contract 9.6)', async () => {
  const shelf = await Shelf.of(wasteManagement);
  const yahoo =
    'Date,Open,High,Low,Close,Adj Close,Volume\n2003-03-04,34,35,33,34,30,1000\n2009-08-05,29,29,29,29,28,1000\n';
  mkdirSync(shop.path('yahoo'), { recursive: true });
  writeFileSync(shop.path('yahoo/WM.csv'), yahoo);
  const read = await shelf.file('bars', 'yahoo/WM.csv', ...daily);
  assert.deepEqual([read.rowsNew, read.rowsRefused], [2, 0]);
  const massive = ['ticker,volume,open,close,high,low,window_start,transactions'];
  for (const day of ['2003-03-04T05:00:00Z', '2009-08-05T04:00:00Z'])
    massive.push(`WM,100,34,34,34,34,${Date.parse(day)}000000,9`);
  const flat = await (await Shelf.of(wasteManagement)).import('bars', massive, '--interval', 'DAY');
  assert.deepEqual([flat.rowsNew, flat.rowsRefused], [1, 1]);
  assert.match(reasons(flat)[0]!, /another company's/);
  const said = await (await Shelf.of(wasteManagement)).import('bars', massive, '--interval', 'DAY', ...now);
  assert.deepEqual([said.rowsNew, said.rowsRefused], [2, 0]);
});

test('a watch imports every file by the same symbols, and skips it again by them (contract 9.6)', async () => {
  const shelf = await Shelf.of(wasteManagement);
  const folder = shop.path('incoming');
  mkdirSync(folder);
  const csv = `datetime,open,high,low,close\n2003-03-04T15:00:00Z,1,1,1,1\n`;
  writeFileSync(`${folder}/a.csv`, csv);
  const watch = new Watch(shop, folder, 'WM', [...now, '--store', shelf.url]);
  await watch.until(/a\.csv: 1 row read, 1 new, 0 replaced, 0 unchanged, 0 refused/);
  assert.equal(await watch.end('SIGTERM'), 0);
  const other = new Watch(shop, folder, 'WM', [...then, '--store', shelf.url]);
  await other.until(/a\.csv: every row was refused|a\.csv: 1 row read.*1 refused/);
  assert.equal(await other.end('SIGTERM'), 0);
  assert.deepEqual(shelf.stored, ['WM 2003-03-04 1']);
});

test('former symbols that are imported after bars move none: they stay, and the same file is refused then (contract 9.6)', async () => {
  const shelf = new Shelf();
  const rows = [bar('WM', '2003-03-04', 34), bar('WMI', '2003-03-04', 21), bar('WM', '2009-08-05', 29)];
  assert.equal((await shelf.bars(rows)).rowsNew, 3);
  const held = ['WM 2003-03-04 34', 'WM 2009-08-05 29', 'WMI 2003-03-04 21'];
  const told = await shelf.instruments(wasteManagement);
  assert.deepEqual(shelf.stored, held);
  assert.match(
    Object.keys(told.findings).join(),
    /bars of those days as an instrument of its own: they stay there/,
  );
  const again = await shelf.bars(rows);
  assert.deepEqual(
    again.refused.map(({ row }) => row),
    [1],
  );
  // The row of WMI is of WM now; nothing that was stored is lost.
  assert.equal(again.rowsReplaced, 1);
  await shelf.undo(again);
  assert.deepEqual(shelf.stored, held);
});
