// Routing: path and query of a request target -> endpoint and raw parameters. Routes come from the contract.
import { type Endpoint, parseParameters } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { contract, type EndpointName } from '../contract/index.ts';

/** An endpoint, and the segments of its path. */
export type Route = {
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
  readonly segments: readonly string[];
};

/** A matched route and its path parameters as sent, still encoded. */
export type Match = { readonly route: Route; readonly path: ReadonlyMap<string, string> };

const literals = ({ segments }: Route): number =>
  segments.filter((segment) => !segment.startsWith('{')).length;

/** The routes of all endpoints. Those with more literal segments come first. */
const routes = (Object.keys(contract) as EndpointName[])
  .map((name): Route => ({ name, endpoint: contract[name], segments: contract[name].path.split('/') }))
  .sort((a, b) => literals(b) - literals(a));

/** The route of a path as sent, or null. Literal segments match exactly. */
export function matchRoute(path: string): Match | null {
  const sent = path.split('/');
  for (const route of routes) {
    const found = matchSegments(route.segments, sent);
    if (found !== null) return { route, path: found };
  }
  return null;
}

function matchSegments(segments: readonly string[], sent: readonly string[]): Map<string, string> | null {
  if (segments.length !== sent.length) return null;
  const found = new Map<string, string>();
  for (let index = 0; index < segments.length; index++) {
    const [segment, part] = [segments[index]!, sent[index]!];
    if (segment.startsWith('{')) found.set(segment.slice(1, -1), part);
    else if (segment !== part) return null;
  }
  return found;
}

/** A text, percent-decoded once; null where it is not percent-encoded UTF-8. */
function decoded(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A parameter's text, percent-decoded once. @throws Refusal that names the parameter where the text is not percent-encoded UTF-8 */
function decode(name: string, text: string): string {
  const plain = decoded(text);
  if (plain !== null) return plain;
  const message = `${name} is not percent-encoded UTF-8: write % as %25.`;
  const got = name === 'secret_key' ? {} : { got: text };
  throw new Refusal('invalid_parameter', { message, param: name, ...got });
}

/** A query string's known parameters by name: every text as sent, in order, still encoded. */
export type RawQuery = ReadonlyMap<string, readonly string[]>;

/** Reads the known parameters of a query string; the others are ignored (contract 4.4). */
export function readQuery(query: string, known: (name: string) => boolean): RawQuery {
  const values = new Map<string, string[]>();
  if (query === '') return values;
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    // A name that cannot be decoded is ignored like every unknown name.
    const name = decoded((equals < 0 ? pair : pair.slice(0, equals)).replaceAll('+', ' '));
    if (name === null || !known(name)) continue;
    const text = equals < 0 ? '' : pair.slice(equals + 1);
    const before = values.get(name);
    if (before === undefined) values.set(name, [text]);
    else before.push(text);
  }
  return values;
}

/**
 * A parameter's text, decoded, `+` as space. Of a repeated one the last counts; a repeated key or page key with differing
 * values is a refusal (contract 4.4).
 */
export function queryText(query: RawQuery, name: string): string | undefined {
  const sent = query.get(name);
  if (sent === undefined) return undefined;
  const compared = name === 'secret_key' || name === 'next_page_key' ? sent : sent.slice(-1);
  const texts = compared.map((text) => decode(name, text.replaceAll('+', ' ')));
  const last = texts.at(-1);
  if (texts.some((text) => text !== last)) {
    const message = `${name} is given twice with differing values: give it once.`;
    throw new Refusal('invalid_parameter', { message, param: name });
  }
  return last;
}

/** The parsed parameters of a matched request. @throws Refusal that names the first invalid one */
export function parseRequest(match: Match, query: RawQuery): Readonly<Record<string, unknown>> {
  const raw = new Map<string, string>();
  for (const [name, parameter] of Object.entries(match.route.endpoint.parameters)) {
    const value = parameter.in === 'path' ? decode(name, match.path.get(name)!) : queryText(query, name);
    if (value !== undefined) raw.set(name, value);
  }
  return parseParameters(match.route.endpoint, raw);
}
