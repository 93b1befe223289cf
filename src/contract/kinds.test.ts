// The kinds of parameter: which texts they read, as what, and how they refuse the rest (contract 1.6, 2, 3.5,
// 4.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/seed.ts';
import { DAY_MS } from '../base/instant.ts';
import { type ErrorWord, Refusal } from './errors.ts';
import {
  assetSchema,
  country,
  countrySymbol,
  date,
  dateTime,
  decimal,
  flag,
  fullSymbol,
  interval,
  type Kind,
  limit,
  oneOf,
  pageKey,
  sortBy,
  text,
} from './kinds.ts';
import { limits, listLimits } from './limits.ts';

/** The refusal of a text, or a failure where there is none. */
function refusalOf(kind: Kind<unknown>, raw: string): Refusal {
  try {
    kind.parse(raw);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return assert.fail(`${JSON.stringify(raw.slice(0, 40))} is not refused`);
}

function refuses(kind: Kind<unknown>, raws: readonly string[], word: ErrorWord = 'invalid_parameter'): void {
  for (const raw of raws) assert.equal(refusalOf(kind, raw).word, word, JSON.stringify(raw.slice(0, 40)));
}

/** Texts that are no value of any kind but free text. */
const hostile: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'asc\u0000',
  'true\n',
  '\uD800',
  '5\uDFFF',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '%00',
  '１００',
  '9'.repeat(20_000),
  'a'.repeat(20_000),
];

const words = oneOf(['asc', 'desc']);
const hundred = limit({ default: 100, max: 1000 });

test('hostile names, NUL, lone surrogates and 20000 characters are refused by every closed kind (contract 6.4)', () => {
  for (const kind of [assetSchema, country, countrySymbol, fullSymbol, words, flag, hundred, decimal])
    refuses(kind, hostile);
  for (const kind of [dateTime, date]) refuses(kind, hostile);
  refuses(interval, hostile, 'unknown_interval');
  const keyed = hostile.filter((raw) => raw.length >= 20_000 || !/^[A-Za-z0-9_-]*$/.test(raw));
  refuses(pageKey, keyed, 'invalid_page_key');
});

test('a limit is a plain decimal integer from 1 to the maximum, never clamped (contract 4.4)', () => {
  for (const [raw, value] of [
    ['1', 1],
    ['5', 5],
    ['999', 999],
    ['1000', 1000],
  ] as const)
    assert.equal(hundred.parse(raw), value);
  refuses(hundred, [
    '0',
    '00',
    '-0',
    '1001',
    '1000000',
    '9999999',
    '-1',
    '+5',
    ' 5',
    '5 ',
    '5\n',
    '5\u0000',
    '0x10',
    '0b1',
    '1e2',
    '1E2',
    '5.0',
    '5.',
    '.5',
    '1,000',
    '1_000',
    '10n',
    '٥',
    'five',
    'Infinity',
  ]);
});

test('the refusal of a limit names the maximum (contract 4.4)', () => {
  for (const { max } of Object.values(listLimits)) {
    const kind = limit({ default: 1, max });
    assert.equal(kind.parse(String(max)), max);
    const { facts } = refusalOf(kind, String(max + 1));
    assert.match(facts.message, new RegExp(`\\b${max}\\b`));
    assert.match(String(facts.allowed), new RegExp(`\\b${max}\\b`));
  }
});

test('a number is a limit exactly where it lies in the bounds (contract 4.4)', () => {
  fc.assert(
    fc.property(fc.integer({ min: -2000, max: 5000 }), (number) => {
      if (number >= 1 && number <= 1000) assert.equal(hundred.parse(String(number)), number);
      else refuses(hundred, [String(number)]);
    }),
  );
});

test('a flag is true false 1 0 yes no, in any letter case (contract 3.5)', () => {
  for (const raw of ['true', 'TRUE', 'True', 'tRuE', '1', 'yes', 'YES', 'Yes'])
    assert.equal(flag.parse(raw), true);
  for (const raw of ['false', 'FALSE', 'False', '0', 'no', 'NO', 'No']) assert.equal(flag.parse(raw), false);
  refuses(flag, ['t', 'f', 'y', 'n', 'on', 'off', '2', '-1', '01', '1.0', ' true', 'true ', 'ja', 'yeſ']);
});

test('one of a few words is read in any letter case, and goes on as the word itself (contract 1.6)', () => {
  for (const raw of ['asc', 'ASC', 'Asc', 'aSc']) assert.equal(words.parse(raw), 'asc');
  for (const raw of ['desc', 'DESC', 'Desc']) assert.equal(words.parse(raw), 'desc');
  refuses(words, ['ascending', 'as', ' asc', 'asc ', 'asc,desc', 'aſc', 'deſc']);
  assert.deepEqual(refusalOf(words, 'up').facts, {
    message: 'must be one of asc, desc',
    allowed: ['asc', 'desc'],
  });
});

test('a refused interval has its own word and names the intervals (contract 6.3)', () => {
  const { word, facts } = refusalOf(interval, '7D');
  assert.equal(word, 'unknown_interval');
  assert.match(facts.message, /\b1M\b.*\bDAY\b.*\bWEEK\b.*\bMON\b/);
});

test('a date-time keeps what was written beside what it means (contract 2.1)', () => {
  const raw = '2025-07-18T00:00:00+05:30';
  assert.deepEqual(dateTime.parse(raw), {
    kind: 'time',
    ms: Date.parse(raw),
    isLater: false,
    hasOffset: true,
    day: Date.UTC(2025, 6, 18) / DAY_MS,
    text: raw,
  });
});

test('a date counts by its date as written, whatever time and offset follow (contract 2.2)', () => {
  const day = Date.UTC(2025, 6, 18) / DAY_MS;
  for (const raw of [
    '2025-07-18',
    '2025-07-18 00:00:00',
    '2025-07-18T23:59:59Z',
    '2025-07-18T00:00:00+14:00',
    '2025-07-18T23:00:00-11:00',
    '2025-07-18 00:00:00 00:00',
  ])
    assert.equal(date.parse(raw), day, raw);
  refuses(date, ['2025-07-32', '1899-12-31', '2201-01-01', '2025-07-18T24:00:00', 'today']);
});

test('a decimal is digits with at most one point and a sign, and finite', () => {
  for (const [raw, value] of [
    ['71.22', 71.22],
    ['-0.5', -0.5],
    ['0', 0],
    ['100', 100],
    ['.5', 0.5],
  ] as const)
    assert.equal(decimal.parse(raw), value);
  refuses(decimal, ['0x10', '1,5', '1.2.3', '--1', '.', '-', '+', ' 1', '1 ', 'Infinity', '1_000', '٥']);
});

test('a decimal may have an exponent, with or without a sign, as programs write it (contract 9.21)', () => {
  // Python's repr, JavaScript's String, C's %g, and a + that a query turned into a space.
  for (const [raw, value] of [
    ['1e-05', 0.00001],
    ['2.5e-7', 0.00000025],
    ['1E-005', 0.00001],
    ['1e+06', 1_000_000],
    ['1e2', 100],
    ['2.5E6', 2_500_000],
    ['1e 06', 1_000_000],
    ['-1.25e-12', -1.25e-12],
    ['1.2345678e-11', 1.2345678e-11],
  ] as const) {
    assert.equal(decimal.parse(raw), value);
    assert.equal(decimal.parse(decimal.print(value)), value);
  }
  refuses(decimal, ['1e', '1e99', '1e+15', '1e-1000', 'e-05', '1e-', '1e--5', '1 e-05', '1e-0.5', '1e+99']);
});

test('free text is bounded, and has no control characters', () => {
  const kind = text('A', { min: 1, max: 5 });
  for (const raw of ['A', 'ABCDE', 'a b', 'é', '__pr', '漢字', '😀😀😀😀😀'])
    assert.equal(kind.parse(raw), raw);
  refuses(kind, ['', 'ABCDEF', '😀😀😀😀😀😀', 'A\u0000', 'A\n', '\u007F', '\u0085', 'A'.repeat(20_000)]);
  assert.match(refusalOf(kind, '').facts.message, /1 to 5 characters/);
  assert.match(refusalOf(text('A', { min: 64, max: 64 }), 'A').facts.message, /\b64 characters/);
  refuses(text('A', { min: 4, max: 4 }), ['😀😀']);
});

test('a page key is what the service may have given, and may be empty (contract 4.4)', () => {
  for (const raw of ['', 'AZaz09_-', 'A'.repeat(limits.pageKeyCharactersMax)])
    assert.equal(pageKey.parse(raw), raw);
  assert.equal(pageKey.emptyAllowed, true);
  refuses(
    pageKey,
    ['a b', 'a+b', 'a/b', 'a=', 'é', 'A'.repeat(limits.pageKeyCharactersMax + 1)],
    'invalid_page_key',
  );
});

test('no other kind takes the empty text (contract 4.4)', () => {
  const kinds: readonly Kind<unknown>[] = [
    assetSchema,
    country,
    countrySymbol,
    fullSymbol,
    interval,
    words,
    flag,
    hundred,
    decimal,
    dateTime,
    date,
    text('A', { min: 1, max: 5 }),
  ];
  for (const kind of kinds) assert.notEqual(kind.emptyAllowed, true);
});

const printed: readonly [name: string, kind: Kind<unknown>, raws: readonly string[]][] = [
  ['an asset type', assetSchema, ['stock', 'STOCK', 'forex']],
  ['a country', country, ['us', 'GB', 'global', 'in']],
  ['a country and symbol', countrySymbol, ['us:aapl', 'GLOBAL:BTC/USD', 'gb:A+$#!@~_']],
  ['a full symbol', fullSymbol, ['stock:us:*', 'FOREX:GLOBAL:EURUSD']],
  ['an interval', interval, ['1m', '1d', '45M', 'mon', '1mo']],
  ['a word', words, ['ASC', 'desc']],
  ['a flag', flag, ['YES', '0', 'true']],
  ['a limit', hundred, ['1', '100', '1000']],
  ['a date', date, ['2025-07-18', '2025-07-18T23:00:00-11:00', '1900-01-01', '2200-12-31']],
  ['a date-time', dateTime, ['2025-07-18', '2025-07-18T00:00:00+05:30', '2023-01-01 00:00:00 00:00']],
  ['a text', text('A', { min: 1, max: 50 }), ['strike_price desc,expiration_date', 'é & ä']],
  ['a page key', pageKey, ['', 'AZaz09_-']],
  ['a decimal', decimal, ['71.22', '-0.5', '0', '100', '0.000001']],
];
for (const [name, kind, raws] of printed) {
  test(`${name} is printed as a text that reads as the same value, so that a next page's address works (contract 4.3)`, () => {
    for (const raw of raws) assert.deepEqual(kind.parse(kind.print(kind.parse(raw))), kind.parse(raw), raw);
  });
}

test('a decimal that is read, however small or great, is printed as a text that reads as the same value (contract 4.3)', () => {
  const read = (raw: string): number | null => {
    try {
      return decimal.parse(raw);
    } catch (error) {
      if (error instanceof Refusal) return null;
      throw error;
    }
  };
  const digits = fc.stringMatching(/^-?(\d{0,20}\.)?\d{1,20}$/);
  const extremes = [
    '0.0000001',
    '0.00000000015',
    `1${'0'.repeat(21)}`,
    '9'.repeat(40),
    `.${'0'.repeat(38)}1`,
  ];
  fc.assert(
    fc.property(fc.oneof(digits, fc.constantFrom(...extremes)), (raw) => {
      const value = read(raw);
      if (value !== null) assert.equal(read(decimal.print(value)), value + 0, raw);
    }),
  );
});

const sorting = sortBy(['price', 'price_date', 'name'], 'price desc,name');

test('fields to sort by: any case, spaces around, a direction or none, one that comes again adds nothing (contract 8.4)', () => {
  const cases: readonly (readonly [raw: string, printed: string])[] = [
    ['price', 'price asc'],
    ['PRICE Desc', 'price desc'],
    [' price  desc , name', 'price desc,name asc'],
    ['price_date,price', 'price_date asc,price asc'],
    ['name desc,price,name asc', 'name desc,price asc'],
  ];
  for (const [raw, printed] of cases) {
    const terms = sorting.parse(raw);
    assert.equal(sorting.print(terms), printed, raw);
    assert.deepEqual(sorting.parse(printed), terms);
  }
});

test('what is no list of fields to sort by is refused with those that are (contract 8.4)', () => {
  const wrong = ['cost', 'price up', 'price,', ',', ' ', 'price;name', 'price desc asc', 'pricedesc'];
  for (const raw of [...wrong, '__proto__', 'price\n', 'price\u00a0desc', 'price,'.repeat(40)]) {
    assert.throws(
      () => sorting.parse(raw),
      (error) => error instanceof Refusal && error.facts.allowed?.toString() === 'price,price_date,name',
      raw,
    );
  }
});

test('every example is a value of its kind', () => {
  for (const kind of [
    assetSchema,
    country,
    countrySymbol,
    fullSymbol,
    interval,
    words,
    flag,
    hundred,
    decimal,
    sorting,
  ])
    kind.parse(kind.example);
  for (const kind of [dateTime, date, pageKey]) kind.parse(kind.example);
});
