// Where an endpoint is. The compiler compares these paths with the contract's, which a program of the client
// does not load.
import type { AllEndpoints } from '../contract/index.ts';
import type { AnyName } from './sent.ts';

const paths: { readonly [N in AnyName]: AllEndpoints[N]['path'] } = {
  instrumentReference: '/api/v2/{schema_asset}/reference/{country_symbol}',
  corporateActions: '/api/v2/stock/stock_corporate_action/list/{country_symbol}',
  newsList: '/api/v2/news/list',
  latestNews: '/api/v2/news/latest',
  optionSearch: '/api/v2/option/search/{schema_asset}/{country_symbol}/{option_type}/moneyness/{moneyness}',
  optionExpirations: '/api/v2/option/expiration_date_list/{schema_asset}/{country_symbol}',
  holidayList: '/api/v2/holiday/list',
  holidayCodes: '/api/v2/holiday/holiday_codes/{country_iso_code}',
  historicalBars: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/from/{from_date}/to/{to_date}',
  latestBars: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest',
  bulkBars: '/api/v2/{schema_asset}/bulk/bars/{country_iso_code}/{interval}/from/{from_date}/to/{to_date}',
  economicEvents: '/api/v2/economic_calendar/event_list',
  economicEvent: '/api/v2/economic_calendar/event',
  economicEventCodes: '/api/v2/economic_calendar/event_codes/{country_iso_code}',
  instrumentSearch: '/api/v2/{schema_asset}/reference/search',
  latestEconomicEvents: '/api/v2/economic_calendar/latest_event_list',
  seriesCoverage: '/api/v2/{schema_asset}/coverage',
  sessionCoverage: '/api/v2/{schema_asset}/coverage/{country_symbol}',
  findings: '/api/v2/{schema_asset}/findings/{country_symbol}',
  runs: '/api/v2/server/runs',
  addressInfo: '/api/v2/server/address_info',
};

/** A parameter's value; one that is undefined is not sent. A list is sent with commas. */
export type Value = string | number | boolean | Date | readonly string[] | undefined;

const textOf = (value: Value): string => (value instanceof Date ? value.toISOString() : String(value));

/** Names that a program gives and the wire has otherwise. */
export const wireNames: Readonly<Record<string, string>> = { from: 'from_date', to: 'to_date' };

/**
 * Path and query of a request, relative to the address of the service.
 * @throws TypeError if a parameter of the path is missing; RangeError for an invalid Date
 */
export function address(name: AnyName, values: Readonly<Record<string, Value>>): string {
  const left = new Map<string, string>();
  for (const [key, value] of Object.entries(values))
    if (value !== undefined) left.set(wireNames[key] ?? key, textOf(value));
  const path = paths[name].replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = left.get(key);
    if (!value) throw new TypeError(`${name} needs ${key}`);
    left.delete(key);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams([...left]).toString();
  return query === '' ? path : `${path}?${query}`;
}
