// The newest bars of many instruments in one answer: what a request for each alone gives (contract 9.15).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Asked } from './as-of/asked.ts';
import { NOW, randomWorld } from './as-of/random-world.ts';
import { Random } from './fuzz/random.ts';
import { seed, times } from './seed.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const REQUESTS = 60;
const stocks = ['US:AAA', 'us:rnm', 'US:OLDN', 'US:LST', 'US:DEL', 'US:NOPE', 'US:AA-A', 'UK:AAA'];
const markets = { stock: stocks, crypto: ['GLOBAL:BTCUSD', 'X:BTCUSD', 'GLOBAL:BTC/USD', 'GLOBAL:NONE'] };
const intervals = ['1M', '5M', '7M', '60M', '60M', '120M', 'DAY', 'DAY', 'DAY', 'WEEK', 'MON'];

const optional = (random: Random, ...texts: readonly string[]): string[] =>
  random.chance(0.35) ? [random.pick(texts)] : [];

/** A query without symbols and interval. */
const queryOf = (random: Random): string =>
  [
    `limit=${random.pick([1, 2, 3, 10])}`,
    ...optional(random, 'is_eth=true'),
    ...optional(random, 'adjust=all', 'adjust=split', 'adjustment=dividend'),
    ...optional(random, `as_of=2025-03-${random.between(10, 24)}T${random.between(10, 23)}:30:00Z`),
    ...optional(random, 'session_date=true', 'columns=symbol,close,datetime'),
    ...optional(random, 'timestamps=unix', 'tz=America/New_York'),
  ].join('&');

/** The answer to a request as text, or the word and the parameter of its refusal. */
async function told(asked: Asked, written: string): Promise<{ text: string } | { refused: string }> {
  const answer = await asked.ask(written);
  if (answer.kind === 'refusal') return { refused: `${answer.word} ${answer.facts.param}` };
  return { text: Buffer.from(answer.body).toString() };
}

type Result = {
  readonly count: number;
  readonly data: readonly unknown[];
  readonly missing: readonly string[];
};
const resultOf = (text: string): Result => (JSON.parse(text) as { result: Result }).result;

/** A symbol as the service writes it. */
const named = (symbol: string): string => symbol.toUpperCase().replace(/^X:/, 'GLOBAL:');

/** How often each thing came. */
const met = { rows: 0, missing: 0, refused: 0 };

/** Compares one request with those for each symbol alone. */
async function compare(asked: Asked, random: Random): Promise<void> {
  const market = random.chance(0.8) ? 'stock' : 'crypto';
  const symbols = random.shuffle(markets[market]).slice(0, random.between(1, 8));
  const query = queryOf(random);
  const interval = random.pick(intervals);
  const written = `${market}/bars/latest?symbols=${symbols.join()}&interval=${interval}&${query}`;
  const many = await told(asked, written);
  const data: unknown[] = [];
  const missing: string[] = [];
  let csv = '';
  for (const symbol of new Map(symbols.map((one) => [named(one), one])).values()) {
    const alone = `${market}/bars/${symbol}/${interval}/latest?${query}`;
    const one = await told(asked, alone);
    if ('refused' in one && !one.refused.startsWith('unknown_instrument')) {
      assert.deepEqual(many, one, written);
      met.refused++;
      return;
    }
    const bars = 'text' in one ? resultOf(one.text).data : [];
    data.push(...bars);
    if (bars.length === 0) missing.push(named(symbol));
    const table = await told(asked, `${alone}&format=csv`);
    if ('text' in table) csv += table.text.replace(/^.*\r\n/, '');
  }
  assert.ok('text' in many, `${written}: ${JSON.stringify(many)}`);
  assert.deepEqual(resultOf(many.text), { count: data.length, data, missing }, written);
  assert.deepEqual(Object.keys(resultOf(many.text)), ['count', 'data', 'missing']);
  const table = await told(asked, `${written}&format=csv`);
  assert.ok('text' in table && table.text.replace(/^.*\r\n/, '') === csv, written);
  met.rows += data.length;
  met.missing += missing.length;
}

test('an answer is what a request for each symbol alone gives, one after the other (contract 9.15)', async () => {
  for (let world = 0; world < times(2); world++) {
    const random = new Random(seed, world);
    const asked = await Asked.filled(NOW, randomWorld(random).all);
    for (let request = 0; request < REQUESTS; request++) await compare(asked, random);
    await asked.close();
  }
  assert.ok(met.rows > 0 && met.missing > 0, JSON.stringify(met));
});

test('bars that cannot be adjusted are refused with their symbol (contract 9.4, 9.15)', async () => {
  const row = { asset_schema: 'stock', country_iso_code: 'US', interval: 'DAY', datetime: '2025-03-03' };
  const bar = { ...row, open: 2, high: 3, low: 1, close: 2 };
  const asked = await Asked.filled(
    NOW,
    [
      [
        'bars',
        [
          { ...bar, symbol: 'ONE' },
          { ...bar, symbol: 'TWO' },
        ],
      ],
    ],
    {
      basis: 'split',
    },
  );
  const { word, message } = await asked.refusal(
    'stock/bars/latest?symbols=US:TWO,US:ONE&interval=DAY&adjust=all',
  );
  assert.equal(word, 'invalid_parameter');
  assert.match(message, /^US:TWO: /);
});

test('headers name actions in the order of the symbols (contract 8.2, 9.15)', async () => {
  const symbols = ['ONE', 'TWO', 'TRE'];
  const base = { asset_schema: 'stock', country_iso_code: 'US' };
  const bars = symbols.flatMap((symbol) =>
    ['2025-03-03', '2025-03-05'].map((datetime) => ({
      ...{ ...base, symbol, interval: 'DAY', datetime },
      ...{ open: 2, high: 3, low: 1, close: 2 },
    })),
  );
  const actions = symbols.flatMap((symbol) => [
    { ...base, symbol, action_type: 'dividend', ex_date: '2025-03-05', cash_amount: 5 },
    { ...base, symbol, action_type: 'spinoff', ex_date: '2025-03-05', adjustment_factor: 0.5 },
  ]);
  const asked = await Asked.filled(NOW, [
    ['bars', bars],
    ['corporate-actions', actions],
  ]);
  const headers = async (names: readonly string[]) => {
    const list = names.map((name) => `US:${name}`).join();
    const answer = await asked.ask(`stock/bars/latest?symbols=${list}&interval=DAY&limit=2&adjust=all`);
    assert.ok(answer.kind === 'answer');
    return [answer.headers['X-Adjust-Incomplete'], answer.headers['X-Adjusted-By']].map((text) =>
      text!.match(/(?<=US:)\w+/g),
    );
  };
  // What is kept of one is there at once.
  await headers(['TRE']);
  assert.deepEqual(await headers(symbols), [symbols, symbols]);
});

test('a thousand symbols fit an address, percent-encoded, and count as one request; more are refused (contract 7.5, 9.15)', async () => {
  const symbols = Array.from({ length: 1_000 }, (_, at) => `S${String(at).padStart(4, '0')}`);
  const rows = symbols.map(
    (symbol, at) => `stock,US,${symbol},DAY,2025-03-0${3 + (at % 3)},${at + 1},${at + 2},1,2`,
  );
  const head = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close';
  writeFileSync(shop.path('days.csv'), [head, ...rows, ''].join('\n'));
  await shop.must('import', 'bars', shop.path('days.csv'));
  const key = await shop.must('keys', 'create', 'many', '--per-day', '50');
  const server = await shop.serve();
  const ask = async (asked: readonly string[], query = '', each = (symbol: string) => `US:${symbol}`) => {
    const path = '/api/v2/stock/bars/latest';
    const text = encodeURIComponent(asked.map(each).join());
    return server.get(`${path}?symbols=${text}&interval=DAY&secret_key=${key}${query}`);
  };
  const answer = await ask(symbols);
  const { count, data, missing } = resultOf(await answer.text());
  assert.deepEqual([answer.status, count, missing], [200, 1_000, []]);
  assert.deepEqual(
    (data as { symbol: string }[]).map(({ symbol }) => symbol),
    symbols,
  );
  const stateOf = ({ headers }: Response) =>
    ['ratelimit-remaining', 'ratelimit-reset'].map((name) => Number(headers.get(name))) as [number, number];
  for (let [left, reset] = stateOf(answer); ; ) {
    const [leftNow, resetNow] = stateOf(await ask(symbols.toReversed()));
    // Where a new day has begun meanwhile, it is asked again.
    if (resetNow <= reset) {
      assert.equal(leftNow, left - 1);
      break;
    }
    [left, reset] = [leftNow, resetNow];
  }
  const more = await ask([...symbols, 'ONEMORE']);
  const { detail, message } = (await more.json()) as {
    detail: { param: string; allowed: string };
    message: string;
  };
  assert.deepEqual([more.status, detail.param, detail.allowed], [400, 'symbols', '1 to 1000 symbols']);
  assert.match(message, /1001 symbols/);
  const wrong = (await (await ask(['AAA', 'BBB'], '', (symbol) => symbol)).json()) as { message: string };
  assert.match(wrong.message, /^symbols must be .*: number 1 is not one\.$/);
});
