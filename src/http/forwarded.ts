// Headers in which a proxy describes the original request: RFC 7239 `Forwarded`, and the older X-Forwarded-*.
import { Refusal } from '../contract/errors.ts';

/** A text and the header that it comes from. */
export type Named = { readonly header: string; readonly text: string };

/** The parts of a request's address that were forwarded; null for the others. */
export type Forwarded = {
  readonly scheme: 'http' | 'https' | null;
  readonly host: Named | null;
  readonly port: string | null;
  /** The path that the proxy removed, without a trailing slash; empty for none. */
  readonly prefix: string;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The highest port number. */
export const PORT_MAX = 65_535;
const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/;
// A pair and its separator; pairs may be empty (RFC 7239, 4).
const PAIR = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*([;,]|$)/y;

/** The refusal of a malformed header. */
function malformed({ header, text }: Named, wanted: string): Refusal {
  return new Refusal('bad_request', {
    message: `The ${header} header must be ${wanted}.`,
    param: header,
    got: text,
    hint: 'A proxy sent this header, and the service trusts it (--trust-proxy): let the proxy set the header itself.',
  });
}

/** The last value of a header. The nearest proxy adds it at the end; earlier values came from outside. */
function lastOf(headers: Headers, header: string): Named | null {
  const found = headers[header.toLowerCase()];
  if (found === undefined) return null;
  const text = String(found);
  return { header, text: text.slice(text.lastIndexOf(',') + 1).trim() };
}

/** The pairs of the last element of `Forwarded`, by lower-case name. @throws Refusal for a syntax error */
function lastElement(text: string): ReadonlyMap<string, string> {
  const wanted = 'as RFC 7239 has it, such as host="data.example.com";proto=https';
  let pairs = new Map<string, string>();
  PAIR.lastIndex = 0;
  for (let end = ','; end !== ''; ) {
    if (end === ',') pairs = new Map();
    const match = PAIR.exec(text);
    const name = match?.[1]?.toLowerCase();
    if (match === null || (name !== undefined && pairs.has(name)))
      throw malformed({ header: 'Forwarded', text }, wanted);
    if (name !== undefined) pairs.set(name, match[2] ?? match[3]!.replace(/\\(.)/g, '$1'));
    end = match[4]!;
  }
  return pairs;
}

function schemeOf(proto: Named | null): Forwarded['scheme'] {
  if (proto === null) return null;
  const scheme = proto.text.toLowerCase();
  if (scheme === 'http' || scheme === 'https') return scheme;
  throw malformed(proto, 'http or https');
}

function portOf(port: Named | null): string | null {
  if (port === null) return null;
  if (/^[1-9]\d{0,4}$/.test(port.text) && Number(port.text) <= PORT_MAX) return port.text;
  throw malformed(port, `a port from 1 to ${PORT_MAX}`);
}

function prefixOf(prefix: Named | null): string {
  if (prefix === null) return '';
  if (PREFIX.test(prefix.text)) return prefix.text.replace(/\/$/, '');
  throw malformed(prefix, 'a path such as /bourse');
}

/** Reads the headers; `Forwarded` takes precedence over the older ones. @throws Refusal `bad_request` that names a malformed header */
export function readForwarded(headers: Headers): Forwarded {
  const text = headers.forwarded;
  const pairs = text === undefined ? new Map<string, string>() : lastElement(String(text));
  const pick = (name: string, header: string): Named | null => {
    const paired = pairs.get(name);
    return paired === undefined ? lastOf(headers, header) : { header: 'Forwarded', text: paired };
  };
  return {
    scheme: schemeOf(pick('proto', 'X-Forwarded-Proto')),
    host: pick('host', 'X-Forwarded-Host'),
    port: portOf(lastOf(headers, 'X-Forwarded-Port')),
    prefix: prefixOf(lastOf(headers, 'X-Forwarded-Prefix')),
  };
}
