// The close that a dividend is measured by, where the session before its ex-date has bars that are not served
// (contract 3.9, 8.2, 9.4).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { historicalBars } from '../src/contract/bars.ts';
import { corporateActions } from '../src/contract/corporate-actions.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { openStore } from '../src/store/engines.ts';
import { stored } from './importing.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
const HEADER = 'country_iso_code,symbol,action_type,ex_date,cash_amount';
const SYMBOLS = ['UNFINISHED', 'MORNING', 'FINER', 'HOURS', 'QUIET', 'POST', 'LONG', 'HALTED'];
const actionsPath = shop.path('actions.csv');
writeFileSync(
  actionsPath,
  [
    `${HEADER},split_from,split_to`,
    ...SYMBOLS.map((symbol) => `US,${symbol},dividend,2024-03-06,1,,`),
    'US,HALTED,split,2024-03-04,,1,5',
    'US,HALTED,split,2024-03-05,,1,2',
    '',
  ].join('\n'),
);
await stored(shop, actionsPath, (store, request) => importFile(store, 'corporate-actions', request));
const reader = await openStore(shop.store, 'read');
const runner = new QueryRunner(reader, new Uint8Array(32).fill(7));
after(async () => {
  await reader.close();
  shop.close();
});

/** Imports bars of one price each, by a run that begins at a moment. */
async function imported(
  symbol: string,
  interval: string,
  at: string,
  bars: Readonly<Record<string, number>>,
) {
  const path = shop.path('bars.csv');
  const lines = Object.entries(bars).map(([time, price]) => [time, price, price, price, price].join());
  writeFileSync(path, ['datetime,open,high,low,close', ...lines, ''].join('\n'));
  const named = { asset_schema: 'stock', country_iso_code: 'US', symbol, interval };
  const about = { flags: new Map(Object.entries(named)), zone: null, basis: 'raw' } as const;
  const nowMs = (): number => Date.parse(at);
  await stored(shop, path, (store, request) => importFile(store, 'bars', { ...request, ...about, nowMs }));
}

async function recordsOf(
  endpoint: 'historicalBars' | 'corporateActions',
  raw: Readonly<Record<string, string>>,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const texts = new Map(Object.entries({ from_date: '2024-01-01', to_date: '2024-12-31', ...raw }));
  const parameters =
    endpoint === 'historicalBars'
      ? parseParameters(historicalBars, texts)
      : parseParameters(corporateActions, texts);
  const nowMs = Date.parse('2024-06-01T12:00:00Z');
  const answer = await runner.run({ endpoint, parameters, nowMs, wrapCsv: false });
  if (answer.kind !== 'answer') assert.fail(answer.facts.message);
  const body = JSON.parse(Buffer.from(answer.body).toString()) as { result: { data: [] } };
  return body.result.data;
}

/** The reference price of the dividend of a stock, and the adjusted closes of its days. */
async function adjusted(symbol: string): Promise<{ price: unknown; closes: unknown[] }> {
  const country_symbol = `US:${symbol}`;
  const [action] = await recordsOf('corporateActions', { country_symbol, action_type: 'dividend' });
  const asked = { schema_asset: 'stock', country_symbol, interval: 'DAY', adjust: 'all', format: 'json' };
  const bars = await recordsOf('historicalBars', asked);
  return {
    price: action!.reference_price,
    closes: bars.map(({ datetime, close }) => `${String(datetime).slice(5, 10)} ${String(close)}`),
  };
}

// The ex-date is Wednesday, March 6, 2024. The session of Tuesday closes at 21:00 UTC.
const TUESDAY_NOON = '2024-03-05T17:00:00Z';
const LATER = '2024-03-08T12:00:00Z';

test('a day that was imported before its close gives no close, nor does the day before it (contract 3.9, 8.2)', async () => {
  await imported('UNFINISHED', 'DAY', TUESDAY_NOON, { '2024-03-04': 100, '2024-03-05': 60 });
  await imported('UNFINISHED', 'DAY', LATER, { '2024-03-06': 79 });
  assert.deepEqual(await adjusted('UNFINISHED'), { price: null, closes: ['03-04 100', '03-06 79'] });
  await imported('UNFINISHED', 'DAY', LATER, { '2024-03-05': 80 });
  assert.deepEqual(await adjusted('UNFINISHED'), {
    price: 80,
    closes: ['03-04 98.75', '03-05 79', '03-06 79'],
  });
});

test('hours that are not all of a session give no close, nor does the session before them (contract 3.9, 8.2)', async () => {
  const hours = { '2024-03-04T20:30:00Z': 100, '2024-03-05T14:30:00Z': 60 };
  await imported('MORNING', '60M', TUESDAY_NOON, hours);
  await imported('MORNING', '30M', LATER, { '2024-03-06T20:30:00Z': 79 });
  assert.deepEqual(await adjusted('MORNING'), { price: null, closes: ['03-04 100', '03-06 79'] });
  await imported('MORNING', '60M', LATER, { '2024-03-05T14:30:00Z': 60, '2024-03-05T20:30:00Z': 80 });
  assert.deepEqual((await adjusted('MORNING')).price, 80);
});

test('an hour that had just begun hides the close of its session and gives none before it (contract 3.9, 8.2)', async () => {
  const hours = { '2024-03-04T20:30:00Z': 100, '2024-03-05T16:30:00Z': 60 };
  await imported('HOURS', '60M', TUESDAY_NOON, hours);
  await imported('HOURS', '60M', LATER, { '2024-03-06T20:30:00Z': 79 });
  assert.deepEqual(await adjusted('HOURS'), { price: null, closes: ['03-04 100', '03-06 79'] });
});

test('where the days lack a session, its close is that of the finer bars that have all of it (contract 8.2)', async () => {
  await imported('FINER', 'DAY', TUESDAY_NOON, { '2024-03-04': 100, '2024-03-05': 60 });
  await imported('FINER', 'DAY', LATER, { '2024-03-06': 79 });
  await imported('FINER', '60M', LATER, { '2024-03-05T14:30:00Z': 80, '2024-03-05T20:30:00Z': 80 });
  assert.deepEqual(await adjusted('FINER'), {
    price: 80,
    closes: ['03-04 98.75', '03-05 79', '03-06 79'],
  });
});

test('several hidden sessions before an ex-date hide the close, however long ago the last one is (contract 3.9, 8.2)', async () => {
  await imported('LONG', 'DAY', '2024-02-20T17:00:00Z', { '2024-02-16': 100, '2024-02-20': 60 });
  await imported('LONG', 'DAY', LATER, { '2024-03-06': 79 });
  assert.deepEqual(await adjusted('LONG'), { price: null, closes: ['02-16 100', '03-06 79'] });
});

test('a session without any bar, or with bars of extended hours alone, had no close: the one before counts (contract 8.2)', async () => {
  await imported('QUIET', 'DAY', LATER, { '2024-03-04': 100, '2024-03-06': 79 });
  assert.deepEqual(await adjusted('QUIET'), { price: 100, closes: ['03-04 99', '03-06 79'] });
  const minutes = { '2024-03-04T20:59:00Z': 100, '2024-03-05T22:00:00Z': 60, '2024-03-06T20:59:00Z': 79 };
  await imported('POST', '1M', LATER, minutes);
  assert.deepEqual(await adjusted('POST'), { price: 100, closes: ['03-04 99', '03-06 79'] });
});

test('the close is divided by the split of a day without a bar (contract 8.2)', async () => {
  await imported('HALTED', 'DAY', LATER, { '2024-03-01': 500, '2024-03-04': 100, '2024-03-06': 49 });
  assert.deepEqual(await adjusted('HALTED'), { price: 50, closes: ['03-01 49', '03-04 49', '03-06 49'] });
});
