// What was done to prices before they were imported (contract 9.4).

/** `raw`: as traded. `split`: adjusted for splits. `all`: for splits and dividends. */
export const priceBases = ['raw', 'split', 'all'] as const;

export type PriceBasis = (typeof priceBases)[number];
