// Every list as of a moment, by hand (contract 9.8).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asked, type FileRow } from './asked.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const us = { country_iso_code: 'US' };
const stock = { asset_schema: 'stock', ...us };
type Rows = { readonly data?: readonly Readonly<Record<string, unknown>>[] };
const column = ({ data }: Rows, ...names: string[]) =>
  data!.map((row) => (names.length === 1 ? row[names[0]!] : names.map((name) => row[name])));

test('an action is known from the day after its declaration, else from its ex-date; a dividend to come has no factor yet (contract 8.2, 9.8)', async () => {
  const dividend = { ...us, symbol: 'AAA', action_type: 'dividend', cash_amount: 1, reference_price: 50 };
  const asked = await Asked.filled(NOW, [
    [
      'corporate-actions',
      [
        { ...dividend, ex_date: '2025-03-03' },
        { ...dividend, ex_date: '2025-03-20', declaration_date: '2025-03-05' },
        { ...us, symbol: 'AAA', action_type: 'split', ex_date: '2025-03-25', split_from: 1, split_to: 4 },
      ],
    ],
  ]);
  const path = 'stock/stock_corporate_action/list/US:AAA?from_date=2025-01-01';
  const at = async (asOf: string) =>
    column(await asked.result(`${path}&as_of=${asOf}`), 'ex_date', 'adjustment_factor', 'reference_price');
  const first = ['2025-03-03', '0.98000000', 50];
  assert.deepEqual(await at('2025-03-05T23:00:00Z'), [first]);
  assert.deepEqual(await at('2025-03-06T06:00:00Z'), [first, ['2025-03-20', '1.00000000', null]]);
  assert.deepEqual(await at('2025-03-20T06:00:00Z'), [first, ['2025-03-20', '0.98000000', 50]]);
  assert.equal((await at('2025-03-25T06:00:00Z')).length, 3);
  // Before anything of it was known there was no such stock, as far as the data tell; the actions made one
  // without a listing date.
  assert.deepEqual(await at('2025-03-02T12:00:00Z'), []);
});

test('news are those published by the moment, and say that their text is as last imported (contract 8.3, 9.8)', async () => {
  const item = (at: string) => ({
    published_date: `2025-03-03T${at}Z`,
    title: at,
    publisher_url: 'https://news.example.com/1',
    ...{ asset_name: 'stock', ...us, symbol: 'AAA' },
  });
  const asked = await Asked.filled(NOW, [['news', [item('10:00:00'), item('11:00:00'), item('12:00:00')]]]);
  const latest = await asked.result('news/latest?as_of=2025-03-03T11:00:00Z&limit=1');
  assert.deepEqual(column(latest, 'title'), ['11:00:00']);
  assert.equal(latest.headers['X-As-Of-Limits'], 'text and sentiment of news');
  const list = 'news/list?from_date=2025-03-03&to_date=2025-03-04&full_symbol=stock:US:AAA';
  assert.equal((await asked.result(`${list}&as_of=2025-03-03T10:59:59Z`)).count, 1);
  assert.equal((await asked.result(`${list}&as_of=2025-03-01T10:59:59Z`)).count, 0);
});

test('news dated after now are in a range, and among the latest from their very second on (contract 8.3)', async () => {
  const item = (title: string, at: string) => ({
    title,
    published_date: at,
    publisher_url: 'https://e.com/1',
  });
  const items = [item('Now', '2026-01-01T00:00:00Z'), item('Soon', '2026-01-01T00:00:01Z')];
  const asked = await Asked.filled(NOW, [['news', items]]);
  const latest = async (nowMs: number) => column(await asked.at(nowMs).result('news/latest'), 'title');
  assert.deepEqual(await latest(NOW - 1), []);
  assert.deepEqual(await latest(NOW), ['Now']);
  assert.deepEqual(await latest(NOW + 999), ['Now']);
  assert.deepEqual(await latest(NOW + 1000), ['Now', 'Soon']);
  assert.equal((await asked.result('news/list?from_date=2026-01-01&to_date=2026-01-01')).count, 2);
  // Nothing keeps an answer beyond the time of what is to come.
  const answer = await asked.ask('news/latest');
  assert.equal(answer.kind === 'answer' && answer.goodUntilMs, NOW + 1000);
});

test('events to come have no result, those behind the next one no expectation, those that data bring about are hidden (contract 8.7, 9.8)', async () => {
  const event = (date: string, more: FileRow = {}) => ({
    ...us,
    event_code: 'GDP',
    event_name: 'GDP',
    event_timestamp: `${date}T13:30:00Z`,
    ...{ actual_value: 3, previous_value: 2, forecast_value: 2.5 },
    ...more,
  });
  const asked = await Asked.filled(NOW, [
    [
      'economic-events',
      [
        event('2025-01-30'),
        event('2025-02-27'),
        event('2025-03-27'),
        event('2025-03-01', { event_code: 'SHOCK', event_driven_type: 'data_driven' }),
      ],
    ],
  ]);
  const values = ['actual_value', 'change', 'previous_value', 'forecast_value'];
  const list = 'economic_calendar/event_list?format=json&country_iso_code=US&from_date=2025-01-01';
  const asOf = '&as_of=2025-01-30T13:30:00Z';
  const found = await asked.result(list + asOf);
  assert.deepEqual(column(found, ...values), [
    [3, 1, 2, 2.5],
    [null, null, 2, 2.5],
    [null, null, null, null],
  ]);
  assert.equal(found.headers['X-As-Of-Limits'], 'forecasts');
  const codes = await asked.result('economic_calendar/event_codes/US?as_of=2025-01-30T13:30:00Z');
  assert.deepEqual([codes.GDP, codes.SHOCK], ['GDP', undefined]);
  const shock = 'economic_calendar/event?country_iso_code=US&event_code=SHOCK';
  assert.equal((await asked.refusal(`${shock}&to_date=2025-12-31${asOf}`)).word, 'no_data');
  assert.equal((await asked.result(`${shock}&as_of=2025-03-01T13:30:00Z`)).actual_value, 3);
  const nearest = 'economic_calendar/latest_event_list?format=json&country_iso_code=US&date_type=upcoming';
  const coming = await asked.result(`${nearest}${asOf}&limit=2`);
  assert.deepEqual(column(coming, 'event_timestamp'), ['2025-02-27T13:30:00Z', '2025-03-27T13:30:00Z']);
});

test('symbols, status and search are those of the moment (contract 9.2, 9.6, 9.8)', async () => {
  const asked = await Asked.filled(NOW, [
    [
      'instruments',
      [
        { ...stock, symbol: 'META', name: 'Meta Platforms', former_symbols: 'FB:2012-05-18..2022-06-08' },
        { ...stock, symbol: 'NEW', name: 'New Meta Thing', listing_date: '2024-01-02' },
        { ...stock, symbol: 'OLD', name: 'Old Meta Thing', status: 'inactive', delisting_date: '2023-05-31' },
      ],
    ],
    [
      'bars',
      [
        {
          ...{ ...stock, symbol: 'META', interval: 'DAY', datetime: '2020-03-03' },
          ...{ open: 1, high: 1, low: 1, close: 1 },
        },
      ],
    ],
  ]);
  const then = 'as_of=2020-06-01T12:00:00Z';
  const reference = (name: string, rest = then) => asked.result(`stock/reference/US:${name}?${rest}`);
  assert.equal((await reference('FB')).symbol, 'FB');
  assert.equal((await reference('META', 'limit=1')).symbol, 'META');
  const later = await asked.refusal(`stock/reference/US:META?${then}`);
  assert.deepEqual([later.word, later.hint], ['unknown_instrument', 'META is today the symbol of FB.']);
  assert.equal((await asked.refusal(`stock/reference/US:NEW?${then}`)).word, 'unknown_instrument');
  assert.deepEqual(
    [(await reference('OLD')).status, (await reference('OLD', 'as_of=2023-06-01T12:00:00Z')).status],
    ['active', 'inactive'],
  );
  const search = async (query: string, asOf: string) =>
    column(await asked.result(`stock/reference/search?query=${query}${asOf}`), 'symbol');
  assert.deepEqual(await search('META', ''), ['META', 'NEW', 'OLD']);
  assert.deepEqual(await search('META', `&${then}`), ['FB', 'OLD']);
  assert.deepEqual(await search('F', `&${then}`), ['FB']);
  assert.deepEqual(await search('FB', '&as_of=2025-01-01T00:00:00Z'), ['META']);
  const bars = await asked.result(`stock/bars/US:FB/DAY/latest?${then}`);
  assert.deepEqual(column(bars, 'symbol', 'close'), [['FB', 1]]);
  assert.equal((await asked.refusal(`stock/bars/US:META/DAY/latest?${then}`)).word, 'unknown_instrument');
});

test('options are those listed by the moment, in the order and with the price of then (contract 8.4, 8.5, 9.8)', async () => {
  const contract = (date: string, strike: number, listing_date: string) => ({
    ...us,
    symbol: `AAA${date.replaceAll('-', '').slice(2)}C${String(strike * 1000).padStart(8, '0')}`,
    parent_asset_schema: 'stock',
    underlying_name: 'AAA',
    option_type: 'call',
    strike_price: strike,
    expiration_date: date,
    listing_date,
  });
  const day = (datetime: string, close: number) => ({
    ...{ ...stock, symbol: 'AAA', interval: 'DAY', datetime },
    ...{ open: close, high: close, low: close, close },
  });
  const asked = await Asked.filled(NOW, [
    ['bars', [day('2025-03-03', 15), day('2025-03-04', 35)]],
    [
      'option-contracts',
      [
        contract('2025-02-21', 10, '2025-01-02'),
        contract('2025-03-21', 10, '2025-01-02'),
        contract('2025-03-21', 12, '2025-03-04'),
        contract('2025-03-21', 20, '2025-01-02'),
        contract('2025-06-20', 10, '2025-03-04'),
      ],
    ],
  ]);
  const then = 'as_of=2025-03-03T22:00:00Z';
  const dates = await asked.result(`option/expiration_date_list/stock/US:AAA?${then}`);
  assert.deepEqual(
    Object.values(dates)
      .slice(0, -1)
      .map((one) => (one as FileRow).expiration_date),
    ['2025-03-21'],
  );
  const search = 'option/search/stock/US:AAA/call/moneyness/in_the_money?format=csv&limit=1';
  const walk = async (rest: string): Promise<string[]> => {
    const found: string[] = [];
    let key = '';
    do {
      const answer = await asked.ask(`${search}${rest}&next_page_key=${key}`);
      if (answer.kind !== 'answer') assert.fail(answer.facts.message);
      found.push(String(Buffer.from(answer.body)).match(/AAA\d{6}C\d{5}/)![0]);
      key = answer.next?.key ?? '';
    } while (key !== '');
    return found;
  };
  assert.deepEqual(await walk(`&${then}`), ['AAA250321C00010', 'AAA250221C00010']);
  const now = ['AAA250620C00010', 'AAA250321C00020', 'AAA250321C00012', 'AAA250321C00010', 'AAA250221C00010'];
  assert.deepEqual((await walk('')).sort(), now.sort());
});

test('holidays by rule are known in advance: as of any moment they are the same (contract 8.6, 9.8)', async () => {
  const asked = await Asked.filled(NOW, []);
  const list = 'holiday/list?format=json&full_symbol=stock:US:*&from_date=2024-01-01&to_date=2024-12-31';
  const [now, then] = [await asked.result(list), await asked.result(`${list}&as_of=2020-01-01T00:00:00Z`)];
  assert.deepEqual(then.data, now.data);
  assert.equal(then.headers['X-As-Of'], '2020-01-01T00:00:00Z');
});
