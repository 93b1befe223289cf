// The steps of bars in bulk as bytes, in each format that is streamed: what begins the answer, its rows, what
// ends it (contract 9.11).
import { bulkTypes } from '../../contract/bars.ts';
import { valueColumns } from '../../market/bars/columns.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import type { Allocate } from '../query.ts';
import { arrowBars, arrowFields } from './arrow/bars.ts';
import type { ArrowType } from './arrow/messages.ts';
import {
  type BarConstants,
  csvConstants,
  csvFields,
  type Step,
  type StepPart,
  writeCsvHeader,
  writeCsvRows,
} from './bar-records.ts';
import { CSV_TYPE } from './list.ts';
import { NumberColumn } from './number-column.ts';
import { Constant, Sink } from './sink.ts';

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
function writeTable(sink: Sink, parts: readonly StepPart[], withSessionDate: boolean): void {
  for (const { timed, constants } of parts) writeRows(sink, timed, constants, withSessionDate);
}

/** How steps are written in one format. */
type StepFormat = {
  readonly contentType: string;
  readonly write: (step: Step, allocate: Allocate) => Uint8Array;
};

/** Shared: a thread writes one step at a time. */
const sink = new Sink();

function writeCsv({ parts, isFirst, withSessionDate }: Step, allocate: Allocate): Uint8Array {
  sink.start();
  if (isFirst) writeCsvHeader(sink, withSessionDate);
  for (const { timed, constants } of parts) writeCsvRows(sink, timed, constants, withSessionDate);
  return sink.take(allocate);
}

function writeParquetRows({ parts, withSessionDate }: Step, allocate: Allocate): Uint8Array {
  sink.start();
  writeTable(sink, parts, withSessionDate);
  return sink.take(allocate);
}

/** Copies pieces into one body. */
function bodyOf(pieces: readonly Uint8Array[], allocate: Allocate): Uint8Array {
  const body = allocate(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}

/** The type of a column, in the words of Arrow. */
export type ColumnType = ArrowType;

/** The columns of rows, with their types. */
export const bulkColumns: (withSessionDate: boolean) => readonly { name: string; type: ColumnType }[] =
  arrowFields;

/** The formats that are streamed; of Parquet what a file is made of, by another process. */
export const stepFormats = {
  csv: { contentType: CSV_TYPE, write: writeCsv },
  parquet: { contentType: bulkTypes.parquet, write: writeParquetRows },
  arrow: { contentType: bulkTypes.arrow, write: (step, allocate) => bodyOf(arrowBars(step), allocate) },
} as const satisfies Record<string, StepFormat>;
