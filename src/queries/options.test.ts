// Option search and expirations over a real store: every order and every page against a plain reading of the
// rules (spec 4.6, contract 8.4).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fc, times } from '../../test/seed.ts';
import { TestFolder } from '../../test/stores.ts';
import { contract } from '../contract/index.ts';
import { importFile } from '../imports/load/importers.ts';
import { type MappedFile, ownNames } from '../imports/map/column-mapping.ts';
import { openSources } from '../imports/read/source.ts';
import { openStore } from '../store/engines.ts';
import { StoredRows } from '../store/stored-rows.ts';
import { QueryRunner } from './index.ts';

const temporary = new TestFolder();
const { folder } = temporary;
const url = temporary.storeUrl();
const NOW_MS = Date.parse('2025-06-20T20:00:00Z');

/** One contract of the test, and when it expires: worked out by hand from the hours of the US market. */
type Given = {
  readonly symbol: string;
  readonly type: 'call' | 'put';
  readonly strike: number;
  readonly date: string;
  /** What the file gives; empty where it leaves that to the calendar. */
  readonly at: string;
  readonly expires: string;
  readonly status: string;
  readonly style: string;
  readonly isAdjusted: boolean;
};

/**
 * Date, given instant, instant: of the past, of this very moment, early closes, a Saturday, two instants of
 * one date.
 */
const expirations: readonly (readonly [date: string, at: string, expires: string])[] = [
  ['2024-11-29', '', '2024-11-29T18:00:00Z'],
  ['2025-06-13', '', '2025-06-13T20:00:00Z'],
  ['2025-06-20', '', '2025-06-20T20:00:00Z'],
  ['2025-06-20', '2025-06-20T13:30:00Z', '2025-06-20T13:30:00Z'],
  ['2025-06-20', '2025-06-20T20:00:00Z', '2025-06-20T20:00:00Z'],
  ['2025-06-21', '', '2025-06-20T20:00:00Z'],
  ['2025-07-03', '', '2025-07-03T17:00:00Z'],
  ['2025-07-04', '', '2025-07-03T17:00:00Z'],
  ['2026-01-16', '', '2026-01-16T21:00:00Z'],
];
const strikes = [0.5, 10, 12.5, 55, 55.000001, 70, 71.22, 100, 1000];

const contracts: readonly Given[] = expirations.flatMap(([date, at, expires], group) =>
  (['call', 'put'] as const).flatMap((type) =>
    strikes.flatMap((strike, index) => {
      // Two roots: contracts that differ in nothing but their symbols.
      const roots = index % 3 === 0 ? ['X', 'X1'] : ['X'];
      return roots.map((root) => ({
        symbol: `${root}-${type}-${9 - group}-${index}`.toUpperCase(),
        ...{ type, strike, date, at, expires },
        status: index % 2 === 0 ? 'active' : 'inactive',
        style: group % 2 === 0 ? 'american' : 'european',
        isAdjusted: false,
      }));
    }),
  ),
);

/**
 * Dates of an index, with the opens and closes of the US market by hand: an early close, a holiday, a
 * Saturday, the very moment.
 */
const settlements: readonly (readonly [date: string, open: string, close: string])[] = [
  ['2014-01-18', '2014-01-17T14:30:00Z', '2014-01-17T21:00:00Z'],
  ['2025-06-20', '2025-06-20T13:30:00Z', '2025-06-20T20:00:00Z'],
  ['2025-07-04', '2025-07-03T13:30:00Z', '2025-07-03T17:00:00Z'],
  ['2025-12-19', '2025-12-19T14:30:00Z', '2025-12-19T21:00:00Z'],
];

/**
 * Contracts under symbols of OCC: of an index that settle at both ends of a day, and of a stock, some of them
 * adjusted.
 */
const occContracts = (roots: readonly string[]): readonly Given[] =>
  settlements.flatMap(([date, open, close]) =>
    roots.flatMap((root) =>
      (['call', 'put'] as const).flatMap((type) =>
        [10, 55, 100].map((strike) => ({
          symbol: `${root}${date.slice(2).replaceAll('-', '')}${type === 'call' ? 'C' : 'P'}${String(strike * 1000).padStart(8, '0')}`,
          ...{ type, strike, date, at: '', status: 'active' },
          expires: root === 'SPX' ? open : close,
          style: root.startsWith('SPX') ? 'european' : 'american',
          isAdjusted: root === 'Q1' || root === 'Q7',
        })),
      ),
    ),
  );
const chains: Readonly<Record<string, readonly Given[]>> = {
  X: contracts,
  SPX: occContracts(['SPX', 'SPXW']),
  Q: occContracts(['Q', 'Q1', 'Q7']),
};

const opened = async (path: string): Promise<MappedFile> =>
  (await openSources(path, process.stdin, ownNames).next()).value as MappedFile;
const fixed = { source: null, dryRun: false, nowMs: () => NOW_MS };

async function importText(name: string, text: string, ...lines: readonly string[]): Promise<void> {
  const path = join(folder, name);
  writeFileSync(path, `${[text, ...lines].join('\n')}\n`);
  const writer = await openStore(url, 'write');
  const request = { ...fixed, file: await opened(path), flags: new Map<string, string>() };
  if (name.startsWith('bars')) await importFile(writer, 'bars', { ...request, zone: null, basis: 'raw' });
  else await importFile(writer, 'option-contracts', { ...request, zone: null });
  await writer.close();
}

const HEAD =
  'country_iso_code,parent_asset_schema,underlying_name,symbol,option_type,strike_price,expiration_date,expiration_datetime,status,exercise_style';
const lineOf = ({ symbol, type, strike, date, at, status, style }: Given, underlying = 'X'): string =>
  ['US', 'stock', underlying, symbol, type, strike, date, at, status, style].join();

const linesOf = ([underlying, chain]: readonly [string, readonly Given[]]): string[] =>
  chain.map((one) => lineOf(one, underlying));
await importText('contracts.csv', HEAD, ...Object.entries(chains).flatMap(linesOf));
const store = await openStore(url, 'read');
const runner = new QueryRunner(store, new Uint8Array(32).fill(3));
after(async () => {
  await store.close();
  temporary.close();
});

type Wire = Readonly<Record<string, string | number | boolean | null>>;
type Page = {
  readonly count: number;
  readonly next_page_key: string | null;
  readonly expiration_datetimes: readonly string[];
  readonly data: Readonly<Record<string, readonly Wire[]>>;
  /** The header that says how many adjusted contracts are left out. */
  readonly leftOut: string | undefined;
};

type Asked = Readonly<Record<string, unknown>>;

async function answerOf(
  endpoint: 'optionSearch' | 'optionExpirations',
  asked: Asked,
  nowMs = NOW_MS,
  wrapCsv = false,
) {
  const named = { schema_asset: 'stock', country_symbol: { country: 'US', symbol: 'X' } };
  const parameters = { ...named, option_type: 'call', moneyness: 'in_the_money', limit: 1000, ...asked };
  return runner.run({ endpoint, parameters, nowMs, wrapCsv });
}

async function resultOf<T>(
  endpoint: 'optionSearch' | 'optionExpirations',
  asked: Asked,
  nowMs = NOW_MS,
): Promise<T> {
  const answer = await answerOf(endpoint, asked, nowMs);
  assert.equal(answer.kind, 'answer', JSON.stringify(answer));
  if (answer.kind !== 'answer') throw new Error('no answer');
  return JSON.parse(Buffer.from(answer.body).toString()) as T;
}

async function pageOf(asked: Asked, nowMs?: number): Promise<Page> {
  const answer = await answerOf('optionSearch', asked, nowMs);
  if (answer.kind === 'refusal') assert.fail(answer.facts.message);
  const { result } = JSON.parse(Buffer.from(answer.body).toString()) as { result: Page };
  return { ...result, leftOut: answer.headers['X-Adjusted-Contracts'] };
}

const symbolsOf = (page: Page): string[] =>
  Object.values(page.data).flatMap((group) => group.map(({ symbol }) => String(symbol)));

/** Every page of a walk; `between` runs after each. */
async function walk(asked: Asked, between: () => void | Promise<void> = () => undefined): Promise<Page[]> {
  const pages = [await pageOf(asked)];
  for (;;) {
    const { next_page_key } = pages.at(-1)!;
    if (next_page_key === null) return pages;
    await between();
    // Later pages are asked for later: the moment is that of the first (contract 4.1).
    pages.push(await pageOf({ ...asked, next_page_key }, NOW_MS + pages.length * 86_400_000 * 30));
  }
}

const sortFields = [
  'strike_price',
  'expiration_date',
  'expiration_datetime',
  'symbol',
  'status',
  'exercise_style',
] as const;
type Sort = readonly { readonly field: (typeof sortFields)[number]; readonly direction: 'asc' | 'desc' }[];

const partOf: Readonly<Record<(typeof sortFields)[number], (one: Given) => string | number>> = {
  strike_price: (one) => one.strike,
  expiration_date: (one) => one.date,
  expiration_datetime: (one) => one.expires,
  symbol: (one) => one.symbol,
  status: (one) => one.status,
  exercise_style: (one) => one.style,
};

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** The rules of contract 8.4 one after the other. */
function inOrder(found: readonly Given[], sort: Sort, price: number): string[] {
  const isGone = (one: Given): number => (Date.parse(one.expires) <= NOW_MS ? 1 : 0);
  const rules: readonly ((a: Given, b: Given) => number)[] = [
    ...sort.map(({ field, direction }) => (a: Given, b: Given) => {
      const order = compare(partOf[field](a), partOf[field](b));
      return direction === 'asc' ? order : -order;
    }),
    (a, b) => isGone(a) - isGone(b),
    (a, b) => (isGone(a) ? compare(b.expires, a.expires) : compare(a.expires, b.expires)),
    (a, b) => Math.abs(a.strike - price) - Math.abs(b.strike - price),
    (a, b) => a.strike - b.strike,
    (a, b) => compare(a.symbol, b.symbol),
  ];
  const sorted = found.toSorted((a, b) => rules.map((rule) => rule(a, b)).find((order) => order !== 0) ?? 0);
  return sorted.map(({ symbol }) => symbol);
}

const isAsked = (one: Given, type: string, moneyness: string, price: number): boolean =>
  one.type === type &&
  ((type === 'call') === (moneyness === 'in_the_money') ? one.strike < price : one.strike > price);

const sorts: fc.Arbitrary<Sort> = fc
  .tuple(
    fc.shuffledSubarray([...sortFields]),
    fc.array(fc.constantFrom('asc' as const, 'desc' as const), { minLength: 6, maxLength: 6 }),
  )
  .map(([fields, directions]) => fields.map((field, at) => ({ field, direction: directions[at]! })));

test('every walk gives the contracts asked for, in their order or its reverse (spec 4.6, contract 4.1, 4.5, 4.7, 8.4, 8.5)', async () => {
  const dates = [...expirations, ...settlements].map(([date]) => date);
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        symbol: fc.constantFrom(...Object.keys(chains)),
        adjusted: fc.constantFrom(undefined, false, true),
        option_type: fc.constantFrom('call', 'put'),
        moneyness: fc.constantFrom('in_the_money', 'out_of_the_money'),
        ref_asset_price: fc.constantFrom(...strikes, 0.01, 60, 71.2200001, 1e6),
        strike_price: fc.option(fc.constantFrom(...strikes, 11), { nil: undefined }),
        date: fc.option(fc.constantFrom(...dates, '2014-01-17', '2025-06-19'), { nil: undefined }),
        sort: sorts,
        direction: fc.constantFrom(undefined, 'asc', 'desc'),
        limit: fc.constantFrom(1, 3, 10, 100),
      }),
      async ({ symbol, date, sort, direction, limit, ...asked }) => {
        const parameters = {
          ...asked,
          country_symbol: { country: 'US', symbol },
          limit: limit === 1 && asked.strike_price === undefined ? 7 : limit,
          ...(date === undefined ? {} : { expiration_date: Date.parse(date) / 86_400_000 }),
          ...(sort.length === 0 ? {} : { sort_by: sort }),
          ...(direction === undefined ? {} : { sort: direction }),
        };
        const pages = await walk(parameters);
        const chain = chains[symbol]!.filter(
          (one) =>
            isAsked(one, asked.option_type, asked.moneyness, asked.ref_asset_price) &&
            (asked.strike_price === undefined || one.strike === asked.strike_price) &&
            // All these instants are of the same date in New York.
            (date === undefined || one.date === date || one.expires.startsWith(date)),
        );
        const found = chain.filter(({ isAdjusted }) => asked.adjusted === true || !isAdjusted);
        for (const { leftOut } of pages)
          assert.equal(
            leftOut,
            chain.length === found.length ? undefined : String(chain.length - found.length),
          );
        const ascending = inOrder(found, sort, asked.ref_asset_price);
        const expected = direction === 'desc' ? ascending.toReversed() : ascending;
        for (const [index, page] of pages.entries()) {
          const part = expected.slice(index * parameters.limit, (index + 1) * parameters.limit);
          judgePage(page, part);
          assert.ok(page.count > 0 || pages.length === 1, 'no walk ends in an empty page (contract 4.2)');
        }
        assert.equal(
          pages.reduce((sum, page) => sum + page.count, 0),
          expected.length,
        );
      },
    ),
    { numRuns: times(60) },
  );
});

const bySymbol = new Map(
  Object.values(chains)
    .flat()
    .map((one) => [one.symbol, one]),
);
const keyOf = (symbol: string): string => bySymbol.get(symbol)!.expires;

/**
 * A page of these contracts: grouped by instant, groups in the order in which the list first reaches them
 * (contract 8.4).
 */
function judgePage(page: Page, symbols: readonly string[]): void {
  const groups = Map.groupBy(symbols, keyOf);
  assert.equal(page.count, symbols.length);
  assert.deepEqual(page.expiration_datetimes, [...groups.keys()]);
  assert.deepEqual(Object.keys(page.data), [...groups.keys()]);
  assert.deepEqual(symbolsOf(page), [...groups.values()].flat());
}

test('as CSV contracts come in the order of the search; wrapped with count and data (contract 4.7, 5.2, 5.3)', async () => {
  for (const sort of ['asc', 'desc']) {
    const sort_by = [{ field: 'strike_price', direction: 'desc' }];
    const asked = { ref_asset_price: 60, sort_by, sort, limit: 7 };
    const found = contracts.filter((one) => isAsked(one, 'call', 'in_the_money', 60));
    const ascending = inOrder(found, [{ field: 'strike_price', direction: 'desc' }], 60);
    const expected = (sort === 'desc' ? ascending.toReversed() : ascending).slice(0, 7);
    const answer = await answerOf('optionSearch', { ...asked, format: 'csv' });
    if (answer.kind === 'refusal') assert.fail(answer.facts.message);
    const text = Buffer.from(answer.body).toString();
    const [header, ...rows] = text.trimEnd().split('\r\n');
    const at = header!.split(',').indexOf('symbol');
    assert.deepEqual(
      rows.map((row) => row.split(',')[at]),
      expected,
    );
    assert.equal(header, Object.keys(Object.values((await pageOf(asked)).data)[0]![0]!).join());
    assert.equal(answer.headers['X-Count'], '7');
    assert.equal(answer.headers['X-Next-Page-Key'], answer.next!.key);
    const wrapped = await answerOf('optionSearch', { ...asked, format: 'csv' }, NOW_MS, true);
    if (wrapped.kind === 'refusal') assert.fail(wrapped.facts.message);
    const { result } = JSON.parse(Buffer.from(wrapped.body).toString()) as { result: Wire };
    assert.deepEqual(Object.keys(result), ['next_page_key', 'next_page_url', 'count', 'data']);
    assert.deepEqual([result.count, result.data], [7, text]);
  }
});

test('a page key of one direction opens no page of the other (contract 4.1, 4.7)', async () => {
  const asked = { ref_asset_price: 60, limit: 7 };
  for (const [sort, other] of [
    ['asc', 'desc'],
    ['desc', 'asc'],
  ]) {
    const { next_page_key } = await pageOf({ ...asked, sort });
    const refused = await answerOf('optionSearch', { ...asked, sort: other, next_page_key });
    assert.equal(refused.kind === 'refusal' && refused.word, 'invalid_page_key');
  }
  const { next_page_key } = await pageOf(asked);
  assert.equal((await answerOf('optionSearch', { ...asked, sort: 'asc', next_page_key })).kind, 'answer');
});

test('a price that the underlying cannot have is refused first; a future’s may be negative (spec 4.6, contract 6.4, 8.4)', async () => {
  for (const schema_asset of ['stock', 'crypto', 'forex', 'option'])
    for (const ref_asset_price of [0, -0, -0.5, -71.22]) {
      const country_symbol = { country: 'US', symbol: schema_asset === 'stock' ? 'X' : 'NOSUCH' };
      const refused = await answerOf('optionSearch', { schema_asset, country_symbol, ref_asset_price });
      if (refused.kind !== 'refusal') assert.fail('it is answered');
      assert.deepEqual([refused.word, refused.facts.param], ['invalid_parameter', 'ref_asset_price']);
      assert.match(refused.facts.message, /^ref_asset_price .* above 0.*future/);
    }
  await importText(
    'futures.csv',
    HEAD,
    ...['-5', '0', '5'].map(
      (strike) => `US,future,CLM20,CL${strike},put,${strike},2025-07-17,,active,american`,
    ),
  );
  const country_symbol = { country: 'US', symbol: 'CLM20' };
  const asked = { schema_asset: 'future', country_symbol, option_type: 'put', moneyness: 'in_the_money' };
  assert.deepEqual(symbolsOf(await pageOf({ ...asked, ref_asset_price: -37.63 })), ['CL-5', 'CL0', 'CL5']);
  assert.deepEqual(symbolsOf(await pageOf({ ...asked, ref_asset_price: 0 })), ['CL5']);
});

test('the longest page key there can be is still one that is taken (contract 4.1)', async () => {
  const long = ['9', 'A'].map((end) => `${'Z'.repeat(39)}${end}`);
  const terms = 'call,0.123456789012345,2030-01-18,2030-01-18T21:00:00.123Z,inactive,european';
  await importText('long.csv', HEAD, ...long.map((symbol) => `US,stock,X,${symbol},${terms}`));
  const fields = ['strike_price', 'expiration_date', 'expiration_datetime', 'instrument_id', 'status'];
  const sort_by = [...fields, 'exercise_style', 'symbol'].map((field) => ({ field, direction: 'asc' }));
  const asked = { ref_asset_price: 123456789012.345, strike_price: 0.123456789012345, sort_by, limit: 1 };
  const pages = await walk(asked);
  assert.deepEqual(pages.flatMap(symbolsOf), long);
  const key = pages[0]!.next_page_key!;
  assert.equal(contract.optionSearch.parameters.next_page_key.parse(key), key);
});

test('a walk while contracts are imported repeats none and misses none that was there (contract 4.1)', async () => {
  const asked = { ref_asset_price: 60, limit: 5 };
  const before = (await walk({ ...asked, limit: 1000 })).flatMap(symbolsOf);
  let imported = 0;
  const pages = await walk(asked, async () => {
    imported++;
    const made = [10.1, 59.9].map(
      (strike) =>
        `US,stock,X,NEW-${imported}-${strike},call,${strike},2025-${imported % 2 ? '06-13' : '07-18'},,active,american`,
    );
    if (imported < 6) await importText('more.csv', HEAD, ...made);
  });
  const walked = pages.flatMap(symbolsOf);
  assert.equal(new Set(walked).size, walked.length);
  assert.deepEqual(
    walked.filter((symbol) => !symbol.startsWith('NEW')),
    before,
  );
});

test('an index has both instants of a day that has both roots, a stock the dates of plain contracts alone (contract 8.5)', async () => {
  const NOW_2014 = Date.parse('2014-01-01T00:00:00Z');
  const list = async (symbol: string, more: Asked = {}): Promise<string[]> => {
    const asked = { country_symbol: { country: 'US', symbol }, ...more };
    const { result } = await resultOf<{ result: readonly Wire[] }>('optionExpirations', asked, NOW_2014);
    return result.map((one) => Object.values(one).join(' '));
  };
  const at = (date: string, instant: string): string => `${date} ${instant.replace('Z', '+00:00')}`;
  assert.deepEqual(
    await list('SPX'),
    settlements.flatMap(([date, open, close]) => [at(date, open), at(date, close)]),
  );
  const row = (symbol: string, underlying: string, date: string): string =>
    ['US', 'stock', underlying, symbol, 'call', 10, date, '', 'active', 'european'].join();
  // SPX alone has the next Friday, SPXW alone the day before; one adjusted contract of Q has a date of its
  // own.
  await importText(
    'roots.csv',
    HEAD,
    ...[row('SPX260116C00010000', 'SPX', '2026-01-16'), row('SPXW260115C00010000', 'SPX', '2026-01-15')],
    row('Q1260116C00010000', 'Q', '2026-01-16'),
  );
  assert.deepEqual((await list('SPX')).slice(-2), [
    '2026-01-15 2026-01-15T21:00:00+00:00',
    '2026-01-16 2026-01-16T14:30:00+00:00',
  ]);
  const plain = settlements.map(([date, , close]) => at(date, close));
  assert.deepEqual(await list('Q'), plain);
  assert.deepEqual(await list('Q', { adjusted: true }), [...plain, '2026-01-16 2026-01-16T21:00:00+00:00']);
});

test('coming expirations of calls and puts, nearest first, each once, cached until one changes (spec 2.7, 4.7, contract 8.5)', async () => {
  type List = { reference: string | null; result: readonly Wire[] };
  const list = (nowMs?: number): Promise<List> => resultOf('optionExpirations', {}, nowMs);
  const first = await list();
  assert.equal((await list()).reference, 'cached');
  await importText('other.csv', HEAD, 'US,stock,Y,Y1,call,1,2025-09-19,,active,american');
  assert.equal((await list()).reference, 'cached', 'a contract of another underlying');
  assert.deepEqual(
    first.result.map((one) => Object.values(one).join(' ')),
    [
      '2025-07-03 2025-07-03T17:00:00+00:00',
      '2025-07-04 2025-07-03T17:00:00+00:00',
      '2025-07-18 2025-07-18T20:00:00+00:00',
      '2026-01-16 2026-01-16T21:00:00+00:00',
      '2030-01-18 2030-01-18T21:00:00+00:00',
    ],
  );
  const reversed = await resultOf<List>('optionExpirations', { sort: 'desc' });
  assert.deepEqual(reversed.result, first.result.toReversed(), 'desc is asc reversed (contract 4.5, 4.7)');
  const before = (await list(NOW_MS - 1)).result;
  assert.deepEqual(before.slice(2), first.result);
  assert.deepEqual(
    before.slice(0, 2).map((one) => Object.values(one).join(' ')),
    ['2025-06-20 2025-06-20T20:00:00+00:00', '2025-06-21 2025-06-20T20:00:00+00:00'],
    'at its very instant an expiration has passed',
  );
  assert.deepEqual((await list(Date.parse('2200-01-01'))).result, []);
  await importText('other.csv', HEAD, 'US,stock,X,LATE,put,1,2035-01-19,,active,american');
  const later = await list();
  assert.deepEqual([later.reference, later.result.length], [null, first.result.length + 1]);
});

const BARS = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close';
const bar = (interval: string, at: string, close: number): string =>
  `stock,US,X,${interval},${at},${close},${close},${close},${close}`;

test('without a price the newest close at any interval holds, the finest of equals (spec 4.6 rule 3, contract 8.4)', async () => {
  const lowest = async (nowMs?: number): Promise<unknown> => {
    const answer = await answerOf('optionSearch', { moneyness: 'out_of_the_money', limit: 1 }, nowMs);
    if (answer.kind === 'refusal') return answer.word;
    const { result } = JSON.parse(Buffer.from(answer.body).toString()) as { result: Page };
    return Object.values(result.data)[0]?.[0]?.strike_price;
  };
  assert.equal(await lowest(), 'no_data');
  // Prices such that the next strike above tells which was taken.
  await importText('bars1.csv', BARS, bar('DAY', '2025-06-18', 11));
  assert.equal(await lowest(), 12.5, 'the close of the last day');
  await importText(
    'bars2.csv',
    BARS,
    bar('1M', '2025-06-18T19:59:00Z', 54),
    bar('5M', '2025-06-18T19:55:00Z', 69),
  );
  assert.equal(await lowest(), 55, 'the minute that closes with the day');
  await importText('bars3.csv', BARS, bar('15M', '2025-06-18T20:00:00Z', 69));
  assert.equal(await lowest(), 70, 'the post-market');
  await importText(
    'bars4.csv',
    BARS,
    bar('60M', '2025-06-20T19:30:00Z', 99),
    bar('1M', '2025-06-20T20:00:00Z', 11),
  );
  assert.equal(await lowest(), 100, 'a bar that ends now is finished, one that has just begun is not');
  assert.equal(await lowest(NOW_MS - 1), 70);
  assert.equal(await lowest(NOW_MS + 60_000), 100, 'a bar that had just begun at its import (contract 3.9)');
});

test('a commit to the bars of an underlying lets no search read all its contracts again (docs/decisions/0012)', async (t) => {
  const ranked = t.mock.method(StoredRows.prototype, 'ranked');
  const own = new QueryRunner(store, new Uint8Array(32).fill(3));
  /** How many entries of the index a search of all calls of Q reads. */
  const read = async (): Promise<number> => {
    ranked.mock.resetCalls();
    const country_symbol = { country: 'US', symbol: 'Q' };
    const asked = { schema_asset: 'stock', country_symbol, option_type: 'call', limit: 1000 };
    const parameters = { ...asked, moneyness: 'out_of_the_money' };
    const { kind } = await own.run({ endpoint: 'optionSearch', parameters, nowMs: NOW_MS, wrapCsv: false });
    assert.equal(kind, 'answer');
    let count = 0;
    for (const { result } of ranked.mock.calls) count += (await result)!.length;
    return count;
  };
  const barOfQ = (minute: number): Promise<void> =>
    importText('bars6.csv', BARS, bar('1M', `2025-06-18T19:${minute}:00Z`, 1).replace(',X,', ',Q,'));
  await barOfQ(10);
  const first = await read();
  const again = await read();
  assert.ok(again < first, 'the first search looks for adjusted contracts');
  await barOfQ(11);
  assert.equal(await read(), again);
  await importText('other.csv', HEAD, 'US,stock,Y,Y2,call,1,2025-09-19,,active,american');
  assert.equal(await read(), again, 'a contract of another underlying');
  await importText('q.csv', HEAD, 'US,stock,Q,Q250919C00010000,call,10,2025-09-19,,active,american');
  assert.equal(await read(), first + 2, 'a contract of its own: it is found, and looked at');
});

test('the price of the first page holds for the whole walk (contract 4.1)', async () => {
  const asked = { moneyness: 'out_of_the_money', limit: 20 };
  const whole = symbolsOf(await pageOf({ ...asked, limit: 1000 }));
  let count = 0;
  const pages = await walk(asked, async () => {
    if (count++ === 0) await importText('bars5.csv', BARS, bar('1M', '2025-06-20T19:59:00Z', 999));
  });
  assert.deepEqual(pages.flatMap(symbolsOf), whole);
});
