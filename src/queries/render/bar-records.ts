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

const NUMBER = 0;
const INSTANT = 1;
const DATE = 2;

/** How the varying fields are written that are no numbers. */
const moments: Readonly<Record<string, number>> = {
  datetime: INSTANT,
  close_datetime: INSTANT,
  session_date: DATE,
};

/** One varying field: the bytes before it, how it is written, its values, and the decimals of the last number written. */
type Cell = {
  readonly before: Constant;
  readonly kind: number;
  readonly values: Float64Array | Int32Array;
  decimals: number;
};

/** The layout of rows in one format, for every instrument; the text before the first field follows the constant fields. */
function layoutOf(isJson: boolean, withSessionDate: boolean) {
  const fields = varyingFields.filter((field) => withSessionDate || field !== 'session_date');
  const quote = (field: string | undefined): string => (field !== undefined && field in moments ? '"' : '');
  const befores = isJson
    ? fields.map((field, index) => `${quote(fields[index - 1])},"${field}":${quote(field)}`)
    : fields.map(() => ',');
  const [after, between, none] = isJson ? ['}', ',', 'null'] : ['\r\n', '', ''];
  return {
    fields,
    befores,
    constants: befores.map((before) => new Constant(before)),
    after: new Constant(after!),
    between: new Constant(between!),
    none: new Constant(none!),
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

function writeRows(sink: Sink, timed: TimedBars, opening: string, rows: ReturnType<typeof layoutOf>): void {
  const { after, between, none } = rows;
  const first = new Constant(opening + rows.befores[0]!);
  const { openMs: datetime, closeMs: close_datetime, day: session_date } = timed;
  const columns = { ...timed.bars, datetime, close_datetime, session_date };
  const cells = rows.fields.map((field, index): Cell => {
    const before = index === 0 ? first : rows.constants[index]!;
    return { before, kind: moments[field] ?? NUMBER, values: columns[field as 'open'], decimals: 0 };
  });
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
