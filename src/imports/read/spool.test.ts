// Temporary files of imports: how much disk space they ask for.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { gunzippedBytes } from './spool.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-spool-'));
after(() => rmSync(folder, { recursive: true }));

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
  test(`the disk space for gzip is by its trailer, or five times its size where that cannot be: ${what}`, async () => {
    const path = join(folder, 'a.gz');
    writeFileSync(path, bytes);
    assert.equal(await gunzippedBytes(path, bytes.length), expected);
  });
}
