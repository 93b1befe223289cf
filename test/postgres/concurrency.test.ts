// Requests to a service on PostgreSQL while others import, correct, undo and delete, and are killed: no
// answer mixes two states.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { type Server, Workshop } from '../service.ts';
import { until } from '../until.ts';
import { openDatabase, type PostgresDatabase, skip } from './server.ts';

const shop = new Workshop();
let server: PostgresDatabase;
before(async () => {
  if (skip === false) server = await openDatabase();
});
after(async () => {
  shop.close();
  if (skip === false) await server.stop();
});

const SYMBOLS = ['AAPL', 'MSFT'];
const MINUTES = 390;
const DAYS = [3, 4, 5];

const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

/** A file with all bars at one price: that of its state. */
function barsFile(price: number): string {
  const path = shop.path(`bars-${price}.csv`);
  const rows = SYMBOLS.flatMap((symbol) =>
    DAYS.flatMap((day) =>
      Array.from({ length: MINUTES }, (_, minute) => {
        const at = new Date(Date.UTC(2025, 2, day, 14, 30 + minute)).toISOString();
        return [symbol, at, price, price, price, price, 1].join();
      }),
    ),
  );
  writeFileSync(path, ['symbol,datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  return path;
}

const EVENTS = 40;

/** A file of economic events that all have one actual value. */
function eventsFile(value: number): string {
  const path = shop.path(`events-${value}.csv`);
  const rows = Array.from({ length: EVENTS }, (_, at) =>
    [
      'US',
      `EVENT_${at}`,
      'made up',
      `2025-03-03T${10 + (at % 10)}:00:00Z`,
      'time_driven',
      'high',
      value,
    ].join(),
  );
  const header =
    'country_iso_code,event_code,event_name,event_timestamp,event_driven_type,impact,actual_value';
  writeFileSync(path, [header, ...rows, ''].join('\n'));
  return path;
}

/** Runs a statement on the server, past the service. */
async function ask(sql: string): Promise<Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** What is asked: a path, the column with the mark of a state, and the number of rows of a whole answer. */
type Asked = { readonly path: string; readonly column: string; readonly rows: number };

const [first, last] = [DAYS[0]!, DAYS.at(-1)!];
const bars = SYMBOLS.flatMap((symbol): Asked[] => {
  const range = `from/2025-03-0${first}/to/2025-03-0${last}?limit=1000&format=csv`;
  const of = (interval: string): string => `/api/v2/stock/bars/US:${symbol}/${interval}/${range}`;
  return [
    { path: of('1M'), column: 'open', rows: 1000 },
    { path: of('5M'), column: 'close', rows: (DAYS.length * MINUTES) / 5 },
    { path: of('DAY'), column: 'high', rows: DAYS.length },
  ];
});
const events: Asked[] = [
  {
    path: '/api/v2/economic_calendar/event_list?country_iso_code=US&from_date=2025-03-01&to_date=2025-03-08&limit=100&format=csv',
    column: 'actual_value',
    rows: EVENTS,
  },
  {
    path: '/api/v2/economic_calendar/event?country_iso_code=US&event_code=EVENT_7',
    column: 'actual_value',
    rows: 1,
  },
];

/** The answer of the one event that is asked for. */
type OneEvent = { readonly result: { readonly actual_value: number } };

/** The mark that every row of an answer has; null without rows. */
async function markOf(serving: Server, key: string, { path, column, rows }: Asked): Promise<number | null> {
  const response = await serving.get(path, { headers: { authorization: `Bearer ${key}` } });
  const text = (await response.text()).trimEnd();
  assert.equal(response.status, 200, `${path}: ${text}`);
  if (text.startsWith('{')) return (JSON.parse(text) as OneEvent).result.actual_value;
  const [header, ...lines] = text.split('\n');
  const at = header!.split(',').indexOf(column);
  assert.ok(at >= 0, `${path}: ${header}`);
  const marks = [...new Set(lines.map((line) => Number(line.split(',')[at])))];
  assert.ok(marks.length <= 1, `${path} mixes ${marks.join(' and ')}`);
  assert.equal(lines.length, marks.length === 0 ? 0 : rows, path);
  return marks[0] ?? null;
}

/** Asks everything, over and over, until `work` is done. */
async function askDuring(
  asking: readonly { readonly serving: Server; readonly asked: readonly Asked[] }[],
  key: string,
  work: () => Promise<void>,
): Promise<void> {
  let isGoing = true;
  let answers = 0;
  const askers = asking.map(async ({ serving, asked }) => {
    while (isGoing)
      for (const one of asked) {
        await markOf(serving, key, one);
        answers++;
        await wait(50);
      }
  });
  try {
    await work();
    await until('nobody asks', () => answers > 20);
  } finally {
    isGoing = false;
    await Promise.all(askers);
  }
}

/** A store with a key, and services on it. */
async function served(
  schema: string,
  count: number,
): Promise<{
  readonly store: string;
  readonly key: string;
  readonly servers: readonly Server[];
  readonly run: (...words: readonly string[]) => Promise<string>;
}> {
  const store = `${server.url}?schema=${schema}`;
  const run = async (...words: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await shop.run(...words, '--store', store);
    assert.equal(status, 0, `${words.join(' ')}: ${stderr}`);
    return stdout;
  };
  await run('import', 'bars', barsFile(100), ...flags);
  const key = (await run('keys', 'create', 'me')).trim();
  const servers = await Promise.all(Array.from({ length: count }, () => shop.serve('--store', store)));
  return { store, key, servers, run };
}

test('answers are those of one state while files are imported, corrected, undone and deleted (contract 4.1, 10)', {
  skip,
}, async () => {
  const { key, servers, run } = await served('churn', 2);
  await run('import', 'economic-events', eventsFile(100));
  const asking = servers.flatMap((serving) => [
    { serving, asked: bars },
    { serving, asked: events },
  ]);
  const expectAll = async (asked: readonly Asked[], mark: number | null): Promise<void> => {
    for (const serving of servers)
      for (const one of asked) assert.equal(await markOf(serving, key, one), mark, one.path);
  };
  const lastRun = async (): Promise<string> => {
    const [row] = await ask('select max(run_id)::text as run from churn.import_runs');
    return row!.run as string;
  };
  await askDuring(asking, key, async () => {
    for (const mark of [101, 102]) {
      await run('import', 'bars', barsFile(mark), ...flags);
      await expectAll(bars, mark);
      const undone = await lastRun();
      await run('import', 'economic-events', eventsFile(mark));
      await expectAll(events, mark);
      await run('undo', undone);
      await expectAll(bars, 100);
    }
    for (const symbol of SYMBOLS) await run('delete', 'bars', '--symbol', symbol, '--country', 'US');
    await expectAll(bars, null);
    await run('undo', await lastRun());
    await expectAll(
      bars.filter(({ path }) => path.includes('MSFT')),
      100,
    );
  });
  for (const serving of servers) await serving.stop();
});

test('two processes that import at once, and one that is killed at any moment, leave one state each time (contract 10)', {
  skip,
}, async () => {
  const { store, key, servers, run } = await served('killed', 1);
  const asking = servers.map((serving) => ({ serving, asked: bars }));
  const present = (): Promise<(number | null)[]> =>
    Promise.all(bars.map((one) => markOf(servers[0]!, key, one)));
  const importing = (price: number) =>
    shop.start(['import', 'bars', barsFile(price), ...flags, '--store', store]);
  let mark = 100;
  await askDuring(asking, key, async () => {
    const began = performance.now();
    const [one, other] = [importing(1), importing(2)];
    await Promise.all([once(one, 'exit'), once(other, 'exit')]);
    const tookMs = performance.now() - began;
    assert.deepEqual([one.exitCode, other.exitCode], [0, 0]);
    const found = new Set(await present());
    assert.equal(found.size, 1, [...found].join());
    assert.ok(found.has(1) || found.has(2));
    mark = [...found][0]!;
    for (let round = 0; round < 4; round++) {
      const price = 200 + round;
      const child = importing(price);
      const exited = once(child, 'exit');
      // From its connection on to its end.
      await wait((tookMs * (round + 5)) / 10);
      if (round % 2 === 0) child.kill('SIGKILL');
      else
        await ask(
          `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks l using (pid)
            where l.locktype = 'advisory' and l.granted and l.objsubid = 2 and a.datname = current_database()`,
        );
      await exited;
      const left = new Set(await present());
      assert.equal(left.size, 1);
      assert.ok(left.has(mark) || left.has(price), `${[...left].join()} after ${mark} and ${price}`);
      if (child.exitCode === 0) assert.ok(left.has(price), 'an import that succeeded is there');
      mark = [...left][0]!;
    }
    await run('import', 'bars', barsFile(300), ...flags);
    assert.deepEqual([...new Set(await present())], [300]);
  });
  assert.match(await run('doctor', '--deep'), /ok|fine|sound/i);
  for (const serving of servers) await serving.stop();
});
