// The bounded queue in front of a real query thread on a real store (contract 6.4, house "One request").
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { MessagePort } from 'node:worker_threads';
import { fileStore } from '../../../test/sqlite/files.ts';
import { TestFolder } from '../../../test/stores.ts';
import { latestBars } from '../../contract/bars.ts';
import { parseParameters } from '../../contract/endpoint.ts';
import { limits } from '../../contract/limits.ts';
import { openSources } from '../../files/source.ts';
import { importFile } from '../../loading/importers.ts';
import type { MappedFile } from '../../mapping/column-mapping.ts';
import { ownNames } from '../../mapping/column-mapping.ts';
import type { Answer, QueryRequest } from '../../queries/query.ts';
import { openStore } from '../../store/engines.ts';
import type { QueueBounds } from './admission.ts';
import { QueryQueue, type QueueError } from './query-queue.ts';

/** A file that a test has written, ready to be imported. */
const opened = async (path: string): Promise<MappedFile> =>
  (await openSources(path, process.stdin, ownNames).next()).value as MappedFile;

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
await importFile(store, 'bars', {
  file: await opened(file),
  flags: new Map(Object.entries(named)),
  zone: null,
  basis: 'raw',
  source: null,
  dryRun: false,
  nowMs: Date.now,
});
const queues: QueryQueue[] = [];
after(async () => {
  for (const queue of queues) await queue.close();
  await store.close();
  temporary.close();
});

const setup = { storeUrl, pageKeySecret: new Uint8Array(32).fill(7) };

/** On a slow machine, too, no request is refused for its wait, unless a test wants that. */
const patient: QueueBounds = { waitMaxMs: 60_000, burstWaitMs: 60_000, overloadWaitMs: 60_000 };

function openQueue(settings: QueueBounds = {}, from = setup): QueryQueue {
  const queue = new QueryQueue(from, { ...patient, ...settings });
  queues.push(queue);
  return queue;
}

const here = (): boolean => false;

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

/** The promise, or a failure when it is not settled in time. */
function settled<T>(promise: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('it was never settled')), 30_000).unref();
  });
  return Promise.race([promise, late]);
}

/** The port to the thread behind a queue. A message that is not a request ends the thread by an error that it does not catch. */
async function portOf(t: TestContext, queue: QueryQueue): Promise<MessagePort> {
  const posted = t.mock.method(MessagePort.prototype, 'postMessage');
  await queue.submit(latest(1), here);
  posted.mock.restore();
  return posted.mock.calls[0]!.this as MessagePort;
}

test('the thread is ready once it has opened the store, and answers bytes', async () => {
  const queue = openQueue();
  await queue.ready();
  assert.equal(countOf(await queue.submit(latest(3), here)), 3);
});

test('every request gets its own answer, in the order of asking, also before the thread is ready', async () => {
  const queue = openQueue({ inFlightMax: 3 });
  const order: number[] = [];
  const counts = await Promise.all(
    opens.map(async (_, index) => {
      const count = countOf(await queue.submit(latest(index + 1), here));
      order.push(count);
      return count;
    }),
  );
  const expected = opens.map((_, index) => index + 1);
  assert.deepEqual(counts, expected);
  assert.deepEqual(order, expected);
  assert.equal(queue.waiting, 0);
});

test('a mistake that only the data shows is a refusal, not a fault (contract 6.3)', async () => {
  const answer = await openQueue().submit(latest(1, 'US:APPL'), here);
  assert.equal(answer.kind, 'refusal');
  assert.equal(answer.kind === 'refusal' && answer.word, 'unknown_instrument');
});

test('a full queue refuses before any work, and admitted requests are answered', async () => {
  const queue = openQueue({ queueLengthMax: 4, inFlightMax: 2 });
  const accepted = Array.from({ length: 6 }, (_, index) => queue.submit(latest(index + 1), here));
  assert.equal(queue.waiting, 4);
  for (let more = 0; more < 3; more++)
    await assert.rejects(
      queue.submit(latest(1), () => assert.fail('it was looked at')),
      isQueueError('full'),
    );
  assert.deepEqual((await Promise.all(accepted)).map(countOf), [1, 2, 3, 4, 5, 6]);
  assert.equal(countOf(await queue.submit(latest(7), here)), 7, 'it admits requests again');
});

test('under overload a request that would wait too long is refused at once, and admitted ones are answered', async () => {
  const queue = openQueue({ overloadWaitMs: 1 });
  await queue.ready();
  const ends: Promise<string>[] = [];
  const startedMs = performance.now();
  // A queue that is never empty is overload, not a burst.
  for (let asked = 0; performance.now() - startedMs < 4 * limits.queueBurstMs; asked++) {
    const end = queue.submit(latest(30), here).then(
      (answer) => answer.kind,
      (error: unknown) => (error as QueueError).problem,
    );
    ends.push(end);
    if (asked % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(new Set(await settled(Promise.all(ends))), new Set(['answer', 'full']));
  assert.equal(countOf(await queue.submit(latest(2), here)), 2, 'it admits requests again');
});

test('a request of a burst may wait longer than one under overload', async () => {
  const queue = openQueue({ overloadWaitMs: 0 });
  await queue.submit(latest(1), here);
  const counts = await Promise.all(
    opens.map(async (_, index) => countOf(await queue.submit(latest(index + 1), here))),
  );
  assert.equal(counts.length, opens.length);
});

test('in a burst, too, a request that would wait too long is refused at once, not after it has waited', async () => {
  const queue = openQueue({ burstWaitMs: 0, inFlightMax: 1 });
  await queue.submit(latest(1), here);
  // Two in the thread, one that waits.
  const accepted = [2, 3, 4].map((limit) => queue.submit(latest(limit), here));
  await assert.rejects(
    queue.submit(latest(1), () => assert.fail('it was looked at')),
    isQueueError('full'),
  );
  assert.deepEqual((await Promise.all(accepted)).map(countOf), [2, 3, 4]);
});

test('results are received also while requests arrive without a pause', async () => {
  const queue = openQueue();
  await queue.ready();
  let isAnswered = false;
  const first = queue.submit(latest(1), here).then(() => {
    isAnswered = true;
  });
  const deadlineMs = performance.now() + 30_000;
  const others: Promise<Answer>[] = [];
  // Promises are settled meanwhile, but the turn of the event loop does not end.
  while (!isAnswered && performance.now() < deadlineMs) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    others.push(queue.submit(latest(1), here));
    await Promise.resolve();
  }
  assert.ok(isAnswered);
  await settled(Promise.all([first, ...others]));
});

test('a request that has waited too long is refused before the thread sees it', async () => {
  const queue = openQueue({ waitMaxMs: -1 });
  await assert.rejects(settled(queue.submit(latest(1), here)), isQueueError('full'));
});

test('a request whose caller has gone is dropped before the thread sees it', async (t) => {
  const queue = openQueue({ inFlightMax: 1 });
  await queue.ready();
  const posted = t.mock.method(MessagePort.prototype, 'postMessage');
  const first = queue.submit(latest(1), here);
  const gone = Array.from({ length: 5 }, () => queue.submit(latest(2), () => true));
  const last = queue.submit(latest(3), here);
  for (const one of gone) await assert.rejects(one, isQueueError('gone'));
  assert.deepEqual([countOf(await first), countOf(await last)], [1, 3]);
  assert.equal(posted.mock.callCount(), 2);
});

test('a long queue is served to its end', async () => {
  const queue = openQueue({ queueLengthMax: 2_000 });
  const asked: Promise<Answer>[] = [];
  while (asked.length < 1_500) {
    asked.push(queue.submit(latest((asked.length % 30) + 1), here));
    // As many in one long tick would be refused.
    if (asked.length % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const answers = await Promise.all(asked);
  assert.ok(answers.every((answer, index) => countOf(answer) === (index % 30) + 1));
  assert.equal(queue.waiting, 0);
});

test('a fault is an error with its cause, and the next request is answered (contract 6.4)', async () => {
  const queue = openQueue();
  await assert.rejects(queue.submit(faulty, here), (error) => {
    assert.ok(isQueueError('fault')(error));
    assert.match((error as Error).message, /TypeError/);
    return true;
  });
  assert.equal(countOf(await queue.submit(latest(3), here)), 3);
});

test('a request that cannot reach the thread fails alone and keeps no buffer', async () => {
  const queue = openQueue({ inFlightMax: 1 });
  const uncloneable = { ...latest(1), parameters: { limit: () => 1 } };
  await assert.rejects(settled(queue.submit(uncloneable, here)));
  assert.equal(countOf(await settled(queue.submit(latest(2), here))), 2);
});

test('when the thread dies its requests are faults, and the waiting ones go to a new thread', async (t) => {
  const queue = openQueue({ inFlightMax: 2 });
  const port = await portOf(t, queue);
  port.postMessage(null);
  const asked = Array.from({ length: 6 }, (_, index) => queue.submit(latest(index + 1), here));
  const ends = await settled(Promise.allSettled(asked));
  for (const end of ends.slice(0, 2))
    assert.ok(end.status === 'rejected' && isQueueError('fault')(end.reason));
  assert.deepEqual(
    ends.slice(2).map((end) => end.status === 'fulfilled' && countOf(end.value)),
    [3, 4, 5, 6],
  );
});

test('a store that cannot be opened is reported at once, with its cause', async () => {
  const queue = openQueue({}, { ...setup, storeUrl: temporary.storeUrl('nothing') });
  await assert.rejects(settled(queue.ready()), /there is no store at/);
  await assert.rejects(settled(queue.submit(latest(1), here)), isQueueError('fault'));
});

test('when a thread cannot be replaced requests fail as faults until it can, none hangs', async (t) => {
  const copy = join(folder, 'copy.db');
  const other = await openStore(fileStore(copy), 'write');
  await other.close();
  const queue = openQueue({}, { ...setup, storeUrl: fileStore(copy) });
  const port = await portOf(t, queue);
  rmSync(copy);
  port.postMessage(null);
  await new Promise((resolve) => port.once('close', resolve));
  const asked = Array.from({ length: 20 }, () => queue.submit(latest(1), here));
  for (const end of await settled(Promise.allSettled(asked))) {
    assert.ok(end.status === 'rejected' && isQueueError('fault')(end.reason), String(end.status));
  }
  await (await openStore(fileStore(copy), 'write')).close();
  assert.equal((await settled(queue.submit(latest(1), here))).kind, 'refusal', 'the store is back');
});

test('a queue that closes answers the admitted requests and refuses new ones', async () => {
  const queue = openQueue({ inFlightMax: 2 });
  await queue.ready();
  const accepted = Array.from({ length: 10 }, (_, index) => queue.submit(latest(index + 1), here));
  const closed = queue.close();
  await assert.rejects(queue.submit(latest(1), here), isQueueError('full'));
  const counts = (await settled(Promise.all(accepted))).map(countOf);
  assert.deepEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await settled(closed);
  await settled(queue.close());
});
