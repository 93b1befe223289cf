// Coverage and findings as of a moment, by hand: nothing of what came later (contract 9.8, 9.9, 9.10).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asked, type FileRow } from './asked.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const us = { asset_schema: 'stock', country_iso_code: 'US' };
type Row = Readonly<Record<string, unknown>>;
type Rows = { readonly data?: readonly Row[] };

const pick = ({ data }: Rows, ...names: string[]) => data!.map((row) => names.map((name) => row[name]));

/** Weekdays of a stretch without holidays. */
function weekdays(from: string, to: string): string[] {
  const found: string[] = [];
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += 86_400_000)
    if (![0, 6].includes(new Date(ms).getUTCDay())) found.push(new Date(ms).toISOString().slice(0, 10));
  return found;
}

const day = (symbol: string, datetime: string, at: number, more: FileRow = {}): FileRow => ({
  ...{ ...us, symbol, interval: 'DAY', datetime },
  ...{ open: 100, high: 101 + (at % 3), low: 99 - (at % 2), close: 100 + (at % 2), volume: 1000 + at },
  ...more,
});

const days = (symbol: string, dates: readonly string[], more: Readonly<Record<string, FileRow>> = {}) =>
  dates.map((date, at) => day(symbol, date, at, more[date]));

/** Minutes from the open of a day in winter on. */
const minutes = (symbol: string, date: string, count: number): FileRow[] =>
  Array.from({ length: count }, (_, at) => ({
    ...day(symbol, new Date(Date.parse(`${date}T14:30:00Z`) + at * 60_000).toISOString(), at),
    interval: '1M',
  }));

const kinds = (rows: Rows) =>
  pick(rows, 'kind', 'from_datetime').map(([kind, from]) => `${String(kind)} ${String(from)}`);

test('the list of series as of a moment counts the bars that had closed, and lacks series that begin later (contract 9.8, 9.9)', async () => {
  const asked = await Asked.filled(NOW, [
    [
      'bars',
      [
        ...days('AAA', weekdays('2025-03-03', '2025-03-07')),
        ...minutes('AAA', '2025-03-03', 10),
        ...minutes('AAA', '2025-03-05', 10),
        { ...day('AAA', '2025-03-03', 0), interval: 'WEEK' },
        ...days('BBB', weekdays('2025-03-06', '2025-03-07')),
      ],
    ],
  ]);
  const list = async (asOf: string, more = '') => {
    const found = await asked.result(`stock/coverage?as_of=${asOf}${more}`);
    assert.equal(found.headers['X-As-Of'], asOf);
    assert.equal(found.headers['X-As-Of-Limits'], 'runs and their files');
    return pick(found, 'symbol', 'interval', 'bars', 'first_datetime', 'last_datetime', 'complete_through');
  };
  const opens = '2025-03-03T14:30:00+00:00';
  assert.deepEqual(await list('2025-03-03T14:30:59Z'), []);
  assert.deepEqual(await list('2025-03-03T14:32:00Z'), [
    ['AAA', '1M', 2, opens, '2025-03-03T14:31:00+00:00', '2025-03-03T14:32:00+00:00'],
  ]);
  assert.deepEqual(await list('2025-03-05T14:35:30Z'), [
    ['AAA', '1M', 15, opens, '2025-03-05T14:34:00+00:00', '2025-03-05T14:35:30+00:00'],
    ['AAA', 'DAY', 2, opens, '2025-03-04T14:30:00+00:00', '2025-03-05T14:35:30+00:00'],
  ]);
  const friday = '2025-03-07T20:59:59Z';
  assert.deepEqual(
    (await list(friday)).map(([symbol, interval, bars]) => [symbol, interval, bars]),
    [
      ['AAA', '1M', 20],
      ['AAA', 'DAY', 4],
      ['BBB', 'DAY', 1],
    ],
  );
  assert.deepEqual(
    (await list(friday, '&sort=desc&interval=DAY&query=b')).map(([symbol]) => symbol),
    ['BBB'],
  );
  const closed = await list('2025-03-07T21:00:00Z');
  assert.deepEqual(
    closed.map(([symbol, interval, bars]) => [symbol, interval, bars]),
    [
      ['AAA', '1M', 20],
      ['AAA', 'DAY', 5],
      ['AAA', 'WEEK', 1],
      ['BBB', 'DAY', 2],
    ],
  );
});

test('the list of series as of a moment has the symbols of then in their order, without instruments that were listed later (contract 9.8, 9.9)', async () => {
  const dates = weekdays('2025-03-03', '2025-03-07');
  const asked = await Asked.filled(NOW, [
    [
      'instruments',
      [
        { ...us, symbol: 'MMM' },
        { ...us, symbol: 'ZZZ', former_symbols: 'AAA:2015-01-02..2025-03-04' },
        // Who took a symbol that another gave up had another one then.
        { ...us, symbol: 'AAA', former_symbols: 'QQQ:2015-01-02..2025-03-05' },
        { ...us, symbol: 'NEW', listing_date: '2025-03-05' },
      ],
    ],
    [
      'bars',
      [...days('MMM', dates), ...days('ZZZ', dates), ...days('AAA', dates), ...days('NEW', dates.slice(2))],
    ],
  ]);
  const walk = async (asOf: string, sort: string) => {
    const symbols: unknown[] = [];
    let key = '';
    do {
      const page = await asked.result(
        `stock/coverage?limit=1&sort=${sort}&as_of=${asOf}&next_page_key=${key}`,
      );
      symbols.push(...page.data!.map(({ symbol }) => symbol));
      key = page.next_page_key ?? '';
    } while (key !== '');
    return symbols;
  };
  for (const [asOf, expected] of [
    ['2025-03-04T22:00:00Z', ['AAA', 'MMM', 'QQQ']],
    ['2025-03-05T22:00:00Z', ['MMM', 'NEW', 'QQQ', 'ZZZ']],
    ['2025-03-06T22:00:00Z', ['AAA', 'MMM', 'NEW', 'ZZZ']],
  ] as const) {
    assert.deepEqual(await walk(asOf, 'asc'), expected, asOf);
    assert.deepEqual(await walk(asOf, 'desc'), expected.toReversed(), asOf);
  }
});

test('the sessions as of a moment end with the last whose DAY bar had closed, each judged from what was known (contract 9.8, 9.9)', async () => {
  const dates = weekdays('2025-03-03', '2025-03-14');
  const asked = await Asked.filled(NOW, [
    [
      'bars',
      [
        ...days('AAA', dates, { '2025-03-05': { vwap: 150 } }),
        ...days('BBB', [...dates.slice(0, 3), ...dates.slice(5)]),
      ],
    ],
  ]);
  const sessions = async (symbol: string, asOf: string) =>
    pick(
      await asked.result(`stock/coverage/US:${symbol}?sort=desc&limit=2&as_of=${asOf}`),
      'session_date',
      'condition',
      'bars',
    );
  assert.deepEqual(await sessions('AAA', '2025-03-05T20:59:59Z'), [
    ['2025-03-04', 'available', 1],
    ['2025-03-03', 'available', 1],
  ]);
  assert.deepEqual(await sessions('AAA', '2025-03-05T21:00:00Z'), [
    ['2025-03-05', 'degraded', 1],
    ['2025-03-04', 'available', 1],
  ]);
  assert.deepEqual(await sessions('AAA', '2025-03-03T12:00:00Z'), []);
  const one = await asked.result('stock/coverage/US:AAA?limit=1&as_of=2025-03-05T21:00:00Z');
  assert.equal(one.headers['X-As-Of-Limits'], 'runs and their files');
  const next = await asked.result(`stock/coverage/US:AAA?limit=9&next_page_key=${one.next_page_key}`);
  assert.deepEqual(
    pick(next, 'session_date'),
    [['2025-03-04'], ['2025-03-05']],
    'a walk stays at its moment',
  );
});

test('findings as of a moment are those of sessions that were over, of bars and actions that were known (contract 9.8, 9.10)', async () => {
  const dates = weekdays('2025-03-03', '2025-05-23').filter((date) => date !== '2025-04-18');
  const asked = await Asked.filled(NOW, [
    ['bars', days('AAA', dates, { '2025-04-10': { high: 300 }, '2025-05-06': { vwap: 500 } })],
    [
      'corporate-actions',
      [
        {
          ...{ country_iso_code: 'US', symbol: 'AAA', action_type: 'dividend', cash_amount: 90 },
          ex_date: '2025-05-14',
          declaration_date: '2025-04-01',
        },
      ],
    ],
  ]);
  const at = async (asOf: string) => kinds(await asked.result(`stock/findings/US:AAA?as_of=${asOf}`));
  const wick = 'isolated_wick 2025-04-10T13:30:00+00:00';
  assert.deepEqual(await at('2025-04-10T23:00:00Z'), [], 'the newest bar is undecided');
  assert.deepEqual(await at('2025-04-11T19:59:59Z'), []);
  assert.deepEqual(await at('2025-04-11T20:00:00Z'), [wick]);
  const vwap = 'vwap_outside 2025-05-06T13:30:00+00:00';
  assert.deepEqual(await at('2025-05-06T19:59:59Z'), [wick]);
  assert.deepEqual(await at('2025-05-06T20:00:00Z'), [wick, vwap]);
  assert.deepEqual(await at('2025-05-14T19:59:59Z'), [wick, vwap], 'the session of the ex-date is not over');
  assert.deepEqual(await at('2025-05-14T20:00:00Z'), [
    wick,
    vwap,
    'impossible_dividend 2025-05-14T13:30:00+00:00',
  ]);
  assert.equal((await asked.result('stock/findings/US:AAA')).data!.length, 3);
  const { headers } = await asked.result('stock/findings/US:AAA?as_of=2025-04-11T20:00:00Z');
  assert.deepEqual(
    [headers['X-As-Of'], headers['X-As-Of-Limits']],
    ['2025-04-11T20:00:00Z', 'runs and their files'],
  );
  const first = await asked.result('stock/findings/US:AAA?limit=1&as_of=2025-05-06T20:00:00Z');
  const rest = await asked.result(`stock/findings/US:AAA?next_page_key=${first.next_page_key}`);
  assert.deepEqual(kinds(rest), [vwap], 'a walk stays at its moment');
});

test('what tells a fault from what all of a market had is judged from the others as they were (contract 9.8, 9.10)', async () => {
  const dates = weekdays('2025-03-03', '2025-04-17');
  const asked = await Asked.filled(
    NOW,
    [
      ['instruments', ['AAA', 'BBB', 'CCC'].map((symbol) => ({ ...us, symbol }))],
      ['bars', days('AAA', dates.slice(0, 8))],
      // A file of others says nothing of AAA.
      ['bars', [...days('BBB', dates), ...days('CCC', dates.slice(4))]],
      ['bars', days('AAA', dates.slice(12))],
    ],
    { isComplete: false },
  );
  const at = async (asOf: string) =>
    pick(await asked.result(`stock/findings/US:AAA?as_of=${asOf}`), 'kind', 'from_datetime', 'value');
  // 12 March is the eighth session.
  assert.deepEqual(await at('2025-03-12T21:00:00Z'), []);
  assert.deepEqual(await at('2025-03-13T19:59:59Z'), [], 'the session is not over');
  assert.deepEqual(await at('2025-03-13T20:00:00Z'), [['behind', '2025-03-13T13:30:00+00:00', 1]]);
  assert.deepEqual(await at('2025-03-18T20:00:00Z'), [['behind', '2025-03-13T13:30:00+00:00', 4]]);
  assert.deepEqual(await at('2025-03-19T20:00:00Z'), [['missing_session', '2025-03-13T13:30:00+00:00', 4]]);
  const condition = async (asOf: string) =>
    pick(
      await asked.result(`stock/coverage/US:AAA?from_date=2025-03-13&to_date=2025-03-13&as_of=${asOf}`),
      'condition',
    );
  assert.deepEqual(await condition('2025-03-13T20:00:00Z'), [['missing']]);
});

test('an instrument that was delisted later is judged as one that is traded; one that was listed later is unknown (contract 9.8, 9.9, 9.10)', async () => {
  const dates = weekdays('2025-03-03', '2025-03-14');
  const asked = await Asked.filled(
    NOW,
    [
      [
        'instruments',
        [
          { ...us, symbol: 'DEL', status: 'inactive', delisting_date: '2025-03-11' },
          { ...us, symbol: 'NEW', listing_date: '2025-03-10' },
          { ...us, symbol: 'OTH' },
        ],
      ],
      ['bars', days('DEL', dates.slice(0, 3))],
      ['bars', [...days('OTH', dates), ...days('NEW', dates.slice(5))]],
    ],
    { isComplete: false },
  );
  const path = 'stock/findings/US:DEL?as_of=';
  assert.deepEqual(pick(await asked.result(`${path}2025-03-07T21:00:00Z`), 'kind', 'value'), [['behind', 2]]);
  assert.deepEqual(pick(await asked.result(`${path}2025-03-14T21:00:00Z`), 'kind'), []);
  const last = async (asOf: string) =>
    pick(
      await asked.result(`stock/coverage/US:DEL?sort=desc&limit=1&as_of=${asOf}`),
      'session_date',
      'condition',
    );
  assert.deepEqual(await last('2025-03-07T21:00:00Z'), [['2025-03-07', 'missing']]);
  for (const endpoint of ['findings', 'coverage']) {
    const refused = await asked.refusal(`stock/${endpoint}/US:NEW?as_of=2025-03-09T23:00:00Z`);
    assert.equal(refused.word, 'unknown_instrument', endpoint);
    await asked.result(`stock/${endpoint}/US:NEW?as_of=2025-03-10T23:00:00Z`);
  }
});

test('findings in prices that hold a later split are refused, and those that may hold one are named (contract 9.8, 9.10)', async () => {
  const dates = weekdays('2025-03-03', '2025-03-14');
  const split = {
    country_iso_code: 'US',
    symbol: 'SPL',
    action_type: 'split',
    ex_date: '2025-03-12',
    split_from: 1,
    split_to: 4,
  };
  const asked = await Asked.filled(
    NOW,
    [
      ['bars', [...days('SPL', dates), ...days('ADJ', dates)]],
      ['corporate-actions', [split]],
    ],
    { basis: 'split' },
  );
  const { word, param } = await asked.refusal('stock/findings/US:SPL?as_of=2025-03-10T22:00:00Z');
  assert.deepEqual([word, param], ['invalid_parameter', 'as_of']);
  await asked.result('stock/findings/US:SPL?as_of=2025-03-12T22:00:00Z');
  const limits = 'prices adjusted before their import, runs and their files';
  for (const path of ['stock/findings/US:ADJ', 'stock/coverage/US:ADJ', 'stock/coverage/US:SPL'])
    assert.equal(
      (await asked.result(`${path}?as_of=2025-03-10T22:00:00Z`)).headers['X-As-Of-Limits'],
      limits,
      path,
    );
});

test('a key that is pinned to an instant has coverage and findings of that instant (contract 9.8)', async () => {
  const asked = await Asked.filled(NOW, [
    ['bars', days('AAA', weekdays('2025-03-03', '2025-03-07'), { '2025-03-05': { vwap: 150 } })],
  ]);
  const pin = '2025-03-04T21:00:00Z';
  for (const path of ['stock/coverage?', 'stock/coverage/US:AAA?', 'stock/findings/US:AAA?']) {
    const [pinned, asOf] = [await asked.result(path, pin), await asked.result(`${path}as_of=${pin}`)];
    assert.deepEqual(pinned, asOf, path);
    assert.equal(pinned.headers['X-As-Of'], pin);
    const refused = await asked.refusal(`${path}as_of=2025-03-04T21:00:01Z`, pin);
    assert.deepEqual([refused.word, refused.param], ['invalid_parameter', 'as_of'], path);
  }
});

test('a jump is explained by a split of the next session only once that was declared (contract 9.8, 9.10)', async () => {
  const dates = weekdays('2025-03-03', '2025-05-02').filter((date) => date !== '2025-04-18');
  const [jump, ex_date] = ['2025-04-22', '2025-04-23'];
  const bars = (symbol: string) =>
    dates.map((date, at) => {
      const price = (date < jump ? 100 : 50) + (at % 3) / 10;
      return day(symbol, date, at, { open: price, high: price + 1, low: price - 1, close: price });
    });
  const split = { country_iso_code: 'US', action_type: 'split', split_from: 1, split_to: 2, ex_date };
  const asked = await Asked.filled(NOW, [
    ['bars', [...bars('AAA'), ...bars('BBB')]],
    [
      'corporate-actions',
      [
        { ...split, symbol: 'AAA', declaration_date: '2025-04-01' },
        { ...split, symbol: 'BBB' },
      ],
    ],
  ]);
  const at = async (symbol: string, asOf: string) =>
    pick(await asked.result(`stock/findings/US:${symbol}?as_of=${asOf}`), 'kind').flat();
  assert.deepEqual(await at('AAA', '2025-04-22T20:00:00Z'), []);
  assert.deepEqual(await at('BBB', '2025-04-22T20:00:00Z'), ['unrecorded_split']);
  assert.deepEqual(await at('BBB', '2025-04-23T03:59:59Z'), ['unrecorded_split']);
  // Its ex-date in New York has begun; that it does not jump there shows when the day is over.
  assert.deepEqual(await at('BBB', '2025-04-23T04:00:00Z'), []);
  assert.deepEqual(await at('BBB', '2025-04-23T20:00:00Z'), ['action_without_jump']);
});
