// The addresses of the program's modules, and the order of versions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOlder, moduleBeside } from './runtime.ts';

test('a module beside a source is a source, and beside what was built is built too', () => {
  const found = (importerUrl: string): string => moduleBeside('./runtime.ts', importerUrl).href;
  assert.equal(found('file:///srv/my.ts.files/src/base/a.ts'), 'file:///srv/my.ts.files/src/base/runtime.ts');
  assert.equal(found('file:///srv/bourse-0.1/dist/base/a.js'), 'file:///srv/bourse-0.1/dist/base/runtime.js');
});

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
