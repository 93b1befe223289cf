// Two futures exchanges of one country: an instrument's calendar key decides which sessions it has (contract
// 3.7, 8.1).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Caller, type Got } from './asking.ts';
import { type FileRow, fillStore } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { Workshop } from './service.ts';

const GRAIN = 'US_FUTURE_CBOT_GRAIN';
const shop = new Workshop();
let server: LocalServer;
let caller: Caller;

const future = (symbol: string, more: FileRow = {}): FileRow => ({
  ...{ asset_schema: 'future', country_iso_code: 'US', symbol },
  ...more,
});

/** Minute bars whose number is their open, high, low and close; each has a volume of 1. */
const minutes = (schema: string, symbol: string, bars: Readonly<Record<string, number>>): FileRow[] =>
  Object.entries(bars).map(([datetime, price]) => ({
    ...{ asset_schema: schema, country_iso_code: 'US', symbol, interval: '1M', datetime },
    ...{ open: price, high: price, low: price, close: price, volume: 1 },
  }));

/** Around the session of 4 March 2025; Chicago is six hours behind UTC. */
const march4 = {
  '2025-03-03T23:30:00Z': 1, // 17:30, CME alone
  '2025-03-04T01:00:00Z': 2, // 19:00
  '2025-03-04T01:59:00Z': 3,
  '2025-03-04T02:00:00Z': 4,
  '2025-03-04T13:44:00Z': 5, // 07:44
  '2025-03-04T13:50:00Z': 6, // 07:50, the pause of CBOT
  '2025-03-04T14:30:00Z': 7, // 08:30
  '2025-03-04T15:29:00Z': 8,
  '2025-03-04T15:30:00Z': 9,
  '2025-03-04T19:19:00Z': 10, // 13:19
  '2025-03-04T19:30:00Z': 11, // 13:30, CME alone
};

const option = (symbol: string, underlying: string): FileRow => ({
  ...{ symbol, country_iso_code: 'US', parent_asset_schema: 'future', underlying_name: underlying },
  ...{ strike_price: 450, expiration_date: '2030-11-22', option_type: 'call' },
});

const at = (text: string): number => Date.parse(text);

before(async () => {
  const fill = (moment: string, ...fillings: Parameters<typeof fillStore>[3]) =>
    fillStore(shop.store, shop.folder, at(moment), fillings);
  await fill(
    '2025-01-01T00:00:00Z',
    [
      'instruments',
      [
        future('ZC', { calendar_key: GRAIN }),
        future('ZS', { calendar_key: GRAIN }),
        future('ES'),
        future('ZR', { calendar_key: 'CBOT_RICE' }),
      ],
    ],
    ['option-contracts', [option('OZC301122C00450000', 'ZC'), option('ES301122C00450000', 'ES')]],
  );
  await fill('2025-03-10T00:00:00Z', [
    'bars',
    [
      ...['ZC', 'ES', 'ZR'].flatMap((symbol) => minutes('future', symbol, march4)),
      ...minutes('option', 'OZC301122C00450000', march4),
    ],
  ]);
  const held = ['HOLIDAY_HALT', '2027-05-04', 'future', 'US'];
  const names = ['holiday_code', 'calendar_date', 'asset_name', 'country_iso_code'];
  const day = Object.fromEntries(names.map((name, index) => [name, held[index]]));
  await fill('2025-03-10T00:00:00Z', [
    'holidays',
    [
      { ...day, name: 'All closed', symbol: '*', session_template: 'CLOSED' },
      {
        ...day,
        ...{ name: 'Corn until noon', symbol: 'ZC', session_template: 'EARLY_CLOSE' },
        ...{ calendar_date: '2027-05-05', close_timestamp: '2027-05-05T17:05:00Z' },
      },
    ],
  ]);
  server = await LocalServer.open(shop.store);
  caller = new Caller(server, server.key);
});
after(async () => {
  await server.close();
  shop.close();
});

const RANGE = 'from/2025-03-03/to/2025-03-05';

/** Bars as `open time..close time open-close volume`, times of 4 March without their date. */
async function bars(name: string, interval: string, schema = 'future'): Promise<string[]> {
  const { data } = await caller.list(`${schema}/bars/${name}/${interval}/${RANGE}`);
  const time = (instant: unknown): string =>
    String(instant)
      .replace('2025-03-04T', '')
      .replace(/:00\+00:00$/, '');
  return data.map((bar) => {
    const { datetime, close_datetime, open, close, volume } = bar;
    return `${time(datetime)}..${time(close_datetime)} ${open}-${close} ${volume}`;
  });
}

/** Anchored at 19:00 and 08:30 Chicago, cut at 07:45 and 13:20. */
const grainHours = [
  '01:00..02:00 2-3 2',
  '02:00..03:00 4-4 1',
  '13:00..13:45 5-5 1',
  '14:30..15:30 7-8 2',
  '15:30..16:30 9-9 1',
  '18:30..19:20 10-10 1',
];

/** Anchored at 17:00 Chicago. */
const cmeHours = [
  '2025-03-03T23:00..00:00 1-1 1',
  '01:00..02:00 2-3 2',
  '02:00..03:00 4-4 1',
  '13:00..14:00 5-6 2',
  '14:00..15:00 7-7 1',
  '15:00..16:00 8-9 2',
  '19:00..20:00 10-11 2',
];

test('hours of a CBOT grain are cut by its own sessions, those of CME by theirs (contract 3.3, 3.7)', async () => {
  assert.deepEqual(await bars('US:ZC', '60M'), grainHours);
  assert.deepEqual(await bars('US:ES', '60M'), cmeHours);
});

test('a day of a CBOT grain has its own hours and leaves out what is traded outside them (contract 3.6)', async () => {
  assert.deepEqual(await bars('US:ZC', 'DAY'), ['01:00..19:20 2-10 8']);
  assert.deepEqual(await bars('US:ES', 'DAY'), ['2025-03-03T23:00..22:00 1-11 11']);
});

test('minutes outside the sessions of the key are not served (contract 3.10)', async () => {
  assert.equal((await bars('US:ZC', '1M')).length, 8);
  assert.equal((await bars('US:ES', '1M')).length, 11);
});

test('a key that no market has changes no bar (contract 3.7)', async () => {
  assert.deepEqual(await bars('US:ZR', '60M'), cmeHours);
});

test('bars of an option follow the key of its underlying (contract 3.7)', async () => {
  assert.deepEqual(await bars('US:OZC301122C00450000', '60M', 'option'), grainHours);
});

async function record(path: string): Promise<Got> {
  const { result } = (await (await caller.ask(path)).json()) as { result: Got };
  return result;
}

test('a record has the defaults of the market of its key (contract 8.1)', async () => {
  for (const [path, expected] of [
    [
      'future/reference/US:ZC',
      {
        ...{ calendar_key: GRAIN, session_template: `${GRAIN}_ETH`, exchange: 'XCBT', currency: 'USD' },
        ...{ time_zone: 'America/Chicago', open_time: '19:00:00', close_time: '13:20:00' },
        ...{ daily_minute_count: 12 * 60 + 45 + 4 * 60 + 50, support_week_trading: false },
        trading_hours: { regular_trading: ['19:00:00-07:45:00', '08:30:00-13:20:00'] },
      },
    ],
    [
      'future/reference/US:ES',
      {
        calendar_key: 'US_FUTURE',
        session_template: 'US_FUTURE_ETH',
        exchange: null,
        daily_minute_count: 1380,
      },
    ],
    ['future/reference/US:ZR', { calendar_key: 'CBOT_RICE', exchange: null, daily_minute_count: 1380 }],
    ['option/reference/US:OZC301122C00450000', { calendar_key: GRAIN, open_time: '19:00:00' }],
    ['option/reference/US:ES301122C00450000', { calendar_key: 'US_STOCK', open_time: '09:30:00' }],
  ] as const) {
    // The second answer comes from the server's cache.
    for (const found of [await record(path), await record(path)])
      for (const [field, value] of Object.entries(expected))
        assert.deepEqual(found[field], value, `${path} ${field}`);
  }
  const { result } = (await (await caller.ask('future/reference/search', { query: 'Z' })).json()) as {
    result: { data: Got[] };
  };
  assert.deepEqual(
    result.data.map(({ symbol, close_time }) => [symbol, close_time]),
    [
      ['ZC', '13:20:00'],
      ['ZR', '16:00:00'],
      ['ZS', '13:20:00'],
    ],
  );
});

test('an option expires at the close of the market of its underlying, by key (contract 8.5)', async () => {
  for (const [underlying, closes] of [
    ['ZC', '2030-11-22T19:20:00+00:00'],
    ['ES', '2030-11-22T22:00:00+00:00'],
  ] as const) {
    const response = await caller.ask(`option/expiration_date_list/future/US:${underlying}`);
    const { result } = (await response.json()) as { result: Got[] };
    assert.deepEqual(result, [{ expiration_date: '2030-11-22', expiration_datetime: closes }]);
    const search = `option/search/future/US:${underlying}/call/moneyness/in_the_money`;
    const found = (await (await caller.ask(search, { ref_asset_price: '500' })).json()) as {
      result: { data: Record<string, Got[]> };
    };
    const [contract] = Object.values(found.result.data)[0]!;
    const market = underlying === 'ZC' ? [GRAIN, 'XCBT', 1055] : ['US_FUTURE', null, 1380];
    assert.deepEqual([contract!.calendar_key, contract!.exchange, contract!.daily_minute_count], market);
  }
});

test('overrides of country and asset type hold at both venues; future:US:* is the default market (contract 8.6)', async () => {
  const days = async (name: string): Promise<Got[]> =>
    (await caller.list('holiday/list', { full_symbol: name, from_date: '2027-01-01', format: 'json' })).data;
  const closed = await days('future:US:*');
  assert.deepEqual(
    closed.map(({ calendar_date, symbol, session_template }) => [calendar_date, symbol, session_template]),
    [['2027-05-04', '*', 'CLOSED']],
  );
  assert.deepEqual(await days('future:US:ES'), closed);
  assert.deepEqual(await days('future:US:ZS'), closed);
  const [first, second] = await days('future:US:ZC');
  assert.deepEqual(first, closed[0]);
  assert.deepEqual(
    [second!.open_timestamp, second!.close_timestamp],
    ['2027-05-05T00:00:00+00:00', '2027-05-05T17:05:00+00:00'],
  );
});

test('an import finishes no session of another venue, nor of another symbol of its own (contract 3.9)', async () => {
  const noon = { '2025-04-01T15:00:00Z': 1 };
  const fill = (moment: string, symbol: string) =>
    fillStore(shop.store, shop.folder, at(moment), [['bars', minutes('future', symbol, noon)]]);
  const latest = async (symbol: string): Promise<unknown> =>
    (await caller.list(`future/bars/US:${symbol}/DAY/latest`, { limit: '1', session_date: '1' })).data[0]!
      .session_date;
  await fill('2025-04-01T15:30:00Z', 'ZC');
  await fill('2025-04-02T00:00:00Z', 'ES');
  assert.deepEqual([await latest('ZC'), await latest('ES')], ['2025-03-04', '2025-04-01']);
  await fill('2025-04-02T00:00:00Z', 'ZS');
  assert.deepEqual([await latest('ZC'), await latest('ZS')], ['2025-03-04', '2025-04-01']);
  // The same bytes finish nothing that they left unfinished.
  await fill('2025-04-02T00:00:00Z', 'ZC');
  assert.equal(await latest('ZC'), '2025-03-04');
  const more = minutes('future', 'ZC', { ...noon, '2025-04-01T15:01:00Z': 1 });
  await fillStore(shop.store, shop.folder, at('2025-04-02T00:00:00Z'), [['bars', more]]);
  assert.equal(await latest('ZC'), '2025-04-01');
});

test('bars that were imported before their instrument had a key have the sessions of the key afterwards', async () => {
  const fill = (...fillings: Parameters<typeof fillStore>[3]) =>
    fillStore(shop.store, shop.folder, at('2025-04-03T00:00:00Z'), fillings);
  const fives = { '2025-03-04T01:00:00Z': 2, '2025-03-04T01:55:00Z': 3, '2025-03-04T19:15:00Z': 10 };
  await fill(['bars', minutes('future', 'ZW', fives).map((row) => ({ ...row, interval: '5M' }))]);
  assert.deepEqual(await bars('US:ZW', '60M'), ['01:00..02:00 2-3 2', '19:00..20:00 10-10 1']);
  await fill(['instruments', [future('ZW', { calendar_key: GRAIN })]]);
  assert.deepEqual(await bars('US:ZW', '60M'), ['01:00..02:00 2-3 2', '18:30..19:20 10-10 1']);
});

// The market of the new key has an older import than the instrument, or none at all.
for (const [from, to, older] of [
  [GRAIN, 'US_FUTURE', []],
  ['US_FUTURE', GRAIN, [future('OLD', { calendar_key: GRAIN })]],
] as const) {
  test(`an instrument whose key changes from ${from} to ${to} keeps its derived bars (contract 3.9)`, async () => {
    const own = new Workshop();
    const fill = (moment: string, ...fillings: Parameters<typeof fillStore>[3]) =>
      fillStore(own.store, own.folder, at(moment), fillings);
    await fill('2025-01-01T00:00:00Z', ['instruments', [future('ZW', { calendar_key: from }), ...older]]);
    if (older.length > 0)
      await fill('2025-01-01T00:00:00Z', ['bars', minutes('future', 'OLD', { '2024-12-31T15:30:00Z': 1 })]);
    const through = { ...march4, '2025-03-05T15:00:00Z': 12 };
    await fill('2025-03-10T00:00:00Z', ['bars', minutes('future', 'ZW', through)]);
    await fill('2025-03-11T00:00:00Z', ['instruments', [future('ZW', { calendar_key: to })]]);
    const key = await own.must('keys', 'create', 'changes');
    const serving = await own.serve('--workers', '1');
    try {
      const asked = new Caller(serving, key);
      for (const interval of ['60M', 'DAY'])
        assert.ok((await asked.list(`future/bars/US:ZW/${interval}/${RANGE}`)).count > 0, interval);
    } finally {
      await serving.stop();
      own.close();
    }
  });
}

test('bourse calendar prints a venue by its key (contract 10)', async () => {
  const week = ['--from', '2013-04-05', '--to', '2013-04-08', '--csv'];
  const csv = (await shop.must('calendar', GRAIN.toLowerCase(), ...week)).split('\r\n');
  assert.deepEqual(
    csv.slice(1, 3).map((line) => line.split(',').slice(0, 6).join(' ')),
    [
      '2013-04-05 Fri REGULAR 17:00-14:00 2013-04-04T22:00:00+00:00 2013-04-05T19:00:00+00:00',
      '2013-04-08 Mon REGULAR 19:00-07:45 08:30-13:15 2013-04-08T00:00:00+00:00 2013-04-08T18:15:00+00:00',
    ],
  );
});
