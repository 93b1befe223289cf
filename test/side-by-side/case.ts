// A case: what is imported of an instrument, what is known of it by hand, and what is asked.
import type { Named } from '../asked-bars.ts';
import type { Known } from './bars-by-hand.ts';

/**
 * A file under the name that its vendor gives it, and what the command line says of it; null where the file
 * is there already.
 */
export type Given = readonly [name: string, content: string | Buffer | null, ...flags: string[]];

export type Case = {
  readonly named: Named;
  /**
   * The dates from which and to which bars of minutes and DAY are asked; WEEK and MON by the periods that are
   * known.
   */
  readonly from: string;
  readonly to: string;
  readonly known: Known;
  /** The zone of a market without a calendar. */
  readonly zone?: string;
  readonly files: readonly Given[];
};

export const stock = (country_iso_code: string, symbol: string): Named => ({
  asset_schema: 'stock',
  country_iso_code,
  symbol,
});

export const global = (asset_schema: string, symbol: string): Named => ({
  asset_schema,
  country_iso_code: 'GLOBAL',
  symbol,
});
