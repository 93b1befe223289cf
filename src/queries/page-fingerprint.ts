// The fingerprint in a page key: the endpoint and its bound parameters as one text, so that a key opens no
// page of another query (contract 4.1).
import type { Endpoint, ParametersOf } from '../contract/endpoint.ts';
import type { Contract, EndpointName } from '../contract/index.ts';

/** The endpoints that have pages. */
export type PagedEndpoint = {
  [N in EndpointName]: 'next_page_key' extends keyof Contract[N]['parameters'] ? N : never;
}[EndpointName];

type Values = Readonly<Record<string, unknown>>;

/**
 * Parameters as a query understood them, where that is not the value that was sent: a symbol as the
 * instrument that it names.
 */
export type Understood<N extends PagedEndpoint> = {
  readonly [K in keyof ParametersOf<Contract[N]>]?: string | number | undefined;
};

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
