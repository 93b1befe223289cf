// Large lists, and the statements by which a service reads them: for tests that hold every plan to a walk of
// an index.
import assert from 'node:assert/strict';
import type { RequestHandler } from '../src/serve/handler.ts';
import { openControl, openStore } from '../src/store/engines.ts';
import type { RowOf } from '../src/store/schema/dataset.ts';
import { optionContracts } from '../src/store/schema/options.ts';
import { handlerOn, issueKeys, NOW_MS } from './fuzz/in-process.ts';
import { type FileRow, type Filling, fillStore } from './importing.ts';

/** Tables that `fillLists` makes large. */
export const largeTables = [
  'instruments',
  'instrument_terms',
  'news',
  'corporate_actions',
  'option_contracts',
  'economic_events',
] as const;

const DAY_MS = 86_400_000;
const firstMs = Date.UTC(2010, 0, 1);
const dateOf = (day: number): string => new Date(firstMs + day * DAY_MS).toISOString().slice(0, 10);
const rowsOf = (count: number, row: (at: number) => FileRow): FileRow[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => row(at));

const symbolOf = (at: number): string => `S${String(at).padStart(6, '0')}`;
const words = ['Alpha', 'Beta', 'Works', 'Foods', 'Micro', 'Steel'];

/** So many rows, most of them news and events. */
function listsOf(count: number): Filling[] {
  const stock = (at: number): FileRow => ({
    asset_name: 'stock',
    country_iso_code: at % 7 === 0 ? 'CA' : 'US',
    symbol: symbolOf(at % 200),
  });
  return [
    [
      'instruments',
      rowsOf(count * 0.2, (at) => ({
        asset_schema: 'stock',
        country_iso_code: at % 7 === 0 ? 'CA' : 'US',
        symbol: symbolOf(at),
        name: `${words[at % 6]!} ${words[(at + 1) % 5]!} ${at}`,
      })),
    ],
    [
      'news',
      rowsOf(count * 0.25, (at) => ({
        ...(at % 11 === 0 ? {} : stock(at)),
        published_date: new Date(firstMs + at * 600_000).toISOString(),
        title: `Title ${at}`,
        publisher_url: `https://example.com/${at}`,
      })),
    ],
    [
      'corporate-actions',
      rowsOf(count * 0.15, (at) => ({
        country_iso_code: 'US',
        symbol: symbolOf((at % 20) * 7 + 1),
        action_type: 'dividend',
        ex_date: dateOf(Math.floor(at / 20) % 20_000),
        cash_amount: 0.1 + (at % 9),
        reference_price: 100 + Math.floor(at / 400_000),
      })),
    ],
    [
      'economic-events',
      rowsOf(count * 0.25, (at) => ({
        country_iso_code: ['US', 'JP', 'DE', 'UK', 'CA'][at % 5]!,
        event_code: `CODE_${at % 40}`,
        event_name: `Event ${at}`,
        event_timestamp: new Date(firstMs + at * 1_200_000).toISOString(),
        importance: [1, 2, 3][at % 3]!,
      })),
    ],
    [
      'holidays',
      rowsOf(200, (at) => ({
        name: `Day ${at}`,
        holiday_code: `HOLIDAY_${at % 3}`,
        calendar_date: dateOf(5_000 + at * 3),
        asset_name: 'stock',
        country_iso_code: 'CA',
        symbol: symbolOf(7),
        session_template: 'CLOSED',
      })),
    ],
  ];
}

/** Contracts of ten stocks, as rows of the store: an import would make an instrument of each. */
function contractsOf(count: number): RowOf<typeof optionContracts>[] {
  const none = Object.entries(optionContracts.columns).map(([column, of]) => [
    column,
    'nullable' in of ? null : of.kind === 'text' ? '' : 0,
  ]);
  return Array.from({ length: Math.floor(count) }, (_, at) => ({
    ...Object.fromEntries(none),
    symbol: `O${String(at).padStart(8, '0')}`,
    country_iso_code: 'US',
    parent_asset_schema: 'stock',
    underlying_name: symbolOf((at % 10) * 7 + 1),
    strike_price: 1 + (Math.floor(at / 20) % 200),
    expiration_date: 20_000 + (Math.floor(at / 4_000) % 300),
    option_type: Math.floor(at / 10) % 2 === 0 ? 'call' : 'put',
    instrument_id: 10_000_000 + at,
  }));
}

/** Stores so many rows in a new store. */
export async function fillLists(url: string, folder: string, count: number): Promise<void> {
  await fillStore(url, folder, NOW_MS, listsOf(count));
  const store = await openStore(url, 'write');
  await store.write((writer) => writer.upsert(optionContracts, contractsOf(count * 0.15)));
  await store.close();
}

/** Every set of some filters of a query. */
const subsets = (filters: readonly string[]): string[] =>
  Array.from({ length: 2 ** filters.length }, (_, bits) =>
    filters
      .filter((_filter, at) => bits & (1 << at))
      .map((filter) => `&${filter}`)
      .join(''),
  );

const spans = ['&from_date=2010-02-01&to_date=2200-01-01', '&from_date=1990-01-01&to_date=2010-03-01'];
const sorts = ['&sort=asc', '&sort=desc'];
const named = ['', '&full_symbol=stock:US:*', '&full_symbol=stock:US:S000001'];
const each = (path: string, ...choices: readonly (readonly string[])[]): string[] =>
  choices.reduce<string[]>(
    (made, some) => made.flatMap((one) => some.map((more) => one + more)),
    [`${path}?limit=20`],
  );

const stockActions = '/api/v2/stock/stock_corporate_action/list/US:S000008';
const calendar = '/api/v2/economic_calendar';
const search = '/api/v2/option/search/stock/US:S000008';

/** Requests of every list, under every set of its filters. */
const requests: readonly string[] = [
  ...each('/api/v2/news/list', spans, sorts, named),
  ...each('/api/v2/news/latest', sorts, named),
  ...each(stockActions, spans, sorts, ['', '&action_type=dividend']),
  ...each(
    `${calendar}/event_list`,
    ['', ...spans],
    sorts,
    subsets(['country_iso_code=US', 'event_code=CODE_5', 'impact=high']),
    ['&format=json'],
  ),
  ...each(`${calendar}/latest_event_list`, sorts, subsets(['country_iso_code=US', 'impact=low']), [
    '&date_type=upcoming',
    '&date_type=historical',
    '&date_type=all',
  ]),
  ...['', '&country_iso_code=US', '&event_code=CODE_5'].map(
    (filter) => `${calendar}/event?${filter.slice(1)}`,
  ),
  `${calendar}/event_codes/US?`,
  ...['call', 'put'].flatMap((type) => [
    ...each(`${search}/${type}/moneyness/in_the_money`, ['&ref_asset_price=100']),
    ...each(
      `${search}/${type}/moneyness/out_of_the_money`,
      ['&ref_asset_price=100'],
      ['&sort_by=strike_price%20desc,expiration_date'],
    ),
  ]),
  '/api/v2/option/expiration_date_list/stock/US:S000008?',
  ...each(
    '/api/v2/stock/reference/search',
    ['&query=S0000', '&query=micro', '&query=alpha'],
    ['', '&country_iso_code=US'],
  ),
  '/api/v2/stock/reference/US:S000008?',
  ...each('/api/v2/stock/coverage', sorts, subsets(['country_iso_code=US', 'query=S0001', 'interval=DAY'])),
  ...each(
    '/api/v2/stock/coverage',
    sorts,
    ['&as_of=2025-05-01T00:00:00Z'],
    ['', '&country_iso_code=US&query=S0001'],
  ),
  ...each(
    '/api/v2/holiday/list',
    sorts,
    ['&full_symbol=stock:CA:S000007', '&full_symbol=stock:CA:*'],
    ['', '&holiday_code=HOLIDAY_1'],
  ),
];

/** The pages of a list that are asked for. */
const PAGES = 3;

async function walk(handler: RequestHandler, secret: string, request: string): Promise<void> {
  let key: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const target = `${request}&secret_key=${secret}${key === undefined ? '' : `&next_page_key=${key}`}`;
    const headers = { host: 'localhost' };
    const { status, body } = await handler.handle({ method: 'GET', target, headers, isGone: () => false });
    const text = Buffer.concat(body).toString();
    assert.ok([200, 204].includes(status), `${request}: ${status} ${text.slice(0, 500)}`);
    key = /"next_page_key":"([^"]+)"/.exec(text)?.[1];
    if (key === undefined) return;
  }
}

/** Opens the store as a service does, and asks for every list, page by page. */
export async function askForLists(url: string): Promise<void> {
  const control = await openControl(url, 'write');
  const store = await openStore(url, 'serve');
  try {
    const { liveKey } = await issueKeys(control);
    const handler = handlerOn(store, control);
    for (const request of requests) await walk(handler, liveKey, request);
  } finally {
    await store.close();
    await control.close();
  }
}

/**
 * Whether a statement finds the contracts of some expirations: it sorts what it finds there, which is little.
 */
export const isOptionSearch = (sql: string): boolean => sql.startsWith('with "places"');

/** Runs `work`, and tells of each call of a method of a class meanwhile, before it is made. */
export async function listening(
  prototype: object,
  method: string,
  onCall: (args: readonly unknown[]) => void,
  work: () => Promise<void>,
): Promise<void> {
  const own = Object.getOwnPropertyDescriptor(prototype, method)!;
  const value = new Proxy(own.value as (...args: unknown[]) => unknown, {
    apply(target, self, args: unknown[]) {
      onCall(args);
      return Reflect.apply(target, self, args);
    },
  });
  Object.defineProperty(prototype, method, { ...own, value });
  try {
    await work();
  } finally {
    Object.defineProperty(prototype, method, own);
  }
}
