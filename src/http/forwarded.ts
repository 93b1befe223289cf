// What a proxy says of the request it passes on: RFC 7239 `Forwarded`, and the X-Forwarded-* headers before it.
import { Refusal } from '../contract/errors.ts';

/** A text and the header that it stands in. */
export type Named = { readonly header: string; readonly text: string };

/** What was forwarded of a request's address; null what was not. */
export type Forwarded = {
  readonly scheme: 'http' | 'https' | null;
  readonly host: Named | null;
  readonly port: string | null;
  /** The path that the proxy took off, without a slash at its end; empty for none. */
  readonly prefix: string;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The highest port there is. */
export const PORT_MAX = 65_535;
const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/;
// A pair with what ends it; pairs may be empty (RFC 7239, 4).
const PAIR = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*([;,]|$)/y;

/** The refusal of a header that says nothing that can be used. */
function malformed({ header, text }: Named, wanted: string): Refusal {
  return new Refusal('bad_request', {
    message: `The ${header} header must be ${wanted}.`,
    param: header,
    got: text,
    hint: 'A proxy sent it, and the service is told to believe it (--trust-proxy): let the proxy write it itself.',
  });
}

/** The last value of a header: the nearest proxy adds to the end, what stands before came from outside. */
function lastOf(headers: Headers, header: string): Named | null {
  const found = headers[header.toLowerCase()];
  if (found === undefined) return null;
  const text = String(found);
  return { header, text: text.slice(text.lastIndexOf(',') + 1).trim() };
}

/** The pairs of the last element of `Forwarded`, by lower-case name. @throws Refusal where its grammar is broken */
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

/** What the headers forward; `Forwarded` goes before the older ones. @throws Refusal `bad_request` that names a malformed header */
export function readForwarded(headers: Headers): Forwarded {
  const text = headers.forwarded;
  const pairs = text === undefined ? new Map<string, string>() : lastElement(String(text));
  const pick = (name: string, header: string): Named | null => {
    const told = pairs.get(name);
    return told === undefined ? lastOf(headers, header) : { header: 'Forwarded', text: told };
  };
  return {
    scheme: schemeOf(pick('proto', 'X-Forwarded-Proto')),
    host: pick('host', 'X-Forwarded-Host'),
    port: portOf(lastOf(headers, 'X-Forwarded-Port')),
    prefix: prefixOf(lastOf(headers, 'X-Forwarded-Prefix')),
  };
}
