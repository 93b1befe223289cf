// The query thread: opens the store for reading and answers one request after the other.
import { type MessagePort, workerData } from 'node:worker_threads';
import { QueryRunner } from '../queries/index.ts';
import { type Allocate, type Answer, allocateFresh, type QueryRequest } from '../queries/query.ts';
import { openStore } from '../store/engines.ts';
import { SLOT_BYTES, slotBytes } from './slots.ts';

export type ThreadSetup = { readonly storeUrl: string; readonly pageKeySecret: Uint8Array };

/** The setup, where requests come from, and the memory of the slots. */
export type ThreadData = ThreadSetup & { readonly port: MessagePort; readonly memory: SharedArrayBuffer };

/** A request, its number, and the slot that its body may use. */
export type ThreadRequest = readonly [id: number, request: QueryRequest, slot: number | null];

export type ThreadReply =
  | { readonly kind: 'ready' }
  /** `slotLength`: the body is in the request's slot, and so long; null: it is in the answer. `tookMs`: the thread's own time. */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: Answer;
      readonly slotLength: number | null;
      readonly tookMs: number;
    }
  | { readonly kind: 'fault'; readonly id: number; readonly cause: string }
  /** The store could not be opened; the thread ends. */
  | { readonly kind: 'failed'; readonly cause: string };

const { port, memory, ...setup } = workerData as ThreadData;
const noBody = new Uint8Array(0);

const causeOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

function reply(message: ThreadReply, handedOver: ArrayBuffer[] = []): void {
  port.postMessage(message, handedOver);
}

/** Sends an answer; a body that is in the slot stays there, another is handed over. */
function replyAnswer(id: number, answer: Answer, tookMs: number): void {
  if (answer.kind === 'refusal') reply({ kind: 'answer', id, answer, slotLength: null, tookMs });
  else if (answer.body.buffer === memory) {
    reply({
      kind: 'answer',
      id,
      answer: { ...answer, body: noBody },
      slotLength: answer.body.length,
      tookMs,
    });
  } else reply({ kind: 'answer', id, answer, slotLength: null, tookMs }, [answer.body.buffer as ArrayBuffer]);
}

async function answer(runner: QueryRunner, [id, request, slot]: ThreadRequest): Promise<void> {
  const allocate: Allocate = (length) =>
    slot === null || length > SLOT_BYTES ? allocateFresh(length) : slotBytes(memory, slot, length);
  const startedMs = performance.now();
  try {
    const answered = await runner.run(request, allocate);
    replyAnswer(id, answered, performance.now() - startedMs);
  } catch (error) {
    reply({ kind: 'fault', id, cause: causeOf(error) });
  }
}

try {
  const store = await openStore(setup.storeUrl, 'read');
  const runner = new QueryRunner(store, setup.pageKeySecret);
  let turn = Promise.resolve();
  port.on('message', (request: ThreadRequest) => {
    turn = turn.then(() => answer(runner, request));
  });
  reply({ kind: 'ready' });
} catch (error) {
  reply({ kind: 'failed', cause: causeOf(error) });
}
