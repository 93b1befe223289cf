// Page keys for the fuzzer, asked of the service in good form.
import assert from 'node:assert/strict';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { contract, type EndpointName } from '../../src/contract/index.ts';
import type { GivenPageKey, Texts } from './answers.ts';

const march = { from_date: '2025-03-03', to_date: '2025-03-04' };
const allTime = { from_date: '1900-01-01' };

const bars: readonly Texts[] = ['US:AAPL', 'us:^gspc', 'US:A$#!@~&=+_/.-B'].flatMap((country_symbol) => [
  { schema_asset: 'stock', country_symbol, interval: '1M', ...march },
  {
    ...{ schema_asset: 'STOCK', country_symbol, interval: '5m', sort: 'desc', is_eth: 'yes' },
    ...{ from_date: '2025-03-03T14:30:00Z', to_date: '2025-03-04 23:00:00+00:00' },
  },
]);

const search = { schema_asset: 'stock', country_symbol: 'US:AAPL', option_type: 'call' };

/** Queries with more than one page, of every endpoint that has pages. */
const bases: readonly (readonly [endpoint: EndpointName, texts: Texts])[] = [
  ...bars.map((texts) => ['historicalBars', texts] as const),
  ['corporateActions', { country_symbol: 'US:AAPL', ...allTime }],
  [
    'corporateActions',
    { country_symbol: 'us:aapl', ...allTime, to_date: '2025-12-31', action_type: 'Dividend' },
  ],
  ['corporateActions', { country_symbol: 'US:AAPL', ...allTime, sort: 'DESC' }],
  ['newsList', { ...allTime, to_date: '2025-12-31' }],
  ['newsList', { ...march, full_symbol: 'Stock:us:*', sort: 'desc' }],
  ['newsList', { ...allTime, to_date: '2025-03-05T00:00:00Z', full_symbol: 'crypto:GLOBAL:BTC-USD' }],
  ['optionSearch', { ...search, moneyness: 'in_the_money' }],
  ['optionSearch', { ...search, option_type: 'PUT', moneyness: 'in_the_money', ref_asset_price: '2.75' }],
  [
    'optionSearch',
    { ...search, moneyness: 'out_of_the_money', sort_by: 'strike_price desc,expiration_date' },
  ],
  ['optionSearch', { ...search, moneyness: 'in_the_money', sort: 'desc' }],
  ['optionSearch', { ...search, moneyness: 'in_the_money', sort_by: 'expiration_date desc', sort: 'Desc' }],
  ['holidayList', { full_symbol: 'stock:ZZ:*' }],
  ['holidayList', { full_symbol: 'stock:zz:only', ...allTime, sort: 'desc' }],
  ['holidayList', { full_symbol: 'stock:US:*', holiday_code: 'HOLIDAY_CHRISTMAS' }],
  ['seriesCoverage', { schema_asset: 'stock' }],
  ['seriesCoverage', { schema_asset: 'STOCK', country_iso_code: 'us', interval: '1m', sort: 'DESC' }],
  ['findings', { schema_asset: 'stock', country_symbol: 'US:A$#!@~&=+_/.-B' }],
  [
    'findings',
    { schema_asset: 'Stock', country_symbol: 'us:a$#!@~&=+_/.-b', severity: 'Warning', sort: 'DESC' },
  ],
  ['sessionCoverage', { schema_asset: 'stock', country_symbol: 'US:AAPL' }],
  ['sessionCoverage', { schema_asset: 'STOCK', country_symbol: 'us:aapl', interval: '1d', sort: 'DESC' }],
  ['economicEvents', {}],
  ['economicEvents', { ...allTime, country_iso_code: 'zz', impact: 'ALL', sort: 'DESC' }],
  ['economicEvents', { event_code: 'odd_two', to_date: '2025-03-07T12:30:00Z' }],
  ['runs', {}],
  ['runs', { sort: 'Desc' }],
];

const LIMIT = 2;
const PAGES = 3;

/** The address of a query without a key. */
function addressOf(name: EndpointName, texts: Texts): string {
  const { path, parameters } = contract[name] as Endpoint;
  const written = (text: string | undefined): string => encodeURIComponent(text ?? '');
  const query = Object.entries({ ...texts, ...('format' in parameters ? { format: 'json' } : {}) })
    .filter(([parameter]) => parameters[parameter]!.in === 'query')
    .map(([parameter, text]) => `&${parameter}=${written(text)}`);
  return `${path.replace(/\{(\w+)\}/g, (_, parameter: string) => written(texts[parameter]))}?limit=${LIMIT}${query.join('')}`;
}

type Ask = (address: string) => Promise<string>;

type Page = {
  readonly result: {
    readonly next_page_key: string | null;
    readonly next_page_url: string | null;
    readonly data: unknown;
  };
};

async function pageOf(ask: Ask, address: string): Promise<Page['result']> {
  const body = await ask(address);
  const { result } = JSON.parse(body) as Page;
  assert.ok(result?.next_page_key !== undefined, `${address}: ${body}`);
  return result;
}

/** An address that was given, without its base and key: `ask` knows them. */
const withoutKey = (url: string): string =>
  url.replace(/^http:\/\/[^/]+/, '').replace(/&secret_key=[^&]*/, '');

/**
 * The keys of the first pages of one query; each page is the same by its key and by its address (contract
 * 4.3).
 */
async function keysOf(ask: Ask, endpoint: EndpointName, texts: Texts): Promise<GivenPageKey[]> {
  const address = addressOf(endpoint, texts);
  const found: GivenPageKey[] = [];
  let page = await pageOf(ask, `${address}&next_page_key=`);
  while (page.next_page_key !== null && found.length < PAGES) {
    const key = page.next_page_key;
    found.push({ endpoint, texts, key, skip: (found.length + 1) * LIMIT });
    const byUrl = await pageOf(ask, withoutKey(page.next_page_url!));
    page = await pageOf(ask, `${address}&next_page_key=${key}`);
    assert.deepEqual([byUrl.next_page_key, byUrl.data], [page.next_page_key, page.data]);
  }
  assert.ok(found.length > 0, `${address} has more than one page`);
  return found;
}

/** Asks for the first pages of each; `ask` gives the body of an answer to an address without its key. */
export async function collectPageKeys(ask: Ask): Promise<GivenPageKey[]> {
  const found: GivenPageKey[] = [];
  for (const [endpoint, texts] of bases) found.push(...(await keysOf(ask, endpoint, texts)));
  for (const name of Object.keys(contract) as EndpointName[])
    if ('next_page_key' in contract[name].parameters)
      assert.ok(
        found.some(({ endpoint }) => endpoint === name),
        `page keys of ${name}`,
      );
  return found;
}
