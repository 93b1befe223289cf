// The files that run together: each is there, once, and changes nothing for the others.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesTogether } from './files-together.ts';

const root = join(import.meta.dirname, '..');

/** The globs that one with words in braces stands for. */
function globsIn(glob: string): string[] {
  const [, before, words, behind] = /^(.*)\{([^{}]*)\}(.*)$/.exec(glob) ?? [];
  return words === undefined
    ? [glob]
    : words.split(',').flatMap((word) => globsIn(`${before}${word}${behind}`));
}

test('every name of a group is that of a file, and no file is in two groups', () => {
  const groups = filesTogether.map((globs) => globs.flatMap(globsIn));
  for (const glob of groups.flat()) assert.ok(globSync(glob, { cwd: root }).length > 0, glob);
  const files = filesTogether.flatMap((globs) => globSync(globs, { cwd: root }));
  assert.deepEqual(
    files.filter((file, at) => files.indexOf(file) !== at),
    [],
  );
});

test('no file of a group has hooks of each test, or mocks outside of tests: its whole process has them', () => {
  const files = filesTogether.flatMap((globs) => globSync(globs, { cwd: root }));
  const found = files.filter((file) =>
    /^(?:beforeEach|afterEach|mock)\b/m.test(readFileSync(join(root, file), 'utf8')),
  );
  assert.deepEqual(found, []);
});

test('a file that cannot be loaded fails with its error, and its group ends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bourse-together-'));
  try {
    const file = join(folder, 'broken.test.ts');
    writeFileSync(file, "throw new Error('it is broken');\n");
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const runner = join(import.meta.dirname, 'files-together.ts');
    const { status, stdout } = spawnSync(process.execPath, ['--test-reporter=spec', runner, file], {
      ...{ env, encoding: 'utf8', timeout: 120_000 },
    });
    assert.equal(status, 1, stdout);
    assert.match(stdout, /it is broken/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
