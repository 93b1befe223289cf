// Which calendars stored series follow: their own, and that of their market.
import type { Calendar } from '../calendar/calendar.ts';
import { type runCoverage, series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { marketName } from '../series/series.ts';
import { rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import type { Reader } from '../store/store.ts';

/** What a series follows. */
export type Followed = {
  /** As `marketName` gives it. */
  readonly market: string;
  /** With the overrides of its instrument. */
  readonly calendar: Calendar;
  /** Without them. */
  readonly marketCalendar: Calendar;
  /** The key of its last bar. */
  readonly lastMs: number;
};

type SeriesRow = RowOf<typeof seriesDataset>;

/** A stored series; `followed` is null where its instrument is gone or damaged. */
type Found = { readonly row: SeriesRow; readonly followed: Followed | null };

/** Finds series and their calendars by their numbers, each once. */
export class SeriesCalendars {
  readonly #reader: Reader;
  readonly #calendars = new Calendars();
  readonly #found = new Map<number, Found | null>();

  constructor(reader: Reader) {
    this.#reader = reader.sound(ignoreDamage);
  }

  /** What a series follows; null where it or its instrument is gone or damaged. */
  async of(seriesId: number): Promise<Followed | null> {
    return (await this.#find(seriesId))?.followed ?? null;
  }

  /** The row of a series; null where it is gone or damaged. */
  async rowOf(seriesId: number): Promise<SeriesRow | null> {
    return (await this.#find(seriesId))?.row ?? null;
  }

  async #find(series_id: number): Promise<Found | null> {
    let found = this.#found.get(series_id);
    if (found === undefined) {
      const row = await rowWith(this.#reader, seriesDataset, { series_id });
      found = row === null ? null : { row, followed: await this.#followedBy(row) };
      this.#found.set(series_id, found);
    }
    return found;
  }

  async #followedBy({ instrument_id, last_ms: lastMs }: SeriesRow): Promise<Followed | null> {
    const instrument = await rowWith(this.#reader, instruments, { instrument_id });
    if (instrument === null) return null;
    const { market, calendar, marketCalendar } = await this.#calendars.read(this.#reader, instrument);
    return { market: marketName(instrument, market), calendar, marketCalendar, lastMs };
  }

  /**
   * The calendar by which a run reaches: that of its last series. Where this one has left the market, that of another series of the
   * run that follows it; null where none does.
   */
  async ofRun({ market, last_series_id }: RowOf<typeof runCoverage>, ids: readonly number[]) {
    const last = last_series_id === null ? null : await this.of(last_series_id);
    if (last?.market === market) return last.marketCalendar;
    for (const id of ids) {
      const found = await this.of(id);
      if (found?.market === market) return found.marketCalendar;
    }
    return null;
  }
}
