// The expirations of an underlying, read step by step along an index; the calendar gives their instants (spec 4.7, contract 8.5).
import { DAY_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { optionContracts } from '../datasets/options.ts';
import type { Instrument } from '../datasets/reference.ts';
import type { Reader } from '../store/store.ts';

/** One expiration of an underlying's contracts. */
export type Expiration = {
  readonly day: number;
  /** The instant from a file; null where it has none. */
  readonly givenMs: number | null;
  /** The instant of a file, else the close of the last session on or before the day. */
  readonly expiresMs: number;
};

/** The close of the last session on or before a day, early closes counted (contract 8.5). */
function closeOn(calendar: Calendar, day: number): number {
  return calendar.sessionOnOrBefore(day)?.closeMs ?? (day + 1) * DAY_MS;
}

type Underlying = { readonly instrument: Instrument; readonly calendar: Calendar };

const optionTypes = ['call', 'put'] as const;

/** The filter that finds the contracts of an underlying. */
export const contractsOf = ({ instrument }: Underlying, optionType: 'call' | 'put') => ({
  country_iso_code: instrument.country_iso_code,
  parent_asset_schema: instrument.asset_schema,
  underlying_name: instrument.symbol,
  option_type: optionType,
});

/** Steps from one expiration to the next in the index: one read for each expiration, however many contracts it has. */
async function* walk(
  reader: Reader,
  underlying: Underlying,
  optionType: 'call' | 'put',
): AsyncGenerator<Expiration> {
  const where = contractsOf(underlying, optionType);
  let from = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const [first] = await reader.rows(optionContracts, {
      where,
      range: { from },
      order: [
        ['expiration_date', 'asc'],
        ['expiration_datetime', 'asc'],
      ],
      limit: 1,
    });
    if (first === undefined) return;
    const day = first.expiration_date;
    let row: Pick<typeof first, 'expiration_datetime'> | undefined = first;
    while (row !== undefined) {
      const givenMs: number | null = row.expiration_datetime;
      yield { day, givenMs, expiresMs: givenMs ?? closeOn(underlying.calendar, day) };
      [row] = await reader.rows(optionContracts, {
        where: { ...where, expiration_date: day },
        range: { from: givenMs === null ? Number.MIN_SAFE_INTEGER : givenMs + 1 },
        order: [['expiration_datetime', 'asc']],
        limit: 1,
      });
    }
    from = day + 1;
  }
}

const byTime = (a: Expiration, b: Expiration): number => a.expiresMs - b.expiresMs || a.day - b.day;

/** Whether an expiration of calls or puts counts. */
type IsCounted = (one: Expiration, optionType: 'call' | 'put') => Promise<boolean>;

/** The expirations of an underlying by time, of calls and puts together. */
export async function expirationsOf(
  reader: Reader,
  underlying: Underlying,
  isCounted: IsCounted | null = null,
): Promise<readonly Expiration[]> {
  const found = new Map<string, Expiration>();
  for (const optionType of optionTypes) {
    for await (const one of walk(reader, underlying, optionType)) {
      const name = `${one.day} ${one.givenMs}`;
      if (found.has(name) || isCounted === null || (await isCounted(one, optionType))) found.set(name, one);
    }
  }
  return [...found.values()].sort(byTime);
}
