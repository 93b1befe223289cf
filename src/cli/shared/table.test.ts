// Names as they are printed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyText } from '../../../test/any-text.ts';
import { fc } from '../../../test/seed.ts';
import { formatTable, printable } from './table.ts';

test('line ends and control characters are printed as JSON strings write them, all else as it is', () => {
  assert.equal(printable('a\nb\r\t"c\\\u001b[31m'), 'a\\nb\\r\\t"c\\\\u001b[31m');
  assert.equal(printable('\u007f \u009b2J \u2028 \u2029'), '\\u007f \\u009b2J \\u2028 \\u2029');
  assert.equal(printable('Prices é 日本 \u{1f4c8}.csv'), 'Prices é 日本 \u{1f4c8}.csv');
});

test('what is printed of any text reads back as that text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const plain = text.replaceAll(/[\\"]/g, '');
      assert.equal(JSON.parse(`"${printable(plain)}"`), plain);
    }),
  );
});

test('a cell of a table stays in its row', () => {
  assert.equal(
    formatTable([
      ['FILE', 'ROWS'],
      ['a\nb.csv', '1'],
    ]),
    'FILE      ROWS\na\\nb.csv     1\n',
  );
});
