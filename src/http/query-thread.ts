// The query thread: opens the store for reading and answers one request after the other.
import { parentPort, workerData } from 'node:worker_threads';
import { QueryRunner } from '../queries/index.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { openStore } from '../store/engines.ts';

export type ThreadSetup = { readonly storeUrl: string; readonly pageKeySecret: Uint8Array };

export type ThreadReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'fault'; readonly id: number | null; readonly cause: string };

const port = parentPort!;
const setup = workerData as ThreadSetup;

const causeOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

function reply(message: ThreadReply): void {
  const body = message.kind === 'answer' && message.answer.kind === 'answer' ? message.answer.body : null;
  port.postMessage(message, body === null ? [] : [body.buffer as ArrayBuffer]);
}

async function answer(runner: QueryRunner, id: number, request: QueryRequest): Promise<void> {
  try {
    reply({ kind: 'answer', id, answer: await runner.run(request) });
  } catch (error) {
    reply({ kind: 'fault', id, cause: causeOf(error) });
  }
}

try {
  const store = await openStore(setup.storeUrl, 'read');
  const runner = new QueryRunner(store, setup.pageKeySecret);
  let turn = Promise.resolve();
  port.on('message', ([id, request]: [number, QueryRequest]) => {
    turn = turn.then(() => answer(runner, id, request));
  });
  reply({ kind: 'ready' });
} catch (error) {
  reply({ kind: 'fault', id: null, cause: causeOf(error) });
}
