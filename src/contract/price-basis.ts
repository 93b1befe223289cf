// What was done to prices and volumes before they were imported (contract 9.4).

/** `raw`: as traded. `split`: adjusted for splits. `all`: for splits and dividends. */
export const priceBases = ['raw', 'split', 'all'] as const;

export type PriceBasis = (typeof priceBases)[number];

/** `raw`: the shares that were traded. `split`: adjusted for splits. */
export const volumeBases = ['raw', 'split'] as const;

export type VolumeBasis = (typeof volumeBases)[number];

/**
 * The basis of prices and volumes. Null volumes go with the prices: raw beside raw ones, else adjusted for
 * splits.
 */
export type BarBasis = { readonly prices: PriceBasis; readonly volumes: VolumeBasis | null };

/** The basis of volumes beside prices that nothing else is said of. */
const volumesBeside = (prices: string): VolumeBasis => (prices === 'raw' ? 'raw' : 'split');

/** The basis of bars by what is said of them; what is said is one thing in one form. */
export const barBasis = (prices: PriceBasis = 'raw', volumes?: VolumeBasis): BarBasis => ({
  prices,
  volumes: volumes === undefined || volumes === volumesBeside(prices) ? null : volumes,
});

/** The basis of the volumes of a stored series. */
export const volumeBasis = ({ prices, volumes }: { prices: string; volumes: string | null }): VolumeBasis =>
  (volumes as VolumeBasis | null) ?? volumesBeside(prices);
