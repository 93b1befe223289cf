// The base address of a request: the configured public URL, or the request's scheme and host where the host is ours (contract 4.3).
import { isIPv4, isIPv6 } from 'node:net';
import { Refusal } from '../contract/errors.ts';
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

const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?$/;
const DEFAULT_PORT: Readonly<Record<string, string>> = { http: '80', https: '443' };

function isOurs(name: string, allowed: readonly string[]): boolean {
  if (name === 'localhost' || allowed.includes(name)) return true;
  return name.startsWith('[') ? isIPv6(name.slice(1, -1)) : isIPv4(name);
}

/**
 * A host of this service, as matched with its port.
 * @throws Refusal `bad_request` for a foreign or malformed host, which it does not repeat: no answer contains a foreign name
 */
function ourHost({ header, text }: Named, allowed: readonly string[]): RegExpExecArray {
  const match = HOST.exec(text);
  const isHost = match !== null && Number(match[2] ?? 0) <= PORT_MAX;
  if (isHost && isOurs(match[1]!.toLowerCase(), allowed)) return match;
  throw new Refusal('bad_request', {
    message: `The ${header} header names a host that does not belong to this service.`,
    param: header,
    hint: 'The operator of the service can allow it: bourse serve --allowed-hosts NAME, or --public-url URL.',
  });
}

/** The base address, without a trailing slash. @throws Refusal `bad_request` for a foreign or malformed host */
export function baseAddress(settings: AddressSettings, headers: HttpRequest['headers']): string {
  if (settings.publicUrl !== null) return settings.publicUrl;
  const host = { header: 'Host', text: String(headers.host ?? '') };
  const forwarded = settings.trustProxy ? readForwarded(headers) : null;
  // A forwarded host is checked like Host, because proxies pass on the headers of their callers.
  const [name, , port] = ourHost(forwarded?.host ?? host, settings.allowedHosts);
  const scheme = forwarded?.scheme ?? settings.scheme;
  const proxyPort = port === undefined ? (forwarded?.port ?? null) : null;
  const suffix = proxyPort === null || proxyPort === DEFAULT_PORT[scheme] ? '' : `:${proxyPort}`;
  return `${scheme}://${name}${suffix}${forwarded?.prefix ?? ''}`;
}
