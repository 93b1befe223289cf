// A careful reading of a CSV, as an import with refused rows needs it, takes memory that does not grow with
// the file.
import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { after, test } from 'node:test';
import { readByDuckDB } from '../../src/imports/read/duckdb.ts';
import { TestFolder } from '../stores.ts';

const temporary = new TestFolder();
after(() => temporary.close());

const MB = 2 ** 20;
const header = ['symbol', 'datetime', 'open', 'high', 'low', 'close', 'volume'];

/** Reads a new file of so many megabytes; the most memory that this process had so far, in kilobytes. */
async function peakAfter(megabytes: number): Promise<number> {
  const path = temporary.path(`${megabytes}.csv`);
  const file = openSync(path, 'w');
  const rows = 'S1,2025-03-03T14:30:00Z,100.5,101.25,100.25,101,1000\n'.repeat(5_000);
  writeSync(file, `${header.join()}\n`);
  for (let bytes = 0; bytes < megabytes * MB; bytes += rows.length) writeSync(file, rows);
  closeSync(file);
  const format = { kind: 'csv', delimiter: ',' } as const;
  const source = { name: 'file.csv', path, header, format, types: [] };
  let count = 0;
  for await (const chunk of readByDuckDB(source, { texts: header, numbers: [], careful: true }, 1))
    count += chunk.count;
  assert.equal(count, 5_000 * Math.ceil((megabytes * MB) / rows.length));
  return process.resourceUsage().maxRSS;
}

test('a file eight times as large takes hardly more memory', async () => {
  const peaks = [await peakAfter(50), await peakAfter(400)] as const;
  assert.ok(peaks[1] < 1.6 * peaks[0], peaks.join());
});
