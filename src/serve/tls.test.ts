// HTTPS in one process: what a test with a server of its own cannot wait for.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, mock, test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { issue, withoutOpenssl } from '../../test/certificates.ts';
import { TestFolder } from '../../test/stores.ts';
import { limits } from '../contract/limits.ts';
import { createTlsServer, readCertificate } from './tls.ts';

const temporary = new TestFolder();
after(() => temporary.close());

/** Asks once over TLS 1.2: whether an earlier session was resumed, and the session to resume next. */
function ask(port: number, session?: Buffer): Promise<{ isResumed: boolean; session: Buffer }> {
  const options: ConnectionOptions = { port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' };
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ ...options, ...(session === undefined ? {} : { session }) }, () =>
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    );
    socket.resume();
    socket.once('error', reject);
    socket.once('end', () => resolve({ isResumed: socket.isSessionReused(), session: socket.getSession()! }));
  });
}

test('the keys of session tickets change every day: a later leak opens no older session (RFC 9325, 3.4)', {
  skip: withoutOpenssl,
}, async () => {
  mock.timers.enable({ apis: ['setInterval'] });
  const certificate = readCertificate(issue(temporary.folder, 'tickets'));
  const { listener, renew } = createTlsServer({}, certificate, (_, response) => response.end());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  try {
    for (const round of ['first certificate', 'renewed']) {
      const { session } = await ask(port);
      assert.equal((await ask(port, session)).isResumed, true, round);
      mock.timers.tick(limits.ticketKeysMs);
      assert.equal((await ask(port, session)).isResumed, false, round);
      renew(certificate);
    }
  } finally {
    await new Promise((resolve) => listener.close(resolve));
    mock.timers.reset();
  }
});

test('the time limit of a request’s head holds over TLS, too', { skip: withoutOpenssl }, async () => {
  const problems: string[] = [];
  const times = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 };
  const certificate = readCertificate(issue(temporary.folder, 'times'));
  const { listener, server } = createTlsServer(times, certificate, () => undefined);
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    problems.push(String(code));
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, rejectUnauthorized: false }, () => socket.write('GET / HTTP/1.1\r\n'));
  await new Promise((resolve) => socket.once('close', resolve).resume());
  assert.deepEqual(problems, ['ERR_HTTP_REQUEST_TIMEOUT']);
  await new Promise((resolve) => listener.close(resolve));
});
