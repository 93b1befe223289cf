// The order of versions: by number, not by character.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOlder } from './version-order.ts';

const cases: readonly [version: string, than: string, expected: boolean][] = [
  ['3.51.2', '3.51.3', true],
  ['3.51.3', '3.51.3', false],
  ['3.51.10', '3.51.3', false],
  ['3.9.0', '3.51.3', true],
  ['4.0.0', '3.51.3', false],
  ['2.99.99', '3.51.3', true],
  ['24.15', '24.15.0', false],
  ['24.15.0', '24.15', false],
  ['24.14.9', '24.15', true],
  ['0', '3.51.3', true],
];
for (const [version, than, expected] of cases) {
  test(`${version} is ${expected ? '' : 'not '}older than ${than}`, () => {
    assert.equal(isOlder(version, than), expected);
  });
}
