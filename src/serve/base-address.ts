// The base address of a request: the configured public URL, or the request's scheme and host where the host
// is ours (contract 4.3).
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { Refusal } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import type { PageRequest } from './built-in-pages.ts';
import type { HttpRequest } from './message.ts';

/** A text and the header that it comes from. */
type Named = { readonly header: string; readonly text: string };

/** The highest port number. */
const PORT_MAX = 65_535;
const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/;
// A pair and its separator; pairs may be empty (RFC 7239, 4). No space can be matched by two parts: parsing
// takes linear time.
const PAIR = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")[ \t]*)?([;,]|$)/y;

/** The refusal of a malformed header. */
function malformed({ header, text }: Named, wanted: string): Refusal {
  return new Refusal('bad_request', {
    message: `The ${header} header must be ${wanted}.`,
    param: header,
    got: text,
    hint: 'A proxy sent this header, and the service trusts it (--trust-proxy): let the proxy set the header itself.',
  });
}

/** A header's text, null where it was not sent. @throws Refusal for one that is too long */
function textOf(headers: HttpRequest['headers'], header: string): string | null {
  const found = headers[header.toLowerCase()];
  if (found === undefined) return null;
  const text = String(found);
  const { forwardedCharactersMax: max } = limits;
  if (text.length > max) throw malformed({ header, text }, `at most ${max} characters long`);
  return text;
}

/** The last value of a header. The nearest proxy adds it at the end; earlier values came from outside. */
function lastOf(headers: HttpRequest['headers'], header: string): Named | null {
  const text = textOf(headers, header);
  return text === null ? null : { header, text: text.slice(text.lastIndexOf(',') + 1).trim() };
}

/** The pairs of the last element of `Forwarded`, by lower-case name. @throws Refusal for a syntax error */
function lastElement(text: string): ReadonlyMap<string, string> {
  let pairs = new Map<string, string>();
  PAIR.lastIndex = 0;
  for (let end = ','; end !== ''; ) {
    if (end === ',') pairs = new Map();
    const [, name, token, quoted, separator] = PAIR.exec(text) ?? [];
    const key = name?.toLowerCase() ?? '';
    if (separator === undefined || pairs.has(key)) {
      const wanted = 'in the form of RFC 7239, such as host="data.example.com";proto=https';
      throw malformed({ header: 'Forwarded', text }, wanted);
    }
    if (name !== undefined) pairs.set(key, token ?? quoted!.replace(/\\(.)/g, '$1'));
    end = separator;
  }
  return pairs;
}

/** The text of a part, null where it was not sent. @throws Refusal for a malformed text */
function checked(part: Named | null, isValid: (text: string) => boolean, wanted: string): string | null {
  if (part !== null && !isValid(part.text)) throw malformed(part, wanted);
  return part?.text ?? null;
}

/**
 * The forwarded parts of a request's address; null where a part was not sent. The prefix is the path that the
 * proxy removed, without a trailing slash. `Forwarded` takes precedence over the older headers. @throws
 * Refusal `bad_request` that names a malformed header
 */
function readForwarded(headers: HttpRequest['headers']) {
  const sent = textOf(headers, 'Forwarded');
  const pairs = sent === null ? null : lastElement(sent);
  const pick = (name: string, header: string): Named | null => {
    const text = pairs?.get(name);
    return text === undefined ? lastOf(headers, header) : { header: 'Forwarded', text };
  };
  const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= PORT_MAX;
  const scheme = checked(
    pick('proto', 'X-Forwarded-Proto'),
    (text) => /^https?$/i.test(text),
    'http or https',
  );
  const port = checked(lastOf(headers, 'X-Forwarded-Port'), isPort, `a port from 1 to ${PORT_MAX}`);
  const sentPrefix = lastOf(headers, 'X-Forwarded-Prefix');
  const prefix = checked(sentPrefix, (text) => PREFIX.test(text), 'a path such as /bourse');
  return {
    scheme: scheme?.toLowerCase() ?? null,
    host: pick('host', 'X-Forwarded-Host'),
    port,
    prefix: prefix?.replace(/\/$/, '') ?? null,
  };
}

/**
 * An IP address without a port and brackets; null for any other text, such as a name that hides one (RFC
 * 7239, 6).
 */
function ipIn(text: string): string | null {
  if (isIP(text) !== 0) return text;
  const host = URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : '';
  const bare = host.startsWith('[') ? host.slice(1, -1) : host;
  return isIP(bare) === 0 ? null : bare;
}

/** The address of the caller that the nearest proxy names; null where it names none, or no IP address. */
export function forwardedAddress(headers: HttpRequest['headers']): string | null {
  try {
    const sent = textOf(headers, 'Forwarded');
    const named = sent === null ? undefined : lastElement(sent).get('for');
    return ipIn(named ?? lastOf(headers, 'X-Forwarded-For')?.text ?? '');
  } catch {
    // Who answers the request refuses the header.
    return null;
  }
}

const MAPPED = '::ffff:';

/** An address as a fact of an observation; one of IPv4 as such, also where the socket is of IPv6. */
export function addressFact(address: string | undefined): { readonly address?: string } {
  if (address === undefined) return {};
  const bare = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
  return { address: isIPv4(bare) ? bare : address };
}

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
