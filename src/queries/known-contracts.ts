// Which option contracts a request sees: those that were listed at its moment, as far as it is known
// (contract 9.8), and without those that a corporate action adjusted, unless it asks for these too (contract
// 8.5).
import { parseOptionSymbol } from '../contract/identifiers.ts';
import { rowsAmong } from '../store/all-rows.ts';
import { always, isKnown } from '../store/schema/dataset.ts';
import { ADJUSTED, isAdjustedRoot, optionContracts } from '../store/schema/options.ts';
import type { RankedRead } from '../store/store.ts';
import {
  type Contract,
  contractsOf,
  datesOf,
  type Expiration,
  expirationFinder,
  expirationsOf,
  groupsOf,
  optionTypes,
  rankedContracts,
} from './expirations.ts';
import { queryLimits } from './limits.ts';
import type { Found } from './lookup.ts';
import { takeRows } from './pages/dataset-page.ts';
import { type QueryContext, TooDear } from './query.ts';

type Places = readonly (readonly (string | number)[])[];

/** A value that is made of contracts alone, of those of an underlying: commits to its bars leave it kept. */
function ofContracts<T>(
  { reader, lookup }: QueryContext,
  { instrument }: Found,
  what: string,
  make: () => Promise<T>,
) {
  const { asset_schema, country_iso_code, symbol } = instrument;
  return lookup.ofName(reader, `${what}|${asset_schema}:${country_iso_code}:${symbol}`, make);
}

const contractDates = (context: QueryContext, found: Found) =>
  ofContracts(context, found, 'dates of contracts', () => datesOf(context.reader, found));

/**
 * The dates of the moment of a request, by which contracts are listed and their calendar is known: an
 * instrument may follow a calendar of another zone.
 */
function daysKnown({ moment }: QueryContext, { instrument, calendar }: Found): string {
  if (moment === always) return '';
  const day = moment.dayIn(instrument.asset_schema, instrument.country_iso_code);
  return `listed by ${day}, calendar of ${calendar.zone.dayAt(moment.ms)}`;
}

/** The expirations of all contracts of an underlying, and whether they were cached. */
export function knownExpirations(context: QueryContext, found: Found) {
  const { reader, lookup } = context;
  const name = `expirations|${found.instrument.instrument_id}|${daysKnown(context, found)}`;
  return lookup.cached(reader, name, async () => expirationsOf(found, await contractDates(context, found)));
}

/**
 * Reads the symbols of all contracts of an underlying, some microseconds for each, and gives those on
 * adjusted roots.
 */
async function symbolsOnAdjustedRoots(context: QueryContext, found: Found): Promise<readonly string[]> {
  const groups = (await contractDates(context, found)).map(({ expiration_date, expiration_datetime }) => ({
    at: [expiration_date, expiration_datetime],
    rank: 0,
  }));
  const symbols: string[] = [];
  for (const optionType of optionTypes)
    for (let at = 0; at < groups.length; at += queryLimits.expirationsPerReadMax) {
      const read = await context.reader.ranked(optionContracts, {
        where: contractsOf(found, optionType),
        groupBy: ['expiration_date', 'expiration_datetime'],
        groups: groups.slice(at, at + queryLimits.expirationsPerReadMax),
        order: [['symbol', 'asc']],
        limit: Number.MAX_SAFE_INTEGER,
      });
      for (const [symbol] of read as [string][])
        if (isAdjustedRoot(parseOptionSymbol(symbol)?.root ?? '')) symbols.push(symbol);
    }
  return symbols;
}

/** The contracts of an underlying that a corporate action adjusted: an index has their symbols alone. */
export async function adjustedContracts(context: QueryContext, found: Found): Promise<readonly Contract[]> {
  const { asset_schema, country_iso_code } = found.instrument;
  if (asset_schema !== 'stock' || country_iso_code !== 'US') return [];
  return ofContracts(context, found, 'adjusted', async () => {
    const symbols = await ofContracts(context, found, 'symbols on adjusted roots', () =>
      symbolsOnAdjustedRoots(context, found),
    );
    if (symbols.length === 0) return [];
    // A read by symbols depends on the contracts of all underlyings.
    const rows = await rowsAmong(context.reader, optionContracts, { country_iso_code }, 'symbol', symbols);
    return rows.filter(({ contract_type }) => contract_type === ADJUSTED);
  });
}

/** Tells if a request sees a contract: it was listed at the request's moment, and is not `hidden`. */
export function seeing({ moment }: QueryContext, hidden: readonly Contract[]) {
  const symbols = new Set(hidden.map(({ symbol }) => symbol));
  return (contract: Contract): boolean =>
    isKnown(optionContracts, contract, moment) && !symbols.has(contract.symbol);
}

/**
 * The expirations of the contracts that a request sees, adjusted ones too where it asks for them; and whether
 * they were cached.
 */
export async function seenExpirations(context: QueryContext, found: Found, adjusted: boolean) {
  const { reader, lookup, moment } = context;
  const all = await knownExpirations(context, found);
  const hidden = adjusted ? [] : await adjustedContracts(context, found);
  const isWhole = hidden.length === 0 && all.value.every(({ spans }) => spans === null);
  if (moment === always && isWhole) return all;
  const sees = seeing(context, hidden);
  const has = async (one: Expiration, optionType: 'call' | 'put'): Promise<boolean> => {
    const where = contractsOf(found, optionType);
    const order = [['symbol', 'asc'] as const];
    // Most dates have contracts of one of the two instants that they may expire at.
    const read = { where, ...groupsOf([one], [], 0), order, limit: 1 };
    if (one.spans !== null && (await reader.ranked(optionContracts, read)).length === 0) return false;
    const expirationOf = expirationFinder([one]);
    const group = { ...where, expiration_date: one.day, expiration_datetime: one.givenMs };
    const rows = { where: group, order: [['strike_price', 'asc'] as const, ...order], limit: 0 };
    const isOfIt = (row: Contract): boolean => expirationOf(row) !== undefined && sees(row);
    return (await takeRows(context, rows, optionContracts, isOfIt)).hasMore;
  };
  const { instrument_id } = found.instrument;
  const name = `expirations|${instrument_id}|${hidden.length} hidden|${daysKnown(context, found)}`;
  return lookup.cached(reader, name, async () => {
    const seen: Expiration[] = [];
    for (const one of all.value) {
      const isOfIt = (row: Contract): boolean =>
        row.expiration_date === one.day && row.expiration_datetime === one.givenMs;
      const isSure = moment === always && one.spans === null && !hidden.some(isOfIt);
      if (isSure || (await has(one, 'call')) || (await has(one, 'put'))) seen.push(one);
    }
    return seen;
  });
}

/**
 * The first contracts of ranked reads that a request sees, with their places; `rowsAt` reads the rows of
 * places.
 * @throws TooDear where another lane must look through so many
 */
export async function seenContracts(
  { reader, lane }: QueryContext,
  sees: (contract: Contract) => boolean,
  reads: readonly RankedRead<typeof optionContracts>[],
  rowsAt: (places: Places) => Promise<readonly Contract[]>,
): Promise<{ readonly places: Places; readonly rows: readonly Contract[] }> {
  const places: (readonly (string | number)[])[] = [];
  const rows: Contract[] = [];
  const [read] = reads as [RankedRead<typeof optionContracts>];
  const limit = Math.max(read.limit, queryLimits.rowsPerReadMax);
  let { after } = read;
  for (let seen = 0; ; seen += limit) {
    if (seen > lane.baseBarsMax) throw new TooDear();
    const step = reads.map((read) => ({ ...read, ...(after && { after }), limit }));
    const sorted = await rankedContracts(reader, step);
    const found = await rowsAt(sorted);
    for (const [at, row] of found.entries()) {
      if (!sees(row)) continue;
      places.push(sorted[at]!);
      rows.push(row);
    }
    if (rows.length >= read.limit || sorted.length < limit)
      return { places: places.slice(0, read.limit), rows: rows.slice(0, read.limit) };
    after = sorted.at(-1)!;
  }
}
