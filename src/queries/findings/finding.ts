// Findings, from their detector to their reader (contract 9.10): their parts, the numbers in their
// messages, and their record.
import { plainDecimal } from '../../base/decimal.ts';
import { formatInstant } from '../../base/instant.ts';
import type { findingKinds, severities } from '../../contract/findings.ts';
import type { Interval } from '../../contract/interval.ts';
import type { Instrument } from '../../store/schema/reference.ts';

export type FindingKind = (typeof findingKinds)[number];
export type Severity = (typeof severities)[number];

/** What a detector says about a finding. */
type Said = {
  readonly kind: FindingKind;
  readonly severity: Severity;
  /** What is stored, and what would be usual; null where that is no number. */
  readonly value: number | null;
  readonly expected: number | null;
  /** One sentence with the thresholds. */
  readonly message: string;
};

/**
 * A finding about neighbouring bars or sessions, by the keys of the first and the last: that of a session is
 * the midnight of its label date.
 */
export type Spotted = Said & { readonly fromKeyMs: number; readonly toKeyMs: number };

/** A finding of one series by its instants. */
export type Placed = Said & {
  readonly fromMs: number;
  readonly toMs: number;
  /** The whole market has it at once. */
  readonly isOfMarket?: boolean;
};

/**
 * A finding about one series, `[fromMs, toMs)`: from the open of its first bar or session to the close of its
 * last.
 */
export type Finding = Placed & {
  readonly interval: Interval;
  /** The run that last changed what is stored there; null where nothing is, and where it is not known. */
  readonly runId: number | null;
};

/** A finding for a program: the instrument, and the record of the endpoint. */
export function findingRecordOf({ asset_schema, country_iso_code, symbol }: Instrument, finding: Finding) {
  const { kind, severity, interval, fromMs, toMs, value, expected, message, runId } = finding;
  return {
    ...{ asset_schema: asset_schema.toUpperCase(), country_iso_code, symbol, kind, severity, interval },
    ...{ from_datetime: formatInstant(fromMs), to_datetime: formatInstant(toMs), value, expected, message },
    run_id: runId,
  };
}

/** A share as percent: `12.3 %`. */
export const percent = (share: number): string => `${rounded(share * 100)} %`;

/** A number with at most four significant digits. */
export const rounded = (value: number): string => plainDecimal(Number(value.toPrecision(4)));

/** `1 session`, `3 sessions`. */
export const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
