// Bars -> JSON and CSV bytes, straight from the columns. Rows are copied from a template; numbers are written
// as integers.
import { type BarField, barRecord, type latestBars } from '../../contract/bars.ts';
import { fieldsOf, type ParametersOf } from '../../contract/endpoint.ts';
import { type ValueColumn, valueColumns } from '../../market/bars/columns.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import { type Zone, zoneOf } from '../../market/calendar/zone.ts';
import { NumberColumn } from './number-column.ts';
import { type Moment, RowHead } from './row-head.ts';
import { Constant, csvCell, type Sink } from './sink.ts';

/** The fields that are the same in every row. */
export type BarConstants = {
  readonly asset_schema: string;
  readonly interval: string;
  readonly country_iso_code: string;
  readonly exchange: string | null;
  readonly symbol: string;
};

const allFields = fieldsOf(barRecord) as BarField[];
const constantFields = new Set<BarField>(allFields.slice(0, allFields.indexOf('datetime')));
const numberFields = new Set<BarField>(valueColumns);

/** The form of rows of bars (contract 9.16). */
export type RowForm = {
  readonly fields: readonly BarField[];
  readonly timestamps: 'iso' | 'unix' | 'unix_ms';
  /** In whose local time instants are; null for UTC. */
  readonly zone: Zone | null;
  /** True if dates are days since 1970. */
  readonly hasDayNumbers?: true;
};

const whole: RowForm = { fields: allFields, timestamps: 'iso', zone: null };
const withoutDates: RowForm = { ...whole, fields: allFields.filter((field) => field !== 'session_date') };

/** The form of bars where a request says nothing else of it. */
export const plainForm = (withSessionDate: boolean): RowForm => (withSessionDate ? whole : withoutDates);

type FormParameters = Pick<ParametersOf<typeof latestBars>, 'session_date' | 'columns' | 'timestamps' | 'tz'>;

/** The form that a request asks for. */
export function formOf({ session_date, columns, timestamps = 'iso', tz }: FormParameters): RowForm {
  const plain = plainForm(session_date);
  if (columns === undefined && timestamps === 'iso' && tz === undefined) return plain;
  return { fields: columns ?? plain.fields, timestamps, zone: tz === undefined ? null : zoneOf(tz) };
}

/** The texts between the numbers of a row; a field that is no moment is the same in every row. */
type Texts = readonly (string | Moment | { readonly field: keyof BarConstants })[];

/** A column of numbers, and its values. */
type Numbers = {
  readonly column: NumberColumn;
  readonly valuesOf: (timed: TimedBars) => Float64Array;
};

/** How rows are written in one format, for every instrument. */
type Layout = {
  readonly parts: readonly (Texts | Numbers)[];
  readonly after: Constant;
  readonly zone: Zone | null;
  /** Bytes at the end of the last row that only stand between rows. */
  readonly between: number;
};

/** The values of a field that is written as a number; null for texts. */
function numbersOf(field: BarField, { timestamps, hasDayNumbers }: RowForm): Numbers['valuesOf'] | null {
  if (numberFields.has(field)) return ({ bars }) => bars[field as ValueColumn];
  if (field === 'session_date' && hasDayNumbers) return ({ day }) => Float64Array.from(day);
  if (timestamps === 'iso' || (field !== 'datetime' && field !== 'close_datetime')) return null;
  const instantsOf = ({ openMs, closeMs }: TimedBars) => (field === 'datetime' ? openMs : closeMs);
  return timestamps === 'unix_ms' ? instantsOf : (timed) => instantsOf(timed).map((ms) => ms / 1_000);
}

function makeLayout(form: RowForm, isJson: boolean): Layout {
  const [quote, none] = isJson ? ['"', 'null'] : ['', ''];
  const parts: (Texts | Numbers)[] = [];
  let texts: Texts[number][] = [];
  for (const [at, field] of form.fields.entries()) {
    const separator = at > 0 ? ',' : isJson ? '{' : '';
    texts.push(isJson ? `${separator}"${field}":` : separator);
    const valuesOf = numbersOf(field, form);
    if (valuesOf === null) {
      if (constantFields.has(field)) texts.push({ field } as { field: keyof BarConstants });
      else texts.push(quote, { field } as Moment, quote);
      continue;
    }
    const plain = texts.filter((text) => typeof text === 'string');
    const isPlain = plain.length === texts.length;
    if (!isPlain) parts.push(texts);
    parts.push({ column: new NumberColumn(isPlain ? plain.join('') : '', none), valuesOf });
    texts = [];
  }
  if (texts.length > 0) parts.push(texts);
  const after = new Constant(isJson ? '},' : '\r\n');
  return { parts, after, zone: form.zone, between: isJson ? 1 : 0 };
}

/** Shared: a thread writes one answer at a time. */
const layouts = new WeakMap<RowForm, { readonly json: Layout; readonly csv: Layout }>();

function layoutsOf(form: RowForm) {
  const known = layouts.get(form) ?? { json: makeLayout(form, true), csv: makeLayout(form, false) };
  layouts.set(form, known);
  return known;
}

/** Writes the rows as elements of a JSON array, without its brackets. */
export const writeJsonRows = (sink: Sink, timed: TimedBars, constants: BarConstants, form: RowForm): void =>
  writeRows(sink, timed, layoutsOf(form).json, (field) => JSON.stringify(constants[field]));

/** Writes the header of a CSV. */
export const writeCsvHeader = (sink: Sink, { fields }: RowForm): void => sink.text(`${fields.join()}\r\n`);

/** Writes the rows of a CSV; `textCell` makes a cell of a text. */
export const writeCsvRows = (
  sink: Sink,
  timed: TimedBars,
  constants: BarConstants,
  form: RowForm,
  textCell = csvCell,
): void => writeRows(sink, timed, layoutsOf(form).csv, (field) => textCell(constants[field]));

function writeRows(
  sink: Sink,
  timed: TimedBars,
  { parts, after, zone, between }: Layout,
  textOf: (field: keyof BarConstants) => string,
): void {
  const { count } = timed.bars;
  if (count === 0) return;
  const ofConstant = (item: Texts[number]): string | Moment =>
    typeof item === 'string' || !constantFields.has(item.field)
      ? (item as string | Moment)
      : textOf(item.field as keyof BarConstants);
  const writers = parts.map((part) => {
    if (!('column' in part)) return new RowHead(part.map(ofConstant), timed, zone);
    part.column.begin(part.valuesOf(timed), count);
    return part.column;
  });
  const bytesMax = writers.reduce((sum, writer) => sum + writer.bytesMax, after.length);
  // Behind the first are numbers alone, mostly.
  const [first, ...others] = writers as [RowHead | NumberColumn, ...(RowHead | NumberColumn)[]];
  let { at } = sink;
  for (let row = 0; row < count; row++) {
    sink.at = at;
    sink.reserve(bytesMax);
    const { view } = sink;
    at = first.write(view, at, row);
    for (let index = 0; index < others.length; index++) at = others[index]!.write(view, at, row);
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
  readonly form: RowForm;
};
