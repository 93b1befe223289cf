// Which errors of SQLite may pass by themselves: a store that meets them is unavailable; any other is damaged
// or at fault.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPassing } from './files.ts';

/** By extended result code (sqlite.org/rescode.html). */
const codes: readonly (readonly [name: string, errcode: number, isPassing: boolean])[] = [
  ['SQLITE_BUSY', 5, true],
  ['SQLITE_BUSY_RECOVERY', 261, true],
  ['SQLITE_CANTOPEN', 14, true],
  ['SQLITE_CANTOPEN_ISDIR', 526, true],
  ['SQLITE_PROTOCOL', 15, true],
  ['SQLITE_IOERR', 10, true],
  ['SQLITE_IOERR_LOCK', 3_850, true],
  ['SQLITE_IOERR_SHMOPEN', 4_618, true],
  ['SQLITE_READONLY_DBMOVED', 1_032, true],
  ['SQLITE_READONLY_CANTINIT', 1_288, true],
  ['SQLITE_READONLY', 8, false],
  ['SQLITE_IOERR_READ', 266, false],
  ['SQLITE_IOERR_SHORT_READ', 522, false],
  ['SQLITE_IOERR_DATA', 8_202, false],
  ['SQLITE_IOERR_CORRUPTFS', 8_458, false],
  ['SQLITE_CORRUPT', 11, false],
  ['SQLITE_CORRUPT_INDEX', 779, false],
  ['SQLITE_NOTADB', 26, false],
  ['SQLITE_ERROR', 1, false],
];

for (const [name, errcode, passes] of codes)
  test(`${name} ${passes ? 'may pass' : 'does not pass'}`, () => {
    assert.equal(isPassing(Object.assign(new Error(name), { errcode })), passes);
  });

test('what is no error of SQLite does not pass', () => {
  assert.ok(!isPassing(new Error('ENOENT')));
});
