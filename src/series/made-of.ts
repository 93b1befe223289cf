// What a WEEK or MON bar is made of: facts that do not depend on the moment of a request.
import type { Series } from './series.ts';

/** The days of a period that come from one series: bit `n` is that of the `n`th day after the first. */
export type Share = { readonly series: Series; readonly days: number };

export type MadeOf = {
  readonly shares: readonly Share[];
  /**
   * Whether a session is to be had on another price basis only: then the bar is not served (contract 3.6).
   */
  readonly isMixed: boolean;
  /**
   * Whether a stored bar is better, as without extended hours: it lacks them, or does not hold all that the
   * stored one has.
   */
  readonly yields: boolean;
};

/** The share that has a day of a period; undefined where none has. */
export const shareOn = (shares: readonly Share[], day: number): Share | undefined =>
  shares.find(({ days }) => ((days >>> day) & 1) === 1);
