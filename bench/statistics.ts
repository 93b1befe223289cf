// The few statistics of the benchmark.

/** The middle of some numbers, of which there is at least one. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * The number below which that share of some numbers is, between two of them in proportion. There is at least
 * one number; where one is NaN, so is the result.
 */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('no numbers');
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}

/** The median of the ratios of each round: what disturbs one round disturbs both of its numbers. */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length) throw new RangeError(`${ours.length} rounds against ${theirs.length}`);
  return median(ours.map((value, round) => value / theirs[round]!));
}
