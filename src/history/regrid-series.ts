// Which stored series are off the session grid, after a change of their calendar (contract 3.10).
import { bucketOf } from '../bars/bucket.ts';
import { DAY_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { Dataset } from '../datasets/dataset.ts';
import type { Values } from '../datasets/field.ts';
import { holidays } from '../datasets/holidays.ts';
import { optionContracts } from '../datasets/options.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { allRows, rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import { selectedRows } from '../store/selected-rows.ts';
import type { Writer } from '../store/store.ts';
import { seriesWithBars } from './instrument-uses.ts';
import { type BucketRange, StoredSeries } from './stored-series.ts';

/** The columns that choose an instrument's calendar. */
const calendarColumns = ['time_zone', 'calendar_key', 'parent_schema_instrument_id'] as const;

/**
 * Bars that belong to a session, or reach into it, open at most so many UTC days before its label date, and fewer after it: a session
 * may begin on the day before its label, a zone may be ahead of UTC, and a bar may last a day.
 */
const DAYS_AROUND = 3;

/** Finds anew which series of a stored instrument, and of its options, are off the grid, where the columns that choose its calendar differ. */
export async function regridSeries(writer: Writer, before: Instrument, after: Instrument): Promise<void> {
  if (calendarColumns.every((column) => before[column] === after[column])) return;
  await regridAll(writer, after);
}

/** Finds anew which series of a stored instrument, and of its options, are off the grid. */
export async function regridAll(writer: Writer, instrument: Instrument): Promise<void> {
  const calendars = new Calendars();
  await regridOwn(writer, instrument, calendars);
  if (instrument.asset_schema === 'option') return;
  const { asset_schema, country_iso_code, symbol } = instrument;
  const where = { country_iso_code, parent_asset_schema: asset_schema, underlying_name: symbol };
  for await (const { instrument_id } of selectedRows(writer.sound(ignoreDamage), optionContracts, {
    where,
  })) {
    const option = await rowWith(writer.sound(ignoreDamage), instruments, { instrument_id });
    if (option !== null) await regridOwn(writer, option, calendars);
  }
}

async function regridOwn(writer: Writer, instrument: Instrument, calendars: Calendars): Promise<void> {
  const rows = await seriesWithBars(writer, instrument);
  if (rows.length === 0) return;
  const calendar = await calendars.of(writer, instrument);
  for (const row of rows) await new StoredSeries(writer, row, calendar).regrid();
}

/** The buckets of an interval that may have bars of the sessions of some days: ascending, and apart from each other. */
function bucketsAround(interval: Interval, days: Iterable<number>): BucketRange[] {
  const ranges: { fromBucket: number; toBucket: number }[] = [];
  for (const day of [...days].sort((a, b) => a - b)) {
    const fromBucket = bucketOf(interval, (day - DAYS_AROUND) * DAY_MS);
    const toBucket = bucketOf(interval, (day + DAYS_AROUND) * DAY_MS);
    const last = ranges.at(-1);
    if (last !== undefined && fromBucket <= last.toBucket + 1) last.toBucket = toBucket;
    else ranges.push({ fromBucket, toBucket });
  }
  return ranges;
}

/** The calendar overrides that one write changes. When all are known, it finds anew which series they put on or off the grid. */
export class ChangedOverrides {
  /** The dates by asset type and country, then by symbol. */
  readonly #markets = new Map<string, Map<string, Set<number>>>();

  /** Notes that a row of a dataset has changed, by the values of its key; rows of other datasets are no overrides. */
  add(dataset: Dataset, key: Values): void {
    if (dataset !== holidays) return;
    const { asset_name, country_iso_code, symbol, calendar_date } = key as Record<string, string>;
    const name = `${asset_name}:${country_iso_code}`;
    const market = this.#markets.get(name) ?? new Map<string, Set<number>>();
    this.#markets.set(name, market);
    const dates = market.get(symbol!) ?? new Set();
    market.set(symbol!, dates.add(Number(calendar_date)));
  }

  /**
   * Finds anew which series are off the grid. It reads the rows of all series, but blocks only of those that the overrides are about,
   * around their dates. The whole of a series is read only where it was off the grid and no bar around the dates still is.
   */
  async settle(writer: Writer): Promise<void> {
    if (this.#markets.size === 0) return;
    // Other rows may be damaged. Their repair looks at the grid again.
    const sound = writer.sound(ignoreDamage);
    const calendars = new Calendars();
    for await (const row of allRows(sound, seriesDataset)) {
      const minutes = intervalMinutes(row.interval as Interval);
      if (row.bar_count === 0 || minutes === null || minutes === 1) continue;
      const instrument = await rowWith(sound, instruments, { instrument_id: row.instrument_id });
      if (instrument === null) continue;
      const { calendar, assetSchema } = await calendars.read(sound, instrument);
      const market = this.#markets.get(`${assetSchema}:${instrument.country_iso_code}`);
      const dates = ['*', instrument.symbol].flatMap((symbol) => [...(market?.get(symbol) ?? [])]);
      if (dates.length === 0) continue;
      const series = new StoredSeries(writer, row, calendar);
      await series.regrid(bucketsAround(row.interval as Interval, dates));
    }
  }
}
