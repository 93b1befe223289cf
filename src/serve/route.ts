// Routing: path and query of a request target -> endpoint and raw parameters. Routes come from the contract.
import { type Endpoint, parseParameters } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { type AllEndpoints, allEndpoints } from '../contract/index.ts';

/** An endpoint, and the segments of its path. */
type Route = {
  readonly name: keyof AllEndpoints;
  readonly endpoint: Endpoint;
  readonly segments: readonly string[];
  /** Which of them may be several of a sent path; -1 for none (contract 1.7). */
  readonly slashedAt: number;
  /** The names of its query parameters. */
  readonly known: readonly string[];
};

/** A matched route and its path parameters as sent, still encoded. */
export type Match = { readonly route: Route; readonly path: ReadonlyMap<string, string> };

const isLiteral = (segment: string): boolean => !segment.startsWith('{');
const nameIn = (segment: string): string => segment.slice(1, -1);

function routeOf(name: Route['name']): Route {
  const endpoint: Endpoint = allEndpoints[name];
  const { path, parameters } = endpoint;
  const segments = path.split('/');
  const slashedAt = segments.findIndex((one) => parameters[nameIn(one)]?.slashesAllowed === true);
  const own = Object.keys(parameters).filter((one) => parameters[one]!.in === 'query');
  return { name, endpoint, segments, slashedAt, known: [...own, 'secret_key'] };
}

/**
 * The refusal of a path that no endpoint has, and what is wrong with one that is right but for its slashes.
 */
export function unknownPath(path: string): Refusal {
  if (path.startsWith('/docs/'))
    return new Refusal('unknown_path', {
      message: 'The documentation has no such page.',
      hint: 'All pages are listed at /docs.',
    });
  const isEnded = path.length > 1 && path.endsWith('/');
  const parts = path.split('/').filter((part) => part !== '');
  const hint =
    matchRoute(`/${parts.join('/')}`) === null
      ? 'Paths begin with /api/v2/, such as /api/v2/stock/bars/US:AAPL/1M/latest.'
      : `The path has ${isEnded ? 'a slash at its end' : 'two slashes in a row'}: ${isEnded ? 'leave it out' : 'write one'}.`;
  return new Refusal('unknown_path', { message: 'No endpoint has this path.', hint });
}

const literals = ({ segments }: Route): number => segments.filter(isLiteral).length;

/** The routes of all endpoints. Those with more literal segments come first. */
const routes = (Object.keys(allEndpoints) as Route['name'][])
  .map(routeOf)
  .sort((a, b) => literals(b) - literals(a));

/** The route of a path as sent, or null. Literal segments match exactly. */
export function matchRoute(path: string): Match | null {
  const sent = path.split('/');
  for (const route of routes) {
    const whole = withoutSlashes(route, sent);
    const found = whole && matchSegments(route.segments, whole);
    if (found) return { route, path: found };
  }
  return null;
}

/** A dot segment or an empty one: clients and proxies drop it, so it is in a symbol only when encoded. */
const DROPPED = /^(\.|%2e){0,2}$/i;
const COLON = /:|%3a/i;

/**
 * The sent segments, those of a symbol with unencoded slashes joined; null where their number cannot be the
 * route's (contract 1.7).
 */
function withoutSlashes({ segments, slashedAt }: Route, sent: readonly string[]): readonly string[] | null {
  const more = sent.length - segments.length;
  if (more === 0) return sent;
  if (more < 0 || slashedAt < 0) return null;
  const end = slashedAt + more + 1;
  const parts = sent.slice(slashedAt, end);
  if (!COLON.test(parts[0]!) || parts.some((part) => DROPPED.test(part))) return null;
  return [...sent.slice(0, slashedAt), parts.join('/'), ...sent.slice(end)];
}

function matchSegments(segments: readonly string[], sent: readonly string[]): Map<string, string> | null {
  const found = new Map<string, string>();
  for (let index = 0; index < segments.length; index++) {
    const [segment, part] = [segments[index]!, sent[index]!];
    if (!isLiteral(segment)) found.set(nameIn(segment), part);
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

/**
 * A parameter's text, percent-decoded once. @throws Refusal that names the parameter where the text is not
 * percent-encoded UTF-8
 */
function decode(name: string, text: string): string {
  const plain = decoded(text);
  if (plain !== null) return plain;
  const message = `${name} is not percent-encoded UTF-8: write % as %25.`;
  const got = name === 'secret_key' ? {} : { got: text };
  throw new Refusal('invalid_parameter', { message, param: name, ...got });
}

/** A query string's known parameters by name: every text as sent, in order, still encoded. */
export type RawQuery = ReadonlyMap<string, readonly string[]>;

/** Reads the known parameters of a query string, and the names of the others, each once (contract 4.4). */
export function readQuery(
  sent: string,
  isKnown: (name: string) => boolean,
): { readonly query: RawQuery; readonly ignored: readonly string[] } {
  const query = new Map<string, string[]>();
  const ignored = new Set<string>();
  for (const pair of sent === '' ? [] : sent.split('&')) {
    const equals = pair.indexOf('=');
    const written = equals < 0 ? pair : pair.slice(0, equals);
    // A name that cannot be decoded is ignored like every unknown name.
    const name = decoded(written.replaceAll('+', ' ')) ?? written;
    if (!isKnown(name)) {
      if (name !== '') ignored.add(name);
      continue;
    }
    const text = equals < 0 ? '' : pair.slice(equals + 1);
    const before = query.get(name);
    if (before === undefined) query.set(name, [text]);
    else before.push(text);
  }
  return { query, ignored: [...ignored] };
}

/**
 * A parameter's text, decoded, `+` as space. Of a repeated one the last counts; a repeated key or page key
 * with differing values is a refusal (contract 4.4).
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
