// The line that shows how far an import is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressText } from './progress.ts';

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
