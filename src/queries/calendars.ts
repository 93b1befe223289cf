// The calendars of instruments with an operator's days over them; the days are kept at hand until anything is committed.
import { type Calendar, calendarOf, marketSchema } from '../calendar/calendar.ts';
import { type OwnDay, withOwnDays } from '../calendar/own-days.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { readCalendarOverrides } from '../store/calendar-overrides.ts';
import type { Reader } from '../store/store.ts';

/** The calendars of one query thread. */
export class Calendars {
  readonly #days = new Map<string, readonly OwnDay[]>();

  /** Forgets what a commit may have changed. */
  forget(): void {
    this.#days.clear();
  }

  /** The days of a market that files have brought, those of single instruments included. */
  async ownDays(reader: Reader, assetSchema: AssetSchema, country: string): Promise<readonly OwnDay[]> {
    const schema = marketSchema(assetSchema);
    const market = `${schema}:${country}`;
    let days = this.#days.get(market);
    if (days === undefined) {
      days = await readCalendarOverrides(reader, schema, country);
      this.#days.set(market, days);
    }
    return days;
  }

  /** The calendar of an instrument, or of a whole market where `symbol` is `*`. */
  async of(
    reader: Reader,
    assetSchema: AssetSchema,
    country: string,
    symbol: string,
    zone: string | null,
  ): Promise<Calendar> {
    const days = await this.ownDays(reader, assetSchema, country);
    return withOwnDays(calendarOf(assetSchema, country, zone), days, symbol);
  }
}
