// Quotes of option contracts.
import type { Step } from './step.ts';

export const store0003: Step = {
  tables: [
    {
      name: 'option_quotes',
      columns: {
        country_iso_code: 'text',
        symbol: 'text',
        bid: 'real null',
        ask: 'real null',
        last: 'real null',
        volume: 'real null',
        open_interest: 'real null',
        implied_volatility: 'real null',
        delta: 'real null',
        gamma: 'real null',
        theta: 'real null',
        vega: 'real null',
        rho: 'real null',
        quote_datetime: 'instant null',
      },
      key: ['country_iso_code', 'symbol'],
    },
  ],
};
