// The base address of a request: the configured public one, or scheme and Host where Host can be trusted (contract 4.3).
import { isIPv4, isIPv6 } from 'node:net';
import { Refusal } from '../contract/errors.ts';

export type AddressSettings = {
  /** Scheme, host and path that callers reach the service by; null where Host decides. */
  readonly publicUrl: string | null;
  /** Host names that are ours beside loopback and IP literals, without port, in lower case. */
  readonly allowedHosts: readonly string[];
};

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?$/;
const PORT_MAX = 65_535;

function isOurs(name: string, allowed: readonly string[]): boolean {
  if (name === 'localhost' || allowed.includes(name)) return true;
  return name.startsWith('[') ? isIPv6(name.slice(1, -1)) : isIPv4(name);
}

/**
 * The base address, without a slash at its end.
 * @throws Refusal `bad_request` for a foreign or malformed Host; it does not repeat it, so that no answer holds a foreign name
 */
export function baseAddress(settings: AddressSettings, host: string | undefined): string {
  if (settings.publicUrl !== null) return settings.publicUrl;
  const match = HOST.exec(host ?? '');
  const isHost = match !== null && Number(match[2] ?? 0) <= PORT_MAX;
  if (isHost && isOurs(match[1]!.toLowerCase(), settings.allowedHosts)) return `http://${host}`;
  throw new Refusal('bad_request', {
    message: 'The Host header names a host that this service does not know itself by.',
    param: 'Host',
    hint: 'Whoever runs the service can allow it: bourse serve --allowed-hosts NAME, or --public-url URL.',
  });
}
