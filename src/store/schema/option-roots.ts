// Roots of US option symbols that are not the symbol of a stock: those of options on indices, and those that
// a corporate action adjusted.

/** Options on an index: it, when they may be exercised, and by which price of their last day they settle. */
type IndexRoot = {
  readonly index: string;
  readonly style: 'american' | 'european';
  readonly settles: 'open' | 'close';
};

const atOpen = (index: string): IndexRoot => ({ index, style: 'european', settles: 'open' });
const atClose = (index: string): IndexRoot => ({ index, style: 'european', settles: 'close' });

/**
 * By root, from the product specifications of Cboe (cboe.com/tradable_products: such as
 * ftse_russell/russell_1000_index_options) and Nasdaq (nasdaq.com/nasdaq-100-index-options). What settles on
 * the open has a settlement value with a symbol of its own: SET of SPX, RLS of RUT, DJS of DJX, NDS and later
 * XQO of NDX, RIR of RUI, RLR of RLG, RVS of RLV, VRO of VIX and VIXW (OCC's memorandum 39341 lists those of
 * a day).
 */
const indexRoots: Readonly<Record<string, IndexRoot>> = {
  DJX: atOpen('DJX'),
  // A tenth of the Nasdaq-100, formerly.
  MNX: atOpen('MNX'),
  // Mini-Russell 2000: a tenth of the index.
  MRUT: atClose('MRUT'),
  NDX: atOpen('NDX'),
  NDXP: atClose('NDX'),
  // A fifth of the Nasdaq-100.
  NQX: atClose('NQX'),
  // The only ones that may be exercised before their expiration.
  OEX: { index: 'OEX', style: 'american', settles: 'close' },
  RLG: atOpen('RLG'),
  RLV: atOpen('RLV'),
  RUI: atOpen('RUI'),
  RUT: atOpen('RUT'),
  RUTW: atClose('RUT'),
  SPX: atOpen('SPX'),
  // Third Fridays until 2017, since then under SPXW.
  SPXPM: atClose('SPX'),
  SPXW: atClose('SPX'),
  VIX: atOpen('VIX'),
  VIXW: atOpen('VIX'),
  XEO: atClose('OEX'),
  // A hundredth of the Nasdaq-100.
  XND: atClose('XND'),
  XSP: atClose('XSP'),
};

const indexRootOf = (root: string): IndexRoot | null =>
  Object.hasOwn(indexRoots, root) ? indexRoots[root]! : null;

/** The index of a root; null for the root of a stock's options. */
export const indexOfRoot = (root: string): string | null => indexRootOf(root)?.index ?? null;

/** The roots of options on indices, each with its index. */
export const indices: readonly (readonly [root: string, index: string])[] = Object.entries(indexRoots).map(
  ([root, { index }]) => [root, index],
);

/** The terms of contracts on an index, by their root: index and exercise style. None for other roots. */
export function termsOfRoot(root: string): {
  readonly exercise_style?: IndexRoot['style'];
  readonly is_indices?: true;
} {
  const known = indexRootOf(root);
  return known === null ? {} : { exercise_style: known.style, is_indices: true };
}

/** The root of a symbol: without separators and marks, `BRKB` of BRK.B and `SPX` of ^SPX. */
const rootOf = (symbol: string): string => symbol.replaceAll(/[^A-Z0-9]/g, '');

/** The roots, in order, of contracts on an index that settle in the morning (contract 8.5). */
export function morningRoots(symbol: string): readonly string[] {
  const index = indexOfRoot(rootOf(symbol));
  const all = Object.entries(indexRoots).filter(([, one]) => one.index === index && one.settles === 'open');
  return all.map(([one]) => one).sort();
}

/**
 * The `contract_type` of contracts that a corporate action adjusted: they deliver something else than the
 * underlying.
 */
export const ADJUSTED = 'adjusted';

const ADJUSTED_ROOT = /^[A-Z]+\d$/;

/** True if a root has the form of adjusted ones: `AAPL7`. */
export const isAdjustedRoot = (root: string): boolean => ADJUSTED_ROOT.test(root);

/**
 * The root without the digit of an adjusted one; null for another root with a digit at an end, such as that
 * of FLEX contracts (`2SPX`).
 */
export function plainRoot(root: string): string | null {
  if (isAdjustedRoot(root)) return root.slice(0, -1);
  return /^\d|\d$/.test(root) ? null : root;
}

/** True if a root is an adjusted one of an underlying, by the symbols that this has or had. */
export function isAdjustedOf(root: string, symbols: readonly string[]): boolean {
  const letters = root.slice(0, -1);
  const names = symbols.map(rootOf);
  return isAdjustedRoot(root) && (names.includes(letters) || names.includes(indexOfRoot(letters) ?? letters));
}
