// import assert from 'node:assert/strict';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes } from './words.ts';

test('a size has the largest unit of which it is one or more as it is shown', () => {
  const sizes: readonly [bytes: number, text: string][] = [
    [0, '0 bytes'],
    [1, '1 bytes'],
    [999, '999 bytes'],
    [1_000, '1.0 kB'],
    [1_049, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [1_048_576, '1.0 MB'],
    [104_857_600, '104.9 MB'],
    [12_345_678_901, '12.3 GB'],
    [5e15, '5000.0 TB'],
  ];
  for (const [bytes, text] of sizes) assert.equal(formatBytes(bytes), text);
});
