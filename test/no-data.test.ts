// Why a list of bars is empty: the header X-No-Data (contract 9.18).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asked, type FileRow } from './as-of/asked.ts';

const NOW = Date.parse('2025-03-31T00:00:00Z');

/** Bars of one price. */
const barsOf = (symbol: string, interval: string, ...times: readonly string[]): FileRow[] =>
  times.map((datetime) => ({
    ...{ asset_schema: 'stock', country_iso_code: 'US', symbol, interval, datetime },
    ...{ open: 2, high: 3, low: 1, close: 2, volume: 10 },
  }));

/** The Monday to Wednesday of a week. */
const DAYS = ['2025-03-03', '2025-03-04', '2025-03-05'];

const asked = await Asked.filled(NOW, [
  ['instruments', [{ asset_schema: 'stock', country_iso_code: 'US', symbol: 'BARE' }]],
  ['bars', barsOf('DAILY', 'DAY', ...DAYS)],
  ['bars', barsOf('ODD', '5M', '2025-03-03T14:30:00Z', '2025-03-03T14:35:00Z')],
  ['bars', barsOf('EARLY', '1M', '2025-03-03T12:00:00Z', '2025-03-03T12:01:00Z')],
]);
/** As far as its file tells, which was imported on the Wednesday, in the midst of the session. */
const partly = await Asked.filled(
  Date.parse('2025-03-05T16:00:00Z'),
  [
    ['bars', barsOf('DAILY', 'DAY', ...DAYS.slice(0, 2))],
    ['bars', barsOf('PART', '1M', '2025-03-05T14:30:00Z', '2025-03-05T15:59:00Z')],
  ],
  { isComplete: false },
);

async function why(of: Asked, written: string): Promise<string | undefined> {
  const { count, headers } = await of.result(`stock/bars/${written}`);
  assert.equal(headers['X-No-Data'] !== undefined, count === 0, written);
  return headers['X-No-Data'];
}

const cases: readonly (readonly [of: Asked, written: string, reason: string | undefined])[] = [
  [asked, 'US:DAILY/DAY/from/2025-03-03/to/2025-03-05', undefined],
  [asked, 'US:DAILY/DAY/latest', undefined],
  [
    asked,
    'US:DAILY/DAY/from/2010-01-01/to/2010-02-01',
    'nothing is stored between 2010-01-01 and 2010-02-01; stored: DAY 2025-03-03 to 2025-03-05',
  ],
  [asked, 'US:DAILY/1M/from/2025-03-03/to/2025-03-05', 'finest stored interval is DAY'],
  [asked, 'US:DAILY/60M/latest', 'finest stored interval is DAY'],
  [asked, 'US:ODD/7M/latest', 'no stored interval makes 7M; stored: 5M 2025-03-03 to 2025-03-03'],
  [asked, 'US:BARE/DAY/latest', 'no finished bar is stored'],
  [asked, 'US:EARLY/1M/latest', 'only extended hours have bars: is_eth=true'],
  [asked, 'US:EARLY/1M/latest?is_eth=true', undefined],
  // Monday and Tuesday had closed.
  [
    asked,
    'US:DAILY/DAY/from/2025-03-05/to/2025-03-07?as_of=2025-03-05T15:00:00Z',
    'nothing is stored between 2025-03-05 and 2025-03-07; stored: DAY 2025-03-03 to 2025-03-04',
  ],
  [asked, 'US:DAILY/DAY/latest?as_of=2025-03-03T15:00:00Z', 'no finished bar is stored'],
  [partly, 'US:DAILY/WEEK/latest', 'not finished yet: a WEEK needs all its sessions'],
  [partly, 'US:DAILY/MON/from/2025-03-01/to/2025-03-31', 'not finished yet: a MON needs all its sessions'],
  [partly, 'US:PART/DAY/latest', 'not finished yet'],
  // There are bars, and finished ones, of which none opens then.
  [
    asked,
    'US:DAILY/WEEK/from/2025-03-04/to/2025-03-05',
    'no WEEK bar opens between 2025-03-04 and 2025-03-05',
  ],
  [
    partly,
    'US:DAILY/MON/from/2025-03-04/to/2025-03-05',
    'no MON bar opens between 2025-03-04 and 2025-03-05',
  ],
  ...['15M', 'DAY'].map((interval): (typeof cases)[number] => [
    asked,
    `US:ODD/${interval}/from/2025-03-03T14:31:00Z/to/2025-03-03T14:40:00Z`,
    `no ${interval} bar opens between 2025-03-03T14:31:00Z and 2025-03-03T14:40:00Z`,
  ]),
];
for (const [of, written, reason] of cases) {
  test(`${written} ${reason === undefined ? 'has bars' : `is empty: ${reason}`} (contract 9.18)`, async () => {
    assert.equal(await why(of, written), reason);
    const csv = await of.ask(`stock/bars/${written}${written.includes('?') ? '&' : '?'}format=csv`);
    assert.equal(csv.kind === 'answer' && csv.headers['X-No-Data'], reason);
  });
}

test('of many instruments it says why those that are missing have none, of the first five (contract 9.15, 9.18)', async () => {
  const { missing, headers } = await asked.result(
    'stock/bars/latest?symbols=US:DAILY,US:NOPE,US:BARE,US:ODD&interval=1M',
  );
  assert.deepEqual(missing, ['US:DAILY', 'US:NOPE', 'US:BARE', 'US:ODD']);
  assert.equal(
    headers['X-No-Data'],
    'US:DAILY: finest stored interval is DAY; US:NOPE: unknown; US:BARE: no finished bar is stored; US:ODD: finest stored interval is 5M',
  );
  assert.equal(headers['X-Missing-Symbols'], 'US:DAILY,US:NOPE,US:BARE,US:ODD');
  const many = await asked.result('stock/bars/latest?symbols=US:A,US:B,US:C,US:D,US:E,US:F,US:G&interval=1M');
  assert.match(String(many.headers['X-No-Data']), /; US:E: unknown; and 2 more$/);
  const none = await asked.result('stock/bars/latest?symbols=US:DAILY&interval=DAY');
  assert.deepEqual(
    ['X-No-Data', 'X-Missing-Symbols'].map((name) => none.headers[name]),
    [undefined, undefined],
  );
});

test('the symbols of many without bars are named in CSV too, as many as 2,000 characters hold (contract 9.15)', async () => {
  const named = async (symbols: readonly string[]) => {
    const answer = await asked.ask(
      `stock/bars/latest?symbols=US:DAILY,${symbols.join()}&interval=DAY&format=csv`,
    );
    return answer.kind === 'answer' && answer.headers['X-Missing-Symbols'];
  };
  const symbols = Array.from({ length: 300 }, (_, at) => `US:X${String(at).padStart(4, '0')}`);
  assert.equal(await named(symbols.slice(0, 2)), 'US:X0000,US:X0001');
  // Nine characters each, a comma between two.
  assert.equal(await named(symbols.slice(0, 222)), symbols.slice(0, 222).join());
  assert.equal(await named(symbols), `${symbols.slice(0, 222).join()}, and 78 more`);
});

const bulkCases: readonly (readonly [of: Asked, path: string, reason: string | undefined])[] = [
  [asked, 'US/DAY/from/2025-03-03/to/2025-03-05', undefined],
  [
    asked,
    'US/DAY/from/2010-01-04/to/2010-01-05?symbols=DAILY,BARE',
    'US:BARE: no finished bar is stored; US:DAILY: nothing is stored between 2010-01-04 and 2010-01-05; stored: DAY 2025-03-03 to 2025-03-05',
  ],
  [asked, 'US/1M/from/2025-03-03/to/2025-03-05?symbols=DAILY', 'US:DAILY: finest stored interval is DAY'],
  [
    asked,
    'US/1M/from/2025-03-03/to/2025-03-05?symbols=EARLY',
    'US:EARLY: only extended hours have bars: is_eth=true',
  ],
  [partly, 'US/DAY/from/2025-03-05/to/2025-03-05?symbols=PART', 'US:PART: not finished yet'],
  [asked, 'DE/DAY/from/2025-03-03/to/2025-03-05', 'no instrument of this market is stored'],
];
for (const [of, path, reason] of bulkCases)
  test(`bulk ${path} ${reason === undefined ? 'has bars' : `is empty: ${reason}`} (contract 9.11, 9.18)`, async () => {
    const written = `stock/bulk/bars/${path}${path.includes('?') ? '&' : '?'}format=csv`;
    let step = await of.ask(written);
    for (
      ;
      step.kind === 'answer' && step.rest !== undefined;
      step = await of.ask(written, undefined, step.rest)
    )
      assert.equal(step.headers['X-No-Data'], undefined);
    assert.equal(step.kind === 'answer' && step.headers['X-No-Data'], reason);
  });
