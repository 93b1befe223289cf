// Findings as rows of a file (contract 9.10).

import type { ExportTable } from '../../queries/export/export-table.ts';
import { type Column, rowLines } from '../../queries/export/row-lines.ts';
import type { Finding } from '../../queries/findings/finding.ts';
import { type FindingRecord, findingRecordOf } from '../../queries/findings/finding-record.ts';
import type { Instrument } from '../../store/schema/reference.ts';

const types: Readonly<Record<keyof FindingRecord, string>> = {
  asset_schema: 'VARCHAR',
  country_iso_code: 'VARCHAR',
  symbol: 'VARCHAR',
  kind: 'VARCHAR',
  severity: 'VARCHAR',
  interval: 'VARCHAR',
  from_datetime: 'TIMESTAMP WITH TIME ZONE',
  to_datetime: 'TIMESTAMP WITH TIME ZONE',
  value: 'DOUBLE',
  expected: 'DOUBLE',
  message: 'VARCHAR',
  run_id: 'BIGINT',
};

const columns = Object.entries(types).map(
  ([name, type]): Column<FindingRecord> => ({ name, type, value: (row) => row[name as keyof FindingRecord] }),
);

/** The findings of one instrument. */
export type Found = { readonly instrument: Instrument; readonly findings: readonly Finding[] };

async function* recordsOf(found: AsyncIterable<Found>): AsyncGenerator<FindingRecord> {
  for await (const { instrument, findings } of found)
    for (const finding of findings) yield findingRecordOf(instrument, finding);
}

/** Findings as a table, in the order in which they are found. */
export const findingTable = (found: AsyncIterable<Found>): ExportTable => ({
  columns,
  rowsAbout: null,
  isMadeEmpty: true,
  lines: (style) => rowLines(recordsOf(found), columns, style),
  flags: [],
});
