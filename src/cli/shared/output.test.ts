// Names and tables as they are printed, and the line that shows how far an import is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyText } from '../../../test/any-text.ts';
import { fc } from '../../../test/seed.ts';
import { formatTable, printable, progressText } from './output.ts';

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

test('progress tells bytes, rows, rows a second and the time left', () => {
  const task = { name: 'prices.csv', bytes: 650e6, rowsAbout: 10_000_000 };
  assert.equal(
    progressText(task, 2_500_000, 2_000),
    'prices.csv: 162.5 MB of 650.0 MB, 2,500,000 rows, 1,250,000 rows/s, 6 s left',
  );
  assert.match(progressText(task, 100_000, 10_000), /16 min 30 s left$/);
  assert.match(progressText(task, 10_500_000, 2_000), /650\.0 MB of 650\.0 MB.* 0 s left$/);
});

test('progress of a file whose rows are not known tells what is known', () => {
  assert.equal(
    progressText({ name: 'a.parquet', bytes: 1e6, rowsAbout: null }, 1_000, 500),
    'a.parquet: 1,000 rows, 2,000 rows/s',
  );
});
