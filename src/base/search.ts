// Binary search.

/**
 * The first of `count` indexes for which `holds` is true, which it is for all after it too; `count` where
 * there is none.
 */
export function firstWhere(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
