// The base address of next_page_url: which Host headers the service knows itself by (contract 4.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../contract/errors.ts';
import { type AddressSettings, baseAddress, checkHost } from './base-address.ts';

const plain: AddressSettings = { publicUrl: null, allowedHosts: [], trustProxy: false, scheme: 'http' };
const listed: AddressSettings = { ...plain, allowedHosts: ['bars.example.com', 'bourse', 'my_bourse-1'] };

const ours: readonly [name: string, settings: AddressSettings, host: string][] = [
  ['localhost', plain, 'localhost'],
  ['localhost with a port', plain, 'localhost:8080'],
  ['localhost in another letter case', plain, 'LocalHost:8080'],
  ['loopback', plain, '127.0.0.1:8080'],
  ['an IPv4 literal', plain, '203.0.113.7'],
  ['an IPv4 literal with the highest port', plain, '203.0.113.7:65535'],
  ['the IPv6 loopback', plain, '[::1]'],
  ['the IPv6 loopback with a port', plain, '[::1]:8080'],
  ['an IPv6 literal', plain, '[2001:db8::7]:443'],
  ['an IPv6 literal in upper case', plain, '[2001:DB8::7]'],
  ['an IPv4 address in IPv6', plain, '[::ffff:127.0.0.1]:8080'],
  ['a listed host', listed, 'bars.example.com'],
  ['a listed host with a port', listed, 'bars.example.com:8443'],
  ['a listed host in another letter case', listed, 'Bars.Example.COM'],
  ['a listed host of one label', listed, 'bourse:8080'],
  ['a listed name of a container', listed, 'my_bourse-1:8080'],
];
for (const [name, settings, host] of ours) {
  test(`${name}, ${host}, is the base address (contract 4.3)`, () => {
    const base = baseAddress(settings, { host });
    assert.equal(base.toLowerCase(), `http://${host.toLowerCase()}`);
    assert.ok(URL.canParse(base), 'an address that works when called as it is');
  });
}

const foreign: readonly [name: string, host: string | undefined][] = [
  ['no Host', undefined],
  ['an empty Host', ''],
  ['a foreign host', 'evil.example'],
  ['a host that ends like a listed one', 'evil-bars.example.com'],
  ['a host that begins like a listed one', 'bars.example.com.evil.example'],
  ['a listed host as user name', 'bars.example.com@evil.example'],
  ['a host that begins with localhost', 'localhost.evil.example'],
  ['a host that looks like an address', '127.0.0.1.evil.example'],
  ['a short IPv4 address', '127.1'],
  ['an IPv4 address as one number', '2130706433'],
  ['an IPv4 address out of bounds', '256.0.0.1'],
  ['an IPv6 literal without brackets', '::1'],
  ['an IPv6 literal with half a bracket', '[::1'],
  ['an IPv6 literal with a zone', '[fe80::1%25eth0]'],
  ['an IPv4 address in brackets', '[127.0.0.1]'],
  ['an empty bracket', '[]'],
  ['a name in brackets', '[localhost]'],
  ['a port above 65535', 'localhost:65536'],
  ['a port of five nines', '127.0.0.1:99999'],
  ['a port that is no number', 'localhost:http'],
  ['a negative port', 'localhost:-1'],
  ['two ports', 'localhost:80:80'],
  ['a path', 'localhost/evil'],
  ['a query', 'localhost?x'],
  ['a fragment', 'localhost#x'],
  ['a scheme', 'http://localhost'],
  ['a space', 'localhost evil.example'],
  ['a second host', 'localhost, evil.example'],
  ['a line feed', 'localhost\nevil.example'],
  ['a trailing line feed', 'localhost\n'],
  ['a quotation mark', 'localhost"'],
  ['a NUL', 'localhost\u0000'],
  ['a percent-encoded host', '%6Cocalhost'],
  ['letters that are not ASCII', 'ｌocalhost'],
  ['a name of every object', '__proto__'],
  ['20000 characters', 'a'.repeat(20_000)],
];
for (const [name, host] of foreign) {
  test(`${name} is a bad_request that names the setting (contract 4.3): ${JSON.stringify(host?.slice(0, 40))}`, () => {
    for (const settings of [plain, listed]) {
      assert.throws(
        () => baseAddress(settings, { host }),
        (error) => {
          assert.ok(error instanceof Refusal);
          assert.equal(error.word, 'bad_request');
          assert.equal(error.facts.param, 'Host');
          assert.ok(!('got' in error.facts), 'a foreign name is not repeated');
          assert.match(error.facts.hint ?? '', /--allowed-hosts.*--public-url/);
          return true;
        },
      );
    }
  });
}

test('a host that is not listed is foreign (contract 4.3)', () => {
  assert.throws(() => baseAddress(plain, { host: 'bars.example.com' }), Refusal);
});

test('what is read without a key is given to the hosts of this service alone, with a public address too (contract 9.3)', () => {
  const published = { ...listed, publicUrl: 'https://data.example.com/bourse' };
  for (const host of ['localhost:9464', '127.0.0.1', '[::1]:9464', 'bourse:9464'])
    for (const settings of [listed, published]) assert.doesNotThrow(() => checkHost(settings, { host }));
  assert.doesNotThrow(() => checkHost(published, { host: 'Data.Example.com' }));
  for (const [name, host] of foreign)
    for (const settings of [plain, listed, published])
      assert.throws(() => checkHost(settings, { host }), Refusal, name);
});

test('the configured public address wins over any Host, with its path (contract 4.3)', () => {
  const settings = { ...plain, publicUrl: 'https://data.example.com/bourse' };
  for (const host of ['localhost:8080', 'evil.example', '', undefined])
    assert.equal(baseAddress(settings, { host }), 'https://data.example.com/bourse');
});
