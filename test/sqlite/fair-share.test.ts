// Keys share each surface: beside one key with a hundred requests on each, another key's request has its
// turn, and is not refused (contract 6.3). What is counted in each queue that its request passes is how many
// of the first key's are begun before it; how many are answered meanwhile depends on how the threads of the
// stages are scheduled. `npm run share` has the times.
import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { setImmediate as giveWay } from 'node:timers/promises';
import { issueKey, noTerms } from '../../src/serve/keys/api-keys.ts';
import { McpThread } from '../../src/serve/mcp/http-client.ts';
import { ParquetSpool } from '../../src/serve/spool/parquet-spool.ts';
import { AdmissionControl } from '../../src/serve/threads/overload.ts';
import { QueryLanes } from '../../src/serve/threads/query-lanes.ts';
import { WaitingRequests } from '../../src/serve/threads/turns.ts';
import type { ApiKey } from '../../src/store/control.ts';
import { headersOf, type Sent, surfaces } from '../reliability/surfaces.ts';
import { control, key, keys, openHandler, storeUrl } from '../request-handler.ts';

const CONNECTIONS = 100;
/**
 * Requests of the first key that may be begun in a queue while the other's waits there: a key waits for one
 * of every other key.
 */
const TURNS_MAX = 1;

// On a slow machine it would refuse some of these requests.
mock.method(AdmissionControl.prototype, 'admits', () => true);
mock.method(AdmissionControl.prototype, 'isTooLate', () => false);

const { secret: other } = await issueKey(control, 'other', noTerms, Date.now());
const { key_id: otherId } = (await keys.verify(other, Date.now()))!;

/** How many of the first key's were begun while each of the other's waited in a queue. */
const begunBefore: number[] = [];
type Waiting = WaitingRequests<unknown>;
const { add, takeFirst } = WaitingRequests.prototype as {
  readonly add: (this: Waiting, keyId: string | null, request: unknown) => void;
  readonly takeFirst: (
    this: Waiting,
    mayHave?: (keyId: string | null) => boolean,
  ) => ReturnType<Waiting['takeFirst']>;
};
/** The queues in which a request of the other key waits, with those begun since. */
const isWaitedIn = new Map<Waiting, number>();
mock.method(
  WaitingRequests.prototype,
  'add',
  function (this: Waiting, keyId: string | null, request: unknown) {
    if (keyId === otherId) isWaitedIn.set(this, 0);
    add.call(this, keyId, request);
  },
);
mock.method(
  WaitingRequests.prototype,
  'takeFirst',
  function (this: Waiting, mayHave?: (keyId: string | null) => boolean) {
    const taken = takeFirst.call(this, mayHave);
    const begun = isWaitedIn.get(this);
    if (taken === undefined || begun === undefined) return taken;
    if (taken.keyId !== otherId) isWaitedIn.set(this, begun + 1);
    else {
      begunBefore.push(begun);
      isWaitedIn.delete(this);
    }
    return taken;
  },
);

/** Verified before: a request that waits for its key would join its queue late. */
const verified = new Map<string, ApiKey | null>();
for (const secret of [key, other]) verified.set(secret, await keys.verify(secret, Date.now()));
const lanes = new QueryLanes({ storeUrl, pageKeySecret: new Uint8Array(32).fill(7) });
const assistants = new McpThread('0.0.0');
const spool = new ParquetSpool();
const handler = openHandler({
  keys: { verify: async (secret) => verified.get(secret) ?? null, holds: () => true },
  submit: (request, isGone, keyId, waitedMs) => lanes.submit(request, isGone, keyId, waitedMs),
  assistants,
  spool,
});
after(async () => {
  spool.close();
  await assistants.close();
  await lanes.close();
});

/** The status of a whole answer. */
async function statusOf(sent: Sent, secret: string, isGone: () => boolean): Promise<number> {
  const { target, body } = sent;
  const { status, rest, release } = await handler.handle({
    ...{ method: body === undefined ? 'GET' : 'POST', target, headers: headersOf(sent, secret), isGone },
    ...(body !== undefined && { body: async () => Buffer.from(body) }),
  });
  while ((await rest?.()) != null);
  release?.();
  return status;
}

// Where a store takes several requests at the same time, one may overtake another.
for (const [surface, request] of Object.entries(surfaces('AAPL')))
  test(`${surface}: a key's request is answered after one of another key with a hundred, and is not refused (contract 6.3)`, async () => {
    // The threads are there, and their code is compiled.
    for (let warm = 0; warm < 3; warm++) assert.equal(await statusOf(request(warm), other, () => false), 200);
    let isOver = false;
    const all = Array.from({ length: CONNECTIONS }, (_, n) => statusOf(request(10 + n), key, () => isOver));
    // Those that find a free place are begun.
    for (let turn = 0; turn < 50; turn++) await giveWay();
    begunBefore.length = 0;
    assert.equal(await statusOf(request(10 + CONNECTIONS), other, () => false), 200);
    isOver = true;
    await Promise.allSettled(all);
    assert.ok(begunBefore.length > 0, 'the request waited in no queue');
    assert.ok(
      Math.max(...begunBefore) <= TURNS_MAX,
      `begun before it, queue by queue: ${begunBefore.join(', ')}`,
    );
  });
