// The table that the benchmark prints.
import { formatTable } from '../src/cli/shared/output.ts';
import type { Outcome, Result, Target } from './line.ts';

/** Two or three digits that matter, and no fraction where the number is large. */
export const digits = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 3 : value < 100 ? 1 : 0 });

const words: Readonly<Record<Outcome, string>> = {
  reached: 'reached',
  missed: 'MISSED',
  'no target': '-',
  'not measured': 'not measured',
  failed: 'FAILED',
};

const targetText = (target: Target | null): string =>
  target === null ? '-' : 'atLeast' in target ? `>= ${target.atLeast}` : `<= ${target.atMost}`;

function rowOf(result: Result): string[] {
  const { group, name, unit, comparedWith, warmUp = '-', target, figure, outcome, reason } = result;
  const ratio =
    comparedWith === undefined
      ? '-'
      : `${figure?.ratio === undefined ? '-' : digits(figure.ratio)} x ${comparedWith}`;
  return [
    `${group}: ${name}`,
    figure === null ? '-' : `${digits(figure.measured)} ${unit}`,
    ratio,
    figure?.queryUs === undefined ? '-' : digits(figure.queryUs),
    targetText(target),
    warmUp,
    outcome === 'not measured' ? reason! : words[outcome],
  ];
}

/** The results for a person. */
export const describe = (results: readonly Result[]): string =>
  formatTable([
    ['LINE', 'MEASURED', 'COMPARED', 'QUERY US', 'TARGET', 'WARM-UP', 'OUTCOME'],
    ...results.map((result) => rowOf(result)),
  ]);

/** How many lines reached their target, missed it, were not measured, and failed. */
export function summary(results: readonly Result[]): string {
  const count = (outcome: Outcome): number => results.filter((result) => result.outcome === outcome).length;
  return `${count('reached')} lines reached their target, ${count('missed')} missed it, ${count('not measured')} were not measured, ${count('failed')} failed.`;
}
