// The thread that speaks the protocol over HTTP: loading the library and writing tables would hold up the
// HTTP thread.
import { workerData } from 'node:worker_threads';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { answerQuestions } from '../../base/worker-client.ts';
import type { AskedAnswer, AssistantMessage } from '../assistants.ts';
import { mcpLimits } from './limits.ts';
import { mcpServer } from './server.ts';

type Message = AssistantMessage & { readonly kind: 'message' };
type Asked = AskedAnswer & { readonly kind: 'asked' };

/** A message of an assistant by its number, or the answer to what the thread asked for it. */
export type ToThread = (Message | Asked) & { readonly id: number };

/** The answer to a message, or a request for data that it needs. */
export type FromThread =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string | null;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'ask'; readonly target: string };

/** What is said next of a message, and who waits for data that it needs. */
type Talk = { next: PromiseWithResolvers<FromThread>; hear: (answer: Asked) => void };

const version = workerData as string;
/** The messages that wait for data, by their numbers. */
const talks = new Map<number, Talk>();

function nextOf(): Talk['next'] {
  const next = Promise.withResolvers<FromThread>();
  // It may fail while its client gets data.
  next.promise.catch(() => undefined);
  return next;
}

/** Asks for data. Meanwhile the time of the message may end. */
function ask(talk: Talk, target: string): Promise<Asked> {
  const { promise, resolve } = Promise.withResolvers<Asked>();
  talk.hear = resolve;
  const { next } = talk;
  talk.next = nextOf();
  next.resolve({ kind: 'ask', target });
  return promise;
}

/** One message as the library sees it: the address is no part of the protocol. */
const requestOf = ({ body, headers }: Message): Request =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers,
    body: Buffer.from(body),
    signal: AbortSignal.timeout(mcpLimits.answerMs),
  });

async function answer(message: Message, talk: Talk): Promise<Response> {
  // The versions that we speak have one message a request: of many, the answers together would have no bound.
  if (Buffer.from(message.body).toString().trimStart().startsWith('['))
    return Response.json(NO_BATCH, { status: 400 });
  const { fetch } = createMcpHandler(
    () =>
      mcpServer(version, async (target) => {
        const { status, headers, body: text } = await ask(talk, target);
        return { status, headers, text: Buffer.from(text).toString() };
      }),
    { maxSubscriptions: 0, keepAliveMs: 0 },
  );
  return fetch(requestOf(message));
}

const NO_BATCH = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_600, message: 'Send one message in a request, not a list.' },
};

/** Begins to answer a message. */
function begin(message: Message): Talk {
  const talk: Talk = { next: nextOf(), hear: () => undefined };
  answer(message, talk)
    .then(async (response) => {
      const { status, headers } = response;
      const body = new Uint8Array(await response.arrayBuffer());
      talk.next.resolve({ kind: 'answer', status, contentType: headers.get('Content-Type'), body });
    })
    .catch((error: unknown) => talk.next.reject(error));
  return talk;
}

answerQuestions(async (said: ToThread): Promise<FromThread> => {
  const { id } = said;
  const talk = said.kind === 'message' ? begin(said) : talks.get(id);
  talks.delete(id);
  // Data for a message of a thread that has ended.
  if (talk === undefined) throw new Error('the thread that read the message ended');
  if (said.kind === 'asked') talk.hear(said);
  const next = await talk.next.promise;
  if (next.kind === 'ask') talks.set(id, talk);
  return next;
});
