// Lines of a CSV as cells (RFC 4180).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellsOf } from './sample.ts';

const lines: readonly (readonly [line: string, delimiter: string, cells: readonly string[] | null])[] = [
  ['a, b ,c', ',', ['a', 'b', 'c']],
  [',a,,', ',', ['', 'a', '', '']],
  ['', ',', ['']],
  ['\t\ta', '\t', ['', '', 'a']],
  ['"a,""b""",c', ',', ['a,"b"', 'c']],
  ['Trust "A" pref|N', '|', ['Trust "A" pref', 'N']],
  ['"a"b,c', ',', null],
  ['"a,b', ',', null],
  ['a"b,c', ',', null],
];

for (const [line, delimiter, cells] of lines) {
  test(`the line ${JSON.stringify(line)} has the cells ${JSON.stringify(cells)}`, () => {
    assert.deepEqual(cellsOf(line, delimiter), cells);
  });
}
