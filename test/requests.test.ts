// Requests as existing clients write them, asked of a running server (contract 1.7, 2.1, 4.4).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fillStore } from './importing.ts';
import { type Server, Workshop } from './service.ts';

const shop = new Workshop();
let server: Server;
let key = '';

const bar = { open: 1, high: 2, low: 0.5, close: 1.5, volume: 10 };
const minutes = (asset_schema: string, country_iso_code: string, symbol: string) =>
  ['14:30', '14:31', '14:32'].map((time) => {
    return {
      asset_schema,
      country_iso_code,
      symbol,
      interval: '1M',
      datetime: `2025-03-03T${time}:00Z`,
      ...bar,
    };
  });
const dividend = { action_type: 'dividend', ex_date: '2025-03-03', cash_amount: 1, reference_price: 100 };
const contract = {
  ...{
    symbol: 'SPY991217C00450000',
    country_iso_code: 'US',
    parent_asset_schema: 'stock',
    strike_price: 450,
  },
  ...{ underlying_name: 'BF/B', expiration_date: '2099-12-17', option_type: 'call' },
};

before(async () => {
  await fillStore(shop.store, shop.folder, Date.parse('2025-06-01T00:00:00Z'), [
    ['option-contracts', [contract]],
    [
      'bars',
      [
        ...minutes('stock', 'US', 'BF/B'),
        ...minutes('crypto', 'GLOBAL', 'BTC/USD'),
        ...minutes('forex', 'GLOBAL', 'EURUSD'),
        ...minutes('option', 'US', 'SPY991217C00450000'),
      ],
    ],
    ['corporate-actions', [{ country_iso_code: 'US', symbol: 'BF/B', ...dividend }]],
  ]);
  key = await shop.must('keys', 'create', 'requests');
  server = await shop.serve();
});
after(() => shop.close());

const ask = (path: string): Promise<Response> =>
  server.get(`/api/v2/${path}${path.includes('?') ? '&' : '?'}secret_key=${key}`);

async function resultOf(path: string): Promise<unknown> {
  const answer = await ask(path);
  const body = (await answer.json()) as { result: unknown };
  assert.equal(answer.status, 200, JSON.stringify(body));
  return body.result;
}

/** A request in the words of the contract, and as clients write it. */
const spellings: readonly (readonly [plain: string, ...others: string[]])[] = [
  [
    'stock/bars/US:BF%2FB/1M/latest?limit=2',
    'stock/bars/US:BF/B/1M/latest?limit=2',
    'stock/bars/us%3abf/b/1min/latest?limit=2',
  ],
  [
    'stock/bars/US:BF%2FB/45M/from/2025-03-03/to/2025-03-03',
    'stock/bars/US:BF/B/45min/from/2025-03-03/to/2025-03-03',
    'stock/bars/US:BF/B/45MIN/from/2025-03-03/to/2025-03-03',
  ],
  [
    'stock/bars/US:BF%2FB/1M/from/2025-03-03T14:31:00Z/to/2025-03-03T14:32:00Z',
    'stock/bars/US:BF/B/1M/from/2025-03-03T14:31/to/2025-03-03t09:32-0500',
  ],
  ['stock/reference/US:BF%2FB', 'stock/reference/US:BF/B'],
  [
    'stock/stock_corporate_action/list/US:BF%2FB?from_date=2025-03-03',
    'stock/stock_corporate_action/list/US:BF/B?from_date=2025-03-03T00:00:00+0000',
  ],
  ['option/expiration_date_list/stock/US:BF%2FB', 'option/expiration_date_list/stock/US:BF/B'],
  [
    'option/search/stock/US:BF%2FB/call/moneyness/out_of_the_money?ref_asset_price=1',
    'option/search/stock/US:BF/B/call/moneyness/out_of_the_money?ref_asset_price=1',
  ],
  [
    'crypto/bars/GLOBAL:BTC%2FUSD/5M/latest',
    'crypto/bars/GLOBAL:BTC/USD/5M/latest',
    'crypto/bars/X:BTC/USD/5min/latest',
  ],
  ['forex/bars/GLOBAL:EURUSD/1M/latest', 'forex/bars/C:EURUSD/1M/latest'],
  ['forex/reference/GLOBAL:EURUSD', 'forex/reference/c:eurusd'],
  [
    'option/bars/US:SPY991217C00450000/1M/latest',
    'option/bars/US:O:SPY991217C00450000/1M/latest',
    'option/bars/O:SPY991217C00450000/1M/latest',
  ],
  ['option/reference/US:SPY991217C00450000', 'option/reference/o:spy991217c00450000'],
];
for (const [plain, ...others] of spellings) {
  test(`${others.join(' and ')} answer as ${plain} (contract 1.7, 2.1)`, async () => {
    const expected = await resultOf(plain);
    assert.ok(JSON.stringify(expected).length > 60, 'there is something to compare');
    for (const other of others) assert.deepEqual(await resultOf(other), expected, other);
  });
}

test('the next page of a symbol with a slash is asked for as it is given, and is the same (contract 1.7, 4.3)', async () => {
  type Page = { data: unknown[]; next_page_url: string };
  const range = '1M/from/2025-03-03/to/2025-03-03?limit=2';
  const page = (await resultOf(`stock/bars/US:BF/B/${range}`)) as Page;
  const next = ((await (await fetch(page.next_page_url)).json()) as { result: Page }).result;
  const all = (await resultOf('stock/bars/US:BF%2FB/1M/from/2025-03-03/to/2025-03-03')) as Page;
  assert.deepEqual([...page.data, ...next.data], all.data);
});

test('a prefix that belongs to another asset type is an instrument that is not known, with its name (contract 1.7, 6.3)', async () => {
  for (const path of ['stock/bars/O:SPY991217C00450000/1M/latest', 'forex/bars/X:BTC/USD/1M/latest']) {
    const answer = await ask(path);
    const { detail } = (await answer.json()) as { detail: { error: string } };
    assert.deepEqual([answer.status, detail.error], [404, 'unknown_instrument'], path);
  }
});
