// Another commit of the project beside this working tree, with its libraries.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** This working tree. */
export const root = join(import.meta.dirname, '../..');

/** What a command of git prints. @throws where it fails */
export const git = (...words: readonly string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/**
 * The libraries of a checkout as those of this one: packages that are folders of the project itself are its
 * own.
 */
function linkModules(from: string, to: string): void {
  const link = (folder: string): void => {
    mkdirSync(join(to, folder), { recursive: true });
    for (const name of readdirSync(join(from, folder)).filter((one) => one !== '.cache')) {
      const path = join(folder, name);
      if (folder === 'node_modules' && name.startsWith('@')) {
        link(path);
        continue;
      }
      const target = realpathSync(join(from, path));
      const inProject = relative(from, target);
      const isOwn = !inProject.startsWith('..') && !inProject.startsWith(`node_modules${sep}`);
      symlinkSync(isOwn ? join(to, inProject) : target, join(to, path));
    }
  };
  link('node_modules');
}

/** Checks a commit out in a folder; its path. `git worktree prune` forgets it once the folder is removed. */
export function checkOut(commit: string, folder: string): string {
  const path = join(folder, 'checkout');
  git('worktree', 'add', '--quiet', '--detach', path, commit);
  const lock = (at: string): string => readFileSync(join(at, 'package-lock.json'), 'utf8');
  if (lock(path) === lock(root)) linkModules(root, path);
  else {
    console.error('its package-lock.json is another: npm ci');
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: path, stdio: ['ignore', 2, 2] });
  }
  return path;
}
