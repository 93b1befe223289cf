// The types of the Python client, by two checkers: of its own source, and of a program that uses it.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { python, pythonClient, skipPython } from '../python.ts';
import { Workshop } from '../service.ts';

const shop = new Workshop();
after(() => shop.close());
cpSync(pythonClient, shop.folder, { recursive: true });

const pyright = join(import.meta.dirname, '../../node_modules/pyright/index.js');

const skipMypy =
  skipPython ||
  (spawnSync(python!, ['-m', 'mypy', '--version']).status !== 0 &&
    'mypy is not on this machine: apt-get install mypy');
const skipPyright =
  skipPython || (!existsSync(pyright) && 'pyright is not installed: npm ci without --omit=dev');

/** Runs a checker in a copy of the client; fails with what it printed. */
async function passes(program: string, words: readonly string[]): Promise<void> {
  const env = { ...process.env, MYPYPATH: 'tests/stubs' };
  const { status, out } = await new Promise<{ status: unknown; out: string }>((resolve) => {
    execFile(program, words, { cwd: shop.folder, env, timeout: 300_000 }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : error.code, out: stdout + stderr });
    });
  });
  assert.equal(status, 0, out);
}

/** What is checked, by the rules of which Python: its source by those of the oldest that it runs on. */
const checked = [
  ['its source has no mistake', 'bourse', '3.9'],
  ['of a program that uses it the wrong lines are found, and no others', 'tests/typed.py', '3.11'],
] as const;

for (const [what, path, version] of checked) {
  test(`the types of the Python client, by mypy: ${what}`, { skip: skipMypy }, () =>
    // A method returns what does its steps, which is any of several.
    passes(python!, ['-m', 'mypy', '--strict', '--no-warn-return-any', '--python-version', version, path]),
  );

  test(`the types of the Python client, by pyright: ${what}`, { skip: skipPyright }, () => {
    const rules = { enableTypeIgnoreComments: false, reportUnnecessaryTypeIgnoreComment: 'error' };
    const project = { include: [path], stubPath: 'tests/stubs', pythonVersion: version };
    writeFileSync(shop.path('pyrightconfig.json'), JSON.stringify({ ...project, ...rules }));
    return passes(process.execPath, [pyright, '--pythonpath', python!]);
  });
}
