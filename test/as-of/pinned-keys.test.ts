// Keys that are pinned to an instant: the command line makes and moves them, the service answers as of it
// (contract 9.8, 10).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { command, Workshop } from '../service.ts';

const shop = new Workshop();
after(() => shop.close());

// The vwap of the third day is outside its bar.
const rows = ['03', '04', '05'].map(
  (day, at) => `AAA,2025-03-${day},${at + 1},${at + 1},${at + 1},${at + 1},${day === '05' ? 9 : at + 1}`,
);
writeFileSync(shop.path('days.csv'), ['symbol,datetime,open,high,low,close,vwap', ...rows, ''].join('\n'));
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
    const response = await server.get(`${path}?secret_key=${key}`);
    const { result } = (await response.json()) as { result: Record<string, unknown> };
    return { result, asOf: response.headers.get('X-As-Of') };
  };
  const closes = async (key: string) => {
    const { result, asOf } = await ask(DAYS, key);
    return [(result.data as { close: number }[]).map(({ close }) => close), asOf];
  };
  /** How many there are by each key: bars of the listed series, sessions, findings. */
  const judged = async (key: string) => {
    const rows = async (path: string) => (await ask(path, key)).result.data as { bars: number }[];
    const [[series], sessions, findings] = [
      await rows('/api/v2/stock/coverage'),
      await rows('/api/v2/stock/coverage/US:AAA'),
      await rows('/api/v2/stock/findings/US:AAA'),
    ];
    return [series?.bars, sessions.filter(({ bars }) => bars > 0).length, findings.length];
  };
  // The answers of the other key are kept by then: none of them is given to the pinned one, or the other way
  // round.
  for (let times = 0; times < 2; times++) {
    assert.deepEqual(Object.keys((await ask(CODES, live)).result), ['FIRST', 'LATER'].sort());
    assert.deepEqual(Object.keys((await ask(CODES, pinned)).result), ['FIRST']);
    assert.deepEqual(await closes(live), [[1, 2, 3], null]);
    assert.deepEqual(await closes(pinned), [[1, 2], '2025-03-04T21:00:00Z']);
    assert.deepEqual(await judged(live), [3, 3, 1]);
    assert.deepEqual(await judged(pinned), [2, 2, 0]);
  }
  await shop.must('keys', 'move', id, '--as-of', '2025-03-05T21:00:00Z');
  assert.deepEqual(await closes(pinned), [[1, 2, 3], '2025-03-05T21:00:00Z']);
  assert.deepEqual(await judged(pinned), [3, 3, 1]);
  await server.stop();
});

const idOf = async (name: string): Promise<string> => {
  const listed = JSON.parse(await shop.must('keys', 'list', '--json')) as Listed[];
  return listed.find((key) => key.name === name)!.id;
};

test('a key that follows instants holds on every worker once an instant is answered, forwards and backwards (contract 9.8)', async () => {
  const pinned = (await shop.must('keys', 'create', 'clock', '--as-of', '2025-03-03T21:00:00Z')).trim();
  const server = await shop.serve('--workers', '2');
  const env = { ...process.env, BOURSE_STORE: shop.store };
  const clock = spawn(command, ['keys', 'move', await idOf('clock'), '--follow'], {
    cwd: shop.folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: clock.stdout })[Symbol.asyncIterator]();
  for (let step = 0; step < 9; step++) {
    const instant = `2025-03-0${3 + (step % 3)}T21:00:00`;
    clock.stdin.write(`${instant}Z\n`);
    assert.equal((await answers.next()).value, `${instant}+00:00`);
    // Each on a connection of its own, so that both workers are asked.
    const seen = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const headers = { Connection: 'close' };
        const response = await server.get(`${DAYS}?secret_key=${pinned}`, { headers });
        const { result } = (await response.json()) as { result: { data: unknown[] } };
        return `${response.headers.get('X-As-Of')} ${result.data.length}`;
      }),
    );
    assert.deepEqual(new Set(seen), new Set([`${instant}Z ${1 + (step % 3)}`]), `step ${step}`);
  }
  clock.stdin.end();
  const [status] = await once(clock, 'exit');
  assert.equal(status, 0);
  await server.stop();
});

test('a line that is no instant ends the following with status 2 and its number; what was before it holds', async () => {
  const id = await idOf('clock');
  const { status, stdout, stderr } = await shop.pipe(
    '2025-03-03T21:00:00Z\n\n2025-03-04\n2025-03-05T21:00:00Z\n',
    ...['keys', 'move', id, '--follow'],
  );
  assert.deepEqual([status, stdout], [2, '2025-03-03T21:00:00+00:00\n'], stderr);
  assert.match(stderr, /line 3 of standard input: 2025-03-04: must be an instant with its time/);
  const listed = JSON.parse(await shop.must('keys', 'list', '--json')) as Listed[];
  assert.equal(listed.find((key) => key.id === id)!.as_of, '2025-03-03T21:00:00+00:00');
});

test('an instant without a time, in the future or of a key that is not pinned is wrong usage (contract 9.8, 10)', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { status, stderr } = await shop.run('keys', ...args);
    assert.equal(status, 2, stderr);
    return stderr;
  };
  assert.match(await refused('create', 'x', '--as-of', '2025-03-04'), /such as 2025-03-04T00:00:00Z/);
  assert.match(await refused('create', 'x', '--as-of', '2199-01-01T00:00:00Z'), /is in the future/);
  const id = await idOf('live');
  assert.match(await refused('move', id, '--as-of', '2025-03-04T00:00:00Z'), /is not pinned to an instant/);
  assert.match(await refused('move', 'nobody', '--as-of', '2025-03-04T00:00:00Z'), /no key with the id/);
  assert.match(await refused('move', id), /--as-of INSTANT, or --follow/);
  const both = ['--as-of', '2025-03-04T00:00:00Z', '--follow'];
  assert.match(await refused('move', id, ...both), /--as-of INSTANT, or --follow/);
});
