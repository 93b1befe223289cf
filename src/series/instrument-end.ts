// When an instrument stopped trading (contract 3.9 (3)).
import { dayOf, FIRST_MS, parseDay } from '../base/instant.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { rowWith } from '../store/all-rows.ts';
import { optionContracts } from '../store/schema/options.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';

const MONTH_LETTERS = 'FGHJKMNQUVXZ';
const FUTURE = new RegExp(`^[A-Z0-9]+([${MONTH_LETTERS}])(\\d{2}|\\d{4})$`);

/** Years of two digits from this one on are of the last century. */
const LAST_CENTURY = 70;

/**
 * A future may trade after the month in its symbol: a three-month interest rate future does so for three
 * months, to their end.
 */
const MONTHS_AFTER = 6;

const OPTION = /(\d{2})(\d{2})(\d{2})[CP]\d{8}$/;

/** A day on which a future such as `ESU23` has expired for certain; null for another symbol. */
function dayAfterFuture(symbol: string): number | null {
  const [, letter, digits] = FUTURE.exec(symbol) ?? [];
  if (letter === undefined) return null;
  const year =
    digits!.length > 2 ? Number(digits) : Number(digits) + (Number(digits) < LAST_CENTURY ? 2000 : 1900);
  const months = MONTH_LETTERS.indexOf(letter) + 1 + MONTHS_AFTER;
  return dayOf(year + Math.floor(months / 12), (months % 12) + 1, 1);
}

/** The day after the expiration in an option's symbol (contract 1.4). */
function dayAfterExpiration(symbol: string): number | null {
  const [, year, month, day] = OPTION.exec(symbol) ?? [];
  const expiration = year === undefined ? null : parseDay(`20${year}-${month}-${day}`);
  return expiration === null ? null : expiration + 1;
}

/** The expiration of an option: that of its contract, else the end of the date in its symbol. */
async function expirationOf(reader: Reader, { country_iso_code, symbol }: Instrument, calendar: Calendar) {
  const contract = await rowWith(reader, optionContracts, { country_iso_code, symbol });
  if (contract?.expiration_datetime != null) return contract.expiration_datetime;
  const after = contract === null ? dayAfterExpiration(symbol) : contract.expiration_date + 1;
  return after === null ? null : calendar.zone.instantOf(after, 0);
}

/** The end of the day on which an instrument was delisted, or its expiration; null where none is known. */
export async function tradedUntil(
  reader: Reader,
  instrument: Instrument,
  calendar: Calendar,
): Promise<number | null> {
  const { delisting_date, asset_schema, symbol } = instrument;
  const delisted = delisting_date === null ? null : parseDay(delisting_date);
  if (delisted !== null) return calendar.zone.instantOf(delisted + 1, 0);
  if (asset_schema === 'option') return expirationOf(reader, instrument, calendar);
  const after = asset_schema === 'future' ? dayAfterFuture(symbol) : null;
  return after === null ? null : calendar.zone.instantOf(after, 0);
}

/**
 * The instant from which on an instrument does not trade: long ago where it is inactive, null while nothing
 * says so.
 */
export async function endOf(
  reader: Reader,
  instrument: Instrument,
  calendar: Calendar,
): Promise<number | null> {
  return instrument.status === 'inactive' ? FIRST_MS : tradedUntil(reader, instrument, calendar);
}
