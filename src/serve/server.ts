// The sockets: a node:http server with all its limits, and a stop that loses no request.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Observe } from '../base/observe.ts';
import { Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { addressFact } from './base-address.ts';
import type { RequestHandler } from './handler.ts';
import { isWholeRequest } from './known-requests.ts';
import type { HttpRequest, WrittenResponse } from './message.ts';
import { type OpenConnections, stop } from './open-connections.ts';
import { Sending, type SendingPace } from './outgoing/sending.ts';
import type { UnsentBytes } from './outgoing/unsent-bytes.ts';
import { readBody } from './request.ts';
import { type Entered, paceReading, RequestBatches, RequestGate } from './request-gate.ts';
import { errorResponse, methodNotAllowed } from './response.ts';
import { type Certificate, createTlsServer, withStrictTransport } from './tls.ts';

// An import statement reads every export of node:http, and that loads Node's HTTP client: 40 ms and 13 MB for
// nothing.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/** Handles requests; never throws. Those that are known by their bytes only where it has any. */
type Handler = Pick<RequestHandler, 'handle'> & Partial<Pick<RequestHandler, 'knownName' | 'answerKnown'>>;

/** A server that is listening. */
export type Listening = {
  readonly port: number;
  /** New connections get this certificate; open ones keep theirs. Does nothing on HTTP. */
  renew(certificate: Certificate): void;
  /** Accepts no more connections, answers the open ones, then ends; after the time limit it closes them. */
  stop(reason: string): Promise<void>;
};

/** The headers, by lower-case name. Node gives only the first Host line; this gives all. */
function headersOf({ headers, rawHeaders }: IncomingMessage): HttpRequest['headers'] {
  const hosts: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts.push(rawHeaders[index + 1]!);
  }
  return hosts.length > 1 ? { ...headers, host: hosts } : headers;
}

/**
 * Whether chunks of a body are still to come. Each costs time to skip, however small, so its connection ends
 * with the response.
 */
const hasMoreChunks = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && headers['transfer-encoding'] !== undefined;

/** The place of a request at the gate, and its batch. */
type Placed = Entered & { readonly batch: number };

/** Handles a request, and sends the response. */
function respond(
  outgoing: ServerResponse,
  handler: Handler,
  connections: OpenConnections,
  sending: Sending,
  { leave, ...moment }: Placed & Pick<HttpRequest, 'bytes'>,
): void {
  const incoming = outgoing.req;
  let owner: string | null = null;
  handler
    .handle({
      method: incoming.method ?? 'GET',
      target: incoming.url ?? '/',
      headers: headersOf(incoming),
      address: incoming.socket.remoteAddress,
      ...moment,
      body: () => readBody(incoming),
      isGone: () => outgoing.destroyed || outgoing.closed,
    })
    .then((response) => {
      const isLast = connections.endsWith(outgoing) || hasMoreChunks(outgoing.req);
      if (isLast && !outgoing.destroyed) outgoing.setHeader('Connection', 'close');
      owner = response.owner ?? null;
      return sending.send(outgoing, withStrictTransport(response, outgoing.req.socket));
    })
    .catch(() => outgoing.destroy())
    .finally(() => leave(owner));
}

/** The refusal of a request that could not be parsed, by Node's error code. */
function protocolProblem(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The request's head is larger than ${limits.headerBytesMax} bytes, or has too many headers.`;
    return new Refusal('headers_too_large', { message });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Refusal('timeout', { message: 'The request did not arrive in time.' });
  return new Refusal('bad_request', { message: 'The request is not well-formed HTTP/1.1.' });
}

/** The newest request of each connection. */
const newestRequest = new WeakMap<Socket, IncomingMessage>();

/** Ignores whatever else arrives on a connection. */
function ignoreRest(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.resume();
}

/** Answers a request that is not well-formed HTTP, or did not arrive in time. */
function refuseSocket(
  code: string | undefined,
  socket: Socket,
  connections: OpenConnections,
  observe: Observe,
): void {
  // The responses to earlier, well-formed requests come first (RFC 9112, 9.3.2).
  const last = connections.lastResponse(socket);
  // A request whose body is missing may have its response already: it gets no second one.
  ignoreRest(socket);
  const isAnswered = last === undefined && newestRequest.get(socket)?.complete === false;
  if (code === 'ECONNRESET' || !socket.writable || isAnswered) socket.destroy();
  else if (last !== undefined) last.once('close', () => socket.end());
  else writeRefusal(protocolProblem(code), socket, observe);
}

/** Writes an error to a bare connection, and ends it. */
function writeRefusal({ word, facts }: Refusal, socket: Socket, observe: Observe): void {
  const requestId = randomUUID();
  const { status, headers, body } = withStrictTransport(errorResponse(word, facts, requestId), socket);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ...body]));
  const unparsed = { kind: 'request', method: '-', route: null, keyId: null, durationMs: 0 } as const;
  const from = addressFact(socket.remoteAddress);
  observe({ ...unparsed, ...from, requestId, status, word, bytes: body[0]!.length });
}

/** The address of a server, and the certificate of HTTPS; null for HTTP. */
type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** Whether several processes share the port. */
  readonly reusePort: boolean;
  readonly certificate: Certificate | null;
};

const options = {
  maxHeaderSize: limits.headerBytesMax,
  insecureHTTPParser: false,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  connectionsCheckingInterval: 1_000,
  // The request handler answers a missing Host itself, in the envelope.
  requireHostHeader: false,
};

/** The parts that a server works with. */
type ServerParts = {
  readonly handler: Handler;
  readonly connections: OpenConnections;
  /** Counts the answers that are not sent yet. */
  readonly unsent: UnsentBytes;
  readonly observe: Observe;
  readonly pace?: SendingPace;
};

/** Serves on an address. @throws when the address cannot be listened on */
export async function listen(
  { handler, connections, unsent, observe, pace }: ServerParts,
  { certificate, ...address }: ListenAddress,
): Promise<Listening> {
  const batches = new RequestBatches();
  const gate = new RequestGate();
  /** The whole request that is being parsed; null for other bytes. */
  let parsing: Buffer | null = null;
  /** The place at the gate and the batch that it has already; null where it has none. */
  let placed: Placed | null = null;
  const receive = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming;
    const bytes = parsing ?? undefined;
    // The rest of what a connection had sent before it was ended.
    if (socket.destroyed) return;
    const before = connections.lastResponse(socket);
    if (before === undefined) sending.heard(socket);
    if (!connections.addResponse(socket, outgoing)) {
      observe({ kind: 'connection', reason: 'pipelined' });
      reset(socket);
      return;
    }
    newestRequest.set(socket, incoming);
    const begin = (place: Placed): void =>
      respond(outgoing, handler, connections, sending, { ...place, bytes });
    const answer = (): void => {
      if (placed === null) {
        const entered = gate.enter(sending.ownerOf(socket));
        batches.add((batch) => begin({ ...entered, batch }));
      } else begin(placed);
    };
    // One request of a connection at a time: a caller with many must neither fill our memory nor hold up
    // others.
    if (before === undefined) answer();
    else before.once('close', () => setImmediate(answer));
  };
  /** Begins to answer a request that is known by its bytes; false where it must be parsed. */
  const answerKnown = (socket: Socket, piece: Buffer, done: (isAnswered: boolean) => void): boolean => {
    const name = handler.knownName?.(piece) ?? null;
    if (name === null || connections.isBusy(socket) || !socket.writable) return false;
    sending.heard(socket);
    const entered = gate.enter(sending.ownerOf(socket));
    const finish = connections.begin(socket);
    const end = (isAnswered: boolean): void => {
      done(isAnswered);
      finish();
    };
    const met = { name, ...entered, address: socket.remoteAddress, isGone: () => socket.destroyed };
    const answer = (response: WrittenResponse | null, batch: number): void => {
      if (response === null) {
        placed = { ...entered, batch };
        end(false);
        placed = null;
      } else sending.sendWritten(socket, response, () => end(true));
      if (response !== null || socket.destroyed) entered.leave(sending.ownerOf(socket));
    };
    // What went wrong goes wrong again in the stages, which have the same batch, and is told there.
    batches.add((batch) => {
      const answering = handler.answerKnown!({ ...met, batch }).catch(() => null);
      void answering.then((response) => answer(response, batch));
    });
    return true;
  };
  const tls = certificate === null ? null : createTlsServer(options, certificate, receive);
  const server = tls?.server ?? createServer(options, receive);
  const listener = tls?.listener ?? server;
  const reset = (socket: Socket): void => {
    (tls?.handshakes.rawSocket(socket) ?? socket).resetAndDestroy();
    socket.destroy();
  };
  listener.on('connection', (socket: Socket) =>
    connections.accept(socket, () => tls?.handshakes.endOldest() ?? false),
  );
  const sending = new Sending({ unsent, observe, reset, pace }, () => listening);
  server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections.add(socket);
    paceReading(socket, {
      isPaused: () => connections.isPaused(socket),
      mustWait: () => connections.lastResponse(socket) === undefined && !gate.isOpen(sending.ownerOf(socket)),
      wait(letIn) {
        connections.hold(socket);
        const letGo = (): void => {
          connections.letGo(socket);
          letIn();
        };
        // The key of its last request: that of the next one is not read yet.
        gate.wait(letGo, sending.ownerOf(socket));
      },
      isWhole: isWholeRequest,
      answerKnown: (piece, done) => answerKnown(socket, piece, done),
      parse(piece, isWhole, parse) {
        parsing = isWhole ? piece : null;
        parse(piece);
      },
    });
    socket.once('close', () => sending.forget(socket));
  });
  // Node would answer these itself, without the envelope.
  server.on('checkExpectation', receive);
  server.on('connect', (_, socket) => {
    ignoreRest(socket as Socket);
    socket.on('error', () => socket.destroy());
    writeRefusal(methodNotAllowed('CONNECT'), socket as Socket, observe);
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    const bare = tls?.handshakes.bareSocket(socket);
    const message = 'This service speaks HTTPS: begin its address with https://.';
    if (bare === undefined) refuseSocket(code, socket, connections, observe);
    // Only a caller that speaks plain HTTP can read an error without a handshake.
    else if (code === 'ERR_SSL_HTTP_REQUEST')
      writeRefusal(new Refusal('bad_request', { message }), bare, observe);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen({ ...address, backlog: limits.connectionBacklogMax }, resolve);
  });
  const listening = listener.address() as AddressInfo;
  return {
    port: listening.port,
    renew: (next) => tls?.renew(next),
    async stop(reason) {
      // A handshake in progress brings a request; an abandoned one does not.
      const grace = setTimeout(() => tls?.handshakes.endAll(), limits.handshakeGraceMs);
      await stop({ listener, server, connections }, reason, observe);
      clearTimeout(grace);
      sending.close();
    },
  };
}
