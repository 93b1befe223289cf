// The sample files of examples/: each can be imported as it is (contract 11).
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

for (const path of globSync(join(import.meta.dirname, '../examples/*.csv')).sort()) {
  test(`${basename(path)} is a native file of which no row is refused and no column unused (contract 11)`, async () => {
    const report = JSON.parse(await shop.must('import', basename(path, '.csv'), path, '--json')) as {
      readonly rowsRead: number;
      readonly rowsWritten: number;
      readonly ignoredColumns: readonly string[];
      readonly outsideSessions: number;
    };
    assert.ok(report.rowsRead > 0);
    assert.equal(report.rowsWritten, report.rowsRead);
    assert.deepEqual([report.ignoredColumns, report.outsideSessions], [[], 0]);
  });
}
