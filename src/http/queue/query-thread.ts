// The query thread: opens the store for reading and answers requests one after the other.
import { type MessagePort, workerData } from 'node:worker_threads';
import { causeOf } from '../../base/observe.ts';
import { QueryRunner } from '../../queries/index.ts';
import {
  type Allocate,
  type Answer,
  allocateFresh,
  type QueryRequest,
  TooDear,
} from '../../queries/query.ts';
import { DamagedData, damageWords } from '../../store/damage.ts';
import { openStore } from '../../store/engines.ts';
import { BUFFER_BYTES, bufferBytes } from './shared-buffers.ts';

/** What a query thread works with. */
export type ThreadSetup = {
  readonly storeUrl: string;
  readonly pageKeySecret: Uint8Array;
  /** The most stored bars that a request may read to derive its own; without it any number. */
  readonly baseBarsMax?: number;
};

/** The setup, the port for requests and results, and the memory of the shared buffers. */
export type ThreadData = ThreadSetup & { readonly port: MessagePort; readonly memory: SharedArrayBuffer };

/** A request, its number, and the shared buffer that its body may use. */
export type ThreadRequest = readonly [id: number, request: QueryRequest, buffer: number | null];

/** A message from the thread. */
export type ThreadResult =
  | { readonly kind: 'ready' }
  /** `bufferLength`: length of the body in the request's buffer; null where it is in the answer. `tookMs`: the thread's own time. */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: Answer;
      readonly bufferLength: number | null;
      readonly tookMs: number;
    }
  /** The request is too dear for this thread. */
  | { readonly kind: 'declined'; readonly id: number; readonly tookMs: number }
  /** `damage`: the damaged data that the answer needs, in words; null for any other fault. */
  | { readonly kind: 'fault'; readonly id: number; readonly cause: string; readonly damage: string | null }
  /** The store could not be opened; the thread ends. */
  | { readonly kind: 'failed'; readonly cause: string };

const { port, memory, ...setup } = workerData as ThreadData;
const noBody = new Uint8Array(0);

function send(result: ThreadResult, transferred: ArrayBuffer[] = []): void {
  port.postMessage(result, transferred);
}

async function answer(runner: QueryRunner, [id, request, buffer]: ThreadRequest): Promise<void> {
  const allocate: Allocate = (length) =>
    buffer === null || length > BUFFER_BYTES ? allocateFresh(length) : bufferBytes(memory, buffer, length);
  const startedMs = performance.now();
  try {
    const found = await runner.run(request, allocate);
    const result = { kind: 'answer', id, tookMs: performance.now() - startedMs } as const;
    if (found.kind === 'refusal') send({ ...result, answer: found, bufferLength: null });
    // A body in the shared buffer stays there; any other is transferred.
    else if (found.body.buffer === memory)
      send({ ...result, answer: { ...found, body: noBody }, bufferLength: found.body.length });
    else send({ ...result, answer: found, bufferLength: null }, [found.body.buffer as ArrayBuffer]);
  } catch (error) {
    if (error instanceof TooDear)
      return send({ kind: 'declined', id, tookMs: performance.now() - startedMs });
    const damage = error instanceof DamagedData ? damageWords(error.damage) : null;
    send({ kind: 'fault', id, cause: causeOf(error), damage });
  }
}

try {
  const store = await openStore(setup.storeUrl, 'read');
  const runner = new QueryRunner(store, setup.pageKeySecret, setup.baseBarsMax);
  let last = Promise.resolve();
  port.on('message', (request: ThreadRequest) => {
    last = last.then(() => answer(runner, request));
  });
  send({ kind: 'ready' });
} catch (error) {
  send({ kind: 'failed', cause: causeOf(error) });
}
