// `npm run golden -- COMMIT`: whether this working tree answers as another commit does. The commit is checked
// out in a temporary folder; both import the same files into stores of their own under the same false clock,
// and are sent the same requests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Checkout } from './checkout.ts';
import { type Compared, Comparison } from './comparison.ts';
import { checkOut, git, root } from './worktree.ts';
import { makeWorld } from './world.ts';

const HELP = `npm run golden -- COMMIT [--requests N] [--seed N]
  Compares the answers of this working tree with those of another commit. Exit status 0: no difference; 1: some; 2: wrong usage; 3: it could not be done.
  --requests N  requests to send, pages behind them not counted (default 10000)
  --seed N      other data and other requests (default 1)`;

function read() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        requests: { type: 'string', default: '10000' },
        seed: { type: 'string', default: '1' },
        help: { type: 'boolean' },
      },
    });
    const [commit, ...more] = positionals;
    const numbers = [values.requests, values.seed];
    if (
      values.help ||
      commit === undefined ||
      more.length > 0 ||
      numbers.some((number) => !/^\d{1,9}$/.test(number))
    )
      return null;
    return {
      commit: git('rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`),
      count: Number(values.requests),
      seed: Number(values.seed),
    };
  } catch (error) {
    console.error((error as Error).message);
    return null;
  }
}

/** What was equal, by endpoint and status. */
function tell(
  { tally, requests, different, commands, differentCommands, unusable }: Compared,
  seconds: number,
): void {
  const rows = [...tally].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, counts] of rows)
    console.log(
      `${name.padEnd(width)} ${String(counts.equal).padStart(6)} equal${counts.different > 0 ? `, ${counts.different} different` : ''}`,
    );
  for (const call of unusable) console.log(`neither side could run ${call}`);
  console.log(
    `${commands} commands, ${differentCommands} different; ${requests} requests, ${different} different (${seconds.toFixed(0)} s)`,
  );
}

const asked = read();
if (asked === null) {
  console.error(HELP);
  process.exit(2);
}

const { commit, ...amount } = asked;
const folder = mkdtempSync(join(tmpdir(), 'bourse-golden-'));
const checkouts: Checkout[] = [];

/** Leaves nothing behind: no process, no file, no worktree. */
function clear(): void {
  for (const checkout of checkouts) checkout.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  git('worktree', 'prune');
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    clear();
    process.exit(130);
  });

try {
  const startedMs = performance.now();
  console.log(
    `this working tree (here) beside ${git('log', '-1', '--format=%h %s', commit)} (there), seed ${amount.seed}`,
  );
  const world = makeWorld(amount.seed, 'whole');
  const path = checkOut(commit, folder);
  for (const [name, at] of [
    ['here', root],
    ['there', path],
  ] as const)
    checkouts.push(new Checkout(at, join(folder, name), world.files));
  const telling = { difference: console.log, progress: console.error };
  const comparison = new Comparison(checkouts as [Checkout, Checkout], folder, telling);
  const compared = await comparison.run(world, 'whole', amount);
  for (const checkout of checkouts) await checkout.close();
  tell(compared, (performance.now() - startedMs) / 1_000);
  process.exitCode = compared.different + compared.differentCommands > 0 ? 1 : 0;
} catch (error) {
  console.error(error);
  process.exitCode = 3;
} finally {
  clear();
}
