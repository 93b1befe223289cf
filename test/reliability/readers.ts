// Callers of several servers while imports go on: walks, single requests, the log, a revocation.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { minuteTexts, SESSION_MINUTES, symbolOf } from '../../bench/minutes.ts';
import { type Server, Workshop } from '../service.ts';
import { logBytesOf } from '../stores.ts';
import { until } from '../until.ts';
import { beside, Callers, type Result, serversOf } from './callers.ts';
import { aimed, type Figure, megabytes, minutesFile, named, rowsIn, seconds } from './minutes.ts';

type ReaderCheck = {
  /** Days imported one after the other beside the three that are walked. */
  readonly days: number;
  /** Of the large import at the end: symbols and their minutes. */
  readonly symbols: number;
  readonly minutes: number;
};

const BASE_DAYS = 3;
const SYMBOLS = 4;
const LOG_BYTES_MAX = 64 * 2 ** 20;
/**
 * Within what a revocation holds, and the log of an import is short again. A busy machine may miss it: then
 * the long form fails.
 */
const PROMISE_MS = 5_000;

const kept = (what: string, ms: number): Figure =>
  aimed(what, `${ms.toFixed(0)} ms`, ms < PROMISE_MS, `less than ${PROMISE_MS} ms`);

const logBytes = (shop: Workshop): number => logBytesOf(shop.store);

/** Walks and single requests on every server while days are imported beside the range that they ask for. */
async function checkWalks(
  shop: Workshop,
  servers: readonly Server[],
  callers: Callers,
  days: number,
): Promise<Figure[]> {
  const minutes = minuteTexts(SESSION_MINUTES * (BASE_DAYS + days));
  const baseMinutes = minutes.slice(0, SESSION_MINUTES * BASE_DAYS);
  const expected = baseMinutes.map((text) => Date.parse(text));
  const [from, to] = [baseMinutes[0]!.slice(0, 10), baseMinutes.at(-1)!.slice(0, 10)];
  const imports = { done: false };
  const importing = (async () => {
    for (let day = 0; day < days; day++) {
      const file = minutesFile(
        shop.path(`day-${day}.csv`),
        SYMBOLS,
        SESSION_MINUTES,
        SESSION_MINUTES * (BASE_DAYS + day),
      );
      await shop.must('import', 'bars', file, ...named);
    }
  })().finally(() => {
    imports.done = true;
  });
  const walkers = servers.flatMap((server, at) =>
    (['asc', 'desc'] as const).flatMap((sort) =>
      [37, 150, 1000].map((limit) =>
        beside(imports, async () => {
          const rest = `limit=${limit}&sort=${sort}`;
          const found = await callers.walkBars(callers.barsUrl(server, symbolOf(at), from, to, rest));
          assert.deepEqual(sort === 'asc' ? found : found.reverse(), expected, rest);
        }),
      ),
    ),
  );
  // A range that the imports grow into: what was there when the walk began comes once, and nothing comes
  // twice.
  const growing = servers.map((server) =>
    beside(imports, async () => {
      const found = await callers.walkBars(
        callers.barsUrl(server, symbolOf(2), '2015-01-01', '2015-12-31', 'limit=100'),
      );
      assert.equal(new Set(found).size, found.length, 'no bar comes twice');
      assert.deepEqual(found.slice(0, expected.length), expected);
    }),
  );
  const wholes = servers.map(async (server) => {
    const seen = new Set<number>();
    const times = await beside(imports, async () => {
      for (let day = BASE_DAYS; day < BASE_DAYS + days; day++) {
        const date = minutes[day * SESSION_MINUTES]!.slice(0, 10);
        const url = callers.barsUrl(server, symbolOf(3), date, date, 'limit=1000');
        const { result } = await callers.ask<Result<readonly unknown[]>>(url);
        seen.add(result.data.length);
      }
    });
    for (const count of seen)
      assert.ok(count === 0 || count === SESSION_MINUTES, `${count} bars of a file of ${SESSION_MINUTES}`);
    return times * days;
  });
  const [walks, grown, looks] = await Promise.all([
    Promise.all(walkers),
    Promise.all(growing),
    Promise.all(wholes),
    importing,
  ]);
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return [
    ['imports', `${days}`],
    ['walks of a fixed range, of a growing one', `${sum(walks)}, ${sum(grown)}`],
    ['looks at single files', `${sum(looks)}`],
    ['requests', `${callers.requests}`],
  ];
}

/** Has callers walk on every server while `work` goes on. */
async function amongCallers<T>(
  servers: readonly Server[],
  callers: Callers,
  work: () => Promise<T>,
): Promise<T> {
  const state = { done: false };
  const walks = servers.map((server) =>
    beside(state, () =>
      callers.walkBars(callers.barsUrl(server, symbolOf(0), '2015-01-01', '2015-01-06', 'limit=100')),
    ),
  );
  try {
    return await work();
  } finally {
    state.done = true;
    await Promise.all(walks);
  }
}

/**
 * A large import among callers: the log is short again soon after it, and a key that is revoked meanwhile
 * falls.
 */
async function checkLarge(
  shop: Workshop,
  servers: readonly Server[],
  { symbols, minutes }: ReaderCheck,
): Promise<Figure[]> {
  const file = minutesFile(shop.path('large.csv'), symbols, minutes);
  const spare = await shop.must('keys', 'create', 'spare');
  const keys = JSON.parse(await shop.must('keys', 'list', '--json')) as { id: string; name: string }[];
  const startedMs = performance.now();
  const large = { done: false };
  const importing = shop.pipe('', 'import', 'bars', file, ...named).finally(() => {
    large.done = true;
  });
  const measuring = longestLog(shop, large);
  await sleep(300);
  await shop.must('keys', 'revoke', keys.find(({ name }) => name === 'spare')!.id);
  const revokedMs = performance.now();
  const refused = await Promise.all(servers.map((server) => refusesAfter(server, spare, revokedMs)));
  const when = large.done ? 'at the end of it' : 'during it';
  assert.equal((await importing).status, 0);
  const endedMs = performance.now();
  await until(
    () => `the log is short: it has ${logBytes(shop)} bytes`,
    () => logBytes(shop) <= LOG_BYTES_MAX,
  );
  const shortAfterMs = performance.now() - endedMs;
  return [
    ['a large import', `${symbols * minutes} rows, ${seconds(endedMs - startedMs)}`],
    ['its log at its longest', megabytes(await measuring)],
    kept('its log is short after its end', shortAfterMs),
    kept(`a revocation ${when} held after`, Math.max(...refused)),
  ];
}

async function longestLog(shop: Workshop, work: { done: boolean }): Promise<number> {
  let longest = 0;
  await beside(work, async () => {
    longest = Math.max(longest, logBytes(shop));
    await sleep(2);
  });
  return longest;
}

/** Time after which every worker of a server refuses a key. */
async function refusesAfter(server: Server, key: string, sinceMs: number): Promise<number> {
  const url = `${server.url}/api/v2/stock/bars/US:B0000/1M/latest?secret_key=${key}`;
  return until('a revoked key is refused', async () => {
    const atMs = performance.now() - sinceMs;
    const asked = Array.from({ length: 8 }, () => fetch(url, { headers: { connection: 'close' } }));
    const answers = await Promise.all(asked);
    await Promise.all(answers.map((answer) => answer.text()));
    return answers.every(({ status }) => status === 401) && atMs;
  });
}

/** Everything that callers are promised while imports go on. */
export async function checkReaders(check: ReaderCheck): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    const base = minutesFile(shop.path('base.csv'), SYMBOLS, SESSION_MINUTES * BASE_DAYS);
    assert.equal(rowsIn(base).rows.length, SYMBOLS * SESSION_MINUTES * BASE_DAYS);
    await shop.must('import', 'bars', base, ...named);
    const callers = new Callers(await shop.must('keys', 'create', 'callers'));
    const servers = await serversOf(shop);
    const walks = await checkWalks(shop, servers, callers, check.days);
    const large = await amongCallers(servers, callers, () => checkLarge(shop, servers, check));
    return [...walks, ...large];
  } finally {
    shop.close();
  }
}
