// Records of any endpoint -> JSON and CSV, their fields in the order of the declaration (contract 5.1).
import { fieldsOf } from '../../contract/endpoint.ts';
import type { ObjectSchema } from '../../contract/fields.ts';
import type { Answer, Paging, QueryContext } from '../query.ts';
import { renderList } from './list.ts';
import { type csvCell, csvCellOf, type Sink } from './sink.ts';

/** A record on the wire. */
export type WireRecord = Readonly<Record<string, unknown>>;

/** The declared fields of a record, in the order of the wire. */
export function inWireOrder(
  record: ObjectSchema,
  row: WireRecord,
  fields: readonly string[] = fieldsOf(record),
): WireRecord {
  const ordered: Record<string, unknown> = {};
  for (const field of fields) ordered[field] = row[field];
  return ordered;
}

/** Writes records as elements of a JSON array. */
export function writeJsonRecords(
  sink: Sink,
  record: ObjectSchema,
  rows: readonly WireRecord[],
  fields: readonly string[] = fieldsOf(record),
): void {
  rows.forEach((row, index) => {
    if (index > 0) sink.text(',');
    sink.text(JSON.stringify(inWireOrder(record, row, fields)));
  });
}

/** Writes header and rows; `textCell` makes a cell of a text. */
function writeCsvRecords(
  sink: Sink,
  fields: readonly string[],
  rows: readonly WireRecord[],
  textCell: typeof csvCell,
): void {
  const cellOf = (value: unknown): string =>
    value === null || typeof value === 'string' ? textCell(value) : JSON.stringify(value);
  sink.text(`${fields.join()}\r\n`);
  for (const row of rows) sink.text(`${fields.map((field) => cellOf(row[field])).join()}\r\n`);
}

/**
 * Renders records of the endpoint, or `fields` of them; `paging` is null where the list has no pages.
 */
export function renderRecords(
  { endpoint, request, allocate }: QueryContext,
  records: readonly WireRecord[],
  paging: Paging | null,
  fields: readonly string[] = fieldsOf(endpoint.record as ObjectSchema),
): Answer {
  const record = endpoint.record as ObjectSchema;
  const { csv_safe, format } = request.parameters;
  const textCell = csvCellOf(csv_safe === true);
  return renderList({
    format: format === 'csv' ? 'csv' : 'json',
    wrapCsv: request.wrapCsv,
    allocate,
    count: records.length,
    paging,
    writeJson: (sink) => writeJsonRecords(sink, record, records, fields),
    writeCsv: (sink) => writeCsvRecords(sink, fields, records, textCell),
  });
}
