// Nasdaq Trader's symbol directory as instruments, FRED's series as economic events, as they come (contract
// 11).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rowsOf } from '../stores.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const stored = () =>
  rowsOf(vendor.url, 'select symbol, name, exchange from instruments order by symbol').map((row) =>
    Object.values(row),
  );

test('nasdaqlisted.txt: test issues and the footer are left out, and counted', async () => {
  const lines = [
    'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares',
    'AAPL|Apple Inc. - Common Stock|Q|N|N|100|N|N',
    'ZWZZT|NASDAQ TEST STOCK|G|Y|N|100|N|N',
    'AACG|ATA Creativity Global - American Depositary Shares, each representing two common shares|G|N|N|100|N|N',
    'File Creation Time: 1120202617:03|||||||',
    '',
  ];
  const report = await vendor.import('nasdaqlisted.txt', lines.join('\r\n'), { dataset: 'instruments' });
  assert.deepEqual([report.rowsRead, report.rowsWritten, report.newInstruments], [2, 2, 2]);
  assert.deepEqual(report.findings, { 'test issues and the footer, left out': 2 });
  assert.deepEqual(stored(), [
    [
      'AACG',
      'ATA Creativity Global - American Depositary Shares, each representing two common shares',
      'XNAS',
    ],
    ['AAPL', 'Apple Inc. - Common Stock', 'XNAS'],
  ]);
});

test('otherlisted.txt: letters become exchanges, one that is not known is refused', async () => {
  const lines = [
    'ACT Symbol|Security Name|Exchange|CQS Symbol|ETF|Round Lot Size|Test Issue|NASDAQ Symbol',
    'A|Agilent Technologies, Inc. Common Stock|N|A|N|100|N|A',
    'AAA|Alternative Access First Priority CLO Bond ETF|P|AAA|Y|100|N|AAA',
    'AAAU|Goldman Sachs Physical Gold ETF Shares|Z|AAAU|Y|100|N|AAAU',
    'ABR$D|Arbor Realty Trust 6.375% Series D|N|ABRpD|N|100|N|ABR-D',
    'XX|Of an exchange that is new|H|XX|N|100|N|XX',
    'File Creation Time: 1120202617:03||||||',
    '',
  ];
  const report = await vendor.import('otherlisted.txt', lines.join('\n'), { dataset: 'instruments' });
  assert.deepEqual(
    report.refused,
    [{ row: 5, column: 'Exchange', reason: 'is not one of A, N, P, V, Z', value: 'H' }].map((one) => ({
      ...one,
      reason: report.refused[0]!.reason,
    })),
  );
  assert.match(report.refused[0]!.reason, /^is not one of A, N, P, Z, V$/);
  assert.deepEqual(
    stored().map(([symbol, , exchange]) => [symbol, exchange]),
    [
      ['A', 'XNYS'],
      ['AAA', 'ARCX'],
      ['AAAU', 'BATS'],
      ['ABR$D', 'XNYS'],
    ],
  );
});

test('a list of symbols that is imported as bars is refused with the command that takes it', async () => {
  const message = await vendor.refusal(
    'nasdaqlisted.txt',
    'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares\nAAPL|Apple Inc.|Q|N|N|100|N|N\n',
  );
  assert.match(message, /nasdaqlisted: use bourse import instruments/);
});

for (const date of ['observation_date', 'DATE']) {
  test(`FRED with ${date}: a point is no value, and the code is the series or a given one`, async () => {
    const content = `${date},CPIAUCSL\n2024-06-01,313.131\n2024-07-01,.\n2024-08-01,314.121\n2024-13-01,1\n2024-09-01,x\n`;
    for (const code of [null, 'INFLATION_CPI']) {
      const fields = { country_iso_code: 'US', ...(code === null ? {} : { event_code: code }) };
      const report = await vendor.import('CPIAUCSL.csv', content, { dataset: 'economic-events', fields });
      assert.deepEqual(
        report.refused.map(({ row, column }) => [row, column]),
        [
          [4, date],
          [5, 'CPIAUCSL'],
        ],
      );
      const rows = rowsOf(
        vendor.url,
        'select event_code, event_timestamp, actual_value from economic_events order by 2',
      );
      assert.deepEqual(
        rows.map((row) => Object.values(row)),
        [
          [code ?? 'CPIAUCSL', Date.parse('2024-06-01T00:00:00Z'), 313.131],
          [code ?? 'CPIAUCSL', Date.parse('2024-07-01T00:00:00Z'), null],
          [code ?? 'CPIAUCSL', Date.parse('2024-08-01T00:00:00Z'), 314.121],
        ],
      );
    }
  });
}

/** Names of files headed DATE,VALUE, and the code that each gives; null where the name is no series. */
const named: readonly (readonly [file: string, code: string | null])[] = [
  ['UNRATE.csv', 'UNRATE'],
  ['GDPC1 (1).csv', 'GDPC1'],
  ['T10Y2Y.rejected.csv', 'T10Y2Y'],
  ['fred/4BIGEURORECP.txt', '4BIGEURORECP'],
  ['fredgraph.csv', null],
  ['VALUE.csv', null],
  ['DATA.csv', null],
  ['2024.csv', null],
  ['my rates.csv', null],
];
for (const [file, code] of named)
  test(`FRED: ${file}, headed DATE,VALUE, ${code === null ? 'is refused with what would name its series' : `has the code ${code}`}`, async () => {
    const content = 'DATE,VALUE\n2024-06-01,4.1\n';
    const flags = { dataset: 'economic-events', fields: { country_iso_code: 'US' } };
    const codes = () =>
      rowsOf(vendor.url, 'select event_code, event_name from economic_events').map((row) =>
        Object.values(row),
      );
    if (code === null) {
      const message = await vendor.refusal(file, content, flags);
      assert.match(
        message,
        /missing: event_code\. .*as a flag: --code\. .*name the file by it, such as CPIAUCSL\.csv/,
      );
    } else {
      await vendor.import(file, content, flags);
      assert.deepEqual(codes(), [[code, code]]);
    }
    const given = { country_iso_code: 'US', event_code: 'RATE' };
    await vendor.import(file, content, { ...flags, fields: given });
    assert.deepEqual(codes(), [['RATE', code ?? 'VALUE']]);
  });

test('FRED: two files headed DATE,VALUE are two series', async () => {
  const flags = { dataset: 'economic-events', fields: { country_iso_code: 'US' } };
  await vendor.import('UNRATE.csv', 'DATE,VALUE\n2024-06-01,4.1\n', flags);
  const second = await vendor.import('PAYEMS.csv', 'DATE,VALUE\n2024-06-01,158638\n', flags, false);
  assert.deepEqual([second.rowsNew, second.rowsReplaced], [1, 0]);
});

test('FRED: several series in one file are refused', async () => {
  const content = 'observation_date,CPIAUCSL,GDP\n2024-06-01,313.131,1\n';
  const flags = { dataset: 'economic-events', preset: 'fred', fields: { country_iso_code: 'US' } };
  const message = await vendor.refusal('fredgraph.csv', content, flags);
  assert.match(message, /several series, CPIAUCSL, GDP\. Download them one by one/);
});
