// A damaged record of a run finishes nothing that the run left unfinished (contract 3.9).
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

test('how far a damaged run makes a series complete goes by the calendar of the series', async () => {
  const asked = new AskedBars(stock);
  try {
    const close = { close_timestamp: '2025-07-07T17:00:00Z' };
    asked.nowMs = Date.parse('2025-07-01T00:00:00Z');
    await asked.import([{ ...holiday('EARLY_CLOSE'), ...close }], 'holidays', false);
    asked.nowMs = Date.parse('2025-07-07T22:00:00Z');
    // Six half hours of seven: by the early close the session is over, its post-market too.
    const opens = Array.from(
      { length: 6 },
      (_, half) => Date.parse('2025-07-07T13:30:00Z') + half * 1_800_000,
    );
    const rows = opens.map((ms) => ({ ...day, interval: '30M', datetime: new Date(ms).toISOString() }));
    await asked.import(rows, 'bars', false);
    asked.nowMs = Date.parse('2025-07-10T12:00:00Z');
    assert.equal((await asked.latest('210M')).length, 1);
    alter(storeFile(asked.url), 'update import_runs set rows_read = 7 where run_id = 2');
    await asked.import([{ ...holiday('REGULAR'), symbol: 'A' }], 'holidays', false);
    assert.deepEqual(await asked.latest('210M'), []);
  } finally {
    await asked.close();
  }
});
