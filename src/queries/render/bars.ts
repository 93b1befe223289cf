// Bars -> JSON and CSV bytes, straight from the arrays: what is constant in a row is encoded once an answer.
import type { TimedBars } from '../../bars/grid.ts';
import { barRecord } from '../../contract/bars.ts';
import { fieldsOf } from '../../contract/endpoint.ts';
import { Constant, DECIMAL_BYTES_MAX, type Sink } from './sink.ts';

/** What is the same in every row. */
export type BarConstants = {
  readonly asset_schema: string;
  readonly interval: string;
  readonly country_iso_code: string;
  readonly exchange: string | null;
  readonly symbol: string;
};

/** Bytes of one row's values at the most: six numbers, two instants, a date. */
const ROW_BYTES_MAX = 6 * DECIMAL_BYTES_MAX + 2 * 25 + 10;

const fields = fieldsOf(barRecord);
const constantFields = fields.slice(0, fields.indexOf('datetime')) as (keyof BarConstants)[];
const varyingFields = fields.slice(fields.indexOf('datetime'));

/** How a varying field is written. */
const NUMBER = 0;
const INSTANT = 1;
const DATE = 2;

/** One varying field of a row: what stands before it, how it is written, its values. */
type Cell = {
  readonly before: Constant;
  readonly kind: number;
  readonly values: Float64Array | Int32Array;
  /** Decimals of the number written last. */
  decimals: number;
};

const momentFields: readonly string[] = ['datetime', 'close_datetime', 'session_date'];

function cellOf(field: string, before: string, timed: TimedBars): Cell {
  const constant = constantOf(before);
  if (field === 'datetime') return { before: constant, kind: INSTANT, values: timed.openMs, decimals: 0 };
  if (field === 'close_datetime')
    return { before: constant, kind: INSTANT, values: timed.closeMs, decimals: 0 };
  if (field === 'session_date') return { before: constant, kind: DATE, values: timed.day, decimals: 0 };
  return { before: constant, kind: NUMBER, values: timed.bars[field as 'open'], decimals: 0 };
}

/** Constants kept: those of the instruments asked for last. */
const CONSTANTS_MAX = 2_000;
const constants = new Map<string, Constant>();

function constantOf(text: string): Constant {
  let known = constants.get(text);
  if (known === undefined) {
    if (constants.size >= CONSTANTS_MAX) constants.clear();
    known = new Constant(text);
    constants.set(text, known);
  }
  return known;
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
    const text = momentFields.includes(field);
    const before = `${index === 0 ? opening : ''}${quoted ? '"' : ''},"${field}":${text ? '"' : ''}`;
    quoted = text;
    return cellOf(field, before, timed);
  });
  writeRows(sink, timed, cells, {
    after: constantOf('}'),
    between: constantOf(','),
    none: constantOf('null'),
  });
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
  const cells = chosen.map((field, index) => cellOf(field, index === 0 ? opening : ',', timed));
  writeRows(sink, timed, cells, { after: constantOf('\r\n'), between: constantOf(''), none: constantOf('') });
}

/** What stands after a row, between two, and for null. */
type RowMarks = { readonly after: Constant; readonly between: Constant; readonly none: Constant };

function writeRows(
  sink: Sink,
  timed: TimedBars,
  cells: readonly Cell[],
  { after, between, none }: RowMarks,
): void {
  const rowBytesMax = cells.reduce(
    (sum, cell) => sum + cell.before.length,
    ROW_BYTES_MAX + after.length + between.length,
  );
  for (let row = 0; row < timed.bars.count; row++) {
    sink.reserve(rowBytesMax);
    if (row > 0) sink.constant(between);
    for (const cell of cells) {
      const { before, kind } = cell;
      const value = cell.values[row]!;
      sink.constant(before);
      if (kind === INSTANT) sink.instant(value);
      else if (kind === DATE) sink.date(value);
      else if (Number.isNaN(value)) sink.constant(none);
      else cell.decimals = sink.decimal(value, cell.decimals);
    }
    sink.constant(after);
  }
}
