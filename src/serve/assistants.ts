// `POST /mcp`: the protocol of assistants over HTTP. What it asks for data goes through the request handler,
// as each program's request does.
import { Refusal } from '../contract/errors.ts';
import type { ApiKey } from '../store/control.ts';
import { type AddressSettings, checkHost } from './base-address.ts';
import type { KeyRing } from './keys/api-keys.ts';
import { type CountedRequest, type Quotas, uncounted } from './keys/quotas.ts';
import { httpLimits } from './limits.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import type { UnsentBytes } from './outgoing/unsent-bytes.ts';
import { callerOf, headerOf } from './request.ts';
import { anyOrigin, methodNotAllowed, overQuota, preflightResponse } from './response.ts';
import { readQuery } from './route.ts';
import { full } from './threads/query-queue.ts';

/** The path of the protocol. */
export const MCP_PATH = '/mcp';

const METHODS = ['POST', 'OPTIONS'];

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

/** The parts of a service that messages are answered with. */
type MessageParts = {
  readonly assistants: Assistants;
  readonly keys: Pick<KeyRing, 'verify'>;
  readonly quotas: Pick<Quotas, 'count'>;
  readonly admits: (keyId: string | null, waitedMs: number) => boolean;
  readonly unsent: UnsentBytes;
  readonly address: AddressSettings;
  readonly nowMs: () => number;
};

/** What is found out about a request while it is handled. */
type Found = {
  readonly requestId: string;
  route: string | null;
  keyId: string | null;
  counted: CountedRequest | null;
  readonly expected: DisposableStack;
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

/** The caller's key, which must be valid, and its secret. @throws Refusal */
async function verifiedKey(
  { keys, nowMs }: MessageParts,
  request: HttpRequest,
  query: string,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const param = 'secret_key';
  const sent = readQuery(query, (name) => name === param).query;
  const caller = callerOf(request, sent);
  if (caller === null)
    throw new Refusal('missing_key', { message: 'secret_key is missing: assistants need a key.', param });
  const key = await keys.verify(caller.secret, nowMs());
  if (key === null)
    throw new Refusal('invalid_key', { message: 'secret_key is not a valid key of this service.', param });
  return { key, secret: caller.secret };
}

/**
 * Answers one message. Its body is read only once the key is known to be valid.
 * @param handle handles the requests for data
 */
export async function answerMessage(
  parts: MessageParts,
  request: HttpRequest,
  query: string,
  found: Found,
  handle: (request: HttpRequest) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  found.route = MCP_PATH;
  if (request.method === 'OPTIONS') return preflightResponse(found.requestId, METHODS.join(', '));
  if (request.method !== 'POST') throw methodNotAllowed(request.method, METHODS);
  checkHost(parts.address, request.headers);
  const { key, secret } = await verifiedKey(parts, request, query);
  const keyId = key.key_id;
  found.keyId = keyId;
  found.counted = await parts.quotas.count(key);
  if (found.counted?.isAdmitted === false) throw overQuota(found.counted.quota);
  if (!parts.admits(keyId, request.waitedMs ?? 0)) throw full;
  if (headerOf(request, 'content-type') === undefined || request.body === undefined)
    throw new Refusal('bad_request', { message: 'A message has a body of the type application/json.' });
  found.expected.defer(await parts.unsent.admit(keyId, httpLimits.messageBytes));
  const { body: _, ...rest } = request;
  const headers = {
    ...request.headers,
    ...Object.fromEntries(OF_MESSAGE.map((name) => [name, undefined])),
    authorization: `Bearer ${secret}`,
    'x-request-id': found.requestId,
  };
  const { counted } = found;
  const ask = async (target: string): Promise<AskedAnswer> => {
    // A message and its first request for data are one request of the key.
    if (counted !== null && found.counted === counted)
      found.counted = { ...uncounted(counted), quota: counted.quota };
    const response = await handle({ ...rest, method: 'GET', target, headers });
    const body = Uint8Array.from(Buffer.concat(response.body));
    response.release?.();
    return { status: response.status, headers: response.headers, body };
  };
  const message = { body: await request.body(), headers: messageHeaders(request) };
  const { status, contentType, body } = await parts.assistants.answer(keyId, message, ask);
  return {
    status,
    headers: {
      ...anyOrigin,
      ...(contentType !== null && { 'Content-Type': contentType }),
      'Content-Length': String(body.length),
      'Cache-Control': 'no-store',
      'X-Request-Id': found.requestId,
    },
    body: [body],
  };
}
