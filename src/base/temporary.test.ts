// Whose temporary files are removed.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ownMark, removeLeftovers } from './temporary.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-temporary-'));
after(() => rmSync(folder, { recursive: true }));

test('what processes that have ended left is removed, what those that run use and other files are kept', () => {
  // More than the number of any process.
  const ended = 2 ** 22 + 1;
  const home = ownMark.split('.')[1];
  const names = {
    ended: `a-${ended}.${home}-x`,
    running: `a-${process.ppid}.${home}-x`,
    ours: `a-${ownMark}-x`,
    // In a container the same number comes again with every start.
    oursBefore: `a-${ownMark}-old`,
    other: `b-${ended}.${home}-x`,
    // A number of another container says nothing here: only age does.
    foreign: `a-${ended}.1-x`,
    foreignOld: `a-${ended}.1-old`,
  };
  for (const name of Object.values(names)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'plain.csv'), 'a');
  }
  for (const old of [names.oursBefore, names.foreignOld]) utimesSync(join(folder, old), 1_000, 1_000);
  removeLeftovers(folder, /^a-(\d+\.\d+)-\w+$/);
  assert.deepEqual(
    readdirSync(folder).sort(),
    [names.running, names.ours, names.other, names.foreign].sort(),
  );
});
