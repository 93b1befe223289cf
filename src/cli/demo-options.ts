// Synthetic option contracts for the demo: strikes around the price, expirations from weeks ago to months ahead of today.
import { dateOf, dayOf, formatDay, weekdayOf } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { optionContracts } from '../datasets/options.ts';
import { changeRow } from '../history/journal.ts';
import { NamedInstruments } from '../loading/named-instruments.ts';
import { optionContractRow } from '../loading/options.ts';
import type { Writer } from '../store/store.ts';

/** The underlyings, what their contracts lie around, and how far apart. */
const chains = [
  { symbol: 'AAPL', price: 190, step: 5 },
  { symbol: 'SPY', price: 560, step: 10 },
] as const;

const STRIKES_EACH_SIDE = 12;
const WEEKS_BACK = 2;
const WEEKS_AHEAD = 5;
const MONTHS_AHEAD = 9;

const thirdFriday = (year: number, month: number): number => {
  const first = dayOf(year, month, 1);
  return first + ((12 - weekdayOf(first)) % 7) + 14;
};

/** Fridays around today, and the third ones of the months ahead; where the market is closed on one, the session before it. */
function expirationDays(today: number): number[] {
  const friday = today - weekdayOf(today) + 5;
  const { year, month } = dateOf(today);
  const weeks = Array.from(
    { length: WEEKS_BACK + WEEKS_AHEAD },
    (_, week) => friday + 7 * (week - WEEKS_BACK),
  );
  const months = Array.from({ length: MONTHS_AHEAD }, (_, ahead) => {
    const index = month - 1 + ahead;
    return thirdFriday(year + Math.floor(index / 12), (index % 12) + 1);
  });
  const calendar = calendarOf('stock', 'US');
  const days = [...weeks, ...months].map((day) => calendar.sessionOnOrBefore(day)!.day);
  return [...new Set(days)].sort((a, b) => a - b);
}

function symbolOf(root: string, day: number, letter: 'C' | 'P', strike: number): string {
  const date = formatDay(day).slice(2).replaceAll('-', '');
  return `${root}${date}${letter}${String(strike * 1000).padStart(8, '0')}`;
}

/** What a file would say of the contracts of a chain that expire on a day. */
function* contractsOf({ symbol: root, price, step }: (typeof chains)[number], day: number, today: number) {
  for (let at = -STRIKES_EACH_SIDE; at <= STRIKES_EACH_SIDE; at++) {
    const strike = price + at * step;
    for (const letter of ['C', 'P'] as const) {
      yield {
        country_iso_code: 'US',
        symbol: symbolOf(root, day, letter, strike),
        parent_asset_schema: 'stock',
        underlying_name: root,
        option_type: letter === 'C' ? 'call' : 'put',
        strike_price: strike,
        expiration_date: day,
        status: day < today ? 'inactive' : 'active',
      };
    }
  }
}

/** Writes the demo's contracts; their instruments bear the description. */
export async function writeDemoOptions(
  writer: Writer,
  runId: number,
  today: number,
  description: string,
): Promise<void> {
  const named = new NamedInstruments(writer, runId);
  const days = expirationDays(today);
  const all = chains.flatMap((chain) => days.flatMap((day) => [...contractsOf(chain, day, today)]));
  for (const values of all) {
    const { country_iso_code, symbol } = values;
    const row = await optionContractRow(values, named);
    await named.of({ asset_schema: 'option', country_iso_code, symbol }, { description });
    await changeRow(writer, runId, optionContracts, null, row);
  }
}
