// Bars -> JSON and CSV bytes, straight from the columns. The constant part of a row is encoded once for each answer.
import type { TimedBars } from '../../bars/grid.ts';
import { barRecord } from '../../contract/bars.ts';
import { fieldsOf } from '../../contract/endpoint.ts';
import { csvCell } from './csv-cell.ts';
import { Constant, DECIMAL_BYTES_MAX, type Sink } from './sink.ts';

/** The fields that are the same in every row. */
export type BarConstants = {
  readonly asset_schema: string;
  readonly interval: string;
  readonly country_iso_code: string;
  readonly exchange: string | null;
  readonly symbol: string;
};

/** The most bytes of one row's values: six numbers, two instants, a date. */
const ROW_BYTES_MAX = 6 * DECIMAL_BYTES_MAX + 2 * 25 + 10;

const fields = fieldsOf(barRecord);
const constantFields = fields.slice(0, fields.indexOf('datetime')) as (keyof BarConstants)[];
const varyingFields = fields.slice(fields.indexOf('datetime'));

/** How a varying field is written. */
const NUMBER = 0;
const INSTANT = 1;
const DATE = 2;

/** One varying field: the bytes before it, how it is written, its values. */
type Cell = {
  readonly before: Constant;
  readonly kind: number;
  readonly values: Float64Array | Int32Array;
  /** Decimals of the last number written. */
  decimals: number;
};

function cellOf(field: string, before: Constant, timed: TimedBars): Cell {
  if (field === 'datetime') return { before, kind: INSTANT, values: timed.openMs, decimals: 0 };
  if (field === 'close_datetime') return { before, kind: INSTANT, values: timed.closeMs, decimals: 0 };
  if (field === 'session_date') return { before, kind: DATE, values: timed.day, decimals: 0 };
  return { before, kind: NUMBER, values: timed.bars[field as 'open'], decimals: 0 };
}

/** The layout of rows in one format, for every instrument. */
type Layout = {
  readonly fields: readonly string[];
  /** The text before each field; the first one follows the constant fields. */
  readonly befores: readonly string[];
  readonly constants: readonly Constant[];
  readonly after: Constant;
  readonly between: Constant;
  readonly none: Constant;
};

const isMoment = (field: string): boolean => ['datetime', 'close_datetime', 'session_date'].includes(field);

const chosenFields = (withSessionDate: boolean): string[] =>
  varyingFields.filter((field) => withSessionDate || field !== 'session_date');

function layout(
  fields: readonly string[],
  befores: readonly string[],
  after: string,
  between: string,
  none: string,
): Layout {
  const constants = befores.map((before) => new Constant(before));
  const [last, comma, nothing] = [after, between, none].map((text) => new Constant(text)) as [
    Constant,
    Constant,
    Constant,
  ];
  return { fields, befores, constants, after: last, between: comma, none: nothing };
}

function jsonLayout(withSessionDate: boolean): Layout {
  const chosen = chosenFields(withSessionDate);
  const befores = chosen.map((field, index) => {
    const closing = index > 0 && isMoment(chosen[index - 1]!) ? '"' : '';
    return `${closing},"${field}":${isMoment(field) ? '"' : ''}`;
  });
  return layout(chosen, befores, '}', ',', 'null');
}

function csvLayout(withSessionDate: boolean): Layout {
  const chosen = chosenFields(withSessionDate);
  return layout(
    chosen,
    chosen.map(() => ','),
    '\r\n',
    '',
    '',
  );
}

const jsonLayouts = { with: jsonLayout(true), without: jsonLayout(false) };
const csvLayouts = { with: csvLayout(true), without: csvLayout(false) };

/** Writes the rows as elements of a JSON array, without its brackets. */
export function writeJsonRows(
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  withSessionDate: boolean,
): void {
  const opening = constantFields.map((field) => `"${field}":${JSON.stringify(constants[field])}`).join();
  writeRows(sink, timed, `{${opening}`, withSessionDate ? jsonLayouts.with : jsonLayouts.without);
}

/** Writes the header and rows of a CSV; `textCell` makes a cell of a text. */
export function writeCsv(
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  withSessionDate: boolean,
  textCell = csvCell,
): void {
  const rows = withSessionDate ? csvLayouts.with : csvLayouts.without;
  sink.text(`${[...constantFields, ...rows.fields].join()}\r\n`);
  writeRows(sink, timed, constantFields.map((field) => textCell(constants[field])).join(), rows);
}

function writeRows(sink: Sink, timed: TimedBars, opening: string, rows: Layout): void {
  const { after, between, none } = rows;
  const first = new Constant(opening + rows.befores[0]!);
  const cells = rows.fields.map((field, index) =>
    cellOf(field, index === 0 ? first : rows.constants[index]!, timed),
  );
  const rowBytesMax = cells.reduce(
    (sum, { before }) => sum + before.length,
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
