// Findings as commands write them in lines of text (contract 9.10, 10).
import { formatInstant } from '../../base/instant.ts';
import { severities } from '../../contract/findings.ts';
import type { Finding, Severity } from '../../queries/findings/finding.ts';
import { nameOf } from '../../runs/new-instrument.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import { count, countOf, printable } from './output.ts';

/** Findings by severity. */
export type Counts = Record<Severity, number>;

/** Findings of one kind that are printed as text, where there may be very many. */
const SHOWN_MAX = 10;

/** Some findings of each kind, and how many more there are of it. */
export const someOfEach = <T>(
  found: Iterable<T>,
  kindOf: (one: T) => string,
): { readonly kind: string; readonly shown: T[]; readonly more: number }[] =>
  Array.from(Map.groupBy(found, kindOf), ([kind, alike]) => ({
    ...{ kind, shown: alike.slice(0, SHOWN_MAX), more: Math.max(0, alike.length - SHOWN_MAX) },
  }));

/** A finding in one line without its end. */
export function lineOf(instrument: Instrument, finding: Finding): string {
  const { kind, severity, interval, fromMs, toMs, message, runId } = finding;
  const place = `${nameOf(instrument)} ${interval} ${formatInstant(fromMs)} to ${formatInstant(toMs)}`;
  const run = runId === null ? '' : ` (run ${runId})`;
  return printable(`${severity.padEnd(8)}${kind.padEnd(20)} ${place}: ${message}${run}`);
}

/** Counts in words, errors first. */
export const countWords = (counts: Counts): string =>
  [...severities]
    .reverse()
    .map((severity) =>
      severity === 'info' ? `${count(counts.info)} info` : countOf(counts[severity], severity),
    )
    .join(', ');
