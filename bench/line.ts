// A line of the benchmark: what was measured, against what, and whether it keeps its budget.
import { formatTable } from '../src/cli/table.ts';

/** What a line may be at the least or at the most. */
export type Budget = { readonly atLeast: number } | { readonly atMost: number };

/** One line: absolute figures drift with the machine, so the budget judges the ratio where there is one. */
export type Line = {
  readonly line: string;
  readonly measured: number;
  readonly unit: string;
  /** `measured` against something measured in the same run, and what that is. */
  readonly ratio: { readonly value: number; readonly to: string } | null;
  /** Processor time of the query thread a request, in microseconds, where it was taken. */
  readonly queryUs?: number;
  readonly budget: Budget;
  readonly ok: boolean;
};

/** The middle of some numbers, of which there is at least one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A line, judged. */
export function judged(line: Omit<Line, 'ok'>): Line {
  const value = line.ratio?.value ?? line.measured;
  return {
    ...line,
    ok: 'atLeast' in line.budget ? value >= line.budget.atLeast : value <= line.budget.atMost,
  };
}

/** Two or three digits that matter, and no fraction where the number is large. */
const digits = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });

/** The lines for a person. */
export function describe(lines: readonly Line[]): string {
  const rows = lines.map(({ line, measured, unit, ratio, queryUs, budget, ok }) => [
    line,
    digits(measured),
    unit,
    ratio === null ? '-' : `${digits(ratio.value)} x ${ratio.to}`,
    queryUs === undefined ? '-' : digits(queryUs),
    'atLeast' in budget ? `>= ${budget.atLeast}` : `<= ${budget.atMost}`,
    ok ? 'ok' : 'miss',
  ]);
  return formatTable([['LINE', 'MEASURED', 'UNIT', 'RATIO', 'QUERY US', 'BUDGET', ''], ...rows]);
}
