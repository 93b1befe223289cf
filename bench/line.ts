// One line of the benchmark: its name, its target, how it is taken from what its group measured, and whether
// it reached its target.

/** What a line may be at the least or at the most. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

/**
 * What was measured: the line itself; the same compared with something that was measured in the same run; and
 * other costs.
 */
export type Figure = {
  readonly measured: number;
  readonly ratio?: number;
  /** Processor time of the query thread for one request, in microseconds. */
  readonly queryUs?: number;
};

/** Why there is no figure: something is not installed here. */
export type Missing = { readonly missing: string };

/** A line of a group whose measurements are an `M`. */
export type Line<M> = {
  readonly name: string;
  readonly unit: string;
  /**
   * What `ratio` compares with. A line that has it is judged by its ratio: absolute figures change with the
   * machine.
   */
  readonly comparedWith?: string;
  /** The work before what is measured, so that its code is compiled; by default that of its group. */
  readonly warmUp?: string;
  /** Null: the line only informs. */
  readonly target: Target | null;
  readonly measure: (measured: M) => Figure | Missing;
};

/** What became of a line. */
export type Outcome = 'reached' | 'missed' | 'no target' | 'not measured' | 'failed';

/** A line after the run. */
export type Result = Omit<Line<never>, 'measure'> & {
  readonly group: string;
  readonly figure: Figure | null;
  readonly outcome: Outcome;
  /** Why there is no figure. */
  readonly reason?: string;
};

/** Whether a number reaches a target. */
export const reaches = (value: number, target: Target): boolean =>
  'atLeast' in target ? value >= target.atLeast : value <= target.atMost;

/** Takes a line from what its group measured, and judges it. */
export function resultOf<M>(group: string, line: Line<M>, measured: M): Result {
  const { measure, ...declared } = line;
  const figure = measure(measured);
  if ('missing' in figure)
    return { group, ...declared, figure: null, outcome: 'not measured', reason: figure.missing };
  const value = line.comparedWith === undefined ? figure.measured : figure.ratio!;
  if (!Number.isFinite(value))
    return {
      group,
      ...declared,
      figure: null,
      outcome: 'failed',
      reason: 'there was no answer, or too many errors',
    };
  const { target } = line;
  if (target === null) return { group, ...declared, figure, outcome: 'no target' };
  return { group, ...declared, figure, outcome: reaches(value, target) ? 'reached' : 'missed' };
}

/** A line of a group that did not run to its end. */
export function failedResult<M>(group: string, line: Line<M>, reason: string): Result {
  const { measure: _, ...declared } = line;
  return { group, ...declared, figure: null, outcome: 'failed', reason };
}
