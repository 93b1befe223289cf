// Days of the calendar that were announced: before that they are as if they were not in the calendar
// (contract 9.8).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asked, type FileRow } from './asked.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const us = { country_iso_code: 'US' };
const stock = { asset_schema: 'stock', ...us };
const price = { open: 1, high: 1, low: 1, close: 1 };

const daysOf = async (asked: Asked, fullSymbol: string, range: string, more = '') => {
  const path = `holiday/list?full_symbol=${fullSymbol}&format=json&${range}${more}`;
  const { data } = await asked.result(path);
  return data!.map((day) => [day.calendar_date, day.session_template, day.name].join(' '));
};

test('a built-in closing is listed from its announcement on, and its code (contract 8.6, 9.8)', async () => {
  const asked = await Asked.filled(NOW, []);
  const sandy = 'from_date=2012-10-25&to_date=2012-11-01';
  const at = (asOf: string) => daysOf(asked, 'stock:US:*', sandy, `&as_of=${asOf}`);
  const [monday, tuesday] = ['2012-10-29 CLOSED Hurricane Sandy', '2012-10-30 CLOSED Hurricane Sandy'];
  assert.deepEqual(await at('2012-10-28T03:59:59Z'), []);
  assert.deepEqual(await at('2012-10-28T04:00:00Z'), [monday]);
  assert.deepEqual(await at('2012-10-29T03:59:59Z'), [monday]);
  assert.deepEqual(await at('2012-10-29T04:00:00Z'), [monday, tuesday]);
  assert.deepEqual(await daysOf(asked, 'stock:US:*', sandy), [monday, tuesday]);
  assert.deepEqual(await daysOf(asked, 'option:US:*', sandy, '&as_of=2012-10-28T03:59:59Z'), []);
  const codes = async (asOf: string) =>
    Object.keys(await asked.result(`holiday/holiday_codes/US?as_of=${asOf}`)).join();
  assert.doesNotMatch(await codes('2001-09-10T00:00:00Z'), /SEPTEMBER_11|WEATHER|MOURNING/);
  assert.match(await codes('2001-09-10T00:00:00Z'), /HOLIDAY_THANKSGIVING/);
  assert.match(await codes('2001-09-12T00:00:00Z'), /SEPTEMBER_11/);
});

test('a walk stays at its moment, also over an announcement (contract 4.3, 9.8)', async () => {
  const asked = await Asked.filled(NOW, []);
  const path =
    'holiday/list?full_symbol=stock:US:*&format=json&from_date=2012-09-01&to_date=2012-12-31&limit=1';
  const walked: unknown[] = [];
  let page = await asked.result(`${path}&as_of=2012-10-01T00:00:00Z`);
  for (;;) {
    walked.push(...page.data!.map((day) => day.calendar_date));
    if (page.next_page_key === null) break;
    page = await asked.result(`${path}&next_page_key=${page.next_page_key}`);
  }
  assert.deepEqual(walked, ['2012-09-03', '2012-11-22', '2012-11-23', '2012-12-24', '2012-12-25']);
});

const own = (calendar_date: string, more: FileRow): FileRow => ({
  name: 'own',
  holiday_code: 'HOLIDAY_OWN',
  calendar_date,
  asset_name: 'stock',
  ...us,
  symbol: '*',
  session_template: 'CLOSED',
  ...more,
});

test('a file gives the date of the announcement; before it an earlier row of the date, or the shipped day, holds (contract 8.6, 9.8, 11)', async () => {
  const asked = await Asked.filled(NOW, [
    [
      'holidays',
      [
        own('2025-03-04', { announced: '2025-03-03' }),
        own('2025-03-05', {
          name: 'shorter',
          session_template: 'EARLY_CLOSE',
          close_timestamp: '2025-03-05T18:00:00Z',
        }),
        own('2025-03-05', { name: 'closed', priority: 2, announced: '2025-03-03' }),
        own('2025-07-04', { session_template: 'REGULAR', announced: '2025-03-03' }),
        own('2025-03-06', { symbol: 'SOLO', holiday_code: 'HOLIDAY_SOLO', announced: '2025-03-03' }),
      ],
    ],
    ['instruments', [{ ...stock, symbol: 'AAA' }]],
  ]);
  const march = 'from_date=2025-03-01&to_date=2025-03-31';
  const july = 'from_date=2025-07-04&to_date=2025-07-04';
  const [before, after] = ['&as_of=2025-03-03T04:59:59Z', '&as_of=2025-03-03T05:00:00Z'];
  for (const symbol of ['stock:US:*', 'stock:US:AAA']) {
    assert.deepEqual(await daysOf(asked, symbol, march, before), ['2025-03-05 EARLY_CLOSE shorter']);
    assert.deepEqual(await daysOf(asked, symbol, march, after), [
      '2025-03-04 CLOSED own',
      '2025-03-05 CLOSED closed',
    ]);
    assert.equal((await daysOf(asked, symbol, july, before)).length, 1);
    assert.equal((await daysOf(asked, symbol, july, after)).length, 0);
  }
  const { data } = await asked.result(`holiday/list?full_symbol=stock:US:*&format=json&${march}${after}`);
  assert.deepEqual(Object.keys(data![0]!), [
    ...['name', 'holiday_code', 'calendar_date', 'asset_name', 'country_iso_code', 'symbol', 'priority'],
    ...['session_template', 'open_timestamp', 'close_timestamp'],
  ]);
  assert.deepEqual(
    data!.map(({ priority }) => priority),
    [1, 2],
  );
  const codes = (asOf: string) => asked.result(`holiday/holiday_codes/US?${asOf}`);
  assert.deepEqual(
    [(await codes(before)).HOLIDAY_SOLO, (await codes(after)).HOLIDAY_SOLO],
    [undefined, 'own'],
  );
});

test('an imported list does not say when its days were announced: they keep the dates of those that ship (contract 8.6, 9.8)', async () => {
  const list = 'holiday/list?full_symbol=stock:US:*&format=json&from_date=2001-09-01&to_date=2001-12-31';
  const { data } = await (await Asked.filled(NOW, [])).result(list);
  const rows = data!.map((day) =>
    Object.fromEntries(Object.entries({ ...day, priority: 1 }).filter(([, value]) => value !== null)),
  );
  const asked = await Asked.filled(NOW, [
    [
      'holidays',
      [
        ...rows,
        own('2002-09-11', { session_template: 'REGULAR', holiday_code: 'HOLIDAY_NONE' }),
      ] as FileRow[],
    ],
  ]);
  const at = async (asOf: string) =>
    (await asked.result(`${list}&as_of=${asOf}`)).data!.map((day) => day.calendar_date);
  assert.deepEqual(await at('2001-09-10T00:00:00Z'), [
    '2001-09-03',
    '2001-11-22',
    '2001-11-23',
    '2001-12-24',
    '2001-12-25',
  ]);
  assert.equal((await at('2001-10-08T04:00:00Z')).length, data!.length);
  const codes = await asked.result('holiday/holiday_codes/US?as_of=2001-09-10T00:00:00Z');
  assert.deepEqual([codes.HOLIDAY_SEPTEMBER_11, codes.HOLIDAY_NONE], [undefined, undefined]);
});

test('a week is complete where no later session of it is known (contract 3.6, 3.9, 9.8)', async () => {
  const bars = [
    ['DAY', '2001-09-07'],
    ['DAY', '2001-09-10'],
    ['DAY', '2001-09-17'],
  ].map(([interval, datetime]) => ({ ...stock, symbol: 'AAA', interval, datetime, ...price }));
  const asked = await Asked.filled(NOW, [['bars', bars]]);
  const weeks = async (asOf: string) =>
    (await asked.result(`stock/bars/US:AAA/WEEK/latest?limit=10&as_of=${asOf}`)).data!.map((week) =>
      [week.datetime, week.close_datetime].join(' '),
    );
  const first = '2001-09-04T13:30:00+00:00 2001-09-07T20:00:00+00:00';
  // On Monday evening the week has four more sessions; on Thursday, when nothing trades before the next one,
  // it had one.
  assert.deepEqual(await weeks('2001-09-10T21:00:00Z'), [first]);
  assert.deepEqual(await weeks('2001-09-13T03:59:59Z'), [first]);
  assert.deepEqual(await weeks('2001-09-13T04:00:00Z'), [
    first,
    '2001-09-10T13:30:00+00:00 2001-09-10T20:00:00+00:00',
  ]);
});

test('a stored bar of a week closes with the last session that was known (contract 3.6, 9.8)', async () => {
  const row = { ...stock, symbol: 'AAA', interval: 'WEEK', datetime: '2001-09-10', ...price };
  const asked = await Asked.filled(NOW, [['bars', [row]]]);
  const count = async (asOf: string) =>
    (await asked.result(`stock/bars/US:AAA/WEEK/latest?as_of=${asOf}`)).count;
  assert.deepEqual([await count('2001-09-10T21:00:00Z'), await count('2001-09-13T04:00:00Z')], [0, 1]);
});

test('contracts expire at the last session that was known (contract 8.5, 9.8)', async () => {
  const contract = {
    ...{ ...us, symbol: 'AAA121030C00050000', parent_asset_schema: 'stock', underlying_name: 'AAA' },
    ...{ option_type: 'call', strike_price: 50, expiration_date: '2012-10-30' },
  };
  const asked = await Asked.filled(NOW, [
    ['option-contracts', [contract]],
    ['bars', [{ ...stock, symbol: 'AAA', interval: 'DAY', datetime: '2012-09-28', ...price }]],
  ]);
  const expires = async (asOf: string) => {
    const answer = await asked.ask(`option/expiration_date_list/stock/US:AAA?as_of=${asOf}`);
    assert.ok(answer.kind === 'answer');
    return JSON.parse(Buffer.from(answer.body).toString()).result[0]?.expiration_datetime;
  };
  const [whole, cut] = ['2012-10-30T20:00:00+00:00', '2012-10-26T20:00:00+00:00'];
  assert.equal(await expires('2012-10-01T00:00:00Z'), whole);
  assert.equal(await expires('2012-10-25T00:00:00Z'), whole);
  const search = `option/search/stock/US:AAA/call/moneyness/out_of_the_money?format=csv&ref_asset_price=10`;
  const found = async (asOf: string) => {
    const answer = await asked.ask(`${search}&as_of=${asOf}`);
    assert.ok(answer.kind === 'answer');
    return Buffer.from(answer.body).toString();
  };
  assert.ok((await found('2012-10-25T00:00:00Z')).includes(whole));
  assert.ok((await found('2012-10-29T04:00:00Z')).includes(cut));
});
