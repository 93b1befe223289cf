import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ownModule } from './own-modules.ts';

const root = join(import.meta.dirname, '../..');
const urlOf = (path: string): string => pathToFileURL(join(root, path)).href;

test('each relative import of our sources is found: a file beside the one that imports', () => {
  const files = globSync('src/**/*.ts', { cwd: root });
  const imports = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /^(?:import|export) [^;]*? from '(\.[^']+\.ts)';$/gm,
      ),
    ].map(([, specifier]) => [file, specifier!] as const),
  );
  assert.ok(imports.length > files.length);
  for (const [file, specifier] of imports)
    assert.ok(existsSync(new URL(ownModule(specifier, urlOf(file))!)), `${file}: ${specifier}`);
});

test('every other import is left to Node.js', () => {
  const ours = urlOf('src/cli/main.ts');
  for (const [specifier, importer] of [
    ['node:fs', ours],
    ['commander', ours],
    ['./client', ours],
    ['./table.json', ours],
    ['./table.ts?again', ours],
    ['.hidden.ts', ours],
    [urlOf('src/cli/shared/output.ts'), ours],
    ['./index.ts', urlOf('node_modules/commander/index.js')],
    ['./index.ts', 'file:///elsewhere/main.ts'],
    ['./index.ts', undefined],
  ] as const)
    assert.equal(ownModule(specifier, importer), null, `${specifier} in ${importer}`);
});
