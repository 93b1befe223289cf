// Weeks, months and days of extended hours of stores that have a part of them in one series and a part in
// another, through the command line.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const HEADER = 'datetime,open,high,low,close,volume';
const MINUTE_MS = 60_000;

/** Imports rows of one stock. */
async function importBars(symbol: string, interval: string, rows: readonly string[], ...flags: string[]) {
  const path = shop.path(`${symbol}-${interval}.csv`);
  writeFileSync(path, [HEADER, ...rows, ''].join('\n'));
  const named = ['--schema', 'stock', '--country', 'US', '--symbol', symbol, '--interval', interval];
  await shop.must('import', 'bars', path, ...named, '--no-check', ...flags);
}

/** Minutes of one price from an instant. */
const minutes = (from: string, count: number, price: number): string[] =>
  Array.from({ length: count }, (_, at) => {
    const open = new Date(Date.parse(from) + at * MINUTE_MS).toISOString();
    return `${open},${price},${price},${price},${price},100`;
  });

const days = (...dates: readonly string[]): string[] => dates.map((date) => `${date},10,30,2,10,1000000`);

const ask = (path: string): Promise<string> => shop.must('query', path);

/** The bars of an answer as texts: date of the open, open, high, low, close, volume. */
const valuesOf = (csv: string): string[] => {
  const [header, ...lines] = csv.trimEnd().split('\r\n');
  const at = ['datetime', 'open', 'high', 'low', 'close', 'volume'].map((name) =>
    header!.split(',').indexOf(name),
  );
  return lines.map((line) => at.map((column) => line.split(',')[column]!.slice(0, 10)).join(' '));
};

const RANGE = { from: '2025-09-01', to: '2025-09-30' };

/** What every kind of request answers for bars of a stock, which is the same. */
async function bars(symbol: string, interval: string, rest = ''): Promise<string[]> {
  const series = `/api/v2/stock/bars/US:${symbol}/${interval}`;
  const { from, to } = RANGE;
  const found = valuesOf(await ask(`${series}/latest?format=csv${rest}`));
  const history = `${series}/from/${from}/to/${to}?format=csv${rest}`;
  assert.deepEqual(valuesOf(await ask(history)), found);
  assert.deepEqual(valuesOf(await ask(`${history}&sort=desc`)).reverse(), found);
  const bulk = `/api/v2/stock/bulk/bars/US/${interval}/from/${from}/to/${to}?symbols=${symbol}&format=csv${rest}`;
  assert.deepEqual(valuesOf(await ask(bulk)), found);
  return found;
}

test('a week whose last session is in minutes alone has all its sessions (contract 3.6, 3.8)', async () => {
  await importBars('LAST', 'DAY', days('2025-09-08', '2025-09-09', '2025-09-10', '2025-09-11'));
  await importBars('LAST', '1M', minutes('2025-09-12T13:30:00Z', 390, 12));
  assert.deepEqual(await bars('LAST', 'WEEK'), ['2025-09-08 10 30 2 12 4039000']);
  assert.deepEqual(await bars('LAST', 'WEEK', '&is_eth=true'), ['2025-09-08 10 30 2 12 4039000']);
});

test('a week whose first session is in minutes alone has all its sessions, and so has its month (contract 3.6, 3.8)', async () => {
  await importBars('FIRST', '1M', minutes('2025-09-08T13:30:00Z', 390, 12));
  await importBars(
    'FIRST',
    'DAY',
    days('2025-09-09', '2025-09-10', '2025-09-11', '2025-09-12', '2025-09-30'),
  );
  assert.deepEqual(await bars('FIRST', 'WEEK'), ['2025-09-08 12 30 2 10 4039000']);
  // Its first week is in no file.
  assert.deepEqual(await bars('FIRST', 'MON'), []);
});

test('a stored week is served as stored; one that is missing among the stored ones is made of its days (contract 3.6, 3.8)', async () => {
  await importBars('HOLE', 'WEEK', ['2025-09-01,1,2,1,2,5', '2025-09-15,3,4,3,4,6']);
  await importBars(
    'HOLE',
    'DAY',
    days('2025-09-08', '2025-09-09', '2025-09-10', '2025-09-11', '2025-09-12', '2025-09-15'),
  );
  assert.deepEqual(await bars('HOLE', 'WEEK'), [
    '2025-09-02 1 2 1 2 5',
    '2025-09-08 10 30 2 10 5000000',
    '2025-09-15 3 4 3 4 6',
  ]);
});

test('with is_eth a day of which one hour of minutes is stored is its stored bar (contract 3.6)', async () => {
  await importBars('HOUR', 'DAY', days('2025-09-08', '2025-09-09'));
  await importBars('HOUR', '1M', minutes('2025-09-09T14:30:00Z', 60, 12));
  for (const rest of ['', '&is_eth=true'])
    assert.deepEqual(await bars('HOUR', 'DAY', rest), [
      '2025-09-08 10 30 2 10 1000000',
      '2025-09-09 10 30 2 10 1000000',
    ]);
});

test('with is_eth a stored week stays where minutes hold one session of it (contract 3.6, 3.8)', async () => {
  await importBars('ONE', 'WEEK', ['2025-09-08,10,30,2,10,5000000']);
  await importBars('ONE', '1M', minutes('2025-09-12T13:30:00Z', 390, 12));
  for (const rest of ['', '&is_eth=true'])
    assert.deepEqual(await bars('ONE', 'WEEK', rest), ['2025-09-08 10 30 2 10 5000000']);
});

test('a session that days lack is served from minutes, and coverage says from which series (contract 3.8, 9.9)', async () => {
  await importBars('LACKS', 'DAY', days('2025-09-08', '2025-09-09', '2025-09-11', '2025-09-12'));
  await importBars('LACKS', '1M', [
    ...minutes('2025-09-09T13:30:00Z', 390, 12),
    ...minutes('2025-09-10T13:30:00Z', 390, 12),
  ]);
  assert.equal((await bars('LACKS', 'DAY'))[2], '2025-09-10 12 12 12 12 39000');
  assert.deepEqual(await bars('LACKS', 'WEEK'), ['2025-09-08 10 30 2 10 4039000']);
  const coverage = await ask('/api/v2/stock/coverage/US:LACKS?format=csv&interval=DAY&to_date=2025-09-12');
  const told = coverage
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',').slice(0, 5).join(' '));
  assert.deepEqual(told, [
    '2025-09-08 DAY stored available 1',
    '2025-09-09 DAY stored available 1',
    '2025-09-10 DAY derived available 1',
    '2025-09-11 DAY stored available 1',
    '2025-09-12 DAY stored available 1',
  ]);
});

test('a stored week with an ex-date is rebuilt from days of which one is in minutes; from a part of them it is refused (contract 9.4)', async () => {
  const path = shop.path('splits.csv');
  const splits = ['SPLIT', 'PART'].map((symbol) => `US,${symbol},split,2025-09-10,1,2`);
  writeFileSync(
    path,
    ['country_iso_code,symbol,action_type,ex_date,split_from,split_to', ...splits, ''].join('\n'),
  );
  await importBars('SPLIT', 'WEEK', ['2025-09-08,10,30,2,12,4039000']);
  await importBars('SPLIT', 'DAY', days('2025-09-08', '2025-09-09', '2025-09-10', '2025-09-11'));
  await importBars('SPLIT', '1M', minutes('2025-09-12T13:30:00Z', 390, 12));
  await importBars('PART', 'WEEK', ['2025-09-08,10,30,2,12,4039000']);
  await importBars('PART', 'DAY', days('2025-09-10', '2025-09-11'));
  await importBars('PART', '1M', minutes('2025-09-12T13:30:00Z', 390, 12));
  await shop.must('import', 'corporate-actions', path);
  assert.deepEqual(await bars('SPLIT', 'WEEK', '&adjust=split'), ['2025-09-08 5 30 1 12 6039000']);
  const refused = await shop.run('query', '/api/v2/stock/bars/US:PART/WEEK/latest?adjust=split');
  assert.match(`${refused.stdout}${refused.stderr}`, /does not hold the DAY bars of US:PART/);
});

test('a week of which a session is to be had on another price basis only has no bar, and is a finding (contract 3.6, 9.10)', async () => {
  await importBars(
    'BASIS',
    'DAY',
    days('2025-09-08', '2025-09-09', '2025-09-10', '2025-09-11', '2025-09-15'),
  );
  await importBars('BASIS', '60M', ['2025-09-12T13:30:00Z,5,6,5,6,10'], '--prices', 'split');
  await importBars('BASIS', 'MON', ['2025-09-01,1,1,1,1,1']);
  assert.deepEqual(await bars('BASIS', 'WEEK'), []);
  const findings = async () =>
    (await ask('/api/v2/stock/findings/US:BASIS?kind=split_basis&format=csv'))
      .trimEnd()
      .split('\r\n')
      .slice(1);
  const [finding, ...more] = await findings();
  assert.deepEqual(more, []);
  assert.match(finding!, /^split_basis,error,WEEK,2025-09-08T13:30:00\+00:00,2025-09-12T20:00:00\+00:00,,,/);
  assert.match(finding!, /1 week without a bar: the sessions are stored with raw and split prices/);
  // The session is to be had raw too.
  await importBars('BASIS', '30M', minutes('2025-09-12T13:30:00Z', 1, 12));
  assert.deepEqual((await bars('BASIS', 'WEEK'))[0], '2025-09-08 10 30 2 12 4000100');
  assert.deepEqual(await findings(), []);
});
