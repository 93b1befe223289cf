// How commands write findings as lines of text.
import { formatInstant } from '../../base/instant.ts';
import { severities } from '../../contract/findings.ts';
import type { Finding, Severity } from '../../queries/findings/finding.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import { count, countOf, printable } from './table.ts';

/** Findings by severity. */
export type Counts = Record<Severity, number>;

/** Findings of one kind that are printed as text, where there may be very many. */
export const SHOWN_MAX = 10;

/** An instrument as people are told it. */
export const nameOf = ({ asset_schema, country_iso_code, symbol }: Instrument): string =>
  `${asset_schema}:${country_iso_code}:${symbol}`;

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
