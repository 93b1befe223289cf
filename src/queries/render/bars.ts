// Bars -> JSON and CSV bytes, straight from the arrays: what is constant in a row is encoded once an answer.
import type { TimedBars } from '../../bars/grid.ts';
import { barRecord } from '../../contract/bars.ts';
import { fieldsOf } from '../../contract/endpoint.ts';
import type { Sink } from './sink.ts';

/** What is the same in every row. */
export type BarConstants = {
  readonly asset_schema: string;
  readonly interval: string;
  readonly country_iso_code: string;
  readonly exchange: string | null;
  readonly symbol: string;
};

const encoder = new TextEncoder();

/** More bytes than the values of one row take: six numbers of at most 350, two instants, a date, and the row's end. */
const ROW_BYTES_MAX = 6 * 350 + 100;

const fields = fieldsOf(barRecord);
const constantFields = fields.slice(0, fields.indexOf('datetime')) as (keyof BarConstants)[];
const varyingFields = fields.slice(fields.indexOf('datetime'));

/** One varying field of a row, and what stands before it. */
type Cell = {
  readonly before: Uint8Array;
  readonly write: (sink: Sink, timed: TimedBars, row: number) => void;
};

type Writer = Cell['write'];

function number(column: 'open' | 'high' | 'low' | 'close' | 'volume' | 'vwap', nullText: string): Writer {
  const none = encoder.encode(nullText);
  return (sink, { bars }, row) => {
    const value = bars[column][row]!;
    if (!Number.isNaN(value)) sink.decimal(value);
    else sink.bytes(none);
  };
}

const instants: Readonly<Record<string, Writer>> = {
  datetime: (sink, timed, row) => sink.instant(timed.openMs[row]!),
  close_datetime: (sink, timed, row) => sink.instant(timed.closeMs[row]!),
  session_date: (sink, timed, row) => sink.date(timed.day[row]!),
};

function writerOf(field: string, nullText: string): Writer {
  return instants[field] ?? number(field as 'open', nullText);
}

function chosenFields(withSessionDate: boolean): string[] {
  return varyingFields.filter((field) => withSessionDate || field !== 'session_date');
}

/** The rows as the elements of a JSON array, in the order given, without its brackets. */
export function writeJsonRows(
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  withSessionDate: boolean,
): void {
  const opening = `{${constantFields.map((field) => `"${field}":${JSON.stringify(constants[field])}`).join()}`;
  let quoted = false;
  const cells: Cell[] = chosenFields(withSessionDate).map((field, index) => {
    const text = field in instants;
    const before = `${index === 0 ? opening : ''}${quoted ? '"' : ''},"${field}":${text ? '"' : ''}`;
    quoted = text;
    return { before: encoder.encode(before), write: writerOf(field, 'null') };
  });
  writeRows(sink, timed, cells, encoder.encode('}'), encoder.encode(','));
}

/** A CSV cell: quoted where RFC 4180 asks for it, and the empty string as `""` (contract 5.1). */
export function csvCell(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Header and rows of the CSV body. */
export function writeCsv(
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  withSessionDate: boolean,
): void {
  const chosen = chosenFields(withSessionDate);
  sink.text(`${[...constantFields, ...chosen].join()}\r\n`);
  const opening = `${constantFields.map((field) => csvCell(constants[field])).join()},`;
  const cells: Cell[] = chosen.map((field, index) => ({
    before: encoder.encode(index === 0 ? opening : ','),
    write: writerOf(field, ''),
  }));
  writeRows(sink, timed, cells, encoder.encode('\r\n'), new Uint8Array(0));
}

function writeRows(
  sink: Sink,
  timed: TimedBars,
  cells: readonly Cell[],
  after: Uint8Array,
  between: Uint8Array,
): void {
  const rowBytesMax = cells.reduce((sum, cell) => sum + cell.before.length, ROW_BYTES_MAX);
  for (let row = 0; row < timed.bars.count; row++) {
    sink.reserve(rowBytesMax);
    if (row > 0) sink.bytes(between);
    for (const cell of cells) {
      sink.bytes(cell.before);
      cell.write(sink, timed, row);
    }
    sink.bytes(after);
  }
}
