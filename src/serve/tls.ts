// HTTPS: reads and checks certificate files, makes the server that uses them, and renews them while it runs.
import { constants, createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer } from 'node:https';
import { createServer as listenTo, type Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions, TLSSocket } from 'node:tls';
import type { Observe } from '../base/observe.ts';
import { otherThanFile } from '../base/temporary.ts';
import { limits } from '../contract/limits.ts';
import { Handshakes } from './handshakes.ts';
import type { HttpResponse } from './message.ts';

/** The files of a certificate and its key. */
type CertificateFiles = { readonly cert: string; readonly key: string };

/** A certificate and its private key, which match. */
export type Certificate = {
  readonly files: CertificateFiles;
  /** PEM as read. */
  readonly cert: string;
  readonly key: string;
  readonly x509: X509Certificate;
};

/** The files cannot be used for HTTPS; the message says what to do. */
export class CertificateProblem extends Error {
  override readonly name = 'CertificateProblem';
}

function textOf(file: string): string {
  const found = otherThanFile(file);
  if (found !== null) throw new CertificateProblem(`${file} is ${found}: name a file in PEM form`);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read: ${message}`;
    throw new CertificateProblem(problem, { cause: error });
  }
}

/** Lets OpenSSL read something. @throws CertificateProblem where it cannot */
function parsed<T>(read: () => T, problem: string): T {
  try {
    return read();
  } catch (error) {
    throw new CertificateProblem(problem, { cause: error });
  }
}

/**
 * Reads a certificate and its key. @throws CertificateProblem for files that are missing, malformed or do not
 * match
 */
export function readCertificate(files: CertificateFiles): Certificate {
  const cert = textOf(files.cert);
  const key = textOf(files.key);
  const x509 = parsed(() => new X509Certificate(cert), `${files.cert} holds no certificate in PEM form`);
  if (key.includes('ENCRYPTED'))
    throw new CertificateProblem(`${files.key} is protected by a passphrase: give a key without one`);
  const privateKey = parsed(() => createPrivateKey(key), `${files.key} holds no private key in PEM form`);
  if (!x509.checkPrivateKey(privateKey)) {
    throw new CertificateProblem(
      `${files.key} is not the key of the certificate ${files.cert}: give the two that were issued together`,
    );
  }
  parsed(
    () => createSecureContext({ cert, key }),
    `${files.cert} cannot be used: its key is too weak, or the chain after it is damaged`,
  );
  return { files, cert, key, x509 };
}

/**
 * Forward secrecy and authenticated encryption only: those of TLS 1.3, then those of TLS 1.2 (RFC 9325, 4.2).
 */
const cipherSuites = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
];

const contextOf = ({ cert, key }: Certificate): SecureContextOptions => ({
  cert,
  key,
  minVersion: 'TLSv1.2',
  ciphers: cipherSuites.join(':'),
  // Renegotiation costs the service much more than its caller, and nobody needs it.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
});

/** Tells browsers to come by HTTPS only (RFC 6797). */
export const strictTransport = { 'Strict-Transport-Security': `max-age=${limits.strictTransportSeconds}` };

/** The same on a response. Nothing on plain HTTP, where browsers must ignore it. */
export const withStrictTransport = (response: HttpResponse, socket: Socket): HttpResponse => {
  if (!(socket instanceof TLSSocket)) return response;
  return { ...response, headers: { ...response.headers, ...strictTransport } };
};

/** Bytes of the keys that encrypt session tickets, as Node takes them. */
const TICKET_KEYS_BYTES = 48;

/**
 * Makes an HTTPS server. `listener` accepts its connections, and gives it each when its handshake may begin.
 */
export function createTlsServer(options: ServerOptions, certificate: Certificate, receive: RequestListener) {
  const server = createServer({ ...options, ...contextOf(certificate) }, receive);
  const handshakes = new Handshakes((socket) => server.emit('connection', socket));
  server.on('secureConnection', (socket) => handshakes.done(socket));
  const listener = listenTo({ pauseOnConnect: true, noDelay: true, highWaterMark: 1 }, (socket) =>
    handshakes.add(socket),
  );
  // Time limits of requests are checked from then on.
  listener.once('listening', () => server.emit('listening'));
  // Node keeps the same for the life of a process: whoever got them could read every session of TLS 1.2 since
  // its start.
  const changeTicketKeys = (): void => server.setTicketKeys(randomBytes(TICKET_KEYS_BYTES));
  const ticketTimer = setInterval(changeTicketKeys, limits.ticketKeysMs).unref();
  listener.once('close', () => {
    clearInterval(ticketTimer);
    server.close();
  });
  return {
    server,
    listener,
    handshakes,
    renew: (next: Certificate): void => server.setSecureContext(contextOf(next)),
  };
}

/** Checks the files of a certificate every few seconds while it is in use. */
export class CertificateWatch {
  #current: Certificate;
  #problem: string | null = null;
  readonly #renew: (certificate: Certificate) => void;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;

  constructor(current: Certificate, renew: (certificate: Certificate) => void, observe: Observe) {
    this.#current = current;
    this.#renew = renew;
    this.#observe = observe;
    this.check();
    this.#timer = setInterval(() => this.check(), limits.certificateCheckMs);
    this.#timer.unref();
  }

  /**
   * Reads the files again. A valid change is used from now on; a problem is reported once, and the
   * certificate stays.
   */
  check(): void {
    const before = this.#current;
    let problem: string | null = null;
    try {
      const next = readCertificate(before.files);
      if (next.cert !== before.cert || next.key !== before.key) {
        this.#renew(next);
        this.#current = next;
      }
      if (next.x509.validToDate.getTime() <= Date.now()) problem = 'the certificate has expired';
    } catch (error) {
      if (!(error instanceof CertificateProblem)) throw error;
      problem = error.message;
    }
    if (problem === this.#problem && before === this.#current) return;
    this.#problem = problem;
    const { files, x509 } = this.#current;
    this.#observe({ kind: 'certificate', file: files.cert, expires: x509.validTo, problem });
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
