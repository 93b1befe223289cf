// All endpoints, once: the rule of each, and a request that the demo answers with some records.
import type { AllEndpoints } from '../src/contract/index.ts';

export type EndpointName = keyof AllEndpoints;

/** Values of parameters, those of the path included, as they stand in an address. */
export type Texts = Readonly<Record<string, string>>;

export const endpoints: Readonly<Record<EndpointName, { readonly rule: string; readonly texts: Texts }>> = {
  instrumentReference: { rule: 'spec 4.2', texts: { schema_asset: 'stock', country_symbol: 'US:AAPL' } },
  corporateActions: { rule: 'spec 4.3', texts: { country_symbol: 'US:AAPL', from_date: '2000-01-01' } },
  newsList: {
    rule: 'spec 4.4',
    texts: { from_date: '2000-01-01', to_date: '2100-01-01', full_symbol: 'crypto:GLOBAL:*' },
  },
  latestNews: { rule: 'spec 4.5', texts: { full_symbol: 'stock:US:*' } },
  optionSearch: {
    rule: 'spec 4.6',
    texts: {
      schema_asset: 'stock',
      country_symbol: 'US:AAPL',
      option_type: 'put',
      moneyness: 'out_of_the_money',
    },
  },
  optionExpirations: { rule: 'spec 4.7', texts: { schema_asset: 'stock', country_symbol: 'US:AAPL' } },
  holidayList: {
    rule: 'spec 4.8',
    texts: { full_symbol: 'stock:HK:*', from_date: '2024-01-01', to_date: '2026-12-31' },
  },
  holidayCodes: { rule: 'spec 4.9', texts: { country_iso_code: 'JP' } },
  historicalBars: {
    rule: 'spec 4.10',
    texts: {
      schema_asset: 'crypto',
      country_symbol: 'GLOBAL:BTCUSD',
      interval: 'WEEK',
      from_date: '2000-01-01',
      to_date: '2100-01-01',
    },
  },
  latestBars: {
    rule: 'spec 4.11',
    texts: { schema_asset: 'stock', country_symbol: 'US:AAPL', interval: '60M' },
  },
  economicEvents: { rule: 'spec 4.12', texts: { country_iso_code: 'US' } },
  economicEvent: { rule: 'spec 4.13', texts: {} },
  economicEventCodes: { rule: 'spec 4.14', texts: { country_iso_code: 'UK' } },
  instrumentSearch: { rule: 'contract 9.2', texts: { schema_asset: 'stock', query: 'a' } },
  latestEconomicEvents: { rule: 'contract 9.1', texts: { date_type: 'upcoming' } },
  runs: { rule: 'contract 9.12', texts: {} },
  addressInfo: { rule: 'contract 9.14', texts: {} },
  operateStatus: { rule: 'contract 7.6', texts: {} },
  seriesCoverage: { rule: 'contract 9.9', texts: { schema_asset: 'stock' } },
  sessionCoverage: { rule: 'contract 9.9', texts: { schema_asset: 'stock', country_symbol: 'US:AAPL' } },
  findings: { rule: 'contract 9.10', texts: { schema_asset: 'stock', country_symbol: 'US:FLAWED' } },
  latestOfMany: {
    rule: 'contract 9.15',
    texts: { schema_asset: 'stock', symbols: 'US:AAPL,US:MSFT', interval: '60M' },
  },
  bulkBars: {
    rule: 'contract 9.11',
    texts: {
      ...{
        schema_asset: 'stock',
        country_iso_code: 'US',
        interval: 'DAY',
        format: 'csv',
        symbols: 'AAPL,MSFT',
      },
      ...{ from_date: '2000-01-01', to_date: '2100-01-01' },
    },
  },
};
