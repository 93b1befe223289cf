// Records of any endpoint -> JSON and CSV, their fields in the order of the declaration (contract 5.1).
import type { TObject } from 'typebox';
import { fieldsOf } from '../../contract/endpoint.ts';
import type { Sink } from './sink.ts';

/** A record as it is on the wire. */
export type WireRecord = Readonly<Record<string, unknown>>;

/** The declared fields of a record, in the order of the wire. */
export function inWireOrder(record: TObject, row: WireRecord): WireRecord {
  return Object.fromEntries(fieldsOf(record).map((field) => [field, row[field]]));
}

/** Writes records as elements of a JSON array. */
export function writeJsonRecords(sink: Sink, record: TObject, rows: readonly WireRecord[]): void {
  rows.forEach((row, index) => {
    if (index > 0) sink.text(',');
    sink.text(JSON.stringify(inWireOrder(record, row)));
  });
}

/** A cell of a CSV: nothing for null, quotes where the text needs them, and for the empty text (RFC 4180, contract 5.1). */
function cellOf(value: unknown): string {
  if (value === null) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Writes header and rows. */
export function writeCsvRecords(sink: Sink, record: TObject, rows: readonly WireRecord[]): void {
  const fields = fieldsOf(record);
  sink.text(`${fields.join()}\r\n`);
  for (const row of rows) sink.text(`${fields.map((field) => cellOf(row[field])).join()}\r\n`);
}
