// `bourse import --on-failure`: an operator is told of each file that was not imported (contract 10.3).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { tellFailure } from '../src/cli/import/watch.ts';
import { Workshop } from './service.ts';
import { until } from './until.ts';
import { endWatches, Watch } from './watching.ts';

const shop = new Workshop();
after(() => {
  endWatches();
  shop.close();
});

const GOOD = 'datetime,open,high,low,close\n2025-05-05T15:00:00Z,1,1,1,1\n';
const BAD = 'when,price\n1,2\n';
const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--symbol', 'A'];

const told = shop.path('told');
const tell = `printf '%s|%s|%s\\n' "$FAILED_FILE" "$FAILED_DATASET" "$FAILED_REASON" >> '${told}'; cat >> '${told}'`;

/** What the command was told since the last call: of each file a line, and what its standard input had. */
function heard(): string[] {
  const lines = existsSync(told) ? readFileSync(told, 'utf8').trimEnd().split('\n') : [];
  rmSync(told, { force: true });
  return lines;
}

const importAll = (command: string, ...names: string[]) =>
  shop.run('import', 'bars', ...names, ...flags, '--on-failure', command);

test('the command is run for each file that is not imported, with its name and the reason, and for no other (contract 10.3)', async () => {
  writeFileSync(shop.path('good.csv'), GOOD);
  writeFileSync(shop.path('bad.csv'), BAD);
  const { status, stdout } = await importAll(tell, 'bad.csv', 'good.csv');
  assert.equal(status, 1);
  assert.match(stdout, /good\.csv: 1 row read, 1 new/);
  const [line, input, ...more] = heard();
  assert.match(line!, /^bad\.csv\|bars\|required columns missing/);
  assert.equal(input, line!.split('|')[2]);
  assert.deepEqual(more, []);
});

test('the command is run where the whole call fails: the file of the night is not there (contract 10.3)', async () => {
  const { status } = await importAll(tell, 'tonight.csv');
  assert.notEqual(status, 0);
  assert.match(heard()[0]!, /^tonight\.csv\|bars\|.*tonight\.csv/);
});

test('names and reasons are no part of the command, and may have anything in them (contract 10.3)', async () => {
  const name = `$(touch hacked) ; touch hacked \`touch hacked\` ".csv`;
  writeFileSync(shop.path(name), BAD.replace('when', '$(touch hacked)'));
  await importAll(tell, name);
  assert.equal(heard()[0]!.split('|')[0], name);
  assert.equal(existsSync(shop.path('hacked')), false);
});

test('the command has the environment of the call and three variables more (contract 10.3)', async () => {
  const out = shop.path('environment');
  await importAll(`env -0 > '${out}'`, 'bad.csv');
  const names = readFileSync(out, 'utf8')
    .split('\0')
    .map((one) => one.split('=')[0]!);
  const own = spawnSync('/bin/sh', ['-c', 'env -0'], { encoding: 'utf8' });
  const before = own.stdout.split('\0').map((one) => one.split('=')[0]!);
  const ofTests = ['BOURSE_STORE', 'NO_COLOR'];
  const added = names.filter((one) => !before.includes(one) && !ofTests.includes(one));
  assert.deepEqual(added.sort(), ['FAILED_DATASET', 'FAILED_FILE', 'FAILED_REASON']);
});

test('what goes wrong with the command is reported and changes nothing else (contract 10.3)', async () => {
  const { status, stderr } = await importAll('exit 3', 'bad.csv', 'good.csv');
  assert.equal(status, 1);
  assert.match(stderr, /^bourse: bad\.csv: the command of --on-failure ended with status 3$/m);
  const trial = await importAll('true', 'good.csv', '--dry-run');
  assert.equal(trial.status, 2);
  assert.match(trial.stderr, /--on-failure is for imports: leave --dry-run and --explain out/);
});

test('a command that takes too long is ended, with what it started (contract 10.3)', async () => {
  const ticks = shop.path('ticks');
  const command = `(while :; do echo >> '${ticks}'; sleep 0.05; done) & wait`;
  // On a busy machine it may be ended before it has begun to tick.
  for (let limitMs = 200; !existsSync(ticks); limitMs *= 2)
    await tellFailure(command, { dataset: 'bars', file: 'x', reason: 'y' }, limitMs);
  await wait(100);
  const { size } = statSync(ticks);
  await wait(500);
  assert.equal(statSync(ticks).size, size);
});

test('a watch runs the command when a file fails, and not when it is right (contract 10.3)', async () => {
  const folder = shop.path('incoming');
  mkdirSync(folder);
  const path = join(folder, 'night.csv');
  writeFileSync(path, BAD);
  const watch = new Watch(shop, folder, 'W', ['--on-failure', tell]);
  await watch.until(/night\.csv: required columns missing/);
  const failed = new RegExp(`^${path}\\|bars\\|required columns missing.*\n.`);
  await until('the command has been told', () => existsSync(told) && failed.test(readFileSync(told, 'utf8')));
  rmSync(told);
  writeFileSync(path, GOOD);
  await watch.until(/night\.csv: 1 row read, 1 new/);
  assert.equal(await watch.end('SIGTERM'), 0);
  assert.deepEqual(heard(), []);
});
