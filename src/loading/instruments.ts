// Instruments: a file gives some fields of one, and the others stay; its dates must be in order (contract 3.9, 11).
import type { Values } from '../datasets/field.ts';
import type { InstrumentName } from '../datasets/reference.ts';
import type { RowProblem } from '../files/file-problem.ts';
import { newInstrument } from '../history/new-instrument.ts';
import type { Particulars } from './import-rows.ts';

/** The stored fields beside those of a row. An instrument that trades again has no former delisting. */
const keptOf = (values: Values, known: Values): Values =>
  values.status === 'active' ? { ...known, delisting_date: null } : known;

/** A delisting before the listing, in the row or beside what is stored. */
function conflictOf(values: Values, known: Values | null): RowProblem | null {
  const kept = known === null ? {} : keptOf(values, known);
  const { listing_date: listed, delisting_date: delisted } = { ...kept, ...values };
  // Dates of the form YYYY-MM-DD are in order as texts.
  if (!listed || !delisted || delisted >= listed) return null;
  const [column, order, other, date] =
    values.delisting_date === undefined
      ? ['listing_date', 'after', 'delisting_date', delisted]
      : ['delisting_date', 'before', 'listing_date', listed];
  const place = values[other as string] === undefined ? 'stored ' : '';
  return {
    column: column as string,
    reason: `is ${order} the ${place}${other} ${date}: correct it, or give the right ${other} beside it`,
  };
}

/** What is special about instruments. */
export const instrumentRows: Particulars = {
  conflictOf,
  async rowOf(values, known, { writer }) {
    const kept =
      known === null ? await newInstrument(writer, values as InstrumentName) : keptOf(values, known);
    return { ...kept, ...values };
  },
};
