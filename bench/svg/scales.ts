// Places on an axis, and where its marks are.

/** Maps values to pixels. */
export type AxisScale = (value: number) => number;

/** A linear scale from 0 to `last`. */
export const linear =
  (last: number, fromPx: number, toPx: number): AxisScale =>
  (value) =>
    fromPx + (value / last) * (toPx - fromPx);

/** A logarithmic scale; all values are above 0. */
export const logarithmic =
  (first: number, last: number, fromPx: number, toPx: number): AxisScale =>
  (value) =>
    fromPx + (first === last ? 0.5 : Math.log(value / first) / Math.log(last / first)) * (toPx - fromPx);

const STEPS = [1, 2, 5];
const MARKS_MAX = 6;

/**
 * Round numbers from 0 on, the last at or above a value: at most six, and their last is where the axis ends.
 */
export function linearMarks(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  for (let power = Math.floor(Math.log10(most)) - 1; ; power++) {
    for (const step of STEPS) {
      const size = step * 10 ** power;
      const count = Math.ceil(most / size - 1e-9);
      if (count < MARKS_MAX)
        return Array.from({ length: count + 1 }, (_, index) => Number((index * size).toPrecision(12)));
    }
  }
}

/**
 * Numbers 1, 2, 5, 10, … around some values: the first at or below the least, the last at or above the most.
 */
export function logarithmicMarks(least: number, most: number): number[] {
  const steps: number[] = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power < most * 10; power++)
    for (const step of STEPS) steps.push(Number((step * 10 ** power).toPrecision(12)));
  const first = steps.findLastIndex((step) => step <= least);
  const last = steps.findIndex((step) => step >= most);
  return steps.slice(first, last + 1);
}
