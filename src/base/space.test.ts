// Disk space: the errors where it runs out.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { DiskFull, diskFull, freeBytesIn, isDiskFull, requireDiskSpace } from './space.ts';

test('a full disk and a used up quota count as a full disk, other errors do not', () => {
  for (const [code, expected] of [
    ['ENOSPC', true],
    ['EDQUOT', true],
    ['EIO', false],
    [undefined, false],
  ] as const)
    assert.equal(isDiskFull(Object.assign(new Error('a write failed'), { code })), expected, code);
});

test('a refusal names the folder, what is free and more than that as needed', async () => {
  const folder = tmpdir();
  const freeBytes = await freeBytesIn(folder);
  assert.throws(() => requireDiskSpace(folder, 1e18), DiskFull);
  requireDiskSpace(folder, Math.min(1, freeBytes));
  const filled = await diskFull(folder, 10, new Error('the disk is full'));
  assert.ok(filled.neededBytes > filled.freeBytes);
  assert.ok(filled.message.startsWith(`the disk of ${folder} has `), filled.message);
  // Earlier files of the call were imported, and the store may have been migrated.
  assert.doesNotMatch(filled.message, /Nothing was imported or changed/);
});
