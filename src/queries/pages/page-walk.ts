// A walk over the pages of a list: opens the key that was sent and signs the next one (contract 4.1), and the
// address of the next page: path and parameters with defaults filled in (contract 4.3). The fingerprint in a
// key is the endpoint and its bound parameters as one text, so that a key opens no page of another query.
import type { Endpoint, Parameter } from '../../contract/endpoint.ts';
import type { Paging, QueryContext } from '../query.ts';
import type { Place } from './page-key.ts';

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

type Values = Readonly<Record<string, unknown>>;

/**
 * Parameters as a query understood them, where that is not the value that was sent: a symbol as the
 * instrument that it names.
 */
export type Understood<P> = { readonly [K in keyof P]?: string | number | undefined };

/** The fingerprint of an endpoint with the parameters that it had at first. */
type FirstForm = {
  readonly names: readonly string[];
  readonly write: (values: Values) => string;
};

const piped = (endpoint: string, ...names: string[]): FirstForm => ({
  names,
  write: (values) => [endpoint, ...names.map((name) => values[name])].join('|'),
});

const bars = piped(
  'historicalBars',
  ...['schema_asset', 'country_symbol', 'interval', 'from_date', 'to_date', 'is_eth', 'sort'],
);

/**
 * Frozen: keys that were signed with these texts are still in use. A later parameter is not added here;
 * `fingerprints` appends it.
 */
const firstForms: Readonly<Partial<Record<string, FirstForm>>> = {
  corporateActions: piped('corporateActions', 'country_symbol', 'from_date', 'to_date', 'action_type'),
  newsList: piped('newsList', 'full_symbol', 'from_date', 'to_date', 'sort'),
  optionSearch: piped(
    'optionSearch',
    ...['schema_asset', 'country_symbol', 'option_type', 'moneyness'],
    ...['ref_asset_price', 'strike_price', 'expiration_date', 'sort_by'],
  ),
  holidayList: piped('holidayList', 'full_symbol', 'holiday_code', 'from_date', 'to_date', 'sort'),
  historicalBars: {
    names: [...bars.names, 'adjust'],
    write: (values) => `${bars.write(values)}${values.adjust === 'none' ? '' : `|${String(values.adjust)}`}`,
  },
  findings: piped(
    'findings',
    ...['schema_asset', 'country_symbol', 'interval', 'from_date', 'to_date', 'kind', 'severity', 'sort'],
  ),
  sessionCoverage: piped(
    'sessionCoverage',
    ...['schema_asset', 'country_symbol', 'interval', 'from_date', 'to_date', 'sort'],
  ),
  economicEvents: {
    names: ['country_iso_code', 'event_code', 'impact', 'source_id', 'from_date', 'to_date', 'sort'],
    write: ({ country_iso_code, event_code, impact, source_id, from_date: from, to_date: to, sort }) =>
      JSON.stringify([
        'economicEvents',
        { country_iso_code, event_code, rank: impact, source_id },
        { from, to },
        sort,
      ]),
  },
};

/**
 * The forms of an endpoint's fingerprints. A bound parameter that its first form does not hold is appended
 * by name only where its value is not its default, so keys that were signed before it was declared still
 * open their pages.
 */
export function fingerprints(endpoint: string, declared: Endpoint['parameters']) {
  const first = firstForms[endpoint] ?? piped(endpoint);
  const added = Object.entries(declared)
    .filter(([name, { bindsPage }]) => bindsPage && !first.names.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return (sent: Values, understood: Values): string => {
    const text = first.write({ ...sent, ...understood });
    const given = added.filter(
      ([name, parameter]) => sent[name] !== undefined && sent[name] !== parameter.default,
    );
    if (given.length === 0) return text;
    return `${text}|${JSON.stringify(given.map(([name, parameter]) => [name, parameter.print(sent[name])]))}`;
  };
}

const made = new WeakMap<Endpoint, ReturnType<typeof fingerprints>>();

type Walk<P> = {
  /** Where the page before ends; null on the first page. */
  readonly place: Place | null;
  /**
   * The paging of a page that ends at a place; null where it is the last one. `sent` fills the address of the
   * next page.
   */
  readonly paging: (end: Place | null, sent?: P) => Paging;
};

/** Opens a walk where its page key says. @throws Refusal `invalid_page_key` */
export function openWalk<P extends { readonly next_page_key?: string | undefined }>(
  { request, endpoint, pageKeys, moment }: QueryContext,
  parameters: P,
  understood: Understood<P>,
): Walk<P> {
  const write = made.get(endpoint) ?? fingerprints(request.endpoint, endpoint.parameters);
  made.set(endpoint, write);
  const fingerprint = write(parameters, understood);
  const { next_page_key: key } = parameters;
  return {
    place: key ? pageKeys.verify(fingerprint, key) : null,
    paging: (end, sent = parameters) => ({
      next: end && {
        key: pageKeys.sign(fingerprint, end, moment.ms),
        address: pageAddress(endpoint, sent),
      },
    }),
  };
}
