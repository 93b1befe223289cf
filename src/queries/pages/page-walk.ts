// A walk over the pages of a list: opens the key that was sent and signs the next one (contract 4.1, 4.3).
// The fingerprint in a key is the endpoint and its bound parameters as one text, so that a key opens no page
// of another query.
import type { Endpoint } from '../../contract/endpoint.ts';
import type { Paging, QueryContext } from '../query.ts';
import { pageAddress } from '../render/page-address.ts';
import type { Place } from './page-key.ts';

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
