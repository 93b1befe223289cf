// `POST /mcp`: the protocol of assistants over HTTP. What it asks for data goes through the request handler,
// as each program's request does.
import { type CountedRequest, uncounted } from './keys/quotas.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import type { Caller } from './request.ts';
import { anyOrigin } from './response.ts';

/** The path of the protocol. */
export const MCP_PATH = '/mcp';

/** Its methods. */
export const MESSAGE_METHODS = ['POST', 'OPTIONS'];

/**
 * A message of an assistant, with the headers that the protocol knows; the caller's key is not among them.
 */
export type AssistantMessage = {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
};

/** An answer to a request for data: a whole body, in memory of its own. */
export type AskedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** Answers messages of a key, by its id; what it needs for that it asks with the caller's rights. */
export type Assistants = {
  answer(
    keyId: string,
    message: AssistantMessage,
    ask: (target: string) => Promise<AskedAnswer>,
  ): Promise<{ readonly status: number; readonly contentType: string | null; readonly body: Uint8Array }>;
};

/** A message that is admitted: its request, and its caller, whose quota counts it. */
type Admitted = {
  readonly request: HttpRequest;
  readonly requestId: string;
  readonly caller: Caller;
  readonly keyId: string | null;
  counted: CountedRequest | null;
};

/** Headers that belong to the message, and not to what is asked for it. */
const OF_MESSAGE = ['accept', 'accept-encoding', 'content-length', 'content-type', 'if-none-match', 'range'];

const messageHeaders = ({ headers }: HttpRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && /^(?:accept|content-type|mcp-.*)$/.test(entry[0]),
    ),
  );

/**
 * Answers one message. Its body is read only now that the key is known to be valid.
 * @param handle handles the requests for data
 */
export async function answerMessage(
  assistants: Assistants,
  admitted: Admitted,
  handle: (request: HttpRequest) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { request, requestId, caller, keyId, counted } = admitted;
  const { body: readBody, ...rest } = request;
  const headers = {
    ...request.headers,
    ...Object.fromEntries(OF_MESSAGE.map((name) => [name, undefined])),
    authorization: `Bearer ${caller.secret}`,
    'x-request-id': requestId,
  };
  const ask = async (target: string): Promise<AskedAnswer> => {
    // A message and its first request for data are one request of the key.
    if (counted !== null && admitted.counted === counted)
      admitted.counted = { ...uncounted(counted), quota: counted.quota };
    const response = await handle({ ...rest, method: 'GET', target, headers });
    const body = Uint8Array.from(Buffer.concat(response.body));
    response.release?.();
    return { status: response.status, headers: response.headers, body };
  };
  const message = { body: await readBody!(), headers: messageHeaders(request) };
  const { status, contentType, body } = await assistants.answer(keyId!, message, ask);
  return {
    status,
    headers: {
      ...anyOrigin,
      ...(contentType !== null && { 'Content-Type': contentType }),
      'Content-Length': String(body.length),
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
    },
    body: [body],
  };
}
