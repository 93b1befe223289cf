// Path and query of a request target -> route and parameters (contract 1.3, 2.1, 4.4, 6.4, 7.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/seed.ts';
import type { Parameter } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { contract, type EndpointName } from '../contract/index.ts';
import * as kind from '../contract/kinds.ts';
import { type Match, matchRoute, parseRequest, queryText, readQuery, unknownPath } from './route.ts';

const names = Object.keys(contract) as EndpointName[];
const key64 = '0'.repeat(64);

function refusalOf(call: () => unknown): Refusal {
  try {
    call();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return assert.fail('it is not refused');
}

function matched(path: string): Match {
  return matchRoute(path) ?? assert.fail(`${path} has no route`);
}

const everything = (): boolean => true;

/** The parsed parameters of a path and a query string, as the door reads them. */
function parsed(path: string, query = ''): Readonly<Record<string, unknown>> {
  const match = matched(path);
  const known = (name: string): boolean => match.route.endpoint.parameters[name]?.in === 'query';
  return parseRequest(match, readQuery(query, known).query);
}

const paths: readonly [path: string, name: EndpointName][] = [
  ['/api/v2/stock/reference/US:AAPL', 'instrumentReference'],
  ['/api/v2/stock/reference/search', 'instrumentSearch'],
  ['/api/v2/stock/stock_corporate_action/list/US:AAPL', 'corporateActions'],
  ['/api/v2/news/list', 'newsList'],
  ['/api/v2/news/latest', 'latestNews'],
  ['/api/v2/option/search/stock/US:SPY/call/moneyness/in_the_money', 'optionSearch'],
  ['/api/v2/option/expiration_date_list/stock/US:SPY', 'optionExpirations'],
  ['/api/v2/holiday/list', 'holidayList'],
  ['/api/v2/holiday/holiday_codes/US', 'holidayCodes'],
  ['/api/v2/stock/bars/US:AAPL/1M/from/2025-07-18/to/2025-07-19', 'historicalBars'],
  ['/api/v2/stock/bars/US:AAPL/1M/latest', 'latestBars'],
  ['/api/v2/stock/bars/latest', 'latestOfMany'],
  ['/api/v2/economic_calendar/event_list', 'economicEvents'],
  ['/api/v2/economic_calendar/event', 'economicEvent'],
  ['/api/v2/economic_calendar/latest_event_list', 'latestEconomicEvents'],
  ['/api/v2/server/runs', 'runs'],
  ['/api/v2/economic_calendar/event_codes/US', 'economicEventCodes'],
  ['/api/v2/server/address_info', 'addressInfo'],
  ['/api/v2/stock/coverage', 'seriesCoverage'],
  ['/api/v2/stock/coverage/US:AAPL', 'sessionCoverage'],
  ['/api/v2/stock/findings/US:AAPL', 'findings'],
];
test('every endpoint has its path in the table below', () => {
  assert.deepEqual(paths.map(([, name]) => name).sort(), [...names].sort());
});
for (const [path, name] of paths) {
  test(`${path} is ${name} (spec 4, contract 6.4)`, () => {
    assert.equal(matchRoute(path)?.route.name, name);
  });
}

test('another path is no route: a slash more or less, another case of a literal, an encoded literal (contract 6.4)', () => {
  for (const path of [
    '',
    '/',
    '//',
    '/api',
    '/api/v2/',
    '/api/v1/news/list',
    '/api/v2/news/list/',
    '//api/v2/news/list',
    '/api/v2//news/list',
    '/API/v2/news/list',
    '/api/v2/news/LIST',
    '/api/v2/news/%6Cist',
    '/api/v2/news%2Flist',
    '/api/v2/news/../news/list',
    '/api/v2/stock/bars/US:AAPL/1M',
    '/api/v2/stock/reference/US:BRK/',
    '/api/v2/stock/reference/US:BRK//B',
    '/api/v2/stock/reference//US:BRK',
    '/api/v2/stock/reference/US:BRK/./B',
    '/api/v2/stock/reference/US:BRK/../B',
    '/api/v2/stock/reference/US:BRK/%2e%2E/B',
    '/api/v2/stock/reference/US:BRK/%2E',
    '/api/v2/stock/reference/BRK/B',
    '/api/v2/stock/reference/BRK/US:B',
    '/api/v2/stock/reference/search/US:B',
    '/api/v2/stock/bars/US:AAPL/latest',
    '/api/v2/stock/bars/US:AAPL/1M/LATEST',
    '/api/v2/stock/bars/US:AAPL/1M/latest/',
    '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/until/2025-03-03',
    '/api/v2/stock/US:BF/B/bars/1M/latest',
    '/api/v2/option/search/stock/US:BF/B/call/in_the_money',
    '/api/v2/holiday/holiday_codes/US:A/B',
    '/api/v2/stock/reference/search/x',
    'api/v2/news/list',
    '/__proto__',
    `/${'a/'.repeat(5000)}`,
  ])
    assert.equal(matchRoute(path), null, path.slice(0, 60));
});

/** Symbols with a slash as existing clients send them, and what they are. */
const slashed: readonly [sent: string, country: string, symbol: string][] = [
  ['US:BF/B', 'US', 'BF/B'],
  ['us%3abf/b', 'US', 'BF/B'],
  ['US:BF%2FB', 'US', 'BF/B'],
  ['GLOBAL:BTC/USD', 'GLOBAL', 'BTC/USD'],
  ['x:btc/usd', 'GLOBAL', 'BTC/USD'],
  ['US:A/B/C', 'US', 'A/B/C'],
  ['US:A/B%2FC', 'US', 'A/B/C'],
  ['US:A%2F/B', 'US', 'A//B'],
  ['US:/B', 'US', '/B'],
  ['US:A/LATEST', 'US', 'A/LATEST'],
  ['US:A/latest', 'US', 'A/LATEST'],
  ['US:A/1M', 'US', 'A/1M'],
  ['US:A/1M/latest', 'US', 'A/1M/LATEST'],
  ['US:A/from/B/to', 'US', 'A/FROM/B/TO'],
  ['US:A/1M/from/2025-03-03/to/2025-03-04', 'US', 'A/1M/FROM/2025-03-03/TO/2025-03-04'],
  ['US:A/call/moneyness/in_the_money', 'US', 'A/CALL/MONEYNESS/IN_THE_MONEY'],
  ['US:A/search', 'US', 'A/SEARCH'],
];
for (const [path, name] of paths.filter(([, one]) => 'country_symbol' in contract[one].parameters)) {
  test(`the symbol of ${name} may have unencoded slashes, and names no other endpoint (contract 1.7)`, () => {
    const query = 'from_date=2025-03-03';
    for (const [sent, country, symbol] of slashed) {
      const address = path.replace(/US:[A-Z]+/, () => sent);
      assert.equal(matchRoute(address)?.route.name, name, address);
      assert.deepEqual(
        parsed(address, query),
        { ...parsed(path, query), country_symbol: { country, symbol } },
        address,
      );
    }
  });
}

test('the last segments are those of the path, all others belong to the symbol (contract 1.7)', () => {
  const of = (path: string) => {
    const { country_symbol, interval } = parsed(path);
    return [matched(path).route.name, (country_symbol as { symbol: string }).symbol, interval];
  };
  const bars = '/api/v2/stock/bars';
  assert.deepEqual(of(`${bars}/US:BF/1M/5M/latest`), ['latestBars', 'BF/1M', '5M']);
  assert.deepEqual(of(`${bars}/US:A/1M/from/2025-03-03/to/2025-03-04/DAY/latest`), [
    'latestBars',
    'A/1M/FROM/2025-03-03/TO/2025-03-04',
    'DAY',
  ]);
  assert.deepEqual(of(`${bars}/US:A/1M/latest/5M/from/2025-03-03/to/2025-03-04`), [
    'historicalBars',
    'A/1M/LATEST',
    '5M',
  ]);
});

test('of two readings of a path the one with more fixed words counts: a range to "latest" is refused, not guessed (contract 1.7)', () => {
  const path = '/api/v2/stock/bars/US:A/1M/from/2025-03-03/to/latest';
  assert.equal(matched(path).route.name, 'historicalBars');
  assert.equal(refusalOf(() => parsed(path)).facts.param, 'to_date');
});

test('a part of a symbol is decoded once, like any other text (contract 1.3, 1.7)', () => {
  const path = '/api/v2/stock/reference/US:BF/%252E';
  const { facts } = refusalOf(() => parsed(path));
  assert.deepEqual([facts.param, facts.got], ['country_symbol', 'US:BF/%2E']);
  assert.equal(refusalOf(() => parsed('/api/v2/stock/reference/US:BF/%ZZ')).facts.param, 'country_symbol');
});

test('US:AAPL and US%3AAAPL are the same, in any case of the hexadecimal digits (contract 1.3)', () => {
  for (const sent of ['US:AAPL', 'US%3AAAPL', 'us%3aaapl', '%55%53%3A%41APL'])
    assert.deepEqual(parsed(`/api/v2/stock/reference/${sent}`), {
      schema_asset: 'stock',
      country_symbol: { country: 'US', symbol: 'AAPL' },
      as_of: undefined,
      data_version: undefined,
    });
});

test('a path segment is decoded once: US%253AAAPL stays encoded and is refused (contract 1.3)', () => {
  const { word, facts } = refusalOf(() => parsed('/api/v2/stock/reference/US%253AAAPL'));
  assert.deepEqual([word, facts.param, facts.got], ['invalid_parameter', 'country_symbol', 'US%3AAAPL']);
});

test('any symbol arrives whole when its country and symbol are percent-encoded (contract 1.3)', () => {
  const characters = Array.from('ABCXYZ019.-_/^=&+$#!@~');
  const anySymbol = fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(anySymbol, (symbol) => {
      const country_symbol = { country: 'US', symbol };
      const sent = encodeURIComponent(`US:${symbol}`);
      assert.deepEqual(parsed(`/api/v2/stock/reference/${sent}`).country_symbol, country_symbol);
      const query = `full_symbol=${encodeURIComponent(`stock:US:${symbol}`)}`;
      assert.deepEqual(parsed('/api/v2/news/latest', query).full_symbol, {
        assetSchema: 'stock',
        ...country_symbol,
      });
    }),
  );
});

test('in a path a plus is a plus, in a query string it is a space (contract 2.1)', () => {
  const bars = parsed(
    '/api/v2/stock/bars/US:A+B/1M/from/2025-07-18T00:00:00+05:30/to/2025-07-19T00:00:00%2B00:00',
  );
  assert.deepEqual(bars.country_symbol, { country: 'US', symbol: 'A+B' });
  assert.equal((bars.from_date as { ms: number }).ms, Date.parse('2025-07-18T00:00:00+05:30'));
  assert.equal((bars.to_date as { text: string }).text, '2025-07-19T00:00:00+00:00');
  const at = (query: string): unknown => sentAs(query, 'from_date');
  assert.equal(at('from_date=2023-01-01+00:00:00'), '2023-01-01 00:00:00');
  assert.equal(at('from_date=2023-01-01%2000:00:00+00:00'), '2023-01-01 00:00:00 00:00');
  assert.equal(at('from_date=2023-01-01T00:00:00%2B00:00'), '2023-01-01T00:00:00+00:00');
});

/** The parameters that are instants or dates, each with a request that has a place for its text. */
const timed = names.flatMap((name) =>
  Object.entries<Parameter>(contract[name].parameters)
    .filter(([, { parse }]) => parse === kind.dateTime.parse || parse === kind.date.parse)
    .map(([parameter, declared]) => ({ name, parameter, declared })),
);

/** The parsed value of one such parameter, sent as `text`. */
function timeOf({ name, parameter, declared }: (typeof timed)[number], text: string): unknown {
  const given = (one: string): string =>
    one === parameter && declared.in === 'path' ? text : goodTexts[one]!;
  const path = contract[name].path.replace(/\{(\w+)\}/g, (_, one: string) => given(one));
  const others = Object.entries<Parameter>(contract[name].parameters)
    .filter(([one, { in: place, required }]) => place === 'query' && required && one !== parameter)
    .map(([one]) => `${one}=${goodTexts[one]}`);
  const own = declared.in === 'query' ? [`${parameter}=${text}`] : [];
  const value = parsed(path, [...own, ...others].join('&'))[parameter];
  return typeof value === 'object' ? { ...value, text: '' } : value;
}

const goodTexts: Readonly<Record<string, string>> = {
  ...{ schema_asset: 'stock', country_symbol: 'US:A', interval: 'DAY', option_type: 'call' },
  ...{ moneyness: 'in_the_money', full_symbol: 'stock:US:*', query: 'A' },
  ...{ from_date: '1950-01-01', to_date: '2150-01-01', symbols: 'US:A' },
};

for (const one of timed) {
  test(`${one.parameter} of ${one.name} takes times without seconds, offsets without a colon, t and z in lower case (contract 2.1)`, () => {
    const expected = timeOf(one, '2025-03-03T09:30:00%2B05:30');
    const plus = one.declared.in === 'path' ? ['+0530', '+05:30'] : ['+0530', '+05:30', '%200530'];
    for (const offset of ['%2B0530', ...plus])
      for (const time of ['T09:30', 't09:30', 't09:30:00', '%2009:30:00'])
        assert.deepEqual(timeOf(one, `2025-03-03${time}${offset}`), expected, time + offset);
    const utc = timeOf(one, '2025-03-03T09:30:00Z');
    for (const time of ['t09:30z', 'T09:30Z', 'T09:30:00z', 'T09:30-0000'])
      assert.deepEqual(timeOf(one, `2025-03-03${time}`), utc, time);
  });
}

/** What a query string says of one parameter. */
const sentAs = (query: string, name: string): string | undefined =>
  queryText(readQuery(query, everything).query, name);

const malformed = ['%', '%2', '%ZZ', 'a%', '%E0%A4%A', '%C3', '%FF', '%ED%A0%80', '%C0%80', '%80'];

test('malformed percent-encoding, a lone surrogate and an overlong NUL among it, names the parameter (contract 6.2)', () => {
  for (const sent of malformed) {
    const inPath = refusalOf(() => parsed(`/api/v2/stock/reference/${sent}`));
    assert.deepEqual([inPath.word, inPath.facts.param], ['invalid_parameter', 'country_symbol'], sent);
    assert.match(inPath.facts.message, /^country_symbol .*%25/);
    const inQuery = refusalOf(() => parsed('/api/v2/news/latest', `limit=${sent}`));
    assert.deepEqual([inQuery.word, inQuery.facts.param], ['invalid_parameter', 'limit'], sent);
  }
});

test('a malformed key is refused without repeating any of it (contract 6.2, 7.4)', () => {
  const secret = 'MARKED-KEY-0123456789';
  for (const sent of malformed) {
    const { word, facts } = refusalOf(() => sentAs(`secret_key=${secret}${sent}`, 'secret_key'));
    assert.equal(facts.param, 'secret_key');
    assert.equal(word, 'invalid_parameter');
    assert.ok(!JSON.stringify(facts).includes(secret), `the refusal holds the key: ${JSON.stringify(facts)}`);
  }
});

test('a decoded NUL is refused by the parameter that has it (contract 1.3)', () => {
  assert.equal(refusalOf(() => parsed('/api/v2/stock/reference/US:A%00')).facts.param, 'country_symbol');
  assert.equal(
    refusalOf(() => parsed('/api/v2/economic_calendar/event', 'event_code=A%00')).facts.param,
    'event_code',
  );
});

test('malformed names, and malformed values of unknown names, are ignored like every unknown one (contract 4.4)', () => {
  const known = (name: string): boolean => name === 'limit';
  for (const query of ['%ZZ=1&limit=5', 'other=%ZZ&limit=5', '&&limit=5&&', '=1&limit=5', 'LIMIT=7&limit=5'])
    assert.deepEqual([...readQuery(query, known).query], [['limit', ['5']]], query);
});

test('a name is decoded too, a value may hold equal signs, a name without one is empty', () => {
  assert.equal(sentAs('li%6Dit=5', 'limit'), '5');
  assert.equal(sentAs('next_page_key=a=b==', 'next_page_key'), 'a=b==');
  assert.equal(sentAs('next_page_key', 'next_page_key'), '');
  assert.equal(sentAs('next_page_key=', 'next_page_key'), '');
  assert.equal(sentAs('', 'next_page_key'), undefined);
});

test('names of every object are unknown names (contract 4.4)', () => {
  const { parameters } = contract.newsList;
  const known = (name: string): boolean => Object.hasOwn(parameters, name);
  const { query, ignored } = readQuery('__proto__=1&constructor=2&toString=3&constructor=4', known);
  assert.deepEqual([query.size, ignored], [0, ['__proto__', 'constructor', 'toString']]);
  const hostile = '__proto__=1&constructor=2';
  assert.deepEqual([sentAs(hostile, '__proto__'), sentAs(hostile, 'constructor')], ['1', '2']);
  assert.equal(({} as Record<string, unknown>)['1'], undefined);
});

test('of a repeated parameter the last counts (contract 4.4)', () => {
  assert.equal(parsed('/api/v2/news/latest', 'limit=5&sort=asc&limit=7&sort=DESC').limit, 7);
  assert.equal(parsed('/api/v2/news/latest', 'limit=5&sort=asc&limit=7&sort=DESC').sort, 'desc');
  assert.equal(parsed('/api/v2/news/latest', 'limit=wrong&limit=7').limit, 7);
});

test('a repeated key or page key counts once where its values are the same, and is refused where they differ (contract 4.4)', () => {
  for (const name of ['secret_key', 'next_page_key']) {
    assert.equal(sentAs(`${name}=abc&limit=5&${name}=abc`, name), 'abc');
    assert.equal(sentAs(`${name}=abc&${name}=%61bc`, name), 'abc');
    for (const query of [`${name}=abc&${name}=abd`, `${name}=&${name}=abc`, `${name}=abc&${name}`]) {
      const { word, facts } = refusalOf(() => sentAs(query, name));
      assert.equal(facts.param, name);
      assert.ok(word === 'invalid_parameter' || word === 'invalid_page_key');
      assert.ok(!JSON.stringify(facts).includes('abc'), 'the refusal holds the key');
    }
  }
});

test('an empty value is a refusal, except of the page key (contract 4.4)', () => {
  assert.equal(refusalOf(() => parsed('/api/v2/news/latest', 'limit=')).facts.param, 'limit');
  assert.equal(refusalOf(() => parsed('/api/v2/news/latest', 'limit')).facts.param, 'limit');
  const { next_page_key } = parsed(
    '/api/v2/news/list',
    'from_date=2025-01-01&to_date=2025-01-02&next_page_key=',
  );
  assert.equal(next_page_key, '');
});

test('a query parameter does not stand in for one of the path, nor the other way round', () => {
  const match = matched('/api/v2/stock/reference/US:AAPL');
  const query = new Map([['country_symbol', ['US:MSFT']]]);
  assert.deepEqual(parseRequest(match, query).country_symbol, { country: 'US', symbol: 'AAPL' });
});

test('left-out parameters have their defaults, an empty path segment is named (contract 4.4)', () => {
  assert.deepEqual(parsed('/api/v2/economic_calendar/event', `source_id=${key64}`), {
    country_iso_code: undefined,
    event_code: undefined,
    source_id: key64,
    from_date: undefined,
    to_date: undefined,
    impact: undefined,
    as_of: undefined,
    data_version: undefined,
    sort: 'desc',
  });
  assert.equal(refusalOf(() => parsed('/api/v2//reference/US:AAPL')).facts.param, 'schema_asset');
  assert.equal(refusalOf(() => parsed('/api/v2/stock/reference/')).facts.param, 'country_symbol');
});

test('any query string is read or refused, never a fault (contract 6.4)', () => {
  const piece = fc.constantFrom(
    '%',
    '&',
    '=',
    '+',
    '%4',
    '%41',
    'limit',
    'secret_key',
    '\u0000',
    'é',
    '%C3%A9',
    ';',
    '#',
  );
  fc.assert(
    fc.property(
      fc.array(piece).map((pieces) => pieces.join('')),
      (query) => {
        try {
          readQuery(query, everything);
        } catch (error) {
          assert.ok(error instanceof Refusal);
        }
      },
    ),
  );
});

test('the 404 of a path with a slash too many says so (contract 6.3)', () => {
  const right = '/api/v2/stock/bars/US:AAPL/1M/latest';
  const cases: readonly [path: string, hint: RegExp][] = [
    [`${right}/`, /a slash at its end: leave it out/],
    [`/${right}`, /two slashes in a row: write one/],
    [right.replace('/1M', '//1M'), /two slashes in a row: write one/],
    [`${right.replace('/1M', '//1M')}/`, /a slash at its end/],
    ['/api/v2/nothing/', /Paths begin with/],
    ['/', /Paths begin with/],
  ];
  for (const [path, hint] of cases) assert.match(unknownPath(path).facts.hint!, hint, path);
});
