// News from file to wire: the list and the latest (spec 2.5, 4.4, 4.5, contract 8.3), both sorts, ties, and
// imports (contract 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { findZone } from '../src/market/calendar/zone.ts';
import { Caller, type Got, type GotPage, type Parameters } from './asking.ts';
import { stored } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { Workshop } from './service.ts';

const HEADER = 'published_date,title,publisher_url,asset_name,country_iso_code,symbol';
const MARCH = { from_date: '2025-03-01', to_date: '2025-03-31' };

const shop = new Workshop();
let server: LocalServer;
let caller: Caller;
before(async () => {
  await imported(
    'first.csv',
    `${HEADER},sentiment_label,sentiment_score,publisher,text_content
2025-03-03T14:30:00Z,Up,https://example.com/1,stock,US,AAA,Positive,0.75,The Example,It went up.
2025-03-03T14:30:00Z,Up,https://example.com/1,stock,US,BBB,,,The Example,It went up.
2025-03-03T23:59:59.9Z,Late,https://example.com/2,stock,US,AAA,neutral,-0.1,The Example,
2025-03-04T00:00:00+00:00,Coin,https://example.com/3,crypto,GLOBAL,BTCUSD,negative,-1,,
2025-03-04T09:00:00+09:00,Tokyo,https://example.com/4,STOCK,jp,7203,,,,
2025-03-05T10:00:00Z,World,https://example.com/5,,,,,,The Example,Of everyone.
`,
  );
  server = await LocalServer.open(shop.store);
  caller = new Caller(server, server.key);
});
after(async () => {
  await server.close();
  shop.close();
});

/** Imports news in this process, while another one serves. */
async function imported(name: string, text: string, zone: string | null = null): Promise<ImportReport> {
  writeFileSync(shop.path(name), text);
  return stored(shop, shop.path(name), (store, request) =>
    importFile(store, 'news', { ...request, zone: zone === null ? null : findZone(zone) }),
  );
}

const list = (parameters: Parameters = {}): Promise<GotPage> =>
  caller.list('news/list', { ...MARCH, ...parameters });
const latest = (parameters: Parameters = {}): Promise<GotPage> => caller.list('news/latest', parameters);

const titles = ({ data }: { readonly data: readonly Got[] }): unknown[] => data.map(({ title }) => title);
const short = (item: Got): string => `${String(item.title)} ${item.symbol ?? ''}`;

test('a walk of a range keeps both its ends on every page, in either order (contract 2.2, 4.1)', async () => {
  const range = { from_date: '2025-03-03T20:00:00Z', to_date: '2025-03-04T12:00:00Z' };
  for (const sort of ['asc', 'desc']) {
    const walked = await caller.walk('news/list', { ...range, sort, limit: '1' });
    const expected = ['Late', 'Coin', 'Tokyo'];
    // Coin and Tokyo are published at the same instant: their order is that of a hash.
    assert.deepEqual(new Set(walked.map(({ title }) => title)), new Set(expected), sort);
    assert.equal(walked.length, expected.length, sort);
  }
});

test('every field of an item stands in its place, null where nothing is known (spec 2.5, contract 8.3)', async () => {
  const { data } = await list({ full_symbol: 'stock:us:aaa' });
  assert.deepEqual(data[0], {
    sentiment_label: 'positive',
    sentiment_score: 0.75,
    asset_name: 'stock',
    country_iso_code: 'US',
    symbol: 'AAA',
    link_type: 'SPECIFIC_ASSET',
    published_date: '2025-03-03T14:30:00+00:00',
    publisher: 'The Example',
    title: 'Up',
    text_content: 'It went up.',
    publisher_url: 'https://example.com/1',
  });
  assert.equal(
    Object.keys(data[0]!).join(),
    'sentiment_label,sentiment_score,asset_name,country_iso_code,symbol,link_type,published_date,publisher,title,text_content,publisher_url',
  );
  const { data: world } = await list({ from_date: '2025-03-05' });
  const none = { sentiment_label: null, sentiment_score: null, link_type: null };
  const free = { asset_name: null, country_iso_code: null, symbol: null };
  assert.deepEqual(world[0], {
    ...none,
    ...free,
    published_date: '2025-03-05T10:00:00+00:00',
    publisher: 'The Example',
    title: 'World',
    text_content: 'Of everyone.',
    publisher_url: 'https://example.com/5',
  });
});

test('everything, a market, or one instrument; an item of several is one record for each (spec 4.4, contract 8.3)', async () => {
  const all = (await list()).data.map(short);
  assert.equal(all.length, 6);
  assert.deepEqual(all.slice(0, 2).sort(), ['Up AAA', 'Up BBB']);
  assert.deepEqual(
    all.slice(2),
    ['Late AAA', 'Coin BTCUSD', 'Tokyo 7203', 'World '].sort((a, b) => all.indexOf(a) - all.indexOf(b)),
  );
  const market = (await list({ full_symbol: 'STOCK:us:*' })).data.map(short);
  assert.deepEqual(market, all.slice(0, 3));
  assert.deepEqual((await list({ full_symbol: 'stock:US:BBB' })).data.map(short), ['Up BBB']);
  assert.deepEqual(titles(await list({ full_symbol: 'crypto:GLOBAL:*' })), ['Coin']);
  assert.equal((await list({ full_symbol: 'forex:GLOBAL:*' })).count, 0);
  assert.equal((await list({ full_symbol: 'stock:ZZ:*' })).count, 0);
});

test('ranges are inclusive at both ends, a date is a whole UTC day (contract 2.2, 2.3)', async () => {
  const between = async (from_date: string, to_date: string) => titles(await list({ from_date, to_date }));
  assert.deepEqual(await between('2025-03-03', '2025-03-03'), ['Up', 'Up', 'Late']);
  assert.deepEqual(await between('2025-03-03T14:30:00Z', '2025-03-03 14:30:00'), ['Up', 'Up']);
  assert.deepEqual(await between('2025-03-03T15:30:01+01:00', '2025-03-03T23:59:59Z'), ['Late']);
  assert.deepEqual(await between('2025-03-03 23:59:59 00:00', '2025-03-03'), ['Late']);
  assert.deepEqual(await between('2025-03-05T10:00:00.5Z', '2025-03-06'), []);
  assert.deepEqual(await between('2025-03-05', '2025-03-05T09:59:59Z'), []);
  const after = '2025-03-03T14:30:00.000001Z';
  assert.deepEqual(await between(after, '2025-03-03'), ['Late']);
  assert.deepEqual(await between(after, after), []);
});

test('desc is asc reversed, and so is every page, ties included (contract 4.1, 4.2, 4.5)', async () => {
  const lines = Array.from(
    { length: 40 },
    (_, index) => `2025-03-1${index % 2}T12:00:00Z,Tie ${index},https://example.com/tie,stock,US,TIE`,
  );
  await imported('ties.csv', [HEADER, ...lines, ''].join('\n'));
  for (const choice of [{}, { full_symbol: 'stock:US:*' }, { full_symbol: 'stock:US:TIE' }]) {
    const whole = (await list({ ...choice, limit: '1001' })).data;
    assert.ok(whole.length >= 40);
    for (const limit of ['1', '7', '20', '1001']) {
      const query = { ...MARCH, ...choice, limit };
      assert.deepEqual(await caller.walk('news/list', query), whole);
      assert.deepEqual(await caller.walk('news/list', { ...query, sort: 'DESC' }), whole.toReversed());
    }
  }
});

test('the latest are the newest, then arranged by sort, without paging (spec 4.5, contract 4.6)', async () => {
  const whole = (await list({ limit: '1001' })).data;
  const result = await latest({ limit: '7' });
  assert.deepEqual(Object.keys(result), ['count', 'data']);
  assert.deepEqual(result.data, whole.slice(-7));
  assert.deepEqual((await latest({ limit: '7', sort: 'desc' })).data, whole.slice(-7).reverse());
  assert.deepEqual((await latest({ full_symbol: 'stock:US:AAA', limit: '1' })).data.map(short), ['Late AAA']);
  assert.deepEqual((await latest({ full_symbol: 'crypto:GLOBAL:*' })).data.map(short), ['Coin BTCUSD']);
  assert.equal((await latest({ limit: '1001' })).count, whole.length);
});

test("a caller's mistakes are named (contract 2.2, 4.1, 4.4, 6.3)", async () => {
  const refused = (parameters: Parameters, path = 'news/list') => caller.refused(path, parameters);
  const cases: readonly (readonly [Parameters, number, string, string])[] = [
    [{ to_date: '2025-03-31' }, 400, 'invalid_parameter', 'from_date'],
    [{ from_date: '2025-03-31' }, 400, 'invalid_parameter', 'to_date'],
    [{ from_date: '2025-03-05', to_date: '2025-03-04' }, 400, 'invalid_parameter', 'from_date'],
    [
      { from_date: '2025-03-04T01:00:00Z', to_date: '2025-03-04T00:59:59Z' },
      400,
      'invalid_parameter',
      'from_date',
    ],
    [{ ...MARCH, limit: '1002' }, 400, 'invalid_parameter', 'limit'],
    [{ ...MARCH, sort: 'newest' }, 400, 'invalid_parameter', 'sort'],
    [{ ...MARCH, full_symbol: 'stock:US' }, 400, 'invalid_parameter', 'full_symbol'],
    [{ ...MARCH, full_symbol: 'stock:US:AAAA' }, 404, 'unknown_instrument', 'full_symbol'],
    [{ ...MARCH, full_symbol: 'crypto:US:AAA' }, 404, 'unknown_instrument', 'full_symbol'],
  ];
  for (const [parameters, code, error, param] of cases) {
    const { code: got, detail } = await refused(parameters);
    assert.deepEqual([got, detail.error, detail.param], [code, error, param], JSON.stringify(parameters));
  }
  assert.match((await refused({ ...MARCH, full_symbol: 'stock:US:AAAA' })).detail.hint ?? '', /AAA/);
  assert.equal((await refused({ full_symbol: 'stock:US:AAAA' }, 'news/latest')).code, 404);
  const { next_page_key: next } = await list({ limit: '1' });
  for (const other of [{ sort: 'desc' }, { full_symbol: 'stock:US:*' }, { to_date: '2025-03-30' }]) {
    const { code, detail } = await refused({ ...MARCH, ...other, next_page_key: next! });
    assert.deepEqual([code, detail.error], [400, 'invalid_page_key'], JSON.stringify(other));
  }
});

test('a walk misses nothing and repeats nothing while another process imports (contract 4.1)', async () => {
  const file = (run: number) => {
    const lines = Array.from({ length: 150 }, (_, index) => {
      const at = new Date(Date.UTC(2025, 4, 1, index, run)).toISOString();
      return `${at},Walk ${index} ${run},https://example.com/walk,stock,US,WALK`;
    });
    return [HEADER, ...lines, ''].join('\n');
  };
  await imported('walk.csv', file(0));
  const query = { from_date: '2025-05-01', to_date: '2025-05-31', full_symbol: 'stock:US:WALK' };
  const known = titles(await caller.list('news/list', { ...query, limit: '1001' }));
  for (const sort of ['asc', 'desc']) {
    let run = sort === 'asc' ? 0 : 10;
    const last = run + 3;
    const walked = await caller.walk('news/list', { ...query, sort, limit: '40' }, async () => {
      if (run < last) await imported(`walk-${++run}.csv`, file(run));
    });
    const found = walked.map(({ title }) => title);
    assert.equal(new Set(found).size, found.length);
    assert.ok(found.length > 150);
    for (const title of known) assert.ok(found.includes(title as string), String(title));
  }
});

const nasty: readonly string[] = [
  'He said "up, up", they say',
  'two\nlines',
  'two\r\nlines',
  '=1+cmd|calc',
  '@SUM(A1)',
  ' spaces around ',
  'مرحبا بالعالم',
  'שלום, "עולם"',
  '👩‍👩‍👧‍👦 to the moon 🚀',
  '\ufeffbom',
  '</script><b>bold</b>',
  "'; drop table news; --",
  '𝒯ext\u202eright-to-left\u202c',
  '\\u0041 \\n \\\\',
];

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

test('texts of any kind and of 1 MB come back as they are, from CSV and from NDJSON (contract 5.1, 11)', async () => {
  const texts = [...nasty, 'long '.repeat(200_000), '🚀'.repeat(250_000), '"\n'.repeat(250_000)];
  const rows = texts.map((text, index) => ({
    published_date: `2025-06-01T00:00:${String(index).padStart(2, '0')}Z`,
    title: `T${text.slice(0, 40)}`,
    publisher_url: 'https://example.com/nasty',
    text_content: text,
  }));
  const csv = [
    'published_date,title,publisher_url,text_content',
    ...rows.map((row) => Object.values(row).map(quoted).join()),
    '',
  ];
  const query = { from_date: '2025-06-01', to_date: '2025-06-01', limit: '1001' };
  assert.equal((await imported('nasty.csv', csv.join('\n'))).rowsRefused, 0);
  const walked = await caller.walk('news/list', query);
  assert.deepEqual(
    walked.map(({ title, text_content }) => ({ title, text_content })),
    rows.map(({ title, text_content }) => ({ title, text_content })),
  );
  // The same items from another format are the same items.
  const again = await imported('nasty.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  assert.deepEqual([again.rowsWritten, again.rowsUnchanged], [0, rows.length]);
});

test('an answer holds fewer items where their texts are very long, and goes on behind them (contract 4.1, 4.2)', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => ({
    published_date: `2025-07-01T00:00:${String(index).padStart(2, '0')}Z`,
    title: `Long ${index}`,
    publisher_url: 'https://example.com/long',
    asset_name: 'stock',
    country_iso_code: 'US',
    symbol: 'LONG',
    text_content: 'x'.repeat(900_000),
  }));
  await imported('long.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const query = { from_date: '2025-07-01', to_date: '2025-07-01', limit: '1001' };
  const first = await caller.list('news/list', query);
  assert.ok(first.count > 0 && first.count < 20 && first.next_page_key !== null);
  assert.deepEqual(
    titles({ data: await caller.walk('news/list', query) }),
    rows.map(({ title }) => title),
  );
  const newest = await latest({ full_symbol: 'stock:US:LONG', limit: '1001' });
  assert.deepEqual(
    titles(newest),
    rows.slice(-newest.count).map(({ title }) => title),
  );
  assert.ok(newest.count > 0 && newest.count < 20);
});

test('a file can be imported twice and taken back; a corrected item, its time too, replaces the old one (contract 10, 11)', async () => {
  const file = (at: string, label: string) =>
    `${HEADER},sentiment_label\n${at},One,https://example.com/one,stock,US,ONE,${label}\n`;
  const query = { full_symbol: 'stock:US:ONE', from_date: '2025-03-01', to_date: '2025-12-31' };
  const found = async () =>
    (await list(query)).data.map((item) => [item.published_date, item.sentiment_label]);
  const first = await imported('one.csv', file('2025-03-20T10:00:00Z', 'neutral'));
  assert.deepEqual([first.rowsWritten, first.newInstruments], [1, 1]);
  const again = await imported('one.csv', file('2025-03-20T10:00:00Z', 'NEUTRAL'));
  assert.equal(again.rowsUnchanged, 1);
  const second = await imported('one.csv', file('2025-03-21T10:00:00Z', 'positive'));
  assert.deepEqual(await found(), [['2025-03-21T10:00:00+00:00', 'positive']]);
  await shop.must('undo', String(second.runId));
  assert.deepEqual(await found(), [['2025-03-20T10:00:00+00:00', 'neutral']]);
  await shop.must('undo', String(first.runId));
  assert.deepEqual(await found(), [['2025-03-20T10:00:00+00:00', 'neutral']]);
  await shop.must('undo', String(again.runId));
  assert.equal((await caller.refused('news/list', { ...MARCH, ...query })).code, 404);
});

const refusals: readonly (readonly [cells: string, problem: RegExp])[] = [
  ['2025-03-03,T,https://e.com,,,,,', /published_date: must be an instant with its offset/],
  ['2025-03-03T10:00:00,T,https://e.com,,,,,', /published_date: must be .*give --zone/],
  ['yesterday,T,https://e.com,,,,,', /published_date: must be an instant/],
  ['2025-03-03T10:00:00Z,  ,https://e.com,,,,,', /title: is missing/],
  ['2025-03-03T10:00:00Z,T,,,,,,', /publisher_url: is missing/],
  [
    '2025-03-03T10:00:00Z,T,javascript:alert(1),,,,,',
    /publisher_url: must be an address that begins with https/,
  ],
  [
    '2025-03-03T10:00:00Z,T,https://e.com,stock,US,,,',
    /symbol: is missing: asset_name, country_iso_code, symbol belong together/,
  ],
  ['2025-03-03T10:00:00Z,T,https://e.com,,,AAA,,', /asset_name: is missing/],
  ['2025-03-03T10:00:00Z,T,https://e.com,bond,US,AAA,,', /asset_name: must be stock/],
  ['2025-03-03T10:00:00Z,T,https://e.com,stock,US,*,,', /symbol: must be 1 to 40/],
  [
    '2025-03-03T10:00:00Z,T,https://e.com,stock,US,AAA,bullish,',
    /sentiment_label: must be one of positive, neutral, negative/,
  ],
  ['2025-03-03T10:00:00Z,T,https://e.com,stock,US,AAA,,high', /sentiment_score: must be a number/],
  ['2025-03-03T10:00:00Z,T,https://e.com,stock,US,AAA,,', /^$/],
  [
    '2025-03-03T10:00:00Z,T,https://e.com,stock,US,AAA,positive,',
    /title: the file has this item of this instrument already/,
  ],
  ['2025-03-03T10:00:00Z,T,https://e.com,stock,US,BBB,,', /^$/],
];

test('each row that cannot be is refused with its column and its reason (contract 11)', async () => {
  const rows = [`${HEADER},sentiment_label,sentiment_score`, ...refusals.map(([cells]) => cells), ''];
  const report = await imported('refused.csv', rows.join('\n'));
  refusals.forEach(([cells, problem], index) => {
    const refused = report.refused.find(({ row }) => row === index + 1);
    assert.match(refused === undefined ? '' : `${refused.column}: ${refused.reason}`, problem, cells);
  });
});

test('an item without a symbol, in a file whose asset type and country are the same for all, is one of no instrument (contract 8.3, 11)', async () => {
  const items = [
    { datetime: 1741012200, headline: 'Tied', related: 'AAPL', source: 'W', url: 'https://c.example/1' },
    { datetime: 1741012201, headline: 'Free', related: '', source: 'W', url: 'https://c.example/2' },
    { datetime: 1741012202, headline: 'Null', related: null, source: 'W', url: 'https://c.example/3' },
  ];
  const columns = {
    ...{ title: 'headline', publisher_url: 'url', published_date: 'datetime', symbol: 'related' },
  };
  writeFileSync(shop.path('free.json'), JSON.stringify(items));
  writeFileSync(
    shop.path('free.map.json'),
    JSON.stringify({ columns, values: { asset_name: 'stock', country_iso_code: 'US' } }),
  );
  const told = await shop.must('import', 'news', shop.path('free.json'), '--map', shop.path('free.map.json'));
  assert.match(told, / 3 new/);
  const text = 'published_date,title,publisher_url,symbol\n2025-03-03T14:30:03Z,Flag,https://c.example/4,\n';
  writeFileSync(shop.path('free.csv'), text);
  const flags = ['--schema', 'stock', '--country', 'US'];
  assert.match(await shop.must('import', 'news', shop.path('free.csv'), ...flags), / 1 new/);
  const range = { from_date: '2025-03-03T14:30:00Z', to_date: '2025-03-03T14:30:03Z' };
  const ties = (await list(range)).data
    .filter(({ publisher_url }) => String(publisher_url).startsWith('https://c.example/'))
    .map(({ title, asset_name, country_iso_code, symbol, link_type }) => [
      ...[title, asset_name, country_iso_code, symbol, link_type],
    ]);
  assert.deepEqual(ties, [
    ['Tied', 'stock', 'US', 'AAPL', 'SPECIFIC_ASSET'],
    ...['Free', 'Null', 'Flag'].map((title) => [title, null, null, null, null]),
  ]);
  // Without any symbol the flags are for nothing: it was forgotten.
  writeFileSync(shop.path('free.csv'), text.replace(',symbol', '').replace(',\n', '\n'));
  const refused = await shop.run('import', 'news', shop.path('free.csv'), ...flags);
  assert.match(refused.stdout, /symbol: is missing/);
});

test('an import says which news are dated after now (contract 8.3)', async () => {
  const later = `${HEADER}\n2199-01-01T00:00:00Z,Later,https://example.com/later,,,\n`;
  const report = await imported('later.csv', later);
  assert.deepEqual(Object.entries(report.findings), [
    ['dated after now, and among the latest news only from their own times on', 1],
  ]);
  assert.ok(!titles(await latest()).includes('Later'));
  await shop.must('undo', String(report.runId));
});

test('times without an offset are those of --zone; an hour that it skips is refused (contract 2.5, 11)', async () => {
  const lines = ['2025-03-09 01:30:00,Before', '2025-03-09 02:30:00,Never', '2025-03-09 03:30:00,After'];
  const rows = [
    'published_date,title,publisher_url',
    ...lines.map((line) => `${line},https://e.com/zone`),
    '',
  ];
  const report = await imported('zone.csv', rows.join('\n'), 'America/New_York');
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [[2, 'published_date']],
  );
  const { data } = await list({ from_date: '2025-03-09', to_date: '2025-03-09' });
  assert.deepEqual(
    data.map(({ title, published_date }) => [title, published_date]),
    [
      ['Before', '2025-03-09T06:30:00+00:00'],
      ['After', '2025-03-09T07:30:00+00:00'],
    ],
  );
});

test('the command takes --schema, --country, --symbol and --zone for a whole file (contract 11)', async () => {
  const file = shop.path('flags.csv');
  writeFileSync(file, 'published_date,title,publisher_url\n2025-03-20 09:00:00,Flags,https://e.com/flags\n');
  const said = await shop.must(
    ...['import', 'news', file, '--schema', 'crypto', '--country', 'GLOBAL', '--symbol', 'flag'],
    ...['--zone', 'Asia/Tokyo'],
  );
  assert.match(said, /1 new instrument/);
  const { data } = await list({ full_symbol: 'crypto:GLOBAL:FLAG' });
  assert.deepEqual(
    data.map(({ asset_name, published_date }) => [asset_name, published_date]),
    [['crypto', '2025-03-20T00:00:00+00:00']],
  );
});

test('a page that is read in several steps has all its items (contract 4.4)', async () => {
  const items = Array.from(
    { length: 300 },
    (_, at) =>
      `2024-02-01T00:00:${String(at % 60).padStart(2, '0')}Z,Item ${at},https://example.com/${at},stock,US,LONG`,
  );
  await imported('long.csv', `${HEADER}\n${items.join('\n')}\n`);
  const range = { from_date: '2024-02-01', to_date: '2024-02-01' };
  assert.equal((await list({ ...range, limit: '300' })).count, 300);
  assert.equal((await list({ ...range, limit: '256' })).count, 256);
});
