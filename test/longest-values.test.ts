// The longest values that an import takes are served: every paged endpoint walks over them, page by page
// (contract 4.1, 4.2, 4.4).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { contract, type Endpoint, type EndpointName } from '../src/contract/index.ts';
import { limits } from '../src/contract/limits.ts';
import { Caller, type Got, type GotPage, type Parameters } from './asking.ts';
import { type FileRow, fillStore } from './importing.ts';
import { type Server, Workshop } from './service.ts';

const shop = new Workshop();
let server: Server;
let caller: Caller;
after(() => shop.close());

const ROWS = 3;
const rows = (rowOf: (index: number) => FileRow): FileRow[] =>
  Array.from({ length: ROWS }, (_, at) => rowOf(at));

/** The longest symbol, event code, text of a number, and identifier. */
const symbol = (index: number): string => `${index}${'Z'.repeat(limits.symbolCharactersMax - 1)}`;
const code = (index: number): string => `${index}${'_'.repeat(limits.codeCharactersMax - 1)}`;
const price = (index: number): number => Number(`-1.234567890123456${index}e-300`);
const identifier = (index: number): string => String(index).repeat(limits.sourceIdCharacters);

const FIRST = '1900-01-01';
const LAST = '2200-12-31';
const long = 'x'.repeat(100_000);
const market = { country_iso_code: 'US', asset_schema: 'future', symbol: symbol(0) };
const holiday = {
  name: long,
  asset_name: 'stock',
  country_iso_code: 'US',
  symbol: symbol(0),
  priority: 999_999_999,
};

before(async () => {
  await fillStore(shop.store, shop.folder, Date.parse('2026-01-01T00:00:00Z'), [
    ['instruments', [{ ...market, name: long }]],
    [
      'bars',
      rows((index) => {
        const [open, high, low, close] = [price(1), price(0), price(2), price(1)];
        return {
          ...market,
          interval: 'DAY',
          datetime: `2025-03-0${3 + index}`,
          open,
          high,
          low,
          close,
          volume: 1,
        };
      }),
    ],
    [
      'bars',
      rows((index) => ({
        ...{ asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: symbol(index), interval: '1439M' },
        ...{ datetime: '2025-03-03T00:00:00Z', open: 1, high: 1, low: 1, close: 1 },
      })),
    ],
    [
      'bars',
      rows((index) => {
        const value = -price(index);
        return {
          ...{ asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: symbol(0), interval: 'DAY' },
          ...{ datetime: `2025-03-0${3 + index}`, open: value, high: value, low: value, close: value },
          vwap: 2 * value,
        };
      }),
    ],
    [
      'corporate-actions',
      rows((index) => ({
        ...{
          country_iso_code: 'US',
          symbol: symbol(0),
          action_type: 'dividend',
          ex_date: `2025-03-0${3 + index}`,
        },
        ...{ cash_amount: 1e-300, reference_price: 1e300 },
      })),
    ],
    [
      'news',
      rows((index) => ({
        ...{
          published_date: `${LAST}T23:59:59Z`,
          title: `${index}${long}`,
          text_content: long,
          publisher: long,
        },
        ...{ publisher_url: `https://x/${long}`, link_type: long, sentiment_score: price(index) },
        ...{ asset_name: 'future', country_iso_code: 'US', symbol: symbol(0) },
      })),
    ],
    [
      'option-contracts',
      rows((index) => ({
        ...{ symbol: symbol(index), country_iso_code: 'US', parent_asset_schema: 'future' },
        ...{
          underlying_name: symbol(0),
          strike_price: price(3 + index),
          expiration_date: FIRST,
          option_type: 'put',
        },
        ...{ expiration_datetime: `${FIRST}T00:00:00.001Z`, exercise_style: 'american', status: 'inactive' },
      })),
    ],
    [
      'holidays',
      rows((index) => ({
        ...{ ...holiday, holiday_code: `HOLIDAY_${code(index).slice(0, 90)}` },
        ...{ calendar_date: `2025-03-0${3 + index}`, session_template: 'CLOSED' },
      })),
    ],
    [
      'economic-events',
      rows((index) => ({
        ...{
          country_iso_code: 'US',
          event_code: code(index),
          event_name: long,
          source_id: identifier(index),
        },
        ...{ event_timestamp: `${FIRST}T00:00:00Z`, actual_value: price(index), period: long, unit: long },
      })),
    ],
  ]);
  server = await shop.serve();
  caller = new Caller(server, await shop.must('keys', 'create', 'long'));
});

const range = { from_date: FIRST, to_date: LAST };
const everyField =
  'strike_price,expiration_date,expiration_datetime,instrument_id,status,exercise_style,symbol';

/** Each paged endpoint: its path, and queries that need its longest page keys. */
const walks: Readonly<Partial<Record<EndpointName, readonly [path: string, ...queries: Parameters[]]>>> = {
  corporateActions: [`stock/stock_corporate_action/list/US:${symbol(0)}`, range, { ...range, sort: 'desc' }],
  newsList: ['news/list', range, { ...range, sort: 'desc', full_symbol: `future:US:${symbol(0)}` }],
  optionSearch: [
    `option/search/future/US:${symbol(0)}/put/moneyness/out_of_the_money`,
    ...[
      {},
      { sort: 'desc' },
      { sort_by: everyField },
      { sort_by: everyField, ref_asset_price: '0.000000000000001' },
    ],
  ],
  holidayList: [
    'holiday/list',
    { ...range, from_date: '2025-03-03', to_date: '2025-03-05', full_symbol: `stock:US:${symbol(0)}` },
  ],
  historicalBars: [`future/bars/US:${symbol(0)}/DAY/from/${FIRST}/to/${LAST}`, {}, { sort: 'desc' }],
  seriesCoverage: [
    'crypto/coverage',
    {},
    { sort: 'desc' },
    { country_iso_code: 'GLOBAL', interval: '1439m' },
  ],
  findings: [
    `forex/findings/GLOBAL:${symbol(0)}`,
    {},
    { sort: 'desc' },
    { ...range, kind: 'vwap_outside', severity: 'warning', interval: 'day' },
  ],
  sessionCoverage: [
    `future/coverage/US:${symbol(0)}`,
    { from_date: '2025-03-03', to_date: '2025-03-05' },
    { from_date: '2025-03-03', to_date: '2025-03-05', sort: 'desc', interval: 'DAY' },
  ],
  economicEvents: [
    'economic_calendar/event_list',
    ...[{}, { sort: 'desc' }, { country_iso_code: 'US' }, { impact: 'all' }],
  ],
};

test('every paged endpoint is among the walks below; a page of runs ends with a number', () => {
  const paged = Object.entries<Endpoint>(contract).filter(
    ([name, { parameters }]) => name !== 'runs' && 'next_page_key' in parameters,
  );
  assert.deepEqual(Object.keys(walks).sort(), paged.map(([name]) => name).sort());
});

const recordsOf = (page: Pick<GotPage, 'data'>): Got[] => Object.values(page.data).flat() as Got[];

for (const [name, [path, ...queries]] of Object.entries(walks))
  test(`${name} walks over the longest values, one record a page (contract 4.1, 4.2)`, async (t) => {
    for (const query of queries) {
      const json = { ...query, format: 'json' };
      const whole = ((await (await caller.ask(path, json)).json()) as { result: GotPage }).result;
      assert.equal(recordsOf(whole).length, ROWS);
      let next: string | null = null;
      const walked: Got[] = [];
      let longest = 0;
      do {
        const response: Response =
          next === null ? await caller.ask(path, { ...json, limit: '1' }) : await fetch(next);
        const text = await response.text();
        assert.equal(response.status, 200, text.slice(0, 500));
        const { result } = JSON.parse(text) as { result: GotPage };
        walked.push(...recordsOf(result));
        longest = Math.max(longest, result.next_page_key?.length ?? 0);
        next = result.next_page_url;
      } while (next !== null);
      t.diagnostic(`longest page key: ${longest} characters, ${JSON.stringify(query)}`);
      assert.deepEqual(walked, recordsOf(whole));
    }
  });
