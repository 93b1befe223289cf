// Words of files and parameters: a yes or no, how a file means its symbols and dates, and what was done to
// its prices (contract 3.5, 3.6, 9.4, 9.6). No schema here: the importer starts without the schema library.

/** The words of a yes or no, and what each means (contract 3.5). */
export const flagWords: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  '1': true,
  '0': false,
  yes: true,
  no: false,
};

/** The meaning of a yes or no in any case; undefined for anything else. */
export function parseFlag(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return Object.hasOwn(flagWords, word) ? flagWords[word] : undefined;
}

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

/**
 * `then`: instruments have the symbols of each row's day. `now`: each has its whole history under its present
 * symbol.
 */
export const symbolTimes = ['then', 'now'] as const;

export type SymbolTime = (typeof symbolTimes)[number];

/** The end of a bar that its `datetime` names. */
export const barLabels = ['open', 'close'] as const;

export type BarLabel = (typeof barLabels)[number];
