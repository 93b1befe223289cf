// The bounded queue in front of a real query thread on a real store (contract 6.4, house "One request").
import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { MessageChannel, MessagePort, Worker } from 'node:worker_threads';
import { importSeries } from '../../../test/importing.ts';
import { fileStore } from '../../../test/sqlite/files.ts';
import { TestFolder, testOfSqlite } from '../../../test/stores.ts';
import { latestBars } from '../../contract/bars.ts';
import { parseParameters } from '../../contract/endpoint.ts';
import type { Answer, QueryRequest } from '../../queries/query.ts';
import { openStore } from '../../store/engines.ts';
import { series } from '../../store/schema/bars.ts';
import { AdmissionControl, type QueueBounds } from './overload.ts';
import { QueryQueue, type QueueError } from './query-queue.ts';
import type { ThreadData, ThreadRequest, ThreadResult, ThreadSetup } from './query-thread.ts';
import { SharedBuffers } from './shared-buffers.ts';

const temporary = new TestFolder();
const { folder } = temporary;
const storeUrl = temporary.storeUrl();
const store = await openStore(storeUrl, 'write');
const file = join(folder, 'aapl.csv');
const opens = Array.from({ length: 30 }, (_, index) => `2025-03-03T14:${30 + index}:00Z`);
writeFileSync(
  file,
  ['datetime,open,high,low,close', ...opens.map((open) => `${open},1,3,0.5,2`), ''].join('\n'),
);
const named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL', interval: '1M' };
await importSeries(store, file, named);
const queues: QueryQueue[] = [];
after(async () => {
  for (const queue of queues) await queue.close();
  await store.close();
  temporary.close();
});

const setup = { storeUrl, pageKeySecret: new Uint8Array(32).fill(7) };

/** On a slow machine, too, no request is refused for its wait, unless a test wants that. */
const patient: QueueBounds = { waitMs: 60_000, warmUpMs: 0 };

function openQueue(settings: QueueBounds = {}, from: ThreadSetup = setup): QueryQueue {
  const queue = new QueryQueue(from, { ...patient, ...settings });
  queues.push(queue);
  return queue;
}

const here = (): boolean => false;

/**
 * Requests that the thread has at least before others wait: what it runs, and one that is there when it has
 * answered.
 */
const inThread = store.concurrency + 1;

/** A request whose answer has so many bars. */
function latest(limit: number, country_symbol = 'US:AAPL'): QueryRequest {
  const raw = new Map(
    Object.entries({ schema_asset: 'stock', country_symbol, interval: '1M', limit: `${limit}` }),
  );
  return {
    endpoint: 'latestBars',
    parameters: parseParameters(latestBars, raw),
    nowMs: Date.now(),
    wrapCsv: false,
  };
}

const faulty: QueryRequest = {
  endpoint: 'historicalBars',
  parameters: {},
  nowMs: 0,
  wrapCsv: false,
};

const countOf = (answer: Answer): number =>
  answer.kind === 'answer'
    ? (JSON.parse(Buffer.from(answer.body).toString()) as { result: { count: number } }).result.count
    : assert.fail(answer.facts.message);

const isQueueError = (problem: string) => (error: unknown) =>
  (error as { name: string }).name === 'QueueError' && (error as { problem: string }).problem === problem;

/** Longer than anything takes on a busy machine. */
const PATIENCE_MS = 120_000;

/** The promise, or a failure when it is never settled. */
function settled<T>(promise: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('it was never settled')), PATIENCE_MS).unref();
  });
  return Promise.race([promise, late]);
}

/**
 * Keeps what queues send to their threads from these, however fast they are; what is called then sends it.
 */
function holdBack(t: TestContext): () => void {
  const held: (() => void)[] = [];
  const posted = t.mock.method(
    MessagePort.prototype,
    'postMessage',
    function (this: MessagePort, sent: unknown) {
      held.push(() => this.postMessage(sent));
    },
  );
  return () => {
    posted.mock.restore();
    for (const post of held) post();
  };
}

/** A thread that takes so long for each request. */
function takesMs(t: TestContext, meanMs: number): void {
  t.mock.getter(AdmissionControl.prototype, 'meanMs', () => meanMs);
}

/** Ends the thread behind a queue. */
async function endThread(t: TestContext, queue: QueryQueue): Promise<void> {
  const port = await portOf(t, queue);
  port.postMessage(null);
  // It fails with the thread.
  await assert.rejects(settled(queue.submit(latest(1), here)), isQueueError('fault'));
}

/**
 * The port to the thread behind a queue that has no requests. A message that is not a request ends the thread
 * by an error that it does not catch.
 */
async function portOf(t: TestContext, queue: QueryQueue): Promise<MessagePort> {
  const posted = t.mock.method(MessagePort.prototype, 'postMessage');
  await queue.submit(latest(1), here);
  posted.mock.restore();
  return posted.mock.calls[0]!.this as MessagePort;
}

/** Most tests share the thread of this queue: it is given one request more than it runs at the same time. */
const wide = openQueue({ inFlightMs: 0 });

test('every request gets its own answer, in the order of asking where the store answers one after the other, also before the thread is ready', async () => {
  const order: number[] = [];
  const counts = await Promise.all(
    opens.map(async (_, index) => {
      const count = countOf(await wide.submit(latest(index + 1), here));
      order.push(count);
      return count;
    }),
  );
  const expected = opens.map((_, index) => index + 1);
  assert.deepEqual(counts, expected);
  if (store.concurrency === 1) assert.deepEqual(order, expected);
  assert.equal(wide.waiting, 0);
});

test('an answer that may be cached says from which store and version it was read, and on what it depends', async () => {
  const answer = await wide.submit(latest(3), here);
  assert.ok(answer.kind === 'answer');
  answer.release?.();
  const { id, version, parts } = answer.source!;
  assert.deepEqual([id, version], [store.id, await store.version()]);
  const [row] = await store.snapshot((reader) =>
    reader.rows(series, { order: [['instrument_id', 'asc']], limit: 1 }),
  );
  const own = [`instrument ${row!.instrument_id}`, `series ${row!.series_id}`];
  const kinds = parts.filter((part) => !own.includes(part)).map((part) => part.replace(/ \d+$/, ''));
  assert.deepEqual(kinds.sort(), ['overrides', 'symbol']);
  assert.equal(parts.length, own.length + kinds.length);
});

test('the thread is ready once it has opened the store', async () => {
  await settled(wide.ready());
});

test('a mistake that only the data shows is a refusal, not a fault (contract 6.3)', async () => {
  const answer = await wide.submit(latest(1, 'US:APPL'), here);
  assert.equal(answer.kind, 'refusal');
  assert.equal(answer.kind === 'refusal' && answer.word, 'unknown_instrument');
});

/** One that refuses whoever would wait longer than this. */
const WAIT_MS = 100;
const hasty = openQueue({ waitMs: WAIT_MS, inFlightMs: 0 });

test('a key is not refused for a wait that is that of another key (contract 6.3)', async (t) => {
  await hasty.submit(latest(1), here);
  takesMs(t, WAIT_MS / (inThread + 10));
  const letGo = holdBack(t);
  const ends: Promise<unknown>[] = [];
  /** Whether one more request joins the queue. */
  const joins = (key: string): boolean => {
    const { waiting } = hasty;
    ends.push(hasty.submit(latest(1), here, key).catch((error: unknown) => error));
    return hasty.waiting > waiting;
  };
  for (let asked = 0; asked < inThread; asked++) joins('loud');
  while (joins('loud')) assert.ok(hasty.waiting < 100);
  assert.ok(joins('quiet'));
  assert.ok(!joins('loud'));
  letGo();
  await settled(Promise.all(ends));
});

test('keys take turns in the queue, and the requests of one key keep their order (contract 6.3)', async (t) => {
  const letGo = holdBack(t);
  const ends: string[] = [];
  const ask = async (limit: number, key: string): Promise<void> => {
    await wide.submit(latest(limit), here, key);
    ends.push(`${key}${limit}`);
  };
  const loud = Array.from({ length: inThread + 4 }, (_, index) => index + 1);
  const asked = [...loud.map((limit) => ask(limit, 'loud')), ask(1, 'quiet'), ask(2, 'quiet')];
  letGo();
  await settled(Promise.all(asked));
  const [first, ...rest] = loud.slice(inThread).map((limit) => `loud${limit}`);
  const inTurns = [first, 'quiet1', rest[0], 'quiet2', ...rest.slice(1)];
  const expected = [...loud.slice(0, inThread).map((limit) => `loud${limit}`), ...inTurns];
  // A store whose queries overlap ends them in any order.
  if (store.concurrency === 1) assert.deepEqual(ends, expected);
  assert.deepEqual(new Set(ends), new Set(expected));
});

test('under overload a request that would wait too long is refused at once, and admitted ones are answered', async () => {
  const ends: Promise<unknown>[] = [];
  const seen = new Set<string>();
  for (let asked = 0; !(seen.has('answer') && seen.has('full')); asked++) {
    const end = hasty.submit(latest(30), here).then(
      (answer) => seen.add(answer.kind),
      (error: unknown) => seen.add((error as QueueError).problem),
    );
    ends.push(end);
    if (asked % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
  await settled(Promise.all(ends));
  assert.deepEqual(seen, new Set(['answer', 'full']));
  assert.equal(countOf(await hasty.submit(latest(2), here)), 2, 'it admits requests again');
});

test('a request that would wait too long is refused at once, not after it has waited', async (t) => {
  takesMs(t, WAIT_MS);
  // Those on their way to the thread, and one that waits.
  const letGo = holdBack(t);
  const asked = Array.from({ length: inThread + 1 }, (_, index) => index + 2);
  const accepted = asked.map((limit) => hasty.submit(latest(limit), here));
  await assert.rejects(
    hasty.submit(latest(1), () => assert.fail('it was looked at')),
    isQueueError('full'),
  );
  letGo();
  assert.deepEqual((await Promise.all(accepted)).map(countOf), asked);
});

test('a request that has waited too long is refused before the thread sees it', async () => {
  await hasty.submit(latest(1), here);
  const late = hasty.submit(latest(1), here, null, 2 * WAIT_MS);
  assert.equal(hasty.inFlight, 0);
  await assert.rejects(settled(late), isQueueError('full'));
});

test('a request whose caller has gone is dropped before the thread sees it', async (t) => {
  const posted = t.mock.method(MessagePort.prototype, 'postMessage');
  const first = wide.submit(latest(1), here);
  const gone = Array.from({ length: 5 }, () => wide.submit(latest(2), () => true));
  const last = wide.submit(latest(3), here);
  for (const one of gone) await assert.rejects(one, isQueueError('gone'));
  assert.deepEqual([countOf(await first), countOf(await last)], [1, 3]);
  // Node.js itself posts more to a thread.
  const requests = posted.mock.calls.filter(({ arguments: [sent] }) => Array.isArray(sent));
  assert.equal(requests.length, 2);
});

test('a long queue is served to its end', async () => {
  const asked: Promise<Answer>[] = [];
  while (asked.length < 600) {
    asked.push(wide.submit(latest((asked.length % 30) + 1), here));
    if (asked.length % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const answers = await Promise.all(asked);
  assert.ok(answers.every((answer, index) => countOf(answer) === (index % 30) + 1));
  assert.equal(wide.waiting, 0);
});

test('a fault is an error with its cause, and the next request is answered (contract 6.4)', async () => {
  await assert.rejects(wide.submit(faulty, here), (error) => {
    assert.ok(isQueueError('fault')(error));
    assert.match((error as Error).message, /TypeError/);
    return true;
  });
  assert.equal(countOf(await wide.submit(latest(3), here)), 3);
});

test('a request that cannot reach the thread fails alone and keeps no buffer', async () => {
  const uncloneable = { ...latest(1), parameters: { limit: () => 1 } };
  await assert.rejects(settled(wide.submit(uncloneable, here)));
  assert.equal(countOf(await settled(wide.submit(latest(2), here))), 2);
});

test('when the thread dies its requests are faults, and the waiting ones go to a new thread', async (t) => {
  const port = await portOf(t, wide);
  port.postMessage(null);
  const asked = Array.from({ length: inThread + 4 }, (_, index) => wide.submit(latest(index + 1), here));
  const ends = await settled(Promise.allSettled(asked));
  for (const end of ends.slice(0, inThread))
    assert.ok(end.status === 'rejected' && isQueueError('fault')(end.reason));
  assert.deepEqual(
    ends.slice(inThread).map((end) => end.status === 'fulfilled' && countOf(end.value)),
    [1, 2, 3, 4].map((more) => inThread + more),
  );
});

test('a store that cannot be opened is reported at once, with its cause', async () => {
  const queue = openQueue({}, { ...setup, storeUrl: temporary.storeUrl('nothing') });
  await assert.rejects(settled(queue.ready()), /there is no store at/);
  await assert.rejects(settled(queue.submit(latest(1), here)), isQueueError('fault'));
});

test('while a new thread cannot open the store requests are refused with the reason, and none hangs; then it opens it itself (contract 6.3)', async (t) => {
  const copy = join(folder, 'copy.db');
  await (await openStore(fileStore(copy), 'write')).close();
  const queue = openQueue({}, { ...setup, storeUrl: fileStore(copy) });
  await endThread(t, queue);
  rmSync(copy);
  for (const make of [() => undefined, () => mkdirSync(copy)]) {
    make();
    const asked = Array.from({ length: 20 }, () => queue.submit(latest(1), here));
    for (const end of await settled(Promise.allSettled(asked)))
      assert.ok(end.status === 'rejected' && isQueueError('unavailable')(end.reason), String(end.status));
  }
  rmdirSync(copy);
  await (await openStore(fileStore(copy), 'write')).close();
  assert.equal((await settled(queue.submit(latest(1), here))).kind, 'refusal', 'the store is back');
});

test('a queue whose store cannot be opened again closes at once', async () => {
  const queue = openQueue({}, { ...setup, storeUrl: temporary.storeUrl('nothing'), wasOpened: true });
  await assert.rejects(settled(queue.submit(latest(1), here)), isQueueError('unavailable'));
  await settled(queue.close());
});

test('damage that keeps a new thread from opening the store is a fault, not a store out of reach', async (t) => {
  const copy = join(folder, 'damaged.db');
  await (await openStore(fileStore(copy), 'write')).close();
  const queue = openQueue({}, { ...setup, storeUrl: fileStore(copy) });
  await endThread(t, queue);
  writeFileSync(copy, 'this is no longer a database, and never will be again '.repeat(2_000));
  await assert.rejects(settled(queue.submit(latest(1), here)), isQueueError('fault'));
});

test('a store that another process keeps locked is out of reach for as long, and the thread stays', async () => {
  const locked = join(folder, 'locked.db');
  await (await openStore(fileStore(locked), 'write')).close();
  const other = new DatabaseSync(locked);
  // Without a log, readers and writers wait for each other.
  other.exec('pragma journal_mode = delete');
  const queue = openQueue({}, { ...setup, storeUrl: fileStore(locked) });
  await queue.ready();
  other.exec('begin exclusive');
  await assert.rejects(settled(queue.submit(latest(1), here)), (error) => {
    assert.ok(isQueueError('unavailable')(error));
    assert.match((error as Error).message, /locked\.db cannot be reached now: database is locked/);
    return true;
  });
  other.close();
  assert.equal((await settled(queue.submit(latest(1), here))).kind, 'refusal');
});

test('a queue that closes answers the admitted requests and refuses new ones', async () => {
  const queue = openQueue({ inFlightMs: 0 });
  await queue.ready();
  const accepted = Array.from({ length: 10 }, (_, index) => queue.submit(latest(index + 1), here));
  const closed = queue.close();
  await assert.rejects(queue.submit(latest(1), here), isQueueError('full'));
  const counts = (await settled(Promise.all(accepted))).map(countOf);
  assert.deepEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await settled(closed);
  await settled(queue.close());
});

// Where a store takes several requests at the same time, one may overtake another.
testOfSqlite(
  'a thread takes what has arrived before each request: keys take turns (contract 6.3)',
  async () => {
    const { port1, port2 } = new MessageChannel();
    for (const [id, keyId] of ['a', 'a', 'a', 'a', 'b'].entries())
      port1.postMessage([id, latest(1), null, keyId] satisfies ThreadRequest);
    const answered: number[] = [];
    const all = Promise.withResolvers<void>();
    port1.on('message', (result: ThreadResult) => {
      if (result.kind === 'answer') answered.push(result.id);
      if (answered.length === 5) all.resolve();
    });
    const workerData: ThreadData = { ...setup, port: port2, memory: new SharedBuffers().memory };
    const thread = new Worker(new URL('./query-thread.ts', import.meta.url), {
      workerData,
      transferList: [port2],
    });
    await settled(all.promise);
    assert.deepEqual(answered, [0, 4, 1, 2, 3]);
    await thread.terminate();
  },
);
