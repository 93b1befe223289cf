// The rows that a Parquet file is made of (contract 9.11): as CSV, with instants in seconds and dates in days
// since 1970, which cost less than texts to write and to read.
import { valueColumns } from '../../market/bars/columns.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import { type BarConstants, csvConstants, csvFields } from './bar-records.ts';
import type { StepPart } from './bulk-step.ts';
import { NumberColumn } from './number-column.ts';
import { Constant, type Sink } from './sink.ts';

const lineEnd = new Constant('\r\n');

/** Shared: a thread writes one answer at a time. */
const numbers = Array.from({ length: csvFields(true).length }, () => new NumberColumn(',', ''));

const secondsOf = (instants: Float64Array): Float64Array => instants.map((ms) => ms / 1_000);

/** The columns of numbers, in the order of the fields. */
function columnsOf({ bars, openMs, closeMs, day }: TimedBars, withSessionDate: boolean): Float64Array[] {
  const dates = withSessionDate ? [Float64Array.from(day)] : [];
  return [
    ...[secondsOf(openMs), secondsOf(closeMs), ...dates],
    ...valueColumns.map((column) => bars[column]),
  ];
}

function writeRows(sink: Sink, timed: TimedBars, constants: BarConstants, withSessionDate: boolean): void {
  const { count } = timed.bars;
  const opening = new Constant(csvConstants(constants));
  const used = columnsOf(timed, withSessionDate).map((values, index) => {
    const column = numbers[index]!;
    column.begin(values, count);
    return column;
  });
  const bytesMax = used.reduce((sum, column) => sum + column.bytesMax, opening.length + lineEnd.length);
  for (let row = 0; row < count; row++) {
    sink.reserve(bytesMax);
    const { view } = sink;
    let at = opening.write(view, sink.at);
    for (let index = 0; index < used.length; index++) at = used[index]!.write(view, at, row);
    sink.at = lineEnd.write(view, at);
  }
}

/** Writes the rows of a step. */
export function writeTable(sink: Sink, parts: readonly StepPart[], withSessionDate: boolean): void {
  for (const { timed, constants } of parts) writeRows(sink, timed, constants, withSessionDate);
}
