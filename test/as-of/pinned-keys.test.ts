// Keys that are pinned to an instant: the command line makes and moves them, the service answers as of it (contract 9.8, 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { patiently, Workshop } from '../service.ts';

const shop = new Workshop();
after(() => shop.close());

const rows = ['03', '04', '05'].map(
  (day, at) => `AAA,2025-03-${day},${at + 1},${at + 1},${at + 1},${at + 1}`,
);
writeFileSync(shop.path('days.csv'), ['symbol,datetime,open,high,low,close', ...rows, ''].join('\n'));
const events = ['2025-03-03,FIRST', '2025-03-05,LATER,data_driven'].map((row) => row.split(','));
writeFileSync(
  shop.path('events.csv'),
  [
    'country_iso_code,event_code,event_name,event_timestamp,event_driven_type',
    ...events.map(([date, code, driven = '']) => `ZZ,${code},${code},${date}T12:00:00Z,${driven}`),
    '',
  ].join('\n'),
);

type Listed = { readonly id: string; readonly name: string; readonly as_of: string | null };
const DAYS = '/api/v2/stock/bars/US:AAA/DAY/latest';
const CODES = '/api/v2/economic_calendar/event_codes/ZZ';

test('a pinned key is answered as of its instant, and as of the next one where it is moved; other keys see everything (contract 9.8)', async () => {
  await shop.must('import', 'bars', 'days.csv', '--schema', 'stock', '--country', 'US', '--interval', 'DAY');
  await shop.must('import', 'economic-events', 'events.csv');
  const live = (await shop.must('keys', 'create', 'live')).trim();
  const pinned = (await shop.must('keys', 'create', 'backtest', '--as-of', '2025-03-04T21:00:00Z')).trim();
  const listed = JSON.parse(await shop.must('keys', 'list', '--json')) as Listed[];
  const id = listed.find(({ name }) => name === 'backtest')!.id;
  assert.deepEqual(Object.fromEntries(listed.map(({ name, as_of }) => [name, as_of])), {
    backtest: '2025-03-04T21:00:00+00:00',
    live: null,
  });
  assert.match(await shop.must('keys', 'list'), /AS OF\s*\n.*2025-03-04T21:00:00/s);
  const server = await shop.serve('--workers', '1');
  const ask = async (path: string, key: string) => {
    const response = await patiently(() => server.get(`${path}?secret_key=${key}`));
    const { result } = (await response.json()) as { result: Record<string, unknown> };
    return { result, asOf: response.headers.get('X-As-Of') };
  };
  const closes = async (key: string) => {
    const { result, asOf } = await ask(DAYS, key);
    return [(result.data as { close: number }[]).map(({ close }) => close), asOf];
  };
  // The answers of the other key are kept by then: none of them is given to the pinned one, or the other way round.
  for (let times = 0; times < 2; times++) {
    assert.deepEqual(Object.keys((await ask(CODES, live)).result), ['FIRST', 'LATER'].sort());
    assert.deepEqual(Object.keys((await ask(CODES, pinned)).result), ['FIRST']);
    assert.deepEqual(await closes(live), [[1, 2, 3], null]);
    assert.deepEqual(await closes(pinned), [[1, 2], '2025-03-04T21:00:00Z']);
  }
  await shop.must('keys', 'move', id, '--as-of', '2025-03-05T21:00:00Z');
  const endMs = Date.now() + 20_000;
  while ((await closes(pinned))[1] !== '2025-03-05T21:00:00Z') assert.ok(Date.now() < endMs);
  assert.deepEqual(await closes(pinned), [[1, 2, 3], '2025-03-05T21:00:00Z']);
  await server.stop();
});

test('an instant without a time, in the future or of a key that is not pinned is wrong usage (contract 9.8, 10)', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { status, stderr } = await shop.run('keys', ...args);
    assert.equal(status, 2, stderr);
    return stderr;
  };
  assert.match(await refused('create', 'x', '--as-of', '2025-03-04'), /such as 2025-03-04T00:00:00Z/);
  assert.match(await refused('create', 'x', '--as-of', '2199-01-01T00:00:00Z'), /is in the future/);
  const listed = JSON.parse(await shop.must('keys', 'list', '--json')) as Listed[];
  const { id } = listed.find(({ name }) => name === 'live')!;
  assert.match(await refused('move', id, '--as-of', '2025-03-04T00:00:00Z'), /is not pinned to an instant/);
  assert.match(await refused('move', 'nobody', '--as-of', '2025-03-04T00:00:00Z'), /no key with the id/);
  assert.match(await refused('move', id), /--as-of/);
});
