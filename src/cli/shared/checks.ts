// Findings as commands write them in lines of text, and the newest check of a whole store, kept beside its
// keys (contract 9.10, 10).
import { formatInstant } from '../../base/instant.ts';
import { severities } from '../../contract/findings.ts';
import type { Finding, Severity } from '../../queries/findings/finding.ts';
import { nameOf } from '../../runs/new-instrument.ts';
import { type Check, putCheck, readCheck } from '../../store/control.ts';
import { engineAt, openControl } from '../../store/engines.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import { closing } from './opened-store.ts';
import { count, countOf, note, printable } from './output.ts';

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

/**
 * The newest check; null where none is known: none was kept, or not in a layout that can be read, or out of
 * reach. The content of the store is reported all the same.
 */
export async function keptCheck(url: string): Promise<Check | null> {
  try {
    return (await engineAt(url).hasControl()) ? await closing(openControl(url, 'inspect'), readCheck) : null;
  } catch {
    return null;
  }
}

/**
 * Keeps a check. Where that cannot be, such as on a standby or without the right to write, it is noted: the
 * findings are reported all the same.
 */
export async function keepCheck(url: string, check: Check): Promise<void> {
  try {
    // Keys of an older layout are not for a command that reads to update: a service may run on them.
    if (await engineAt(url).hasControl()) await (await openControl(url, 'inspect')).close();
    await closing(openControl(url, 'write', note), (control) => putCheck(control, check));
  } catch (error) {
    note(`this check is not kept for bourse status: ${(error as Error).message}`);
  }
}
