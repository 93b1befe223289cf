// Files that are half right, of every dataset and format: what can be imported is, the rest is refused by row
// and column (contract 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { opened } from './importing.ts';
import { contentOf, openToWrite, rowsOf, TestFolder } from './stores.ts';

const temporary = new TestFolder();
after(() => temporary.close());

let files = 0;

type Cell = string | number | null | undefined;
type Row = Readonly<Record<string, Cell>>;

const csvCell = (value: Cell): string => {
  const text = String(value ?? '');
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The text of rows in each format. */
const formats: Readonly<Record<string, (rows: readonly Row[]) => string>> = {
  csv(rows) {
    const header = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    return [header, ...rows.map((row) => header.map((name) => csvCell(row[name])))]
      .map((cells) => `${cells.join()}\n`)
      .join('');
  },
  ndjson: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  json: (rows) => JSON.stringify(rows),
};

async function imported(url: string, dataset: string, text: string): Promise<ImportReport> {
  const path = temporary.path(`file-${++files}`);
  writeFileSync(path, text);
  const store = await openToWrite(url);
  const file = await opened(path);
  try {
    const about = { flags: new Map(), source: null, dryRun: false, nowMs: Date.now };
    return await importFile(store, dataset, { file, ...about });
  } finally {
    await file.close();
    await store.close();
  }
}

type Case = {
  /** The table of its rows. */
  readonly table: string;
  readonly good: readonly Row[];
  /** What a bad row has in place of the first good one's values, and the column that it is refused by. */
  readonly bad: readonly (readonly [change: Row, column: string])[];
};

const stock = { asset_schema: 'stock', country_iso_code: 'US' };

const cases: Readonly<Record<string, Case>> = {
  instruments: {
    table: 'instruments',
    good: [
      { ...stock, symbol: 'A', name: 'Alpha', listing_date: '2001-02-03' },
      { ...stock, symbol: 'B', name: 'Beta', listing_date: null },
    ],
    bad: [
      [{ symbol: 'A B' }, 'symbol'],
      [{ symbol: null }, 'symbol'],
      [{ symbol: 'C', asset_schema: 'bond' }, 'asset_schema'],
      [{ symbol: 'D', listing_date: '2001-02-30' }, 'listing_date'],
      [{ symbol: 'E', country_iso_code: 'U' }, 'country_iso_code'],
      [{ symbol: 'B', name: 'Another' }, 'symbol'],
    ],
  },
  'corporate-actions': {
    table: 'corporate_actions',
    good: [
      {
        country_iso_code: 'US',
        symbol: 'A',
        action_type: 'dividend',
        ex_date: '2024-02-01',
        cash_amount: 0.5,
      },
      {
        country_iso_code: 'US',
        symbol: 'A',
        action_type: 'split',
        ex_date: '2024-03-01',
        split_from: 1,
        split_to: 2,
      },
    ],
    bad: [
      [{ ex_date: '2024-13-01' }, 'ex_date'],
      [{ ex_date: '2024-04-01', cash_amount: 'x' }, 'cash_amount'],
      [{ ex_date: '2024-04-01', cash_amount: null }, 'cash_amount'],
      [{ ex_date: '2024-04-01', action_type: 'merger' }, 'action_type'],
      [
        { ex_date: '2024-04-01', action_type: 'split', split_from: 0, split_to: 1, cash_amount: null },
        'split_from',
      ],
    ],
  },
  news: {
    table: 'news',
    good: [
      { published_date: '2024-01-02T10:00:00Z', title: 'One', publisher_url: 'https://example.com/1' },
      { published_date: '2024-01-02T11:00:00Z', title: 'Two', publisher_url: 'https://example.com/2' },
    ],
    bad: [
      [{ published_date: 'yesterday', title: 'x' }, 'published_date'],
      [{ published_date: null }, 'published_date'],
      [{ title: null }, 'title'],
      [{ title: 'y', asset_name: 'bond', country_iso_code: 'US', symbol: 'A' }, 'asset_name'],
      [{ title: 'z', asset_name: 'stock', country_iso_code: 'US', symbol: 'A B' }, 'symbol'],
    ],
  },
  'option-contracts': {
    table: 'option_contracts',
    good: [100, 110].map((strike) => ({
      symbol: `SPY250919C00${strike}000`,
      country_iso_code: 'US',
      parent_asset_schema: 'stock',
      underlying_name: 'SPY',
      strike_price: strike,
      expiration_date: '2025-09-19',
      option_type: 'call',
    })),
    bad: [
      [{ symbol: 'X1', strike_price: -1 }, 'strike_price'],
      [{ symbol: 'X2', expiration_date: '19.9.2025' }, 'expiration_date'],
      [{ symbol: 'X3', option_type: 'straddle' }, 'option_type'],
      [{ symbol: 'X4', underlying_name: null }, 'underlying_name'],
    ],
  },
  holidays: {
    table: 'holidays',
    good: ['2025-01-02', '2025-01-03'].map((calendar_date) => ({
      name: 'Day',
      holiday_code: 'HOLIDAY_X',
      calendar_date,
      asset_name: 'stock',
      country_iso_code: 'US',
      symbol: '*',
      session_template: 'CLOSED',
    })),
    bad: [
      [{ calendar_date: '2025-02-30' }, 'calendar_date'],
      [{ calendar_date: '2025-01-06', session_template: 'HALF' }, 'session_template'],
      [{ calendar_date: '2025-01-07', session_template: 'EARLY_CLOSE' }, 'close_timestamp'],
      [{ calendar_date: '2025-01-08', close_timestamp: '2025-01-08T18:00:00Z' }, 'close_timestamp'],
    ],
  },
  'economic-events': {
    table: 'economic_events',
    good: [
      {
        country_iso_code: 'US',
        event_code: 'CPI',
        event_name: 'CPI',
        event_timestamp: '2024-01-11T13:30:00Z',
        actual_value: 3.4,
      },
      {
        country_iso_code: 'US',
        event_code: 'CPI',
        event_name: 'CPI',
        event_timestamp: '2024-02-13T13:30:00Z',
        actual_value: 3.1,
      },
    ],
    bad: [
      [{ event_timestamp: '2024-01-11' }, 'event_timestamp'],
      [{ event_timestamp: '2024-03-11T25:00:00Z' }, 'event_timestamp'],
      [{ event_timestamp: '2024-03-11T13:30:00Z', actual_value: 'n.a.' }, 'actual_value'],
      [{ event_timestamp: '2024-04-11T13:30:00Z', importance: 9 }, 'importance'],
      [{ event_code: null }, 'event_code'],
    ],
  },
  'economic-event-codes': {
    table: 'economic_event_codes',
    good: [
      { country_iso_code: 'US', event_code: 'OWN_A', description: 'One' },
      { country_iso_code: 'US', event_code: 'OWN_B', description: 'Two' },
    ],
    bad: [
      [{ event_code: null }, 'event_code'],
      [{ event_code: 'OWN_C', country_iso_code: 'United States' }, 'country_iso_code'],
      [{ event_code: 'OWN_D', description: null }, 'description'],
    ],
  },
  bars: {
    table: 'bar_blocks',
    good: ['2024-01-02T14:30:00Z', '2024-01-02T14:31:00Z'].map((datetime) => ({
      ...stock,
      symbol: 'A',
      interval: '1M',
      datetime,
      ...{ open: 10, high: 12, low: 9, close: 11, volume: 5 },
    })),
    bad: [
      [{ datetime: '2024-01-02T14:32:00Z', open: 'x' }, 'open'],
      [{ datetime: '2024-01-02T14:32:30Z' }, 'datetime'],
      [{ datetime: '2024-01-02T14:33:00Z', high: 8 }, 'high'],
      [{ datetime: '2024-01-02T14:34:00Z', interval: '7X' }, 'interval'],
      [{ datetime: '2024-01-02T14:35:00Z', volume: -1 }, 'volume'],
      [{ datetime: '2024-01-02T14:30:00Z', close: 10 }, 'datetime'],
    ],
  },
};

for (const [dataset, { table, good, bad }] of Object.entries(cases))
  for (const [format, textOf] of Object.entries(formats))
    test(`of ${dataset} as ${format} the right rows are stored, the others refused by row, column and reason (contract 11)`, async () => {
      const url = temporary.storeUrl(`${dataset}-${format}`);
      const right = temporary.storeUrl(`${dataset}-${format}-right`);
      const refused = bad.map(([change]) => ({ ...good[0], ...change }));
      // The first bad row comes before all good ones, the others between and after them.
      const mixed = [refused[0]!, good[0]!, ...refused.slice(1, 2), ...good.slice(1), ...refused.slice(2)];
      const report = await imported(url, dataset, textOf(mixed));
      await imported(right, dataset, textOf(good));
      const columns = table === 'bar_blocks' ? 'series_id, bucket, bytes' : '*';
      const named = (address: string) => rowsOf(address, `select ${columns} from ${table}`);
      assert.deepEqual(named(url), named(right));
      assert.deepEqual(
        [report.rowsNew, report.rowsRefused],
        [good.length, bad.length],
        JSON.stringify(report.refused),
      );
      const rowNumbers = refused.map((row) => mixed.indexOf(row) + 1);
      assert.deepEqual(
        report.refused.map(({ row, column }) => [row, column]),
        bad
          .map(([, column], index) => [rowNumbers[index], column])
          .sort(([one], [other]) => Number(one) - Number(other)),
        JSON.stringify(report.refused),
      );
      for (const { reason } of report.refused) assert.match(reason, /^[a-z].{5,}/);
      // A row that repeats another is refused only beside that.
      const alone = bad.flatMap(([, column], index) => {
        const found = report.refused.find(({ row }) => row === rowNumbers[index]);
        return found!.column === column && /already/.test(found!.reason) ? [] : [refused[index]!];
      });
      const before = contentOf(url);
      const none = await imported(url, dataset, textOf(alone));
      assert.deepEqual([none.runId, none.rowsRefused], [null, alone.length], JSON.stringify(none.refused));
      assert.deepEqual(contentOf(url), before);
    });

test('a shortened day of one instrument is checked against the calendar that it follows (contract 3.7, 8.6)', async () => {
  const url = temporary.storeUrl('grain');
  const csv = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;
  const named = 'future,US';
  await imported(
    url,
    'instruments',
    csv(
      'asset_schema,country_iso_code,symbol,calendar_key',
      `${named},ZC,US_FUTURE_CBOT_GRAIN`,
      `${named},ES,US_FUTURE`,
    ),
  );
  // On 2025-01-07 grains close at 13:20 in Chicago, other futures at 16:00: 14:00 shortens only those.
  const report = await imported(
    url,
    'holidays',
    csv(
      'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template,close_timestamp',
      ...['ZC', 'ES', '*'].map(
        (symbol) => `Day,HOLIDAY_X,2025-01-07,${named},${symbol},EARLY_CLOSE,2025-01-07T20:00:00Z`,
      ),
    ),
  );
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [[1, 'close_timestamp']],
  );
  assert.match(report.refused[0]!.reason, /does not shorten the session of that day, .*19:20/);
});
