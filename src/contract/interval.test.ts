// Interval codes (contract 3.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interval, intervalMinutes, namedIntervals, parseInterval } from './interval.ts';

const named: readonly [code: string, minutes: number | null][] = [
  ['1M', 1],
  ['3M', 3],
  ['5M', 5],
  ['10M', 10],
  ['15M', 15],
  ['30M', 30],
  ['60M', 60],
  ['120M', 120],
  ['240M', 240],
  ['DAY', null],
  ['WEEK', null],
  ['MON', null],
];

test('the twelve intervals are named, finest first (contract 3.1)', () => {
  assert.deepEqual(
    namedIntervals,
    named.map(([code]) => code),
  );
});

for (const [code, minutes] of named) {
  test(`${code} is read in any letter case and is ${minutes ?? 'no number of'} minutes (contract 3.1)`, () => {
    for (const text of [code, code.toLowerCase(), code[0] + code.slice(1).toLowerCase()])
      assert.equal(parseInterval(text), code);
    assert.equal(intervalMinutes(interval(code)), minutes);
  });
}

test('1M and 1m are one minute, a month is MON (contract 3.1)', () => {
  assert.deepEqual(['1M', '1m', '1mo', 'mon', 'month'].map(parseInterval), ['1M', '1M', 'MON', 'MON', 'MON']);
});

const aliases: readonly [alias: string, code: string][] = [
  ['1h', '60M'],
  ['2h', '120M'],
  ['4h', '240M'],
  ['1d', 'DAY'],
  ['day', 'DAY'],
  ['1w', 'WEEK'],
  ['1mo', 'MON'],
  ['month', 'MON'],
];
test('every alias is read, in any letter case (contract 3.1)', () => {
  for (const [alias, code] of aliases)
    for (const text of [alias, alias.toUpperCase()]) assert.equal(parseInterval(text), code, text);
});

test('any whole number of minutes from 1 to 1440 is an interval, also with min (contract 1.7, 3.1)', () => {
  for (let minutes = 1; minutes <= 1440; minutes++) {
    assert.equal(parseInterval(`${minutes}M`), `${minutes}M`);
    assert.equal(parseInterval(`${minutes}m`), `${minutes}M`);
    for (const alias of ['min', 'MIN', 'Min']) assert.equal(parseInterval(minutes + alias), `${minutes}M`);
    assert.equal(intervalMinutes(interval(`${minutes}M`)), minutes);
  }
});

test('anything else is no interval (contract 3.1)', () => {
  for (const text of [
    '',
    ' ',
    'M',
    '0M',
    '0min',
    '01min',
    '1441min',
    '45mins',
    '45minutes',
    'min',
    '01M',
    '00M',
    '1441M',
    '9999M',
    '99999M',
    '-1M',
    '+1M',
    '1.5M',
    '1e1M',
    '0x1M',
    ' 1M',
    '1M ',
    '1M\n',
    '1M\u0000',
    '1 M',
    '1',
    '1S',
    '1Y',
    '2D',
    '2W',
    '3h',
    'hour',
    'DAILY',
    'MONDAY',
    '١M',
    '１M',
    '1ｍ',
    'WEE\u212A',
    '__proto__',
    'constructor',
    'toString',
    'valueOf',
    '\uD800',
    `1${'0'.repeat(20_000)}M`,
  ])
    assert.equal(parseInterval(text), null, JSON.stringify(text.slice(0, 40)));
});

test('letters that become I or S in upper case are not those letters (contract 3.1)', () => {
  for (const text of ['1m\u0131n', '1M\u0131N', '5m\u0131n']) assert.equal(parseInterval(text), null, text);
});

test('a literal that is no interval is a fault of ours', () => {
  assert.throws(() => interval('1X'), /1X/);
});
