// Instruments: a file gives some fields of one, and the others stay; its dates must be in order (contract
// 3.9, 11).
import { DAY_MS } from '../../base/instant.ts';
import { seriesWithBars } from '../../runs/naming.ts';
import { rowWith } from '../../store/all-rows.ts';
import type { Values } from '../../store/schema/dataset.ts';
import {
  type FormerSymbol,
  type Instrument,
  type InstrumentName,
  instruments,
} from '../../store/schema/reference.ts';
import type { RowReader } from '../../store/store.ts';
import type { Particulars } from './particulars.ts';
import type { RowProblem } from './refused-rows.ts';

/** The stored fields beside those of a row. An instrument that trades again has no former delisting. */
const keptOf = (values: Values, known: Values): Values =>
  values.status === 'active' ? { ...known, delisting_date: null } : known;

/** A delisting before the listing, in the row or beside what is stored. */
function conflictOf(values: Values, known: Values | null): RowProblem | null {
  const kept = known === null ? {} : keptOf(values, known);
  const { listing_date: listed, delisting_date: delisted } = { ...kept, ...values } as Partial<Instrument>;
  // Dates of the form YYYY-MM-DD are in order as texts.
  if (!listed || !delisted || delisted >= listed) return null;
  const problem = (column: string, order: string, other: string, date: string): RowProblem => ({
    column,
    reason: `is ${order} the ${values[other] === undefined ? 'stored ' : ''}${other} ${date}: correct it, or give the right ${other} beside it`,
  });
  return values.delisting_date === undefined
    ? problem('listing_date', 'after', 'delisting_date', delisted)
    : problem('delisting_date', 'before', 'listing_date', listed);
}

/**
 * Bars that are stored under a former symbol stay there (contract 9.6): who asks for it within the days finds
 * the other instrument.
 */
async function findingOf(values: Values, reader: RowReader): Promise<string | null> {
  const { asset_schema, country_iso_code, symbol: own, former_symbols } = values as Instrument;
  for (const { symbol, from_day, to_day } of (former_symbols ?? []) as FormerSymbol[]) {
    const other =
      symbol === own ? null : await rowWith(reader, instruments, { asset_schema, country_iso_code, symbol });
    if (other === null) continue;
    const stored = await seriesWithBars(reader, other);
    if (
      stored.some(({ first_ms, last_ms }) => first_ms < (to_day + 1) * DAY_MS && last_ms >= from_day * DAY_MS)
    )
      return 'with a former symbol that has bars of those days as an instrument of its own: they stay there, and requests for the symbol within those days find this instrument; to move them, delete and import them again';
  }
  return null;
}

/** The particulars of instruments. */
export const instrumentRows: Particulars = {
  problemBeside: conflictOf,
  findingOf,
  async rowOf(values, known, { named }) {
    const kept = known === null ? await named.made(values as InstrumentName) : keptOf(values, known);
    return { ...kept, ...values };
  },
};
