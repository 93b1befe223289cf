// `npm run golden` as users run it: this commit beside itself, in processes.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const skip = existsSync(join(root, '.git')) ? false : 'this is no git repository';

const golden = (...words: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'test/golden/run.ts'), ...words], { cwd: root, encoding: 'utf8' });

const worktrees = (): string => execFileSync('git', ['worktree', 'list'], { cwd: root, encoding: 'utf8' });

test('HEAD and the working tree beside it answer alike, and nothing is left behind', { skip }, () => {
  const before = worktrees();
  const { status, stdout } = golden('HEAD', '--requests', '200');
  assert.equal(status, 0, stdout);
  assert.match(stdout, /\n\d+ commands, 0 different; \d+ requests, 0 different \(\d+ s\)\n$/);
  assert.doesNotMatch(stdout, /neither side could run/);
  assert.equal(worktrees(), before);
});

test('a commit that is not there is wrong usage', { skip }, () => {
  for (const words of [['no-such-commit'], [], ['HEAD', '--requests', 'many'], ['HEAD', 'HEAD']])
    assert.equal(golden(...words).status, 2, words.join(' '));
});
