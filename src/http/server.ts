// The socket side of the door: a node:http server with every limit named, and a stop that loses no request.
import {
  createServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Observe } from '../base/observe.ts';
import { type ErrorFacts, type ErrorWord, errors } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { type Door, type DoorRequest, errorReply, methodNotAllowed, requestIdOf } from './door.ts';
import { Owed, stop } from './stop.ts';
import { type Certificate, createTlsServer, type TlsServer } from './tls.ts';
import { Turns } from './turns.ts';

/** What answers requests; it never throws. */
export type Answering = Pick<Door, 'answer'>;

/** A server that is listening. */
export type Listening = {
  readonly port: number;
  /** New connections get this certificate; open ones keep theirs. Only where it was listened with one. */
  renew(certificate: Certificate): void;
  /** Takes no more connections, answers what is open, then ends; after the time limit it cuts. */
  stop(reason: string): Promise<void>;
};

/** The headers, by lower-case name; of several Host lines, of which Node keeps the first, all. */
function headersOf({ headers, rawHeaders }: IncomingMessage): DoorRequest['headers'] {
  const hosts: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts.push(rawHeaders[index + 1]!);
  }
  return hosts.length > 1 ? { ...headers, host: hosts } : headers;
}

function respond(
  message: IncomingMessage,
  response: ServerResponse,
  door: Answering,
  owed: Owed,
  taken: Pick<DoorRequest, 'arrivedMs' | 'turn'>,
): void {
  door
    .answer({
      method: message.method ?? 'GET',
      target: message.url ?? '/',
      headers: headersOf(message),
      ...taken,
      isGone: () => response.destroyed || response.closed,
    })
    .then((reply) => {
      if (reply.release !== undefined) response.once('close', reply.release);
      if (response.destroyed) {
        reply.release?.();
        return;
      }
      if (owed.ends(response)) response.setHeader('Connection', 'close');
      response.writeHead(reply.status, reply.headers);
      if (message.method === 'HEAD') response.end();
      else if (reply.body.length === 1) response.end(reply.body[0]);
      else {
        for (const piece of reply.body) response.write(piece);
        response.end();
      }
      endSlowReader(response);
    })
    .catch(() => response.destroy());
}

/** Ends the connection of a caller that does not take its answer; a reset also frees what the kernel holds of it. */
function endSlowReader(response: ServerResponse): void {
  const { socket } = response.req;
  if (socket.writableLength === 0) return;
  const timer = setTimeout(() => {
    if (socket instanceof TLSSocket) socket.destroy();
    else socket.resetAndDestroy();
  }, limits.sendTimeoutMs);
  response.once('close', () => clearTimeout(timer));
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

/** Ends a connection that did not come to TLS; one that speaks plain HTTP is told so in plain HTTP. */
function refuseHandshake(
  error: NodeJS.ErrnoException,
  socket: Socket,
  tls: TlsServer,
  observe: Observe,
): void {
  const bare = error.code === 'ERR_SSL_HTTP_REQUEST' ? tls.bareSocket(socket) : undefined;
  if (bare === undefined) {
    socket.destroy();
    return;
  }
  const message = 'This service speaks HTTPS: begin its address with https://.';
  writeRefusal({ word: 'bad_request', facts: { message } }, bare, observe);
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

/** Where a server listens, and the certificate of HTTPS; null for HTTP. */
export type Place = {
  readonly host: string;
  readonly port: number;
  /** Beside others that share the port. */
  readonly reusePort: boolean;
  readonly certificate: Certificate | null;
};

const options: ServerOptions = {
  maxHeaderSize: limits.headerBytesMax,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  connectionsCheckingInterval: 1_000,
  // The door answers a missing Host itself, in the envelope.
  requireHostHeader: false,
};

/** Serves a door on an address. @throws when the address cannot be listened on */
export async function listen(
  door: Answering,
  { certificate, ...address }: Place,
  observe: Observe,
): Promise<Listening> {
  const owed = new Owed();
  const turns = new Turns();
  const take = (message: IncomingMessage, response: ServerResponse): void => {
    const before = owed.last(message.socket);
    owed.add(message.socket, response);
    const answer = (): void => {
      const arrivedMs = performance.now();
      turns.atEnd((turn) => respond(message, response, door, owed, { arrivedMs, turn }));
    };
    // One a turn of each connection: a caller that asks for much at once must not make us hold all of it, nor wait.
    if (before === undefined) answer();
    else before.once('close', () => setImmediate(answer));
  };
  const tls = certificate === null ? null : createTlsServer(options, certificate, take);
  const server = tls?.server ?? createServer(options, take);
  server.on(tls === null ? 'connection' : 'secureConnection', (socket) => owed.take(socket));
  // Node would answer these by itself, and not in the envelope.
  server.on('checkExpectation', take);
  server.on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy());
    writeRefusal(methodNotAllowed('CONNECT'), socket as Socket, observe);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (tls === null || tls.isSecure(socket)) refuseSocket(error, socket, owed, observe);
    else refuseHandshake(error, socket, tls, observe);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...address, backlog: limits.connectionBacklogMax }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    renew: (next) => tls?.renew(next),
    async stop(reason) {
      // A handshake under way brings a request; one that was begun and left brings none.
      const grace = setTimeout(() => tls?.endHandshakes(), limits.handshakeGraceMs);
      await stop(server, owed, reason, observe);
      clearTimeout(grace);
    },
  };
}
