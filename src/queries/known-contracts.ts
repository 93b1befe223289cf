// Which option contracts were listed at a moment, as far as it is known (contract 9.8).
import type { AssetSchema } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { optionContracts } from '../datasets/options.ts';
import type { RankedRead } from '../store/store.ts';
import { takeRows } from './dataset-page.ts';
import { contractsOf, type Expiration, expirationsOf } from './expirations.ts';
import { dayOf, isListedOn } from './known-instrument.ts';
import { queryLimits } from './limits.ts';
import type { Found } from './lookup.ts';
import { type AsOf, type QueryContext, TooDear } from './query.ts';

type Row = RowOf<typeof optionContracts>;
type Places = readonly (readonly (string | number)[])[];

const dayAt = (asOf: AsOf, { instrument }: Found): number =>
  dayOf(asOf, instrument.asset_schema as AssetSchema, instrument.country_iso_code);

/** The expirations of an underlying of which a contract was listed at the moment of a request, and whether they were cached. */
export function knownExpirations(context: QueryContext, found: Found) {
  const { reader, lookup, asOf } = context;
  const name = `expirations|${found.instrument.instrument_id}`;
  if (asOf === null) return lookup.cached(reader, name, () => expirationsOf(reader, found));
  const day = dayAt(asOf, found);
  const isCounted = async (one: Expiration, optionType: 'call' | 'put'): Promise<boolean> => {
    const { day: expiration_date, givenMs: expiration_datetime } = one;
    const where = { ...contractsOf(found, optionType), expiration_date, expiration_datetime };
    const order = [['strike_price', 'asc'] as const, ['symbol', 'asc'] as const];
    const isListed = (row: Row): boolean => isListedOn(row, day);
    return (await takeRows(context, { where, order, limit: 0 }, optionContracts, isListed)).hasMore;
  };
  // An instrument may follow a calendar of another zone.
  const known = `listed by ${day}, calendar of ${found.calendar.zone.dayAt(asOf.ms)}`;
  return lookup.cached(reader, `${name}|${known}`, () => expirationsOf(reader, found, isCounted));
}

/**
 * The first contracts of a ranked read that were listed at a moment, with their places; `rowsAt` reads the rows of places.
 * @throws TooDear where another lane must look through so many
 */
export async function listedContracts(
  { reader, lane }: QueryContext,
  asOf: AsOf,
  found: Found,
  read: RankedRead<typeof optionContracts>,
  rowsAt: (places: Places) => Promise<readonly Row[]>,
): Promise<{ readonly places: Places; readonly rows: readonly Row[] }> {
  const day = dayAt(asOf, found);
  const places: (readonly (string | number)[])[] = [];
  const rows: Row[] = [];
  const limit = Math.max(read.limit, queryLimits.rowsPerReadMax);
  let { after } = read;
  for (let seen = 0; ; seen += limit) {
    if (seen > lane.baseBarsMax) throw new TooDear();
    const sorted = await reader.ranked(optionContracts, { ...read, ...(after && { after }), limit });
    const step = await rowsAt(sorted);
    for (const [at, row] of step.entries()) {
      if (!isListedOn(row, day)) continue;
      places.push(sorted[at]!);
      rows.push(row);
    }
    if (rows.length >= read.limit || sorted.length < limit)
      return { places: places.slice(0, read.limit), rows: rows.slice(0, read.limit) };
    after = sorted.at(-1)!;
  }
}
