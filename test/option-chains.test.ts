// Whole chains, and ranges of strikes and expirations: what a plain filter and sort of all contracts gives
// (contract 9.17).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asked, type FileRow } from './as-of/asked.ts';
import { Random } from './fuzz/random.ts';
import { seed, times } from './seed.ts';

const NOW = Date.parse('2025-03-31T00:00:00Z');
const PRICE = 100;
const dates = ['2025-02-21', '2025-03-21', '2025-04-17', '2025-05-16', '2026-01-16'];
const strikes = [80, 90, 97.5, 100, 102.5, 110, 130];

type Contract = FileRow & {
  readonly symbol: string;
  readonly strike_price: number;
  readonly expiration_date: string;
  readonly option_type: 'call' | 'put';
};

function contractsOf(random: Random): Contract[] {
  const all = dates.flatMap((expiration_date) =>
    strikes.flatMap((strike_price) =>
      (['call', 'put'] as const).map((option_type) => {
        const day = expiration_date.replaceAll('-', '').slice(2);
        const thousandths = String(strike_price * 1_000).padStart(8, '0');
        return {
          ...{
            symbol: `AAA${day}${option_type === 'call' ? 'C' : 'P'}${thousandths}`,
            country_iso_code: 'US',
          },
          ...{
            parent_asset_schema: 'stock',
            underlying_name: 'AAA',
            strike_price,
            expiration_date,
            option_type,
          },
        };
      }),
    ),
  );
  return all.filter(() => random.chance(0.8));
}

const of = (random: Random, ...texts: readonly string[]): string | undefined =>
  random.chance(0.35) ? random.pick(texts) : undefined;

/** The contracts that a request is for, in its order. */
function expected(all: readonly Contract[], asked: Readonly<Record<string, string | undefined>>): string[] {
  const { option_type, moneyness, strike_from: low, strike_to: high, sort_by, sort } = asked;
  const { expiration_from: from, expiration_to: to } = asked;
  const isOnSide = ({ option_type: type, strike_price: strike }: Contract): boolean => {
    if (moneyness === 'any') return true;
    return (type === 'call') === (moneyness === 'in_the_money') ? strike < PRICE : strike > PRICE;
  };
  const found = all.filter(
    (one) =>
      (option_type === 'any' || one.option_type === option_type) &&
      isOnSide(one) &&
      (low === undefined || one.strike_price >= Number(low)) &&
      (high === undefined || one.strike_price <= Number(high)) &&
      (from === undefined || one.expiration_date >= from) &&
      (to === undefined || one.expiration_date <= to),
  );
  const isPast = ({ expiration_date }: Contract): boolean => Date.parse(expiration_date) < NOW;
  const days = ({ expiration_date }: Contract): number => Date.parse(expiration_date) / 86_400_000;
  const isAny = option_type === 'any' || moneyness === 'any';
  const usual = (one: Contract): (number | string)[] => [
    ...[isPast(one) ? 1 : 0, isPast(one) ? -days(one) : days(one)],
    ...[isAny ? one.strike_price : Math.abs(one.strike_price - PRICE), one.option_type, one.symbol],
  ];
  const placeOf = (one: Contract): (number | string)[] =>
    sort_by === undefined ? usual(one) : [-one.strike_price, ...usual(one)];
  const compare = (a: Contract, b: Contract): number => {
    const [one, other] = [placeOf(a), placeOf(b)];
    const at = one.findIndex((value, index) => value !== other[index]);
    return at < 0 ? 0 : one[at]! < other[at]! ? -1 : 1;
  };
  const sorted = found.toSorted(compare).map(({ symbol }) => symbol);
  return sort === 'desc' ? sorted.reverse() : sorted;
}

test('a chain is what a filter and a sort of all contracts give, page by page (contract 8.4, 9.17)', async () => {
  for (let world = 0; world < times(2); world++) {
    const random = new Random(seed, world);
    const all = contractsOf(random);
    const service = await Asked.filled(NOW, [['option-contracts', all]]);
    for (let request = 0; request < 60; request++) {
      const option_type = random.pick(['call', 'put', 'any', 'any']);
      const moneyness = random.pick(['in_the_money', 'out_of_the_money', 'any', 'any']);
      const range = {
        strike_from: of(random, '80', '90.0', '97.6', '1e2'),
        strike_to: of(random, '110', '102.5', '1.3e2', '100'),
        expiration_from: of(random, '2025-03-21', '2025-03-22', '2025-01-01'),
        expiration_to: of(random, '2025-04-17', '2025-05-15', '2030-01-01'),
        sort_by: of(random, 'strike_price%20desc'),
        sort: of(random, 'desc'),
      };
      const query = Object.entries({ ...range, ref_asset_price: moneyness === 'any' ? undefined : PRICE })
        .filter(([, text]) => text !== undefined)
        .map(([name, text]) => `${name}=${text}`);
      const path = `option/search/stock/US:AAA/${option_type}/moneyness/${moneyness}`;
      const written = `${path}?format=csv&limit=${random.pick([1, 3, 7, 1000])}&${query.join('&')}`;
      const symbols: string[] = [];
      let key: string | null = '';
      while (key !== null) {
        const answer = await service.ask(key === '' ? written : `${written}&next_page_key=${key}`);
        if (answer.kind !== 'answer') assert.fail(`${written}: ${answer.facts.message}`);
        const [header, ...lines] = Buffer.from(answer.body).toString().trimEnd().split('\r\n');
        const at = header!.split(',').indexOf('symbol');
        symbols.push(...lines.map((line) => line.split(',')[at]!));
        key = answer.next?.key ?? null;
      }
      assert.deepEqual(symbols, expected(all, { option_type, moneyness, ...range }), written);
    }
    await service.close();
  }
});

test('ranges the wrong way round are refused by name, and a whole chain needs no price (contract 6.3, 9.17)', async () => {
  const service = await Asked.filled(NOW, [['option-contracts', contractsOf(new Random(seed, 0))]]);
  const path = 'option/search/stock/US:AAA/any/moneyness';
  const strike = await service.refusal(`${path}/any?strike_from=110&strike_to=1e2`);
  assert.deepEqual([strike.word, strike.param], ['invalid_parameter', 'strike_from']);
  const date = await service.refusal(`${path}/any?expiration_from=2025-04-18&expiration_to=2025-04-17`);
  assert.deepEqual([date.word, date.param], ['invalid_parameter', 'expiration_from']);
  assert.equal((await service.refusal(`${path}/in_the_money`)).word, 'no_data');
  const { data, expiration_datetimes } = await service.result(`${path}/any?limit=1000`);
  assert.deepEqual(Object.keys(data!), expiration_datetimes);
});
