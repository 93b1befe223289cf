// Bars -> JSON and CSV bytes, straight from the columns. Rows are copied from a template; numbers are written
// as integers.
import { barRecord } from '../../contract/bars.ts';
import { fieldsOf } from '../../contract/endpoint.ts';
import { valueColumns } from '../../market/bars/columns.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import { NumberColumn } from './number-column.ts';
import { RowHead } from './row-head.ts';
import { Constant, csvCell, type Sink } from './sink.ts';

/** The fields that are the same in every row. */
export type BarConstants = {
  readonly asset_schema: string;
  readonly interval: string;
  readonly country_iso_code: string;
  readonly exchange: string | null;
  readonly symbol: string;
};

const fields = fieldsOf(barRecord);
const constantFields = fields.slice(0, fields.indexOf('datetime')) as (keyof BarConstants)[];
const momentFields = fields.slice(fields.indexOf('datetime'), fields.indexOf(valueColumns[0]));

/** How rows are written in one format, for every instrument. */
type Layout = {
  /** The head of rows that begin with a text. */
  readonly headOf: (opening: string) => RowHead;
  readonly numbers: readonly NumberColumn[];
  readonly after: Constant;
  /** Bytes at the end of the last row that only stand between rows. */
  readonly between: number;
  /** The names of all fields. */
  readonly fields: readonly string[];
};

function layoutOf(isJson: boolean, withSessionDate: boolean): Layout {
  const moments = withSessionDate ? momentFields : momentFields.filter((field) => field !== 'session_date');
  const [quote, none] = isJson ? ['"', 'null'] : ['', ''];
  const named = (field: string): string => (isJson ? `,"${field}":` : ',');
  const [open, close, date] = moments.map((field) => named(field) + quote);
  const [first, ...others] = valueColumns;
  return {
    headOf: (opening) => {
      const beforeDate = date === undefined ? null : quote + date;
      return new RowHead([opening + open!, quote + close!, beforeDate, quote + named(first)]);
    },
    // The head ends with the text before the first number.
    numbers: [new NumberColumn('', none), ...others.map((field) => new NumberColumn(named(field), none))],
    after: new Constant(isJson ? '},' : '\r\n'),
    between: isJson ? 1 : 0,
    fields: [...constantFields, ...moments, ...valueColumns],
  };
}

const jsonLayouts = { with: layoutOf(true, true), without: layoutOf(true, false) };
const csvLayouts = { with: layoutOf(false, true), without: layoutOf(false, false) };

/** Writes the rows as elements of a JSON array, without its brackets. */
export function writeJsonRows(
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  withSessionDate: boolean,
): void {
  const opening = JSON.stringify(constants, constantFields).slice(0, -1);
  writeRows(sink, timed, opening, withSessionDate ? jsonLayouts.with : jsonLayouts.without);
}

const csvLayout = (withSessionDate: boolean): Layout =>
  withSessionDate ? csvLayouts.with : csvLayouts.without;

/** The fields of a row without an envelope. */
export const csvFields = (withSessionDate: boolean): readonly string[] => csvLayout(withSessionDate).fields;

/** Writes the header of a CSV. */
export const writeCsvHeader = (sink: Sink, withSessionDate: boolean): void =>
  sink.text(`${csvFields(withSessionDate).join()}\r\n`);

/** Writes the header and rows of a CSV; `textCell` makes a cell of a text. */
export function writeCsv(
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  withSessionDate: boolean,
  textCell = csvCell,
): void {
  writeCsvHeader(sink, withSessionDate);
  writeCsvRows(sink, timed, constants, withSessionDate, textCell);
}

/** The cells of a CSV that are the same in every row. */
export const csvConstants = (constants: BarConstants, textCell = csvCell): string =>
  constantFields.map((field) => textCell(constants[field])).join();

/** Writes the rows of a CSV. */
export const writeCsvRows = (
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  withSessionDate: boolean,
  textCell = csvCell,
): void => writeRows(sink, timed, csvConstants(constants, textCell), csvLayout(withSessionDate));

function writeRows(sink: Sink, timed: TimedBars, opening: string, layout: Layout): void {
  const { bars } = timed;
  const { numbers, after, between } = layout;
  if (bars.count === 0) return;
  const head = layout.headOf(opening);
  for (const [at, column] of valueColumns.entries()) numbers[at]!.begin(bars[column], bars.count);
  const bytesMax = numbers.reduce((sum, number) => sum + number.bytesMax, head.length + after.length);
  let { at } = sink;
  for (let row = 0; row < bars.count; row++) {
    sink.at = at;
    sink.reserve(bytesMax);
    const { view } = sink;
    at = head.write(view, at, timed, row);
    for (let index = 0; index < numbers.length; index++) at = numbers[index]!.write(view, at, row);
    at = after.write(view, at);
  }
  sink.at = at - between;
}

/** Some rows of one instrument, at least one. */
export type StepPart = { readonly timed: TimedBars; readonly constants: BarConstants };

/** One step: its rows, and whether it begins and ends the answer. */
export type Step = {
  readonly parts: readonly StepPart[];
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly withSessionDate: boolean;
};
