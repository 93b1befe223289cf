// Roots of US option symbols that are not the symbol of a stock (OCC's product directory).

/** Roots of options on indices, each with its index. All but OEX can be exercised only at expiration. */
const indexOf: Readonly<Record<string, string>> = {
  DJX: 'DJX',
  MRUT: 'MRUT',
  NDX: 'NDX',
  NDXP: 'NDX',
  OEX: 'OEX',
  RUT: 'RUT',
  RUTW: 'RUT',
  SPX: 'SPX',
  SPXW: 'SPX',
  VIX: 'VIX',
  VIXW: 'VIX',
  XEO: 'OEX',
  XND: 'XND',
  XSP: 'XSP',
};

/** Roots of options on indices. */
export const indexRoots: readonly string[] = Object.keys(indexOf);

/** Roots whose options can be exercised only at expiration. */
export const europeanRoots: readonly string[] = indexRoots.filter((root) => root !== 'OEX');

/** The index of a root; null for the root of a stock's options. */
export const indexOfRoot = (root: string): string | null =>
  Object.hasOwn(indexOf, root) ? indexOf[root]! : null;

/** Whether a corporate action adjusted the contracts of a root (`WDC1`, `2SPX`): they deliver something else than the underlying. */
export const isAdjustedRoot = (root: string): boolean => /^\d|\d$/.test(root);
