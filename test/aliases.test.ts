// Symbols that name an instrument otherwise than it is stored: other separators, other notations (contract
// 9.21).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { type Filling, fillStore } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { fc, times } from './seed.ts';
import { Workshop } from './service.ts';
import { rowsOf } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

const nowMs = Date.parse('2025-05-01T00:00:00Z');
const opens = Array.from({ length: 6 }, (_, at) => `2025-03-03T14:3${at}:00Z`);
const stock = { asset_schema: 'stock', country_iso_code: 'US' };
const coin = { asset_schema: 'crypto', country_iso_code: 'GLOBAL' };
const bars = (name: object) =>
  opens.map((datetime) => ({
    ...name,
    interval: '1M',
    datetime,
    open: 1,
    high: 1,
    low: 1,
    close: 1,
    volume: 1,
  }));
const option = (symbol: string, type: string) => ({
  ...{ symbol, country_iso_code: 'US', parent_asset_schema: 'stock', underlying_name: 'BRK.B' },
  ...{ strike_price: 450, expiration_date: '2025-09-19', option_type: type },
});
const news = (name: object) => ({
  ...name,
  published_date: opens[0],
  title: 'T',
  publisher_url: 'https://a.example',
});

const fillings: readonly Filling[] = [
  [
    'instruments',
    [
      { ...stock, symbol: 'BRK.B', name: 'Holding' },
      { ...stock, symbol: 'ABR$A', name: 'Preferred' },
      { ...stock, symbol: 'ACHR+', name: 'Warrant' },
      { ...stock, symbol: 'F.B' },
      { ...coin, symbol: 'TW/OUSD' },
      { ...coin, symbol: 'TWO/USD' },
      { ...stock, symbol: 'LATE.A', listing_date: '2025-04-01' },
      { ...stock, symbol: 'TWIN.A' },
      { ...stock, symbol: 'TWIN/A', listing_date: '2025-04-01' },
    ],
  ],
  ['bars', [...bars({ ...stock, symbol: 'BRK.B' }), ...bars({ ...coin, symbol: 'BTC/USD' })]],
  ['option-contracts', [option('BRKB250919C00450000', 'call'), option('BRKB250919P00450000', 'put')]],
  [
    'corporate-actions',
    ['2025-03-04', '2025-03-05'].map((ex_date) => ({
      ...{ country_iso_code: 'US', symbol: 'BRK.B', action_type: 'dividend' },
      ...{ ex_date, cash_amount: 0.1, reference_price: 1 },
    })),
  ],
  [
    'news',
    [
      news({ asset_name: 'stock', country_iso_code: 'US', symbol: 'BRK.B' }),
      news({ asset_name: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTC/USD' }),
    ],
  ],
];
await fillStore(shop.store, shop.folder, nowMs, fillings);
const server = await LocalServer.open(shop.store, () => nowMs);
after(() => server.close());

async function ask(path: string) {
  const response = await server.get(
    `/api/v2/${path}${path.includes('?') ? '&' : '?'}secret_key=${server.key}`,
  );
  const { status, headers } = response;
  const shown = Object.fromEntries(
    [...headers].filter(([name]) => !/^(x-request-id|date|content-length)$/.test(name)),
  );
  return { status, headers: shown, text: (await response.text()).replace('"cached"', 'null') };
}

type Body = { readonly detail?: { readonly error: string; readonly hint?: string } };
async function refused(path: string): Promise<NonNullable<Body['detail']>> {
  const { status, text } = await ask(path);
  assert.equal(status, 404, text);
  return (JSON.parse(text) as Body).detail!;
}

const range = 'from/2025-03-03/to/2025-03-04';
const paths = [
  'stock/reference/US:BRK.B',
  `stock/bars/US:BRK.B/1M/${range}?limit=2`,
  `stock/bars/US:BRK.B/5M/${range}?format=csv`,
  'stock/bars/US:BRK.B/1M/latest?limit=2',
  'stock/stock_corporate_action/list/US:BRK.B?from_date=2025-01-01&limit=1',
  'option/search/stock/US:BRK.B/call/moneyness/out_of_the_money?ref_asset_price=1&limit=1',
  'option/expiration_date_list/stock/US:BRK.B',
  'news/latest?full_symbol=stock:US:BRK.B',
  'news/list?full_symbol=stock:US:BRK.B&from_date=2025-03-01&to_date=2025-03-04',
  'holiday/list?full_symbol=stock:US:BRK.B&limit=2&format=json',
  'stock/findings/US:BRK.B',
  `stock/coverage/US:BRK.B?interval=1M`,
  `stock/bars/US:BRK.B/1M/latest?as_of=2025-03-03T14:33:00Z`,
];

test('an answer under an alias is the one under the name itself, tag, page keys and addresses included (contract 9.21)', async () => {
  for (const path of paths)
    for (const alias of ['BRK-B', 'BRK%2FB', 'BRK/B', 'brk_b', 'BRK%20B']) {
      if (alias === 'BRK/B' && path.includes('full_symbol')) continue;
      const own = await ask(path);
      assert.equal(own.status, 200, own.text);
      assert.deepEqual(await ask(path.replace('BRK.B', alias)), own, `${alias}: ${path}`);
    }
  for (const path of [
    `crypto/bars/GLOBAL:BTC/USD/1M/latest`,
    'news/latest?full_symbol=crypto:GLOBAL:BTC%2FUSD',
  ])
    for (const alias of ['BTCUSD', 'BTC-USD', 'btc_usd'])
      assert.deepEqual(
        await ask(path.replace(/BTC(\/|%2F)USD/, alias)),
        await ask(path),
        `${alias}: ${path}`,
      );
});

test('bulk answers take aliases for some of their symbols (contract 9.21)', async () => {
  const of = (symbols: string) => `stock/bulk/bars/US/1M/${range}?format=csv&symbols=${symbols}`;
  const own = await ask(of('BRK.B,F.B'));
  assert.equal(own.text.split('\n').length, 8);
  for (const symbols of ['F-B,BRK-B', 'BRK/B,F.B,BRK.B', 'F_B,BRK%20B'])
    assert.deepEqual(await ask(of(symbols)), own, symbols);
});

test('a notation of a suffix names what another one does (contract 9.21)', async () => {
  const names = {
    ABR$A: ['ABR.PRA', 'ABR-PA', 'ABR/PA', 'ABR%20PRA', 'ABR%20PR%20A', 'ABR-PRA', 'abr$a'],
    'ACHR+': ['ACHR.WS', 'ACHR.W', 'ACHR-WT', 'ACHR/WS', 'ACHR%20WS', 'ACHR-WS'],
  };
  for (const [own, aliases] of Object.entries(names))
    for (const alias of aliases)
      assert.deepEqual(
        await ask(`stock/reference/US:${alias}`),
        await ask(`stock/reference/US:${encodeURIComponent(own)}`),
        alias,
      );
  // Nasdaq's ABR-A is a preferred share, everybody else's a class: nobody guesses.
  assert.equal((await refused('stock/reference/US:ABR-A')).error, 'unknown_instrument');
});

test('a separator is never added to or dropped from a stock’s symbol, and two that fit are none (contract 9.21)', async () => {
  assert.match((await refused('stock/reference/US:FB')).hint!, /\bF\.B\b/);
  assert.match((await refused('stock/reference/US:BRKB')).hint!, /\bBRK\.B\b/);
  assert.match((await refused('stock/reference/US:ABRPA')).hint!, /ABR\$A/);
  const { hint } = await refused('crypto/reference/GLOBAL:TWOUSD');
  assert.match(hint!, /TWO\/USD/);
  assert.match(hint!, /TW\/OUSD/);
  assert.match((await ask('crypto/reference/GLOBAL:TWO-USD')).text, /"symbol":"TWO\/USD"/);
});

test('an alias means what it meant at the moment and in the version that are asked for (contract 9.8, 9.12, 9.21)', async () => {
  const early = 'stock/reference/US:LATE-A?as_of=2025-03-03T15:00:00Z';
  assert.equal((await refused(early)).error, 'unknown_instrument');
  assert.equal((await ask('stock/reference/US:LATE-A')).status, 200);
  // Two fit today, one did then.
  assert.match((await refused('stock/reference/US:TWIN-A')).hint!, /TWIN\.A/);
  const twin = 'stock/reference/US:TWIN-A?as_of=2025-03-03T15:00:00Z';
  assert.match((await ask(twin)).text, /"symbol":"TWIN\.A"/);
  const reference = 'crypto/reference/GLOBAL:BTCUSD';
  const before = await ask(reference);
  assert.match(before.text, /"symbol":"BTC\/USD"/);
  await fillStore(shop.store, shop.folder, nowMs, [['instruments', [{ ...coin, symbol: 'BT/CUSD' }]]]);
  assert.match((await refused(reference)).hint!, /BTC\/USD/);
  const version = before.headers['x-data-version'];
  assert.equal((await ask(`${reference}?data_version=${version}`)).text, before.text);
  await shop.must('undo', String(rowsOf(shop.store, 'select max(run_id) as run from import_runs')[0]!.run));
  assert.equal((await ask(reference)).text, before.text);
});

const kept = (symbol: string): string[] =>
  rowsOf(
    shop.store,
    `select symbol from instruments where asset_schema = 'stock' and symbol like '${symbol}%' order by symbol`,
  ).map((row) => String(row.symbol));

test('a file that writes an alias attaches to the instrument that is stored, and its report says so (contract 9.21, 11)', async () => {
  writeFileSync(
    shop.path('bars.csv'),
    `symbol,datetime,open,high,low,close\nBRK-B,2025-03-04T14:30:00Z,1,1,1,1\nF B,2025-03-04T14:31:00Z,1,1,1,1\n${['XYZ', 'QQ A'].map((symbol) => `${symbol},2025-03-04T14:31:00Z,1,1,1,1\n`).join('')}`,
  );
  const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--no-check'];
  const { stdout, status } = await shop.run('import', 'bars', 'bars.csv', ...flags);
  assert.equal(status, 1);
  assert.match(stdout, /notation of their symbol, BRK-B as BRK\.B, F B as F\.B: 2 rows/);
  assert.match(stdout, /1 row refused[\s\S]*column symbol: must be 1 to 40 characters .*\("QQ A"\)/);
  assert.deepEqual(kept('BRK'), ['BRK.B']);
  writeFileSync(
    shop.path('names.csv'),
    'asset_schema,country_iso_code,symbol,industry\nstock,US,BRK-B,Insurance\n',
  );
  await shop.must('import', 'instruments', 'names.csv');
  assert.match((await ask('stock/reference/US:BRK.B')).text, /"industry":"Insurance"/);
  assert.deepEqual(kept('BRK'), ['BRK.B']);
  // Two fit: the row is refused, and names them.
  writeFileSync(
    shop.path('two.csv'),
    'asset_schema,country_iso_code,symbol,industry\ncrypto,GLOBAL,TWOUSD,Toys\n',
  );
  const { stdout: two } = await shop.run('import', 'instruments', 'two.csv');
  assert.match(two, /symbol: may be TW\/OUSD or TWO\/USD of the store: write one of these/);
});

test('a currency pair as Yahoo writes it is the pair, whichever is imported first; a new one is stored without the sign (contract 9.21)', async () => {
  // help.yahoo.com calls `EURUSD=X` a currency; `JPY=X` is one dollar in yen.
  const pairs = [
    ['GBPUSD', 'GBPUSD=X'],
    ['USDJPY', 'JPY=X'],
    ['EUR/USD', 'EURUSD=X'],
  ] as const;
  const market = ['--schema', 'forex', '--country', 'GLOBAL'];
  const add = (store: string, dataset: string, lines: readonly string[], ...flags: string[]) => {
    writeFileSync(shop.path('pair.csv'), [...lines, ''].join('\n'));
    return shop.must('import', dataset, 'pair.csv', ...market, ...flags, '--store', store);
  };
  for (const [at, [pair, yahoo]] of pairs.entries())
    for (const isYahooFirst of [false, true]) {
      const store = shop.storeUrl(`pair${at}${isYahooFirst}`);
      const bars = () =>
        add(
          store,
          'bars',
          ['symbol,datetime,open,high,low,close', `${pair},2025-02-03,1,2,0.5,1.5`],
          ...['--interval', 'DAY'],
        );
      const list = () => add(store, 'instruments', ['symbol,name', `${yahoo},Pair`]);
      const reports = isYahooFirst ? [await list(), await bars()] : [await bars(), await list()];
      const stored = isYahooFirst ? pair.replace('/', '') : pair;
      const told = `stored under another notation of their symbol, ${yahoo} as ${stored}: 1 row`;
      assert.ok(reports[isYahooFirst ? 0 : 1]!.includes(told), reports.join());
      assert.deepEqual(
        rowsOf(store, 'select symbol, name from instruments').map((row) => Object.values(row)),
        [[stored, 'Pair']],
      );
      const latest = `/api/v2/forex/bars/GLOBAL:${encodeURIComponent(yahoo)}/DAY/latest?format=csv`;
      assert.match(await shop.must('query', latest, '--store', store), /,2025-02-02T22:00:00/);
      const search = `/api/v2/forex/reference/search?query=${encodeURIComponent(yahoo)}`;
      assert.match(
        await shop.must('query', search, '--store', store),
        new RegExp(`"name":"Pair".*"base_currency":"${pair.slice(0, 3)}"`),
      );
    }
  // Both in one file are two, in whichever rows; and a stock's sign is its own.
  const store = shop.storeUrl('pairs');
  const rows = ['symbol,name', 'GBPUSD,One', 'GBPUSD=X,Other'];
  await add(store, 'instruments', rows);
  assert.equal(rowsOf(store, 'select symbol from instruments').length, 2);
  await add(store, 'instruments', rows);
  assert.equal(rowsOf(store, 'select symbol from instruments').length, 2);
  const other = await shop.run(
    ...['import', 'instruments', 'pair.csv', ...market, '--store', shop.storeUrl('other')],
  );
  assert.equal(other.status, 0);
  writeFileSync(shop.path('turned.csv'), 'symbol,name\nGBPUSD=X,Other\nGBPUSD,One\n');
  const turned = await shop.run(
    ...['import', 'instruments', 'turned.csv', ...market, '--store', shop.storeUrl('turned')],
  );
  assert.equal(turned.status, 1);
  assert.match(turned.stderr + turned.stdout, /is like GBPUSD=X of this file, which is stored as GBPUSD/);
});

test('commands take an alias for --symbol (contract 9.21)', async () => {
  const named = ['--schema', 'stock', '--country', 'US', '--symbol'];
  const exported = (symbol: string) => shop.must('export', 'bars', ...named, symbol);
  assert.equal(await exported('BRK-B'), await exported('BRK.B'));
  assert.equal(
    await shop.must('check', 'bars', ...named, 'BRK-B', '--json').catch(String),
    await shop.must('check', 'bars', ...named, 'BRK.B', '--json').catch(String),
  );
  const gone = await shop.must(
    'delete',
    'corporate-actions',
    '--country',
    'US',
    '--symbol',
    'BRK/B',
    '--from',
    '2025-03-05',
  );
  assert.match(gone, /1 row deleted/);
});

/** Imports a file of lines below a header into a store of its own; what it printed. */
async function importedInto(url: string, dataset: string, lines: readonly string[], ...flags: string[]) {
  writeFileSync(shop.path('into.csv'), `${lines.join('\n')}\n`);
  const { stdout } = await shop.runWith({ BOURSE_STORE: url }, 'import', dataset, 'into.csv', ...flags);
  return stdout;
}

const ofDays = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY', '--no-check'];
const barLines = (rows: Readonly<Record<string, number>>) => [
  'symbol,datetime,open,high,low,close',
  ...Object.entries(rows).flatMap(([symbol, count]) =>
    Array.from({ length: count }, (_, at) => `${symbol},2025-03-${10 + at},1,1,1,1`),
  ),
];
const nameLines = (...symbols: readonly string[]) => [
  'asset_schema,country_iso_code,symbol',
  ...symbols.map((symbol) => `stock,US,${symbol}`),
];
const countsIn = (url: string) =>
  Object.fromEntries(
    rowsOf(
      url,
      'select symbol, coalesce(sum(bar_count), 0) as bars from instruments left join series using (instrument_id) group by symbol',
    ).map(({ symbol, bars }) => [symbol, Number(bars)]),
  );

test('two spellings in one file are two securities (contract 9.21)', async () => {
  const files: readonly Readonly<Record<string, number>>[] = [
    { 'AGM-A': 3, 'AGM.A': 5 },
    { 'AGM.A': 5, 'AGM-A': 3 },
  ];
  for (const [at, both] of files.entries()) {
    const [one, other] = Object.keys(both) as [string, string];
    const fresh = shop.storeUrl(`fresh${at}`);
    assert.match(await importedInto(fresh, 'bars', barLines(both), ...ofDays), /8 rows read, 8 new/);
    assert.deepEqual(countsIn(fresh), both);
    // The store has one of them, whichever row comes first.
    for (const [which, known] of [one, other].entries()) {
      const url = shop.storeUrl(`known${at}${which}`);
      await importedInto(url, 'instruments', nameLines(known));
      await importedInto(url, 'bars', barLines(both), ...ofDays);
      assert.deepEqual(countsIn(url), both, `${known} was known`);
    }
    const listed = shop.storeUrl(`listed${at}`);
    await importedInto(listed, 'instruments', nameLines(one, other));
    assert.deepEqual(Object.keys(countsIn(listed)).sort(), ['AGM-A', 'AGM.A']);
    // From now on files may have one of them alone.
    await importedInto(listed, 'bars', barLines({ 'AGM-A': 2 }), ...ofDays);
    assert.deepEqual(countsIn(listed), { 'AGM-A': 2, 'AGM.A': 0 });
  }
  // What is exported comes back.
  const coins = shop.storeUrl('coins');
  const pairs = ['BTC/USD', 'BTCUSD'].map((symbol) => `crypto,GLOBAL,${symbol}`);
  await importedInto(coins, 'instruments', ['asset_schema,country_iso_code,symbol', ...pairs]);
  const exported = await shop.runWith({ BOURSE_STORE: coins }, 'export', 'instruments');
  const back = shop.storeUrl('back');
  await importedInto(back, 'instruments', exported.stdout.trim().split('\n'));
  assert.deepEqual(Object.keys(countsIn(back)).sort(), ['BTC/USD', 'BTCUSD']);
});

test('a second spelling of what a file joined to an instrument of the store is refused, with what to do (contract 9.21)', async () => {
  const url = shop.storeUrl('second');
  await importedInto(url, 'instruments', nameLines('AGM.A'));
  const third = await importedInto(url, 'bars', barLines({ 'AGM-A': 2, 'AGM/A': 3 }), ...ofDays);
  assert.match(third, /5 rows read, 2 new/);
  assert.match(third, /3 rows refused/);
  assert.match(third, /AGM-A of this file, which is stored as AGM\.A.*undo.*AGM\.A, AGM-A, AGM\/A first/);
  // Its very own name, so far behind the other that nobody knew of it.
  const far = nameLines('AGM-A', ...Array.from({ length: 20_000 }, (_, at) => `S${at}`), 'AGM.A');
  const own = await importedInto(url, 'instruments', far);
  assert.match(own, /1 row refused/);
  assert.match(own, /AGM-A of this file, which is stored as AGM\.A.*undo.*AGM\.A, AGM-A first/);
  await importedInto(url, 'instruments', nameLines('AGM-A', 'AGM/A', 'AGM.A'));
  await importedInto(url, 'bars', barLines({ 'AGM-A': 3, 'AGM/A': 3 }), ...ofDays);
  const { 'AGM-A': one, 'AGM/A': other } = countsIn(url);
  assert.deepEqual([one, other], [3, 3]);
});

test('a former symbol is no alias of another stock in commands (contract 9.21)', async () => {
  const url = shop.storeUrl('former');
  await importedInto(url, 'instruments', [
    'asset_schema,country_iso_code,symbol,former_symbols',
    'stock,US,NEWCO,AB-C:2010-01-04..2020-06-08',
    'stock,US,AB.C,',
  ]);
  await importedInto(url, 'bars', barLines({ 'AB.C': 2 }), ...ofDays);
  for (const words of [
    ['delete', 'bars', '--from', '2025-01-01'],
    ['export', 'bars'],
  ]) {
    const named = [...words, '--schema', 'stock', '--country', 'US', '--symbol', 'AB-C'];
    const { status, stderr } = await shop.runWith({ BOURSE_STORE: url }, ...named);
    assert.notEqual(status, 0);
    assert.match(stderr, /the store holds no stock US:AB-C/);
  }
  assert.deepEqual(countsIn(url), { NEWCO: 0, 'AB.C': 2 });
});

test('the key of the next page of holidays goes on under an alias too (contract 9.21)', async () => {
  const path = (symbol: string) => `holiday/list?full_symbol=stock:US:${symbol}&limit=1&format=json`;
  const first = JSON.parse((await ask(path('BRK-B'))).text) as { result: { next_page_key: string } };
  const key = encodeURIComponent(first.result.next_page_key);
  const own = await ask(`${path('BRK.B')}&next_page_key=${key}`);
  assert.equal(own.status, 200, own.text);
  assert.deepEqual(await ask(`${path('BRK-B')}&next_page_key=${key}`), own);
});

const marks = ['.', '-', '/', '_'];

/** The rule, written down once more: character by character. */
function fitsNaively(schema: string, asked: string, stored: string): boolean {
  const isMark = (letter: string | undefined) => letter !== undefined && marks.includes(letter);
  const isReplaced =
    asked.length === stored.length &&
    Array.from(asked).every((letter, at) => letter === stored[at] || (isMark(letter) && isMark(stored[at])));
  if (isReplaced || schema === 'stock') return isReplaced;
  const lacks = (short: string, long: string) =>
    Array.from(long).some(
      (letter, at) => isMark(letter) && long.slice(0, at) + long.slice(at + 1) === short,
    ) && Array.from(short).every((letter) => !isMark(letter));
  return lacks(asked, stored) || lacks(stored, asked);
}

test('a symbol is found by the rule of separators: as a naive reading of the rule says (contract 9.21)', async () => {
  const symbol = fc
    .tuple(fc.constantFrom('A', 'B', 'AB'), fc.array(fc.constantFrom('A', 'B', ...marks), { maxLength: 5 }))
    .map(([head, rest]) => head + rest.join('').replace(/[./_-]+$/, ''));
  let aliases = 0;
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('stock', 'crypto'),
      fc.uniqueArray(symbol, { minLength: 1, maxLength: 12 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('', ...marks)), { minLength: 1, maxLength: 12 }),
      async (schema, stored, changes) => {
        const url = shop.storeUrl(`random${++number}`);
        const country = schema === 'stock' ? 'DE' : 'GLOBAL';
        const instruments = stored.map((one) => ({
          ...{ asset_schema: schema, country_iso_code: country, symbol: one },
        }));
        // A row that names an instrument otherwise makes none; one that fits several is refused.
        const kept: string[] = [];
        for (const row of instruments) {
          const fits = kept.filter((one) => fitsNaively(schema, row.symbol, one));
          if (fits.length === 0) kept.push(row.symbol);
          if (fits.length < 2) await fillStore(url, shop.folder, nowMs, [['instruments', [row]]]);
        }
        const symbols = rowsOf(url, 'select symbol from instruments').map((row) => String(row.symbol));
        assert.deepEqual(symbols.sort(), kept.sort());
        const local = await LocalServer.open(url, () => nowMs);
        try {
          for (const [which, where, mark] of changes) {
            // A stored symbol with one mark more, another one, or one less.
            const old = stored[which % stored.length]!;
            const at = 1 + (where % old.length);
            const isMark = marks.includes(old[at] ?? ' ');
            const one = old.slice(0, at) + mark + old.slice(at + (isMark ? 1 : 0));
            const path = `/api/v2/${schema}/reference/${country}:${encodeURIComponent(one)}?secret_key=${local.key}`;
            const response = await local.get(path);
            const body = (await response.json()) as { result: { symbol: string } | null };
            const fits = kept.includes(one) ? [one] : kept.filter((other) => fitsNaively(schema, one, other));
            assert.equal(
              body.result?.symbol,
              fits.length === 1 ? fits[0] : undefined,
              `${one}: ${kept.join(' ')}`,
            );
            if (fits.length === 1 && fits[0] !== one) aliases++;
          }
        } finally {
          await local.close();
        }
      },
    ),
    { numRuns: times(25) },
  );
  assert.ok(aliases > 10, `${aliases} aliases`);
});
