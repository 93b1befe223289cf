// The address that a proxy forwards: trusted only with --trust-proxy, and never a foreign host (contract
// 4.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc, times } from '../../test/seed.ts';
import { Refusal } from '../contract/errors.ts';
import { type AddressSettings, baseAddress } from './base-address.ts';

const direct: AddressSettings = {
  publicUrl: null,
  allowedHosts: ['data.example.com', 'upstream'],
  trustProxy: false,
  scheme: 'http',
};
const behind: AddressSettings = { ...direct, trustProxy: true };

type Headers = Readonly<Record<string, string>>;

const upstream: Headers = { host: 'upstream:8080' };

const forwarded: readonly [what: string, headers: Headers, base: string][] = [
  ['nothing', {}, 'http://upstream:8080'],
  ['the scheme alone', { 'x-forwarded-proto': 'https' }, 'https://upstream:8080'],
  ['a scheme in upper case', { 'x-forwarded-proto': 'HTTPS' }, 'https://upstream:8080'],
  ['a host', { 'x-forwarded-host': 'data.example.com' }, 'http://data.example.com'],
  ['a host with its port', { 'x-forwarded-host': 'data.example.com:8443' }, 'http://data.example.com:8443'],
  ['an IP address', { 'x-forwarded-host': '[2001:db8::7]:443' }, 'http://[2001:db8::7]:443'],
  [
    'scheme, host and the port that goes without saying',
    { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'data.example.com', 'x-forwarded-port': '443' },
    'https://data.example.com',
  ],
  [
    'scheme, host and another port',
    { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'data.example.com', 'x-forwarded-port': '8443' },
    'https://data.example.com:8443',
  ],
  [
    'a port beside a host that has one: that one holds',
    { 'x-forwarded-host': 'data.example.com:8443', 'x-forwarded-port': '9000' },
    'http://data.example.com:8443',
  ],
  [
    'a prefix',
    { 'x-forwarded-host': 'data.example.com', 'x-forwarded-prefix': '/bourse/v1/' },
    'http://data.example.com/bourse/v1',
  ],
  ['the prefix of the root', { 'x-forwarded-prefix': '/' }, 'http://upstream:8080'],
  [
    'two hosts: the nearest proxy wrote the last',
    { 'x-forwarded-host': 'evil.example, data.example.com' },
    'http://data.example.com',
  ],
  [
    'RFC 7239',
    { forwarded: 'for=192.0.2.60;proto=https;by=203.0.113.43;host=data.example.com' },
    'https://data.example.com',
  ],
  [
    'RFC 7239 in quotation marks',
    { forwarded: 'Host="data.example.com:8443" ; Proto="https"' },
    'https://data.example.com:8443',
  ],
  ['RFC 7239 with an escape', { forwarded: 'host="data\\.example.com"' }, 'http://data.example.com'],
  [
    'RFC 7239 of two proxies: the last is the nearest',
    {
      forwarded: 'host=evil.example;proto=http, for="[2001:db8::1]:47011";host=data.example.com;proto=https',
    },
    'https://data.example.com',
  ],
  [
    'RFC 7239 with a comma in quotation marks',
    { forwarded: 'for="a, b";proto=https' },
    'https://upstream:8080',
  ],
  ['RFC 7239 with empty pairs', { forwarded: ';proto=https;;' }, 'https://upstream:8080'],
  [
    'RFC 7239 beside the older headers: it holds',
    { forwarded: 'proto=https', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'data.example.com' },
    'https://data.example.com',
  ],
];
for (const [what, headers, base] of forwarded) {
  test(`a trusted proxy forwards ${what} (contract 4.3)`, () => {
    assert.equal(baseAddress(behind, { ...upstream, ...headers }), base);
    assert.ok(URL.canParse(base));
  });

  test(`without --trust-proxy nobody forwards ${what} (contract 4.3)`, () => {
    assert.equal(baseAddress(direct, { ...upstream, ...headers }), 'http://upstream:8080');
  });
}

const refused: readonly [header: string, value: string][] = [
  ['X-Forwarded-Proto', ''],
  ['X-Forwarded-Proto', 'ftp'],
  ['X-Forwarded-Proto', 'javascript'],
  ['X-Forwarded-Proto', 'https://'],
  ['X-Forwarded-Proto', 'https, '],
  ['X-Forwarded-Host', ''],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Forwarded-Host', 'data.example.com, evil.example'],
  ['X-Forwarded-Host', 'data.example.com@evil.example'],
  ['X-Forwarded-Host', 'data.example.com/evil'],
  ['X-Forwarded-Host', 'data.example.com:99999'],
  ['X-Forwarded-Host', 'https://data.example.com'],
  ['X-Forwarded-Host', '"data.example.com"'],
  ['X-Forwarded-Port', ''],
  ['X-Forwarded-Port', '0'],
  ['X-Forwarded-Port', '65536'],
  ['X-Forwarded-Port', '443@evil.example'],
  ['X-Forwarded-Port', '+443'],
  ['X-Forwarded-Prefix', 'bourse'],
  ['X-Forwarded-Prefix', '//evil.example'],
  ['X-Forwarded-Prefix', '/a/../b'],
  ['X-Forwarded-Prefix', '/.'],
  ['X-Forwarded-Prefix', '/a?b'],
  ['X-Forwarded-Prefix', '/a#b'],
  ['X-Forwarded-Prefix', '/a"b'],
  ['X-Forwarded-Prefix', '/a%2Fb'],
  ['X-Forwarded-Prefix', '/a\\b'],
  ['Forwarded', 'host=evil.example'],
  ['Forwarded', 'proto=ftp'],
  ['Forwarded', 'host=data.example.com;host=data.example.com'],
  ['Forwarded', 'host=data.example.com:8443'],
  ['Forwarded', 'host="data.example.com'],
  ['Forwarded', 'host=data.example.com proto=https'],
  ['Forwarded', 'host = data.example.com'],
  ['Forwarded', 'data.example.com'],
  ['Forwarded', 'host='],
  ['Forwarded', '=x'],
];
for (const [header, value] of refused) {
  test(`${header}: ${value} is a bad_request that names the header (contract 4.3)`, () => {
    assert.throws(
      () => baseAddress(behind, { ...upstream, [header.toLowerCase()]: value }),
      (error) => {
        assert.ok(error instanceof Refusal);
        assert.deepEqual([error.word, error.facts.param], ['bad_request', header]);
        assert.match(error.facts.message, new RegExp(header));
        assert.match(error.facts.hint ?? '', /--trust-proxy|--allowed-hosts/);
        return true;
      },
    );
  });
}

for (const header of [
  'Forwarded',
  ...['Proto', 'Host', 'Port', 'Prefix'].map((name) => `X-Forwarded-${name}`),
])
  test(`${header} of more than 1,024 characters is a bad_request that says so; 1,024 are read (contract 4.3)`, () => {
    // The earlier values come from outside; the last one counts.
    const good = { Forwarded: 'proto=https', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'upstream' }[
      header
    ];
    const last = good ?? (header === 'X-Forwarded-Port' ? '443' : '/a');
    const ofLength = (length: number) => ({
      ...upstream,
      [header.toLowerCase()]: `, ${last}`.padStart(length, ' '),
    });
    assert.doesNotThrow(() => baseAddress(behind, ofLength(1_024)));
    assert.throws(
      () => baseAddress(behind, ofLength(1_025)),
      (error) => {
        assert.ok(error instanceof Refusal);
        assert.deepEqual([error.word, error.facts.param], ['bad_request', header]);
        assert.match(error.facts.message, /at most 1024 characters/);
        return true;
      },
    );
  });

test('over TLS the scheme is https; without --trust-proxy no header changes that (contract 4.3)', () => {
  const headers = { host: 'localhost:8443', 'x-forwarded-proto': 'http' };
  assert.equal(baseAddress({ ...direct, scheme: 'https' }, headers), 'https://localhost:8443');
});

test('the configured public address wins over what is forwarded (contract 4.3)', () => {
  const settings = { ...behind, publicUrl: 'https://data.example.com/bourse' };
  assert.equal(
    baseAddress(settings, { forwarded: '!', 'x-forwarded-host': 'evil.example' }),
    settings.publicUrl,
  );
});

test('whatever is sent, the host of the base address is one of ours (contract 4.3)', () => {
  const piece = fc.constantFrom(
    ...'data.example.com upstream evil.example localhost 127.0.0.1 [::1] https http host= proto= : ; , . / \\ @ " # ? 443 8080 %2e é'.split(
      ' ',
    ),
    ' ',
    '\t',
    '__proto__',
  );
  const sound = fc.constantFrom('localhost:8080', 'data.example.com', 'https', '443', '/a', 'proto=https');
  const value = fc.oneof(
    { arbitrary: sound, weight: 4 },
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  const names = ['forwarded', ...['proto', 'host', 'port', 'prefix'].map((name) => `x-forwarded-${name}`)];
  const sent = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
  let believed = 0;
  fc.assert(
    fc.property(value, sent, fc.boolean(), (host, headers, trustProxy) => {
      let base: string;
      try {
        base = baseAddress({ ...behind, trustProxy }, { ...headers, host });
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error));
        return;
      }
      believed++;
      const { protocol, hostname, username, search, hash } = new URL(base);
      assert.match(protocol, /^https?:$/);
      assert.match(hostname, /^(data\.example\.com|upstream|localhost|127\.0\.0\.1|\[::1\])$/);
      assert.deepEqual([username, search, hash], ['', '', '']);
    }),
    { numRuns: times(1_500) },
  );
  assert.ok(believed > times(50), `${believed} of ${times(1_500)} were believed`);
});
