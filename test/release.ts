// `npm run release`: makes the packages of the commit that is checked out, and tries them. It publishes
// nothing: docs/releasing.md says how.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkOut, git, root } from './golden/worktree.ts';
import { python, skipInstall } from './python.ts';

/** The tests of the packages, of the container image and of what their versions have in common. */
const tests = ['test/ci/package.test.ts', 'test/ci/container.test.ts', 'test/container.test.ts'];

type Manifest = { readonly publishConfig?: object } & Readonly<Record<string, unknown>>;

/** Leaves out of a manifest what only a checkout needs, such as `private`. */
function publishedManifest(folder: string): void {
  const path = join(folder, 'package.json');
  const { publishConfig, ...manifest } = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  const ofCheckout = ['private', 'workspaces', 'scripts', 'devDependencies'];
  const kept = Object.entries({ ...manifest, ...publishConfig }).filter(
    ([name]) => !ofCheckout.includes(name),
  );
  writeFileSync(path, JSON.stringify(Object.fromEntries(kept), null, 2));
}

/**
 * Makes the packages of a commit in a folder: of the service and the TypeScript client for npm, and a wheel
 * of the Python client if this machine can build one. @throws where a step fails
 */
export function makePackages(commit: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'bourse-release-'));
  try {
    const checkout = checkOut(commit, scratch);
    const [tsClient, pythonClient] = [join(checkout, 'packages/client'), join(checkout, 'clients/python')];
    const run = (cwd: string, program: string, ...words: readonly string[]): void => {
      execFileSync(program, words, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    };
    for (const client of [tsClient, pythonClient])
      copyFileSync(join(root, 'LICENSE'), join(client, 'LICENSE'));
    for (const packed of [checkout, tsClient]) {
      run(packed, 'npm', 'run', 'prepack');
      publishedManifest(packed);
      run(packed, 'npm', 'pack', '--pack-destination', folder);
    }
    const offline = ['--no-index', '--no-build-isolation', '--no-deps', '--wheel-dir', folder];
    if (skipInstall === false) run(pythonClient, python!, '-m', 'pip', 'wheel', '--quiet', ...offline, '.');
  } finally {
    rmSync(scratch, { recursive: true });
    git('worktree', 'prune');
  }
}

function release(): number {
  if (skipInstall !== false) throw new Error(skipInstall);
  if (git('status', '--porcelain') !== '')
    throw new Error('Commit first: the packages are those of a commit');
  const folder = join(root, 'release');
  rmSync(folder, { recursive: true, force: true });
  makePackages('HEAD', folder);
  const env = { ...process.env, TEST_PACKAGES: folder };
  const { status } = spawnSync(process.execPath, ['test/run.ts', ...tests], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  if (status !== 0) return 1;
  console.log(`Made of commit ${git('rev-parse', 'HEAD')} in release/, tried, and not published:`);
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    console.log(`${createHash('sha256').update(bytes).digest('hex')}  ${name}  ${bytes.length} bytes`);
  }
  return 0;
}

if (import.meta.main) process.exitCode = release();
