// The address of the next page: the endpoint's path and the caller's parameters with defaults filled in
// (contract 4.3).
import type { Endpoint } from '../../contract/endpoint.ts';
import type { Parameter } from '../../contract/parameter.ts';

/**
 * Text that needs no encoding in a path or a query. A colon in a path stays as it is: that is allowed and
 * reads better (contract 1.3).
 */
const PLAIN_QUERY = /^[A-Za-z0-9._~-]*$/;
const PLAIN_PATH = /^[A-Za-z0-9._~:-]*$/;

const queryText = (text: string): string => (PLAIN_QUERY.test(text) ? text : encodeURIComponent(text));

const pathText = (text: string): string =>
  PLAIN_PATH.test(text) ? text : encodeURIComponent(text).replaceAll('%3A', ':');

type Addressed = Pick<Endpoint, 'path' | 'parameters'>;

/** A parameter, and the text before its value. */
type Part = { readonly before: string; readonly name: string; readonly parameter: Parameter };

/** The parts of an endpoint's addresses, in their order. */
type Parts = { readonly path: readonly Part[]; readonly after: string; readonly query: readonly Part[] };

const partsOf = new WeakMap<Addressed['parameters'], Parts>();

function makeParts({ path, parameters }: Addressed): Parts {
  const [first, ...others] = path.split('{');
  let before = first!;
  const inPath = others.map((text): Part => {
    const [name, after] = text.split('}') as [string, string];
    const part = { before, name, parameter: parameters[name]! };
    before = after;
    return part;
  });
  const query = Object.entries(parameters)
    .filter(([name, { in: place }]) => place === 'query' && name !== 'next_page_key')
    .map(([name, parameter]): Part => ({ before: `${name}=`, name, parameter }));
  return { path: inPath, after: `${before}?`, query };
}

/** Path and query, without the base address, the caller's key and the page key. */
export function pageAddress(endpoint: Addressed, values: Readonly<Record<string, unknown>>): string {
  let parts = partsOf.get(endpoint.parameters);
  if (parts === undefined) {
    parts = makeParts(endpoint);
    partsOf.set(endpoint.parameters, parts);
  }
  let address = '';
  for (const { before, name, parameter } of parts.path)
    address += before + pathText(parameter.print(values[name]));
  address += parts.after;
  let separator = '';
  for (const { before, name, parameter } of parts.query) {
    const value = values[name];
    if (value === undefined) continue;
    address += separator + before + queryText(parameter.print(value));
    separator = '&';
  }
  return address;
}
