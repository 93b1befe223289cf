// The cache of parsed requests gives what parsing gives, for every caller and every form of a request
// (contract 4.4, 7.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../test/fuzz/random.ts';
import { Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';
import { ParsedRequests } from './parsed-requests.ts';
import { matchRoute, parseRequest, readQuery } from './route.ts';

/** Path and query of a target as the request handler reads them. */
function sent(target: string) {
  const [path, query] = target.split('?', 2) as [string, string | undefined];
  const match = matchRoute(path)!;
  return [match, readQuery(query ?? '', (name) => match.route.known.includes(name)).query] as const;
}

const KEY = 'aB3dE6gH'.repeat(10).slice(0, limits.issuedKeyCharacters);

const paths = [
  '/api/v2/stock/bars/US:BF/B/1M/from/2025-01-05/to/2025-01-06',
  '/api/v2/stock/bars/US%3ABF%2FB/1M/from/2025-01-05/to/2025-01-06',
  '/api/v2/stock/bars/us:aapl/DAY/from/2025-01-05T00:00:00+00:00/to/2025-01-06',
  '/api/v2/stock/bars/US:AAPL/DAY/latest',
  '/api/v2/stock/reference/US:AAPL',
];
const parts = [
  ...['limit=20', 'limit=1000', 'limit=020', 'limit=0', 'limit=', 'sort=desc', 'sort=DESC', 'sort=%61sc'],
  ...['format=csv', 'format=json', 'next_page_key=', 'is_eth=1', 'limit=5&limit=6', 'cb=1', 'sor%74=desc'],
  ...[`secret_key=${KEY}`, `secret%5Fkey=${KEY}`, 'from_date=2020-01-01', 'adjust=all'],
];

test('a request that is parsed again has the parameters and the refusal of the first time', () => {
  const requests = new ParsedRequests();
  const random = new Random(7);
  const outcome = (parse: () => unknown): unknown => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.facts;
    }
  };
  for (let index = 0; index < 5_000; index++) {
    const query = Array.from({ length: random.below(4) }, () => random.pick(parts)).join('&');
    const [match, raw] = sent(`${random.pick(paths)}?${query}`);
    const parsed = outcome(() => {
      const found = requests.parse(match, raw);
      requests.keep(found);
      return found.parameters;
    });
    assert.deepEqual(
      parsed,
      outcome(() => parseRequest(match, raw)),
      query,
    );
  }
});

test('a request that was answered before is not parsed again, whoever asks', () => {
  const requests = new ParsedRequests();
  const target = '/api/v2/stock/bars/US:AAPL/DAY/latest?limit=3';
  const first = requests.parse(...sent(`${target}&secret_key=${KEY}`));
  assert.notEqual(requests.parse(...sent(target)), first, 'it was not answered yet');
  requests.keep(first);
  for (const other of [target, `${target}&secret_key=other`, `${target}&cb=4`])
    assert.equal(requests.parse(...sent(other)), first);
  assert.notEqual(requests.parse(...sent(target.replace('3', '4'))), first);
});

const latest = '/api/v2/stock/bars/US:AAPL/DAY/latest';
const keyed: readonly (readonly [target: string, isKept: boolean])[] = [
  [`${latest}?secret_key=${KEY}`, true],
  [`${latest}?limit=3&secret%5Fkey=${KEY}`, true],
  [`${latest}?limit=3&cb=${KEY}`, true],
  [
    latest.replace('DAY', `DAY/from/2025-01-05/to/2025-01-06`).replace('/latest', `?next_page_key=${KEY}`),
    false,
  ],
];
for (const [target, isKept] of keyed) {
  test(`no key is in what is kept of ${target} (contract 7.4)`, () => {
    const requests = new ParsedRequests();
    const first = requests.parse(...sent(target));
    requests.keep(first);
    assert.equal(requests.parse(...sent(target)) === first, isKept);
    assert.equal(JSON.stringify(first).toUpperCase().includes(KEY.toUpperCase()), !isKept);
  });
}

test('kept requests have a bound', () => {
  const requests = new ParsedRequests();
  const targetOf = (index: number) => `/api/v2/stock/bars/US:S${index}/DAY/latest`;
  const first = requests.parse(...sent(targetOf(0)));
  requests.keep(first);
  assert.equal(requests.parse(...sent(targetOf(0))), first);
  // Each takes more than 500 bytes, and the first, which was used, is passed over once.
  const last = Math.floor((2 * httpLimits.parsedBytesMax) / 500);
  for (let index = 1; index <= last; index++) requests.keep(requests.parse(...sent(targetOf(index))));
  assert.notEqual(requests.parse(...sent(targetOf(0))), first);
  const newest = requests.parse(...sent(targetOf(last)));
  assert.equal(requests.parse(...sent(targetOf(last))), newest);
});
