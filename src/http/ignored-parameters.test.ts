// How ignored query parameters are named (contract 4.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limits } from '../contract/limits.ts';
import { ignoredHeader } from './ignored-parameters.ts';

const known = [
  'limit',
  'sort',
  'adjust',
  'adjust_as_of',
  'from_date',
  'to_date',
  'next_page_key',
  'secret_key',
];

const named: readonly [names: readonly string[], header: string | null][] = [
  [[], null],
  [['adjst'], 'adjst (adjust?)'],
  [['LIMIT', 'Sort'], 'LIMIT (limit?), Sort (sort?)'],
  [['from', 'to'], 'from (from_date?), to (to_date?)'],
  [['fromDate', 'next-page-key'], 'fromDate (from_date?), next-page-key (next_page_key?)'],
  [['secretkey', 'utm_source', '_'], 'secretkey (secret_key?), utm_source, _'],
  [['limit[]', 'a.b'], 'limit[] (limit?), a.b'],
  [['__proto__', 'constructor'], '__proto__, constructor'],
  [['a b', 'ü', 'x,y', 'n(m)', '%ZZ'], '5 more'],
  [['other', 'a\r\nSet-Cookie: a=b'], 'other, 1 more'],
];
for (const [names, header] of named) {
  test(`${JSON.stringify(names)} is reported as ${header} (contract 4.4)`, () => {
    assert.equal(ignoredHeader(names, known), header);
  });
}

test('a text as long as a key is counted, not shown: a mistyped address may have the key as a name (contract 4.4, 7.4)', () => {
  const secret = 'A'.repeat(32);
  assert.equal(ignoredHeader([secret, `secret_key=${secret}`, 'x'], known), 'x, 2 more');
});

test('the header is bounded, and has characters that every header may have, whatever was sent (contract 4.4)', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => `a${index}`);
  const header = ignoredHeader(many, known)!;
  assert.ok(header.endsWith(`, ${3_000 - limits.ignoredNamesMax} more`), header);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 30 }), (names) => {
      const told = ignoredHeader(names, known) ?? '';
      assert.match(told, /^[\w.[\](), ?-]*$/);
      assert.ok(told.length <= 800, `${told.length}`);
    }),
  );
});
