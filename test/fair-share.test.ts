// Keys share each surface: beside one key with a hundred requests on each, another key's request has its turn, and is not refused (contract
// 6.3). What is counted is how many of the first key's requests are begun between its arrival and its answer; `npm run share` has the times.
import assert from 'node:assert/strict';
import { after, mock } from 'node:test';
import { setImmediate as giveWay } from 'node:timers/promises';
import { AdmissionControl } from '../src/http/queue/admission.ts';
import { QueryLanes } from '../src/http/queue/query-lanes.ts';
import { ParquetSpool } from '../src/http/spool/parquet-spool.ts';
import { issueKey, noTerms } from '../src/keys/api-keys.ts';
import { McpThread } from '../src/mcp/http-client.ts';
import type { ApiKey } from '../src/store/control.ts';
import { headersOf, type Sent, surfaces } from './reliability/surfaces.ts';
import { control, key, keys, openHandler, storeUrl } from './request-handler.ts';
import { testOfSqlite } from './stores.ts';

const CONNECTIONS = 100;
/** Requests of the first key that may be begun after the other's arrival and before it: one in each turn that this needs. */
const TURNS_MAX = 4;

// On a slow machine it would refuse some of these requests.
mock.method(AdmissionControl.prototype, 'admits', () => true);
mock.method(AdmissionControl.prototype, 'isTooLate', () => false);

const { secret: other } = await issueKey(control, 'other', noTerms, Date.now());
/** Verified before: a request that waits for its key would join its queue late. */
const verified = new Map<string, ApiKey | null>();
for (const secret of [key, other]) verified.set(secret, await keys.verify(secret, Date.now()));
const lanes = new QueryLanes({ storeUrl, pageKeySecret: new Uint8Array(32).fill(7) });
const assistants = new McpThread('0.0.0');
const spool = new ParquetSpool();
const handler = openHandler({
  keys: { verify: async (secret) => verified.get(secret) ?? null },
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
  testOfSqlite(
    `${surface}: a key's request is answered after one of another key with a hundred, and is not refused (contract 6.3)`,
    async () => {
      // The threads are there, and their code is compiled.
      for (let warm = 0; warm < 3; warm++)
        assert.equal(await statusOf(request(warm), other, () => false), 200);
      let isOver = false;
      let answered = 0;
      const all = Array.from({ length: CONNECTIONS }, async (_, n) => {
        if ((await statusOf(request(10 + n), key, () => isOver)) === 200) answered++;
      });
      // Those that find a free place are begun.
      for (let turn = 0; turn < 50; turn++) await giveWay();
      const before = answered;
      const begun = lanes.inFlight + 1;
      const status = await statusOf(request(10 + CONNECTIONS), other, () => false);
      const between = answered - before;
      isOver = true;
      await Promise.allSettled(all);
      assert.equal(status, 200);
      assert.ok(
        between <= begun + TURNS_MAX,
        `${between} were answered meanwhile, ${begun} of them begun before`,
      );
    },
  );
