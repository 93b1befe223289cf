// QuantConnect LEAN data folders, as they are (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { zipOf } from '../zip.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

test('minutes of a US equity: ten-thousandths of a dollar, milliseconds since New York’s midnight in summer and winter', async () => {
  const row = '34200000,1680400,1680800,1680301,1680700,152036\n';
  for (const [date, at] of [
    ['20131007', '2013-10-07T13:30:00+00:00'],
    ['20131209', '2013-12-09T14:30:00+00:00'],
  ]) {
    const report = await vendor.import(`equity/usa/minute/spy/${date}_spy_minute_trade.csv`, row);
    assert.deepEqual([report.preset?.name, report.preset?.says.symbol], ['lean', 'SPY']);
    assert.deepEqual(await vendor.served('stock/US:SPY', '1M'), [
      [at, 168.04, 168.08, 168.0301, 168.07, 152036, null],
    ]);
  }
});

test('a zip in its folder is told by the folder, whatever the file in it is called', async () => {
  const bytes = Buffer.from('34200000,1680400,1680800,1680301,1680700,152036\n');
  const zip = zipOf({ name: '20131007_spy_minute_trade.csv', bytes });
  const report = await vendor.import('equity/usa/minute/spy/20131007_trade.zip', zip);
  assert.equal(report.preset?.says.symbol, 'SPY');
  assert.equal((await vendor.served('stock/US:SPY', '1M'))[0]?.[0], '2013-10-07T13:30:00+00:00');
});

test('hours and days are in one file a symbol; a day is its date', async () => {
  await vendor.import(
    'equity/usa/daily/spy.csv',
    '20131001 00:00,1680400,1689900,1680300,1688700,131243195\n',
  );
  assert.deepEqual(await vendor.served('stock/US:SPY', 'DAY'), [
    ['2013-10-01', 168.04, 168.99, 168.03, 168.87, 131243195, null],
  ]);
  await vendor.import('equity/usa/hour/spy.csv', '20131001 10:00,1680400,1689900,1680300,1688700,13124319\n');
  assert.equal((await vendor.served('stock/US:SPY', '60M'))[0]?.[0], '2013-10-01T14:00:00+00:00');
});

test('crypto is in decimals and UTC; quotes of forex give their bids', async () => {
  await vendor.import('crypto/gdax/minute/btcusd/20181007_trade.csv', '60000,6602.5,6603,6601.1,6602,1.25\n');
  assert.deepEqual(await vendor.served('crypto/GLOBAL:BTCUSD', '1M'), [
    ['2018-10-07T00:01:00+00:00', 6602.5, 6603, 6601.1, 6602, 1.25, null],
  ]);
  const quote = '36000000,1.09371,1.09372,1.0937,1.0937,0,1.0938,1.09381,1.0938,1.0938,0\n';
  await vendor.import('forex/oanda/minute/eurusd/20140502_quote.csv', quote);
  assert.deepEqual(await vendor.served('forex/GLOBAL:EURUSD', '1M'), [
    ['2014-05-02T10:00:00+00:00', 1.09371, 1.09372, 1.0937, 1.0937, null, null],
  ]);
});

test('outside its folder a file does not tell what it is', async () => {
  const row = '34200000,1680400,1680800,1680300,1680700,152036\n';
  const message = await vendor.refusal('20131007_trade.csv', row, { preset: 'lean' });
  assert.match(message, /recognized by its folder\. Keep it in one such as equity\/usa\/minute/);
});

test('refused rows are taken from beside the file when they are mended', async () => {
  const rows = '34200000,1680400,1680800,1680300,1680700,1\n34260000,1680400,1680000,1680300,1680700,1\n';
  const { rejectedFile, refused } = await vendor.import('equity/usa/minute/spy/20131007_trade.csv', rows);
  assert.deepEqual([refused[0]?.row, refused[0]?.column], [2, 'high']);
  const mended = readFileSync(rejectedFile!, 'utf8').replace(',1680000,', ',1690000,');
  await vendor.import('equity/usa/minute/spy/20131007_trade.rejected.csv', mended, {}, false);
  assert.equal((await vendor.served('stock/US:SPY', '1M'))[1]?.[2], 169);
});
