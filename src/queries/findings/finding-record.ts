// A finding as files and programs have it.
import { formatInstant } from '../../base/instant.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import type { Finding } from './finding.ts';

export type FindingRecord = ReturnType<typeof findingRecordOf>;

/** A finding for a program: the instrument, and the record of the endpoint. */
export function findingRecordOf({ asset_schema, country_iso_code, symbol }: Instrument, finding: Finding) {
  const { kind, severity, interval, fromMs, toMs, value, expected, message, runId } = finding;
  return {
    ...{ asset_schema: asset_schema.toUpperCase(), country_iso_code, symbol, kind, severity, interval },
    ...{ from_datetime: formatInstant(fromMs), to_datetime: formatInstant(toMs), value, expected, message },
    run_id: runId,
  };
}
