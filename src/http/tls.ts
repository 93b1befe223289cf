// HTTPS: reads and checks certificate files, makes the server that uses them, and renews them while it runs.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import { otherThanFile } from '../disk/file-kind.ts';

/** The files of a certificate and its key. */
export type CertificateFiles = { readonly cert: string; readonly key: string };

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

/** Lets OpenSSL read something. @throws CertificateProblem where it cannot */
function parsed<T>(read: () => T, problem: string): T {
  try {
    return read();
  } catch (error) {
    throw new CertificateProblem(problem, { cause: error });
  }
}

function privateKeyOf(key: string, file: string): KeyObject {
  if (key.includes('ENCRYPTED'))
    throw new CertificateProblem(`${file} is protected by a passphrase: give a key without one`);
  return parsed(() => createPrivateKey(key), `${file} holds no private key in PEM form`);
}

/** Reads a certificate and its key. @throws CertificateProblem for files that are missing, malformed or do not match */
export function readCertificate(files: CertificateFiles): Certificate {
  const cert = textOf(files.cert);
  const key = textOf(files.key);
  const x509 = parsed(() => new X509Certificate(cert), `${files.cert} holds no certificate in PEM form`);
  if (!x509.checkPrivateKey(privateKeyOf(key, files.key))) {
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

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** An HTTPS server, with what node:https lacks. */
export type TlsServer = {
  readonly server: Server;
  /** Whether a connection's handshake is done, so that it speaks HTTP. */
  isSecure(socket: Socket): boolean;
  /** The TCP socket of a connection whose handshake is not done. */
  bareSocket(socket: Socket): Socket | undefined;
  /** Cuts connections whose handshake is not done: node:http does not know them, and would leave them open. */
  endHandshakes(): void;
  renew(certificate: Certificate): void;
};

/** Makes an HTTPS server, which does not listen yet. */
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

/** Checks the files of a certificate now and then while it is in use. */
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

  /** Reads the files again. Valid changes are used from now on; a problem is reported once, and the certificate stays. */
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
