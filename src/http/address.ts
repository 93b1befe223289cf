// The base address of a request: the configured public one, or scheme and Host where Host can be trusted (contract 4.3).
import { isIP } from 'node:net';
import { Refusal } from '../contract/errors.ts';

export type AddressSettings = {
  /** Scheme, host and path that callers reach the service by; null where Host decides. */
  readonly publicUrl: string | null;
  /** Host names that are ours beside loopback and IP literals, without port, in lower case. */
  readonly allowedHosts: readonly string[];
};

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?$/;

function isOurs(name: string, allowed: readonly string[]): boolean {
  if (name === 'localhost' || allowed.includes(name)) return true;
  return isIP(name.startsWith('[') ? name.slice(1, -1) : name) !== 0;
}

/** The base address, without a slash at its end. @throws Refusal `bad_request` for a foreign or malformed Host. */
export function baseAddress(settings: AddressSettings, host: string | undefined): string {
  if (settings.publicUrl !== null) return settings.publicUrl;
  const match = HOST.exec(host ?? '');
  if (match !== null && isOurs(match[1]!.toLowerCase(), settings.allowedHosts)) return `http://${host}`;
  throw new Refusal('bad_request', {
    message: 'The Host header names a host that this service does not know itself by.',
    param: 'Host',
    got: host ?? '',
    hint: 'Whoever runs the service can allow it: bourse serve --allowed-hosts NAME, or --public-url URL.',
  });
}
