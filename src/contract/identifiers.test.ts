// The grammars of identifiers (spec 2.12, contract 1): what is read, as what, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyText } from '../../test/any-text.ts';
import { fc } from '../../test/seed.ts';
import {
  assetSchemas,
  parseAssetSchema,
  parseCountry,
  parseCountrySymbol,
  parseFullSymbol,
  parseSymbol,
  upperAscii,
} from './identifiers.ts';

/** Texts that no identifier is, whatever its grammar. */
const hostile: readonly string[] = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\u0000',
  'US\u0000',
  'AAPL\n',
  ' AAPL',
  'AAPL ',
  '\uD800',
  'AAPL\uDFFF',
  'ＡＡＰＬ',
  'ſtock',
  'Ünited',
  "AAPL'--",
  '<script>',
  'A'.repeat(20_000),
];
const letterCases = (word: string): fc.Arbitrary<string> =>
  fc.infiniteStream(fc.boolean()).map((upper) =>
    Array.from(word, (letter) => {
      return upper.next().value ? letter.toUpperCase() : letter.toLowerCase();
    }).join(''),
  );
const symbolCharacters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/^=&+$#!@~');
const anySymbol = fc.string({ unit: fc.constantFrom(...symbolCharacters), minLength: 1, maxLength: 40 });

test('the asset types are stock, future, crypto, forex and option, in any letter case (contract 1.1)', () => {
  assert.deepEqual(assetSchemas, ['stock', 'future', 'crypto', 'forex', 'option']);
  for (const schema of assetSchemas)
    fc.assert(
      fc.property(letterCases(schema), (text) => assert.equal(parseAssetSchema(text), schema)),
      { numRuns: 20 },
    );
});

test('another asset type is refused (contract 1.1)', () => {
  for (const text of [...hostile, 'stocks', 'etf', 'index', 'stock:', 'all', '*'])
    assert.equal(parseAssetSchema(text), null, JSON.stringify(text.slice(0, 40)));
});

/** The countries that the specification names, and the market of crypto and forex. */
const countryCodes = ['US', 'UK', 'EU', 'DE', 'FR', 'JP', 'AU', 'CA', 'CH', 'HK', 'CN', 'GLOBAL'];

test('every named country is read in any letter case and goes out in upper case (spec 2.12, contract 1.2)', () => {
  for (const code of countryCodes)
    fc.assert(
      fc.property(letterCases(code), (text) => assert.equal(parseCountry(text), code)),
      { numRuns: 20 },
    );
});

test('GB is UK, and any other two letters are a country an operator may have loaded (contract 1.2)', () => {
  assert.deepEqual(['GB', 'gb', 'Gb', 'IN', 'br', 'XX'].map(parseCountry), [
    'UK',
    'UK',
    'UK',
    'IN',
    'BR',
    'XX',
  ]);
});

test('what is neither two letters nor GLOBAL is no country (contract 1.2)', () => {
  for (const text of [...hostile, 'U', 'USA', 'U1', '12', 'GLOBE', 'GLOBALS', 'U*', '*', 'U S'])
    assert.equal(parseCountry(text), null, JSON.stringify(text.slice(0, 40)));
});

const symbols: readonly [text: string, symbol: string][] = [
  ['AAPL', 'AAPL'],
  ['aapl', 'AAPL'],
  ['brk.b', 'BRK.B'],
  ['BRK/B', 'BRK/B'],
  ['^gspc', '^GSPC'],
  ['EURUSD=X', 'EURUSD=X'],
  ['btc-usd', 'BTC-USD'],
  ['S&P', 'S&P'],
  ['0700', '0700'],
  ['esu23', 'ESU23'],
  ['SPY250919C00450000', 'SPY250919C00450000'],
  ['A+$#!@~_', 'A+$#!@~_'],
  ['__proto__', '__PROTO__'],
  ['constructor', 'CONSTRUCTOR'],
  ['A'.repeat(40), 'A'.repeat(40)],
];
for (const [text, symbol] of symbols) {
  test(`${text} is the symbol ${symbol} (contract 1.3, 1.4)`, () => {
    assert.equal(parseSymbol(text), symbol);
  });
}

test('a symbol of 41 characters, or of a character outside the list, is refused (contract 1.3)', () => {
  const others = [
    ...Array.from('*:;,\\|"\'`%()[]{}<>?'),
    'é',
    'ß',
    'ı',
    'ſ',
    '\u212A',
    '漢',
    '😀',
    '\t',
    '\u007F',
    '\uD800',
  ];
  assert.equal(parseSymbol(''), null);
  assert.equal(parseSymbol('A'.repeat(41)), null);
  for (const other of others)
    for (const text of [other, `A${other}`, `${other}A`, `A${other}A`])
      assert.equal(parseSymbol(text), null, JSON.stringify(text));
});

test('upper case is of a to z alone, so that no other letter becomes one of a symbol (contract 1.3)', () => {
  assert.equal(upperAscii('azßıſéAZ09'), 'AZßıſéAZ09');
  fc.assert(
    fc.property(anyText, (text) => {
      const upper = upperAscii(text);
      assert.equal(upper.length, text.length);
      for (let index = 0; index < text.length; index++) {
        const code = text.charCodeAt(index);
        assert.equal(upper.charCodeAt(index), code >= 97 && code <= 122 ? code - 32 : code);
      }
    }),
  );
});

test('any text of the listed characters is a symbol, the same in lower case (contract 1.3)', () => {
  fc.assert(
    fc.property(anySymbol, (symbol) => {
      assert.equal(parseSymbol(symbol), symbol);
      assert.equal(parseSymbol(symbol.toLowerCase()), symbol);
      assert.deepEqual(parseCountrySymbol(`us:${symbol}`), { country: 'US', symbol });
      assert.deepEqual(parseFullSymbol(`STOCK:us:${symbol}`), {
        assetSchema: 'stock',
        country: 'US',
        symbol,
      });
    }),
  );
});

test('the first colon parts country from symbol (spec 2.12, contract 1.3)', () => {
  assert.deepEqual(parseCountrySymbol('us:aapl'), { country: 'US', symbol: 'AAPL' });
  assert.deepEqual(parseCountrySymbol('GLOBAL:BTC/USD'), { country: 'GLOBAL', symbol: 'BTC/USD' });
  assert.deepEqual(parseCountrySymbol('GB:VOD'), { country: 'UK', symbol: 'VOD' });
});

const prefixed: readonly [text: string, country: string, symbol: string][] = [
  ['US:O:SPY250919C00450000', 'US', 'SPY250919C00450000'],
  ['O:SPY250919C00450000', 'US', 'SPY250919C00450000'],
  ['us:o:spxw250919p05000000', 'US', 'SPXW250919P05000000'],
  ['X:BTCUSD', 'GLOBAL', 'BTCUSD'],
  ['x:btc-usd', 'GLOBAL', 'BTC-USD'],
  ['C:EURUSD', 'GLOBAL', 'EURUSD'],
  ['c:eur/usd', 'GLOBAL', 'EUR/USD'],
];
for (const [text, country, symbol] of prefixed) {
  test(`${text}, as Massive writes it, is ${symbol} of ${country} (contract 1.7)`, () => {
    assert.deepEqual(parseCountrySymbol(text), { country, symbol });
    assert.deepEqual(parseFullSymbol(`option:${text}`), { assetSchema: 'option', country, symbol });
  });
}

test('X: and C: with a wildcard are the markets of GLOBAL (contract 1.7)', () => {
  assert.deepEqual(parseFullSymbol('crypto:X:*'), { assetSchema: 'crypto', country: 'GLOBAL', symbol: '*' });
  assert.deepEqual(parseFullSymbol('forex:c:*'), { assetSchema: 'forex', country: 'GLOBAL', symbol: '*' });
});

test('another prefix, one without a symbol, and O: before what is no option symbol are refused (contract 1.4, 1.7)', () => {
  for (const text of [
    ...['O:', 'X:', 'C:', 'US:O:', 'O:*', 'O:SPY', 'O:250919C00450000', 'US:O:AAPL', 'O:SPY250919X00450000'],
    ...['I:SPX', 'US:X:BTCUSD', 'X:X:BTCUSD', 'C:O:SPY250919C00450000', 'UK:O:SPY250919C00450000', 'X:US:A'],
    ...['O:O:SPY250919C00450000', 'US:O:O:SPY250919C00450000', 'O :SPY250919C00450000'],
  ])
    assert.equal(parseCountrySymbol(text), null, text);
  for (const text of ['option:O:*', 'option:US:O:*', 'X:*', 'X:BTCUSD'])
    assert.equal(parseFullSymbol(text), null, text);
});

test('a country and symbol of another shape are refused (spec 2.12)', () => {
  for (const text of [
    ...hostile,
    ...hostile.map((part) => `${part}:AAPL`),
    ...hostile.filter((part) => parseSymbol(part) === null).map((part) => `US:${part}`),
    'AAPL',
    'US',
    'US:',
    ':AAPL',
    ':',
    'US:AAPL:X',
    'US:*',
    'USA:AAPL',
    'stock:US:AAPL',
    'US%3AAAPL',
  ])
    assert.equal(parseCountrySymbol(text), null, JSON.stringify(text.slice(0, 40)));
});

const fullSymbols: readonly [text: string, assetSchema: string, country: string, symbol: string][] = [
  ['stock:US:AAPL', 'stock', 'US', 'AAPL'],
  ['STOCK:us:aapl', 'stock', 'US', 'AAPL'],
  ['stock:US:*', 'stock', 'US', '*'],
  ['Stock:gb:*', 'stock', 'UK', '*'],
  ['crypto:GLOBAL:BTCUSD', 'crypto', 'GLOBAL', 'BTCUSD'],
  ['forex:global:*', 'forex', 'GLOBAL', '*'],
  ['option:US:SPY250919C00450000', 'option', 'US', 'SPY250919C00450000'],
  ['future:US:ESU23', 'future', 'US', 'ESU23'],
];
for (const [text, assetSchema, country, symbol] of fullSymbols) {
  test(`${text} is ${symbol} of ${assetSchema} in ${country} (spec 2.12)`, () => {
    assert.deepEqual(parseFullSymbol(text), { assetSchema, country, symbol });
  });
}

test('a full symbol of another shape is refused, a wildcard too that is not the whole symbol (spec 2.12)', () => {
  for (const text of [
    ...hostile,
    'US:AAPL',
    'US:*',
    'stock',
    'stock:',
    'stock::',
    'stock:*',
    'stock:US',
    'stock:US:',
    'stock::AAPL',
    'stock::*',
    'stock:*:AAPL',
    'stock:*:*',
    '*:US:*',
    'stock:US:A*',
    'stock:US:**',
    'stock:US:AAPL:*',
    'stock:US:AAPL:X',
    'bond:US:AAPL',
    ':US:AAPL',
    '__proto__:US:AAPL',
  ])
    assert.equal(parseFullSymbol(text), null, JSON.stringify(text.slice(0, 40)));
});

test('no text makes a grammar throw (contract 6.4)', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      parseAssetSchema(text);
      parseCountry(text);
      parseSymbol(text);
      parseCountrySymbol(text);
      parseFullSymbol(text);
    }),
  );
});
