// Bars as an Arrow stream: columns as the contract declares the fields of a bar, each as the buffers of its
// type.

import { barRecord } from '../../../contract/bars.ts';
import type { ValueColumn } from '../../../market/bars/columns.ts';
import type { TimedBars } from '../../../market/bars/grid.ts';
import { type BarConstants, csvFields } from '../bar-records.ts';
import type { Step, StepPart } from '../bulk-step.ts';
import { dates, doubles, instants, texts } from './columns.ts';
import {
  type ArrowColumn,
  type ArrowField,
  type ArrowType,
  batchMessage,
  endOfStream,
  schemaMessage,
} from './messages.ts';

type Declared = { readonly type?: string; readonly format?: string; readonly anyOf?: readonly Declared[] };

function typeOf({ type, format }: Declared): ArrowType {
  if (type === 'number') return 'double';
  if (format === 'date-time') return 'instant';
  return format === 'date' ? 'date' : 'utf8';
}

function fieldOf(name: string): ArrowField {
  const declared = barRecord.properties[name] as Declared;
  const nullable = declared.anyOf !== undefined;
  return { name, type: typeOf(declared.anyOf?.[0] ?? declared), nullable };
}

const fieldsWith = csvFields(true).map(fieldOf);
const fieldsWithout = csvFields(false).map(fieldOf);

/** The columns of bars. */
export const arrowFields = (withSessionDate: boolean): readonly ArrowField[] =>
  withSessionDate ? fieldsWith : fieldsWithout;

/** The values of all parts, one after the other: of a single part a view. `whole` has their length. */
function joined<T extends Float64Array | Int32Array>(
  parts: readonly StepPart[],
  makeWhole: () => T,
  valuesOf: (timed: TimedBars) => T,
): T {
  const views = parts.map(({ timed }) => valuesOf(timed).subarray(0, timed.bars.count) as T);
  if (views.length === 1) return views[0]!;
  const whole = makeWhole();
  let at = 0;
  for (const view of views) {
    whole.set(view, at);
    at += view.length;
  }
  return whole;
}

function columnOf({ name, type }: ArrowField, parts: readonly StepPart[], rows: number): ArrowColumn {
  const numbers = (valuesOf: (timed: TimedBars) => Float64Array): Float64Array =>
    joined(parts, () => new Float64Array(rows), valuesOf);
  if (type === 'double') return doubles(numbers(({ bars }) => bars[name as ValueColumn]));
  if (type === 'instant')
    return instants(numbers(name === 'datetime' ? ({ openMs }) => openMs : ({ closeMs }) => closeMs));
  if (type === 'date')
    return dates(
      joined(
        parts,
        () => new Int32Array(rows),
        ({ day }) => day,
      ),
    );
  return texts(
    parts.map(({ timed, constants }) => ({
      text: constants[name as keyof BarConstants],
      rows: timed.bars.count,
    })),
  );
}

/**
 * One step as messages, in pieces that follow each other: the schema before the first rows, and what ends the
 * stream after the last.
 */
export function arrowBars({ parts, isFirst, isLast, withSessionDate }: Step): Uint8Array[] {
  const fields = arrowFields(withSessionDate);
  const rows = parts.reduce((sum, { timed }) => sum + timed.bars.count, 0);
  const columns = (): ArrowColumn[] => fields.map((field) => columnOf(field, parts, rows));
  return [
    ...(isFirst ? [schemaMessage(fields)] : []),
    ...(rows > 0 ? batchMessage(rows, columns()) : []),
    ...(isLast ? [endOfStream()] : []),
  ];
}
