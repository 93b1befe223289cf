// The thread that speaks the protocol over HTTP: loading the library and writing tables would hold up the
// HTTP thread.
import { parentPort, workerData } from 'node:worker_threads';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { causeOf } from '../base/observe.ts';
import { mcpLimits } from './limits.ts';
import { mcpServer } from './server.ts';

/** A message of an assistant, or the answer to what the thread asked. */
export type ToThread =
  | {
      readonly kind: 'message';
      readonly id: number;
      readonly body: Uint8Array;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'asked';
      readonly asked: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    };

/** An answer to a message, a fault, or a request for data that a message needs. */
export type FromThread =
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly status: number;
      readonly contentType: string | null;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'fault'; readonly id: number; readonly cause: string }
  | { readonly kind: 'ask'; readonly id: number; readonly asked: number; readonly target: string };

type Asked = Extract<ToThread, { kind: 'asked' }>;
type Message = Extract<ToThread, { kind: 'message' }>;

const version = workerData as string;
const waiting = new Map<number, (answer: Asked) => void>();
let lastAsked = 0;

const send = (message: FromThread): void => parentPort!.postMessage(message);

function ask(id: number, target: string): Promise<Asked> {
  const asked = ++lastAsked;
  return new Promise((resolve) => {
    waiting.set(asked, resolve);
    send({ kind: 'ask', id, asked, target });
  });
}

/** One message as the library sees it: the address is no part of the protocol. */
const requestOf = ({ body, headers }: Message): Request =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers,
    body: Buffer.from(body),
    signal: AbortSignal.timeout(mcpLimits.answerMs),
  });

async function answer(message: Message): Promise<void> {
  const { id, body } = message;
  // The versions that we speak have one message a request: of many, the answers together would have no bound.
  if (Buffer.from(body).toString().trimStart().startsWith('['))
    return sendAnswer(id, Response.json(NO_BATCH, { status: 400 }));
  const { fetch } = createMcpHandler(
    () =>
      mcpServer(version, async (target) => {
        const { status, headers, body: text } = await ask(id, target);
        return { status, headers, text: Buffer.from(text).toString() };
      }),
    { maxSubscriptions: 0, keepAliveMs: 0 },
  );
  return sendAnswer(id, await fetch(requestOf(message)));
}

const NO_BATCH = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_600, message: 'Send one message in a request, not a list.' },
};

async function sendAnswer(id: number, response: Response): Promise<void> {
  const { status, headers } = response;
  const body = new Uint8Array(await response.arrayBuffer());
  send({ kind: 'answer', id, status, contentType: headers.get('Content-Type'), body });
}

parentPort!.on('message', (message: ToThread) => {
  if (message.kind === 'asked') {
    waiting.get(message.asked)?.(message);
    waiting.delete(message.asked);
  } else
    answer(message).catch((error: unknown) => send({ kind: 'fault', id: message.id, cause: causeOf(error) }));
});
