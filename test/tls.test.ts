// HTTPS: the same answers and limits as on plain HTTP, certificates that change while they are served, and
// files that cannot be.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { after, before, test } from 'node:test';
import { type ConnectionOptions, connect, getCiphers, type TLSSocket } from 'node:tls';
import { limits } from '../src/contract/limits.ts';
import { readCertificate } from '../src/serve/tls.ts';
import { type Issued, issue, withoutOpenssl } from './certificates.ts';
import { patiently, type Server, Workshop } from './service.ts';
import { until } from './until.ts';

const skip = withoutOpenssl;

const shop = new Workshop();
after(() => shop.close());
const cert = shop.path('cert.pem');
const key = shop.path('key.pem');
const flags = ['--tls-cert', cert, '--tls-key', key];
let server: Server;
let secret = '';

/** Puts a certificate where the server looks, as tools that renew do: a new file moved over the old. */
function install(files: Issued): void {
  for (const [from, to] of [
    [files.key, key],
    [files.cert, cert],
  ] as const) {
    copyFileSync(from, `${to}.new`);
    renameSync(`${to}.new`, to);
  }
}

before(async () => {
  if (skip !== false) return;
  install(issue(shop.folder, 'first'));
  const file = shop.path('aapl.csv');
  const rows = Array.from({ length: 20 }, (_, minute) => `2025-03-03T14:${30 + minute}:00Z,1,3,0.5,2,10`);
  writeFileSync(file, ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const named = ['--schema', 'stock', '--country', 'US', '--symbol', 'AAPL', '--interval', '1M'];
  await shop.must('import', 'bars', file, ...named);
  secret = await shop.must('keys', 'create', 'test');
  server = await shop.serve(...flags);
});

const target = (rest = ''): string =>
  `/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03?secret_key=${secret}${rest}`;

type Reply = { readonly status: number; readonly body: string; readonly issuedTo: string };

/** Asks over HTTPS; the certificate is not checked, but told. */
function ask(url: string, options: { readonly agent?: Agent } = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false, ...options }, (response) => {
      const issuedTo = String((response.socket as TLSSocket).getPeerCertificate().subject.CN);
      let body = '';
      response.on('data', (piece) => {
        body += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, issuedTo }));
    }).once('error', reject);
  });
}

const portOf = (at: Server): number => Number(new URL(at.url).port);

function handshake(at: Server, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: portOf(at), rejectUnauthorized: false, ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** All that comes over a connection after something is sent. */
function exchange(socket: TLSSocket, sent: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (piece) => {
      text += String(piece);
    });
    socket.once('close', () => resolve(text));
    socket.write(sent);
  });
}

type Line = { readonly msg: string; readonly problem?: string | null };
const linesOf = (at: Server, msg: string): Line[] =>
  at.log.map((line) => JSON.parse(line) as Line).filter((line) => line.msg === msg);

test('with a certificate the service speaks HTTPS, says so, and its next page is https (contract 4.3)', {
  skip,
}, async () => {
  assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const { status, body } = await ask(`${server.url}${target('&limit=5')}`);
  assert.equal(status, 200, body);
  const { next_page_url: next } = (JSON.parse(body) as { result: { next_page_url: string } }).result;
  assert.ok(next.startsWith(`${server.url}/api/v2/`), next);
  assert.equal((await ask(next)).status, 200);
});

test('TLS 1.2 and 1.3 are spoken, older versions are not', { skip }, async () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await handshake(server, { minVersion: version, maxVersion: version });
    assert.equal(socket.getProtocol(), version);
    socket.destroy();
  }
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await assert.rejects(handshake(server, old));
});

/** The suites of a TLS version that a server accepts. Node names those of TLS 1.3 as `TLS_…`. */
async function acceptedSuites(at: Server, version: 'TLSv1.2' | 'TLSv1.3'): Promise<string[]> {
  const accepted = [];
  for (const suite of getCiphers().map((name) => name.toUpperCase())) {
    if (suite.startsWith('TLS_') !== (version === 'TLSv1.3')) continue;
    const ciphers = version === 'TLSv1.3' ? suite : `${suite}:@SECLEVEL=0`;
    const offer = { minVersion: version, maxVersion: version, ciphers };
    const socket = await handshake(at, offer).catch(() => null);
    if (socket !== null) accepted.push(suite);
    socket?.destroy();
  }
  return accepted.sort();
}

test('only suites with forward secrecy and authenticated encryption are spoken, with either kind of key', {
  skip,
}, async () => {
  const rsa = issue(shop.folder, 'rsa', undefined, undefined, 'rsa');
  const other = await shop.serve('--tls-cert', rsa.cert, '--tls-key', rsa.key);
  const aead = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'];
  for (const [at, kind] of [
    [server, 'ECDSA'],
    [other, 'RSA'],
  ] as const) {
    assert.deepEqual(
      await acceptedSuites(at, 'TLSv1.2'),
      aead.map((name) => `ECDHE-${kind}-${name}`),
    );
    assert.deepEqual(await acceptedSuites(at, 'TLSv1.3'), [
      'TLS_AES_128_GCM_SHA256',
      'TLS_AES_256_GCM_SHA384',
      'TLS_CHACHA20_POLY1305_SHA256',
    ]);
  }
  await other.stop();
});

/** Tries to negotiate an open connection again; the error that the server's refusal causes, or null. */
const renegotiated = (socket: TLSSocket): Promise<Error | null> =>
  new Promise((resolve) => {
    socket.once('error', resolve);
    socket.renegotiate({ rejectUnauthorized: false }, resolve);
  });

test('a caller cannot make the service negotiate a connection again', { skip }, async () => {
  const socket = await handshake(server, { maxVersion: 'TLSv1.2' });
  assert.match(String(await renegotiated(socket)), /no.renegotiation/i);
  socket.destroy();
});

test('every answer over HTTPS tells browsers to come by HTTPS only; answers over plain HTTP do not', {
  skip,
}, async () => {
  const header = /^strict-transport-security: max-age=31536000\r$/im;
  const asked = (path: string, method = 'GET'): string =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  const answered: readonly [sent: string, status: number][] = [
    [asked(target()), 200],
    [asked(target(), 'HEAD'), 200],
    [asked(target(), 'OPTIONS'), 204],
    [asked('/docs'), 200],
    [asked('/'), 200],
    [asked('/healthz'), 200],
    [asked('/api/v2/nothing'), 404],
    [asked(target(), 'DELETE'), 405],
    ['CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
    ['nonsense\r\n\r\n', 400],
  ];
  for (const [sent, status] of answered) {
    const answer = await exchange(await handshake(server), sent);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), sent);
    assert.match(answer, header, sent);
  }
  const plain = await shop.serve('--trust-proxy');
  const forwarded = asked('/healthz').replace('Connection', 'X-Forwarded-Proto: https\r\nConnection');
  for (const answer of [
    await plain.send(asked('/healthz')),
    await plain.send(forwarded),
    await plain.send('nonsense\r\n\r\n'),
    // Plain HTTP on the port of HTTPS.
    await server.send(asked('/healthz')),
  ]) {
    assert.match(answer, /^HTTP\/1\.1 /);
    assert.doesNotMatch(answer, /strict-transport-security/i);
  }
  await plain.stop();
});

test('what cannot be read is answered in the envelope over TLS too (contract 6.2, 6.3)', {
  skip,
}, async () => {
  const cases: readonly [sent: string, status: number, word: string][] = [
    ['nonsense\r\n\r\n', 400, 'bad_request'],
    [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(60_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, 'method_not_allowed'],
  ];
  for (const [sent, status, word] of cases) {
    const answer = await exchange(await handshake(server), sent);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"error":"${word}"`));
  }
});

test('plain HTTP to the HTTPS port is answered, in plain HTTP, with the advice to use https (contract 6.2)', {
  skip,
}, async () => {
  const answer = await server.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*"error":"bad_request"/);
  assert.match(answer, /https:\/\//);
  for (const broken of [Buffer.from('16030100050100000000', 'hex'), Buffer.alloc(20)])
    assert.doesNotMatch(await server.send(broken).catch(() => ''), /HTTP/);
  assert.equal((await ask(`${server.url}${target()}`)).status, 200, 'others are served');
});

test('a new certificate is found and served without a connection being dropped', { skip }, async () => {
  const kept = { agent: new Agent({ keepAlive: true }) };
  assert.equal((await ask(`${server.url}${target()}`, kept)).issuedTo, 'first');
  install(issue(shop.folder, 'second'));
  await until(
    'it is found by itself',
    async () => (await ask(`${server.url}${target()}`)).issuedTo === 'second',
  );
  const { status, issuedTo } = await ask(`${server.url}${target()}`, kept);
  assert.deepEqual([status, issuedTo], [200, 'first'], 'the older connection is answered');
  kept.agent.destroy();
});

test('files that do not fit together change nothing, are reported once, and are served once they fit', {
  skip,
}, async () => {
  const third = issue(shop.folder, 'third');
  copyFileSync(third.cert, cert);
  server.signal('SIGHUP');
  const told = (): Line[] => linesOf(server, 'certificate').filter(({ problem }) => problem !== null);
  await until('the problem is in the log', () => told().length > 0);
  assert.match(String(told()[0]!.problem), /not the key of the certificate/);
  assert.equal((await ask(`${server.url}${target()}`)).issuedTo, 'second');
  copyFileSync(third.key, key);
  server.signal('SIGHUP');
  await until(
    'served once they fit',
    async () => (await ask(`${server.url}${target()}`)).issuedTo === 'third',
  );
  assert.equal(told().length, 1);
});

test('SIGHUP reads the certificate anew at once, on every worker, and ends none', { skip }, async () => {
  install(issue(shop.folder, 'fourth'));
  const many = await shop.serve(...flags, '--workers', '2', '--host', '127.0.0.1');
  await until('both workers listen', () => linesOf(many, 'listening').length === 2);
  assert.match(many.url, /^https:/);
  install(issue(shop.folder, 'fifth'));
  many.signal('SIGHUP');
  await until('both workers have read it', () => linesOf(many, 'certificate').length === 2);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => patiently(() => ask(`${many.url}${target()}`))),
  );
  for (const { status, issuedTo } of answers) assert.deepEqual([status, issuedTo], [200, 'fifth']);
  assert.equal(linesOf(many, 'listening').length, 2);
  assert.equal(await many.stop(), 0);
});

test('each kind of file that cannot be used has its own message', {
  skip,
}, async (t) => {
  const good = issue(shop.folder, 'good');
  const other = issue(shop.folder, 'other');
  const text = shop.path('text.pem');
  writeFileSync(text, 'no certificate\n');
  const locked = shop.path('locked.key');
  execFileSync('openssl', ['ec', '-in', good.key, '-aes256', '-passout', 'pass:x', '-out', locked], {
    stdio: 'ignore',
  });
  const pipe = shop.path('pipe');
  execFileSync('mkfifo', [pipe]);
  const cases: [cert: string, key: string, message: RegExp][] = [
    [shop.path('none'), good.key, /there is no file .*none/],
    [shop.folder, good.key, /is a folder: name a file in PEM form/],
    [good.cert, shop.folder, /is a folder: name a file in PEM form/],
    [pipe, good.key, /pipe is a pipe: name a file in PEM form/],
    [good.cert, pipe, /pipe is a pipe: name a file in PEM form/],
    [text, good.key, /text\.pem holds no certificate/],
    [good.cert, text, /text\.pem holds no private key/],
    [good.cert, locked, /locked\.key is protected by a passphrase/],
    [good.cert, other.key, /other\.key is not the key of .*good\.crt/],
  ];
  if (process.getuid?.() === 0) t.diagnostic('run as root: a file that may not be read is not tried');
  else {
    const hidden = issue(shop.folder, 'hidden');
    chmodSync(hidden.key, 0);
    cases.push([hidden.cert, hidden.key, /hidden\.key cannot be read/]);
  }
  for (const [certFile, keyFile, message] of cases)
    assert.throws(() => readCertificate({ cert: certFile, key: keyFile }), {
      name: 'CertificateProblem',
      message,
    });
});

test('a certificate that cannot be served is wrong usage, told in one line, also with several workers (contract 10)', {
  skip,
}, async () => {
  const good = issue(shop.folder, 'lone');
  const cases: readonly [args: readonly string[], message: RegExp][] = [
    [['--tls-cert', good.cert], /^bourse: .*--tls-key FILE is missing\n$/],
    [['--tls-cert', cert, '--tls-key', good.key, '--workers', '2'], /^bourse: .*is not the key of.*\n$/],
  ];
  await Promise.all(
    cases.map(async ([args, message]) => {
      const { status, stderr } = await shop.run('serve', '--port', '0', ...args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, message);
    }),
  );
});

test('a stop waits for no handshake that was begun and left', { skip }, async () => {
  const idle = connectPlain(portOf(server), '127.0.0.1');
  idle.on('error', () => undefined);
  await new Promise((resolve) => idle.once('connect', resolve));
  const kept = new Agent({ keepAlive: true });
  assert.equal((await ask(`${server.url}${target()}`, { agent: kept })).status, 200);
  const startedMs = Date.now();
  assert.equal(await server.stop(), 0);
  // One that it waited for would hold it up until this limit.
  assert.ok(Date.now() - startedMs < limits.stopTimeoutMs, 'sooner than any time limit');
});

test('no key of a certificate and no key of a caller is in the log (contract 7.4)', { skip }, () => {
  const log = server.log.join('\n');
  assert.ok(!log.includes(secret));
  assert.ok(!log.includes(readFileSync(key, 'utf8').split('\n')[1]!));
});
