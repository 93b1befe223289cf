// One declaration's parameters read from raw texts: required, defaulted, left out, empty (contract 4.4, 6.2).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaulted,
  endpoint,
  extension,
  fieldsOf,
  nextPageKey,
  optional,
  parseParameters,
  path,
  required,
} from './endpoint.ts';
import { Refusal } from './errors.ts';
import { integer, object, text } from './fields.ts';
import * as kind from './kinds.ts';

const declaration = endpoint({
  path: '/api/v2/example/{word}',
  tag: 'example',
  summary: 'An example',
  parameters: {
    word: path(kind.oneOf(['one', 'two']), 'the word'),
    name: required(kind.text('Ann', { min: 1, max: 10 }), 'the name'),
    limit: defaulted(kind.limit({ default: 150, max: 1000 }), 150, 'how many'),
    is_eth: defaulted(kind.flag, false, 'whether more'),
    sort: optional(kind.oneOf(['asc', 'desc']), 'the order'),
    more: extension(optional(kind.flag, 'whether more still')),
    next_page_key: nextPageKey,
  },
  record: object({ b: text(), a: integer() }),
  shape: 'paged',
});

const parse = (raw: Readonly<Record<string, string>>) =>
  parseParameters(declaration, new Map(Object.entries(raw)));

function refusalOf(raw: Readonly<Record<string, string>>): Refusal {
  try {
    parse(raw);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  return assert.fail(`${JSON.stringify(raw)} is not refused`);
}

test('a parameter left out has its default, or is undefined where it has none (contract 4.4)', () => {
  assert.deepEqual(parse({ word: 'one', name: 'Ann' }), {
    word: 'one',
    name: 'Ann',
    limit: 150,
    is_eth: false,
    sort: undefined,
    more: undefined,
    next_page_key: undefined,
  });
});

test('given parameters are read by their kind, an unknown one is ignored (contract 4.4)', () => {
  const raw = {
    word: 'TWO',
    name: 'ann',
    limit: '7',
    is_eth: 'YES',
    sort: 'Desc',
    more: '0',
    next_page_key: 'k',
  };
  assert.deepEqual(parse({ ...raw, unknown: 'x', constructor: 'x' }), {
    word: 'two',
    name: 'ann',
    limit: 7,
    is_eth: true,
    sort: 'desc',
    more: false,
    next_page_key: 'k',
  });
});

test('an empty next_page_key asks for the first page (contract 4.4)', () => {
  assert.equal(parse({ word: 'one', name: 'Ann', next_page_key: '' }).next_page_key, '');
});

const refusals: readonly [
  name: string,
  raw: Readonly<Record<string, string>>,
  param: string,
  got?: string,
][] = [
  ['a required parameter left out', { word: 'one' }, 'name'],
  ['an empty required parameter', { word: 'one', name: '' }, 'name', ''],
  ['an empty path parameter', { word: '', name: 'Ann' }, 'word', ''],
  ['an empty parameter with a default', { word: 'one', name: 'Ann', limit: '' }, 'limit', ''],
  ['an empty flag', { word: 'one', name: 'Ann', is_eth: '' }, 'is_eth', ''],
  ['an empty optional parameter', { word: 'one', name: 'Ann', sort: '' }, 'sort', ''],
  ['a limit over the maximum', { word: 'one', name: 'Ann', limit: '1001' }, 'limit', '1001'],
  ['a wrong word', { word: 'three', name: 'Ann' }, 'word', 'three'],
];
for (const [name, raw, param, got] of refusals) {
  test(`${name} is an invalid_parameter whose message names ${param} (contract 4.4, 6.2)`, () => {
    const { word, facts } = refusalOf(raw);
    assert.equal(word, 'invalid_parameter');
    assert.equal(facts.param, param);
    assert.equal(facts.got, got);
    const problem = got === undefined ? 'is required' : got === '' ? 'is empty' : 'must be';
    assert.match(facts.message, new RegExp(`^${param} ${problem}.*\\.$`));
  });
}

test('of several parameters at fault the first declared is named', () => {
  assert.equal(refusalOf({ word: 'three', limit: '0' }).facts.param, 'word');
  assert.equal(refusalOf({ word: 'one', limit: '0' }).facts.param, 'name');
});

test('a malformed page key keeps its own word and names its parameter (contract 6.3)', () => {
  const { word, facts } = refusalOf({ word: 'one', name: 'Ann', next_page_key: 'a b' });
  assert.equal(word, 'invalid_page_key');
  assert.equal(facts.param, 'next_page_key');
});

test('a fault while parsing stays a fault', () => {
  const broken = { ...kind.text('x', { min: 1, max: 5 }), parse: () => assert.fail('broken') };
  const faulty = { ...declaration, parameters: { name: required(broken, 'the name') } };
  assert.throws(
    () => parseParameters(faulty, new Map([['name', 'Ann']])),
    (error) => !(error instanceof Refusal),
  );
});

test('the fields of a record come in the order in which it declares them (contract 5.1)', () => {
  assert.deepEqual(fieldsOf(declaration.record), ['b', 'a']);
});

test('the makers mark where a parameter stands and whether it must be there', () => {
  const { word, name, limit: count, sort, more } = declaration.parameters;
  assert.deepEqual([word.in, word.required], ['path', true]);
  assert.deepEqual([name.in, name.required], ['query', true]);
  assert.deepEqual([count.in, count.required, count.default], ['query', false, 150]);
  assert.deepEqual([sort.in, sort.required, 'default' in sort], ['query', false, false]);
  assert.deepEqual([more.extension, 'extension' in sort], [true, false]);
});
