// Temporary files of imports: whose are removed, and how much room is asked for.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { gunzippedBytes, removeLeftovers } from './spool.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-spool-'));
after(() => rmSync(folder, { recursive: true }));

test('what processes that have ended left is removed, what those that run use and other files are kept', () => {
  const ended = spawnSync(process.execPath, ['--version']).pid;
  const names = {
    ended: `a-${ended}-x`,
    running: `a-${process.ppid}-x`,
    ours: `a-${process.pid}-x`,
    // In a container the same number comes again with every start.
    oursBefore: `a-${process.pid}-old`,
    other: `b-${ended}-x`,
  };
  for (const name of Object.values(names)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'plain.csv'), 'a');
  }
  utimesSync(join(folder, names.oursBefore), 1_000, 1_000);
  removeLeftovers(folder, /^a-(\d+)-\w+$/);
  assert.deepEqual(readdirSync(folder).sort(), [names.running, names.ours, names.other].sort());
});

const text = Buffer.from('1,2,3\n'.repeat(50_000));
const packed = gzipSync(text);
const lying = Buffer.from(packed);
lying.writeUInt32LE(0xffff_ffff, lying.length - 4);

const files: readonly (readonly [what: string, bytes: Buffer, expected: number])[] = [
  ['one member', packed, text.length],
  ['an empty member at the end', Buffer.concat([packed, gzipSync('')]), 5 * (packed.length + 20)],
  ['more than gzip can hold', lying, 5 * packed.length],
  ['cut off in its head', packed.subarray(0, 2), 10],
];

for (const [what, bytes, expected] of files) {
  test(`the room for gzip is what its trailer says, or five times its size where that cannot be: ${what}`, async () => {
    const path = join(folder, 'a.gz');
    writeFileSync(path, bytes);
    assert.equal(await gunzippedBytes(path, bytes.length), expected);
  });
}
