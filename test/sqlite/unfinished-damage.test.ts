// A damaged record of a run finishes no bar that the run left unfinished (contract 3.9).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedBars } from '../asked-bars.ts';
import { alter } from './copies.ts';
import { storeFile } from './files.ts';

const stock = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' };
const day = { interval: 'DAY', datetime: '2025-07-07', open: 1, high: 1, low: 1, close: 1 };
const holiday = (session_template: string) => ({
  ...{ asset_name: 'stock', country_iso_code: 'US', symbol: '*', session_template },
  ...{ name: 'Own', holiday_code: 'HOLIDAY_OWN', calendar_date: '2025-07-07' },
});

test('a bar that a damaged run left unfinished stays so when holidays around it change', async () => {
  const asked = new AskedBars(stock);
  try {
    asked.nowMs = Date.parse('2025-07-07T18:00:00Z');
    await asked.import([day], 'bars', false);
    asked.nowMs = Date.parse('2025-07-10T12:00:00Z');
    assert.deepEqual(await asked.latest('DAY'), []);
    alter(storeFile(asked.url), 'update import_runs set rows_read = 7 where run_id = 1');
    await asked.import([holiday('REGULAR')], 'holidays', false);
    assert.deepEqual(await asked.latest('DAY'), []);
  } finally {
    await asked.close();
  }
});
