// The systemd unit: what it permits the service, as systemd itself judges it, and limits that agree with the
// others.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '../src/contract/limits.ts';

const root = join(import.meta.dirname, '..');
const file = join(root, 'deploy/bourse.service');
const unit = readFileSync(file, 'utf8');

const analyze = (...args: readonly string[]): { status: number | null; text: string } => {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
};
const skip = analyze('--version').status === 0 ? false : 'systemd is not on this machine';

/** The value of the last line that sets a key. */
const lastValue = (key: string): string | undefined =>
  Array.from(unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm')), ([, value]) => value).at(-1);

test('systemd finds an exposure of at most 2.0, on its scale from 0 to 10', { skip }, () => {
  const { text } = analyze('security', '--offline=true', '--no-pager');
  const exposure = /Overall exposure level for bourse\.service: ([\d.]+)/.exec(text)?.[1];
  assert.ok(Number(exposure) <= 2, text);
});

test('systemd knows every line of the unit', { skip }, () => {
  const { text } = analyze('verify');
  // The package is not where the unit expects it.
  const problems = text.split('\n').filter((line) => line !== '' && !line.includes('is not executable'));
  assert.deepEqual(problems, []);
});

test('Node.js may compile while it runs, and processes may have the sockets that they need', () => {
  assert.equal(lastValue('MemoryDenyWriteExecute'), undefined);
  // Workers talk to their primary process through AF_UNIX.
  assert.equal(lastValue('RestrictAddressFamilies'), 'AF_INET AF_INET6 AF_UNIX');
  assert.equal(lastValue('PrivateNetwork'), undefined);
});

test('systemd waits longer for the service to stop than open requests have to finish', () => {
  assert.ok(Number.parseInt(lastValue('TimeoutStopSec')!, 10) * 1_000 > limits.stopTimeoutMs);
});

test('the unit and the compose file set the same limits', () => {
  const compose = readFileSync(join(root, 'compose.yaml'), 'utf8');
  const limitOf = (key: string): string | undefined => new RegExp(`^ +${key}: (.*)$`, 'm').exec(compose)?.[1];
  assert.equal(limitOf('mem_limit'), lastValue('MemoryMax')!.toLowerCase());
  assert.equal(limitOf('pids_limit'), lastValue('TasksMax'));
  assert.equal(limitOf('nofile'), lastValue('LimitNOFILE'));
});
