import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleBeside } from './module.ts';

test('a module beside a source is a source, and beside what was built is built too', () => {
  const found = (importerUrl: string): string => moduleBeside('./module.ts', importerUrl).href;
  assert.equal(found('file:///srv/my.ts.files/src/base/a.ts'), 'file:///srv/my.ts.files/src/base/module.ts');
  assert.equal(found('file:///srv/bourse-0.1/dist/base/a.js'), 'file:///srv/bourse-0.1/dist/base/module.js');
});
