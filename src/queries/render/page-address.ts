// The address of the next page: the endpoint's path and the caller's parameters with defaults filled in (contract 4.3).
import type { Endpoint } from '../../contract/endpoint.ts';

/** Text that needs no encoding in a path or a query. */
const PLAIN = /^[A-Za-z0-9._~-]*$/;

const queryText = (text: string): string => (PLAIN.test(text) ? text : encodeURIComponent(text));

/** Percent-encoded for a path. A colon stays as it is: that is allowed and reads better (contract 1.3). */
const pathText = (text: string): string =>
  PLAIN.test(text) ? text : encodeURIComponent(text).replaceAll('%3A', ':');

/** Path and query, without the base address, the caller's key and the page key. */
export function pageAddress(
  endpoint: Pick<Endpoint, 'path' | 'parameters'>,
  values: Readonly<Record<string, unknown>>,
): string {
  let path = endpoint.path;
  const query: string[] = [];
  for (const [name, parameter] of Object.entries(endpoint.parameters)) {
    const value = values[name];
    if (value === undefined || name === 'next_page_key') continue;
    const printed = parameter.print(value);
    if (parameter.in === 'path') path = path.replace(`{${name}}`, () => pathText(printed));
    else query.push(`${name}=${queryText(printed)}`);
  }
  return `${path}?${query.join('&')}`;
}
