// The base address of a request: the configured public URL, or the request's scheme and host where the host
// is ours (contract 4.3).
import { isIPv4, isIPv6 } from 'node:net';
import { Refusal } from '../contract/errors.ts';
import type { PageRequest } from './built-in-pages.ts';
import { type Named, PORT_MAX, readForwarded } from './forwarded.ts';
import type { HttpRequest } from './message.ts';

/** The settings that decide the base address. */
export type AddressSettings = {
  /** Scheme, host and path of the service for its callers; null where the request decides. */
  readonly publicUrl: string | null;
  /** Our host names beside loopback and IP literals, without port, in lower case. */
  readonly allowedHosts: readonly string[];
  /** Whether headers of a proxy are trusted. */
  readonly trustProxy: boolean;
  /** The scheme of the service itself. */
  readonly scheme: 'http' | 'https';
};

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;
const DEFAULT_PORT: Readonly<Record<string, string>> = { http: '80', https: '443' };

function isOurs(name: string, allowed: readonly string[]): boolean {
  if (name === 'localhost' || allowed.includes(name)) return true;
  return name.startsWith('[') ? isIPv6(name.slice(1, -1)) : isIPv4(name);
}

/**
 * A host of this service, as matched with its port.
 * @throws Refusal `bad_request` for a foreign or malformed host, which it does not repeat: no answer contains
 * a foreign name
 */
function ourHost({ header, text }: Named, allowed: readonly string[]): RegExpExecArray {
  const match = HOST.exec(text);
  const isHost = match !== null && Number(match[2] ?? 0) <= PORT_MAX;
  if (isHost && isOurs(match[1]!.toLowerCase(), allowed)) return match;
  const where =
    header === 'Host' ? 'The Host header, or the address of the request,' : `The ${header} header`;
  throw new Refusal('bad_request', {
    message: `${where} names a host that does not belong to this service.`,
    param: header,
    hint: 'The operator of the service can allow it: bourse serve --allowed-hosts NAME, or --public-url URL.',
  });
}

/** The host that a request was sent to. */
const hostIn = (headers: HttpRequest['headers']): Named => ({
  header: 'Host',
  text: String(headers.host ?? ''),
});

/**
 * Refuses a request that was sent to another host, also where the public address is configured. A web page of
 * another site could otherwise read what needs no key, by a name of its own that leads here. @throws Refusal
 * `bad_request`
 */
export function checkHost(settings: AddressSettings, headers: HttpRequest['headers']): void {
  const { publicUrl, allowedHosts, trustProxy } = settings;
  const forwarded = trustProxy ? readForwarded(headers) : null;
  const ours = publicUrl === null ? allowedHosts : [...allowedHosts, new URL(publicUrl).hostname];
  ourHost(forwarded?.host ?? hostIn(headers), ours);
}

/** The facts about its request that a built-in page may ask for. */
export const pageRequestOf = (settings: AddressSettings, headers: HttpRequest['headers']): PageRequest => ({
  baseAddress: () => baseAddress(settings, headers),
  checkHost: () => checkHost(settings, headers),
});

/**
 * The base address, without a trailing slash. @throws Refusal `bad_request` for a foreign or malformed host
 */
export function baseAddress(settings: AddressSettings, headers: HttpRequest['headers']): string {
  if (settings.publicUrl !== null) return settings.publicUrl;
  const forwarded = settings.trustProxy ? readForwarded(headers) : null;
  // A forwarded host is checked like Host, because proxies pass on the headers of their callers.
  const [name, , port] = ourHost(forwarded?.host ?? hostIn(headers), settings.allowedHosts);
  const scheme = forwarded?.scheme ?? settings.scheme;
  const proxyPort = port === undefined ? (forwarded?.port ?? null) : null;
  const suffix = proxyPort === null || proxyPort === DEFAULT_PORT[scheme] ? '' : `:${proxyPort}`;
  return `${scheme}://${name}${suffix}${forwarded?.prefix ?? ''}`;
}
