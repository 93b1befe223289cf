// HTTPS: certificate files read and checked, the server that uses them, and their renewal while it runs.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import { otherThanFile } from '../disk/file-kind.ts';

/** The files of a certificate and of its key. */
export type CertificateFiles = { readonly cert: string; readonly key: string };

/** A certificate that fits its key. */
export type Certificate = {
  readonly files: CertificateFiles;
  /** PEM as read. */
  readonly cert: string;
  readonly key: string;
  readonly x509: X509Certificate;
};

/** The files cannot serve HTTPS as they are; the message says what to do. */
export class CertificateProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CertificateProblem';
  }
}

const TLS_VERSION_MIN = 'TLSv1.2';

function textOf(file: string): string {
  const found = otherThanFile(file);
  if (found !== null) throw new CertificateProblem(`${file} is ${found}: name a file in PEM form`);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CertificateProblem(
      code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read: ${message}`,
      { cause: error },
    );
  }
}

/** Reads what OpenSSL must understand. */
function understood<T>(read: () => T, otherwise: string): T {
  try {
    return read();
  } catch (error) {
    throw new CertificateProblem(otherwise, { cause: error });
  }
}

function privateKeyOf(key: string, file: string): KeyObject {
  if (key.includes('ENCRYPTED'))
    throw new CertificateProblem(`${file} is protected by a passphrase: give a key without one`);
  return understood(() => createPrivateKey(key), `${file} holds no private key in PEM form`);
}

/** Reads a certificate with its key. @throws CertificateProblem for files that are missing, malformed or do not fit */
export function readCertificate(files: CertificateFiles): Certificate {
  const cert = textOf(files.cert);
  const key = textOf(files.key);
  const x509 = understood(() => new X509Certificate(cert), `${files.cert} holds no certificate in PEM form`);
  if (!x509.checkPrivateKey(privateKeyOf(key, files.key))) {
    throw new CertificateProblem(
      `${files.key} is not the key of the certificate ${files.cert}: give the two that were issued together`,
    );
  }
  understood(
    () => createSecureContext({ cert, key }),
    `${files.cert} cannot be used: its key is too weak, or the chain after it is damaged`,
  );
  return { files, cert, key, x509 };
}

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** A server of HTTPS with what node:https does not do of itself. */
export type TlsServer = {
  readonly server: Server;
  /** Whether a connection's handshake is done, so that HTTP can be spoken on it. */
  isSecure(socket: Socket): boolean;
  /** What lies below a connection whose handshake is not done. */
  bareSocket(socket: Socket): Socket | undefined;
  /** Cuts connections whose handshake is not done: they are none of HTTP's, which would leave them open. */
  endHandshakes(): void;
  renew(certificate: Certificate): void;
};

/** A server of HTTPS that is not listening yet. */
export function createTlsServer(
  options: ServerOptions,
  { cert, key }: Certificate,
  take: RequestListener,
): TlsServer {
  const handshakeTimeout = limits.handshakeTimeoutMs;
  const server = createServer({ ...options, cert, key, handshakeTimeout, minVersion: TLS_VERSION_MIN }, take);
  const beginning = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket);
    beginning.set(address, socket);
    socket.once('close', () => {
      if (beginning.get(address) === socket) beginning.delete(address);
    });
  });
  server.on('secureConnection', (socket) => beginning.delete(addressOf(socket)));
  return {
    server,
    isSecure: (socket) => !beginning.has(addressOf(socket)),
    bareSocket: (socket) => beginning.get(addressOf(socket)),
    endHandshakes: () => {
      for (const socket of beginning.values()) socket.destroy();
    },
    renew: (next) => server.setSecureContext({ cert: next.cert, key: next.key, minVersion: TLS_VERSION_MIN }),
  };
}

/** Looks after the files of a certificate while it is served. */
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

  /** Reads the files anew. Changed ones that are in order are served from now on; else what is served stays, and that is told once. */
  check(): void {
    const before = this.#current;
    const problem = this.#refresh();
    if (problem === this.#problem && before === this.#current) return;
    this.#problem = problem;
    const { files, x509 } = this.#current;
    this.#observe({ kind: 'certificate', file: files.cert, expires: x509.validTo, problem });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #refresh(): string | null {
    try {
      const next = readCertificate(this.#current.files);
      if (next.cert !== this.#current.cert || next.key !== this.#current.key) {
        this.#renew(next);
        this.#current = next;
      }
    } catch (error) {
      if (error instanceof CertificateProblem) return error.message;
      throw error;
    }
    return this.#current.x509.validToDate.getTime() > Date.now() ? null : 'the certificate has expired';
  }
}
