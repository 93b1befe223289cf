// The query thread: opens the store for reading and answers requests, as many at the same time as the store
// takes.
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { causeOf } from '../../base/observe.ts';
import { QueryRunner } from '../../queries/index.ts';
import {
  type Allocate,
  type Answer,
  allocateFresh,
  type LaneBounds,
  type QueryRequest,
  TooDear,
} from '../../queries/query.ts';
import { DamagedData, damageWords } from '../../store/damage.ts';
import { openStore } from '../../store/engines.ts';
import { isAway } from '../../store/store.ts';
import { BUFFER_BYTES, bufferBytes } from './shared-buffers.ts';
import { giveBackMemory } from './spare-memory.ts';
import { giveWay } from './thread-priority.ts';
import { QueryTurns } from './turns.ts';

/** The means that a query thread works with. */
export type ThreadSetup = {
  readonly storeUrl: string;
  readonly pageKeySecret: Uint8Array;
  /** What a request may read; without it anything. */
  readonly lane?: LaneBounds;
  /**
   * Whether the store could be opened before: where it cannot be now, the thread tries again at the next
   * request.
   */
  readonly wasOpened?: boolean;
  /** Whether the thread lets the others go first where the processor is busy. */
  readonly givesWay?: boolean;
};

/** The setup, the port for requests and results, and the memory of the shared buffers. */
export type ThreadData = ThreadSetup & { readonly port: MessagePort; readonly memory: SharedArrayBuffer };

/** A request, its number, the shared buffer that its body may use, and the id of its key. */
export type ThreadRequest = readonly [
  id: number,
  request: QueryRequest,
  buffer: number | null,
  keyId: string | null,
];

/**
 * The number of a request, the time that it took the thread, and the processor time since the answer before;
 * 0 where requests run one by one.
 */
type Measured = { readonly id: number; readonly tookMs: number; readonly processorMs: number };

/** A message from the thread. */
export type ThreadResult =
  /**
   * The thread takes requests, and runs so many at the same time. It is sent again where the store could be
   * opened only later.
   */
  | { readonly kind: 'ready'; readonly concurrency: number }
  /** `bufferLength`: length of the body in the request's buffer; null where it is in the answer. */
  | (Measured & { readonly kind: 'answer'; readonly answer: Answer; readonly bufferLength: number | null })
  /** The request is too dear for this thread. */
  | (Measured & { readonly kind: 'declined' })
  /** The store cannot be reached now. */
  | (Measured & { readonly kind: 'unavailable'; readonly cause: string })
  /** `damage`: the damaged data that the answer needs, in words; null for any other fault. */
  | { readonly kind: 'fault'; readonly id: number; readonly cause: string; readonly damage: string | null }
  /** The store could not be opened; the thread ends. */
  | { readonly kind: 'failed'; readonly cause: string };

const { port, memory, ...setup } = workerData as ThreadData;
const noBody = new Uint8Array(0);

function send(result: ThreadResult, transferred: ArrayBuffer[] = []): void {
  port.postMessage(result, transferred);
}

const turnOf = (request: ThreadRequest) => ({ keyId: request[3], work: () => answer(request) });

// What has arrived while the thread worked has its turn, too, before the next of a key that sent much.
const turns = new QueryTurns(() => {
  const arrived = receiveMessageOnPort(port);
  return arrived && turnOf(arrived.message as ThreadRequest);
});
let opening: Promise<QueryRunner> | null = null;

async function open(): Promise<QueryRunner> {
  try {
    const store = await openStore(setup.storeUrl, 'serve');
    const runner = new QueryRunner(store, setup.pageKeySecret, setup.lane);
    // A thread that takes the place of another has requests that wait. A failure is left to the request that
    // needs the same data.
    if (!setup.wasOpened) await runner.warmUp(Date.now()).catch(() => undefined);
    turns.concurrency = store.concurrency;
    processorMs();
    send({ kind: 'ready', concurrency: store.concurrency });
    return runner;
  } catch (error) {
    opening = null;
    throw error;
  }
}

/** The runner on the open store, which is opened again where that failed before. */
function openRunner(): Promise<QueryRunner> {
  opening ??= open();
  return opening;
}

let processorUs = 0;

/** The processor time of the thread since the last call. */
function processorMs(): number {
  if (turns.concurrency === 1) return 0;
  const { user, system } = process.threadCpuUsage();
  const sinceUs = user + system - processorUs;
  processorUs += sinceUs;
  return sinceUs / 1_000;
}

async function answer([id, request, buffer]: ThreadRequest): Promise<void> {
  const allocate: Allocate = (length) =>
    buffer === null || length > BUFFER_BYTES ? allocateFresh(length) : bufferBytes(memory, buffer, length);
  const startedMs = performance.now();
  const measured = (): Measured => ({
    id,
    tookMs: performance.now() - startedMs,
    processorMs: processorMs(),
  });
  try {
    const found = await (await openRunner()).run(request, allocate);
    const result = { kind: 'answer', ...measured() } as const;
    if (found.kind === 'refusal') send({ ...result, answer: found, bufferLength: null });
    // A body in the shared buffer stays there; any other is transferred.
    else if (found.body.buffer === memory)
      send({ ...result, answer: { ...found, body: noBody }, bufferLength: found.body.length });
    else send({ ...result, answer: found, bufferLength: null }, [found.body.buffer as ArrayBuffer]);
  } catch (error) {
    if (error instanceof TooDear) return send({ kind: 'declined', ...measured() });
    if (isAway(error)) return send({ kind: 'unavailable', ...measured(), cause: (error as Error).message });
    const damage = error instanceof DamagedData ? damageWords(error.damage) : null;
    send({ kind: 'fault', id, cause: causeOf(error), damage });
  }
}

const takeRequests = (): void => {
  port.on('message', (request: ThreadRequest) => turns.add(turnOf(request)));
};

if (setup.givesWay) giveWay();
giveBackMemory(turns);

try {
  await openRunner();
  takeRequests();
} catch (error) {
  if (setup.wasOpened) {
    takeRequests();
    send({ kind: 'ready', concurrency: turns.concurrency });
  } else send({ kind: 'failed', cause: causeOf(error) });
}
