// The socket side of the door: a node:http server with every limit named, and a stop that loses no request.
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Observe } from '../base/observe.ts';
import { type ErrorFacts, type ErrorWord, errors } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { type Door, errorReply, methodNotAllowed, requestIdOf } from './door.ts';

/** A server that is listening. */
export type Listening = {
  readonly port: number;
  /** Takes no more connections, answers what is open, then ends; after the time limit it cuts. */
  stop(reason: string): Promise<void>;
};

/** The answers that each connection still owes, in the order of its requests. */
class Owed {
  readonly #bySocket = new WeakMap<Socket, Set<ServerResponse>>();
  #stopping = false;

  add(socket: Socket, response: ServerResponse): void {
    const owed = this.#bySocket.get(socket) ?? new Set();
    this.#bySocket.set(socket, owed.add(response));
    response.once('close', () => {
      owed.delete(response);
      if (this.#stopping && owed.size === 0) socket.destroySoon();
    });
  }

  /** The answer after which a connection owes nothing. */
  last(socket: Socket): ServerResponse | undefined {
    return [...(this.#bySocket.get(socket) ?? [])].at(-1);
  }

  /** From now on a connection ends with its last answer. */
  stop(): void {
    this.#stopping = true;
  }
}

/** The headers, by lower-case name. Of two Host headers none can be believed: they are told as one that fits nothing. */
function headersOf({ headers, rawHeaders }: IncomingMessage): IncomingMessage['headers'] {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1 ? { ...headers, host: `${headers.host}, …` } : headers;
}

function respond(message: IncomingMessage, response: ServerResponse, door: Door): void {
  door
    .answer({
      method: message.method ?? 'GET',
      target: message.url ?? '/',
      // Of two Host headers none can be believed.
      headers: headersOf(message),
      isGone: () => response.destroyed || response.closed,
    })
    .then((reply) => {
      if (reply.release !== undefined) response.once('close', reply.release);
      if (response.destroyed) {
        reply.release?.();
        return;
      }
      response.writeHead(reply.status, reply.headers);
      if (message.method === 'HEAD') response.end();
      else if (reply.body.length === 1) response.end(reply.body[0]);
      else {
        for (const piece of reply.body) response.write(piece);
        response.end();
      }
    })
    .catch(() => response.destroy());
}

/** What a request that could not be parsed is told: by Node's error code. */
function protocolProblem(code: string | undefined): { word: ErrorWord; facts: ErrorFacts } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The request's head is larger than ${limits.headerBytesMax} bytes, or has too many headers.`;
    return { word: 'headers_too_large', facts: { message } };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { word: 'timeout', facts: { message: 'The request did not arrive in time.' } };
  }
  return { word: 'bad_request', facts: { message: 'The request is not well-formed HTTP/1.1.' } };
}

function refuseSocket(error: NodeJS.ErrnoException, socket: Socket, owed: Owed, observe: Observe): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Nothing may come before the answers to what was asked in good form (RFC 9112, 9.3.2).
  const last = owed.last(socket);
  if (last !== undefined) last.once('close', () => socket.end());
  else writeRefusal(protocolProblem(error.code), socket, observe);
}

/** Answers on a bare connection, and ends it. */
function writeRefusal(
  { word, facts }: { readonly word: ErrorWord; readonly facts: ErrorFacts },
  socket: Socket,
  observe: Observe,
): void {
  const requestId = requestIdOf(undefined);
  const reply = errorReply(word, facts, requestId);
  const head = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`,
    ...Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}`),
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ...reply.body]));
  const status = errors[word].status;
  observe({
    kind: 'request',
    requestId,
    method: '-',
    route: null,
    status,
    word,
    keyId: null,
    durationMs: 0,
    bytes: reply.body[0]!.length,
  });
}

/** Serves a door on an address. @throws when the address cannot be listened on */
export async function listen(door: Door, host: string, port: number, observe: Observe): Promise<Listening> {
  const owed = new Owed();
  const take = (message: IncomingMessage, response: ServerResponse): void => {
    owed.add(message.socket, response);
    respond(message, response, door);
  };
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000,
      // The door answers a missing Host itself, in the envelope.
      requireHostHeader: false,
    },
    take,
  );
  // Node would answer these by itself, and not in the envelope.
  server.on('checkExpectation', take);
  server.on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy());
    writeRefusal(methodNotAllowed('CONNECT'), socket as Socket, observe);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuseSocket(error, socket as Socket, owed, observe),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: (reason) => stop(server, owed, reason, observe),
  };
}

async function stop(server: Server, owed: Owed, reason: string, observe: Observe): Promise<void> {
  const open = await new Promise<number>((resolve) => {
    server.getConnections((_, count) => resolve(count ?? 0));
  });
  observe({ kind: 'stopping', reason, open });
  owed.stop();
  const cut = setTimeout(() => server.closeAllConnections(), limits.stopTimeoutMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(cut);
}
