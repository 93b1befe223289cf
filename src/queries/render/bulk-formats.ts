// The steps of bars in bulk as bytes, in each format that is streamed: what begins the answer, its rows, what
// ends it (contract 9.11).
import { bulkTypes } from '../../contract/bars.ts';
import type { Allocate } from '../query.ts';
import { type ArrowType, arrowBars, arrowFields } from './arrow-stream.ts';
import { plainForm, type RowForm, type Step, writeCsvHeader, writeCsvRows } from './bar-records.ts';
import { CSV_TYPE } from './list.ts';
import { Sink } from './sink.ts';

/** How steps are written in one format. */
type StepFormat = {
  readonly contentType: string;
  readonly write: (step: Step, allocate: Allocate) => Uint8Array;
};

/** Shared: a thread writes one step at a time. */
const sink = new Sink();

function writeCsv({ parts, isFirst, form }: Step, allocate: Allocate): Uint8Array {
  sink.start();
  if (isFirst) writeCsvHeader(sink, form);
  for (const { timed, constants } of parts) writeCsvRows(sink, timed, constants, form);
  return sink.take(allocate);
}

/** The forms of what Parquet files are made of: instants in seconds, dates in days. */
const parquetForms = [false, true].map(
  (withSessionDate): RowForm => ({
    ...plainForm(withSessionDate),
    timestamps: 'unix',
    hasDayNumbers: true,
  }),
);

const writeParquetRows = (step: Step, allocate: Allocate): Uint8Array =>
  writeCsv(
    { ...step, isFirst: false, form: parquetForms[step.form.fields.includes('session_date') ? 1 : 0]! },
    allocate,
  );

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
export const bulkColumns = (withSessionDate: boolean): readonly { name: string; type: ColumnType }[] =>
  arrowFields(plainForm(withSessionDate));

/** The formats that are streamed; of Parquet what a file is made of, by another process. */
export const stepFormats = {
  csv: { contentType: CSV_TYPE, write: writeCsv },
  parquet: { contentType: bulkTypes.parquet, write: writeParquetRows },
  arrow: { contentType: bulkTypes.arrow, write: (step, allocate) => bodyOf(arrowBars(step), allocate) },
} as const satisfies Record<string, StepFormat>;
