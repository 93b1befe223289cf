// Recomputes what is stored about bars after a change of their calendar: the grid, and completeness (contract 3.9, 3.10).
import { bucketOf } from '../bars/bucket.ts';
import { DAY_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import type { Values } from '../datasets/field.ts';
import { holidays } from '../datasets/holidays.ts';
import { counters } from '../datasets/internal.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { allRows, rowWith } from '../store/all-rows.ts';
import { DamagedData, ignoreDamage } from '../store/damage.ts';
import type { Reader, Store, Tell, Writer } from '../store/store.ts';
import { changesCalendar, optionsOf } from './regrid-series.ts';
import { renewCoverage } from './run-coverage.ts';
import { type BucketRange, StoredSeries } from './stored-series.ts';

/** A bar of a session opens within 3 UTC days of its label date. */
const DAYS_AROUND = 3;

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

/** Stands once the series of a store follow its overrides. A program before that looked at none when overrides changed. */
const FOLLOWED = { name: 'overrides_followed', value: 1 };

type SeriesRow = RowOf<typeof seriesDataset>;

/** The calendar that a series follows, and the dates of changed overrides of it. */
type Changed = { readonly calendar: Calendar; readonly dates: readonly number[] };

/**
 * Collects the calendar overrides that one write changes, and the instruments that may follow another calendar. Then it recomputes
 * what depends on them. The grids of such instruments are recomputed with their rows (`regrid-series.ts`).
 */
export class ChangedCalendars {
  /** The dates by asset type and country, then by symbol. */
  readonly #markets = new Map<string, Map<string, Set<number>>>();
  readonly #instruments = new Map<number, Instrument>();

  /** Notes that a row of a dataset has changed, each null for no row. An override is told by the values of its key. */
  add(dataset: Dataset, before: Values | null, after: Values | null): void {
    if (dataset === holidays) this.#addOverride((after ?? before)!);
    if (dataset !== instruments || before === null || after === null) return;
    const [was, is] = [before as Instrument, after as Instrument];
    if (changesCalendar(was, is)) this.addInstrument(is);
  }

  /** Notes that an instrument may follow another calendar than before. */
  addInstrument(instrument: Instrument): void {
    this.#instruments.set(instrument.instrument_id, instrument);
  }

  #addOverride(key: Values): void {
    const { asset_name, country_iso_code, symbol, calendar_date } = key as Record<string, string>;
    const name = `${asset_name}:${country_iso_code}`;
    const market = this.#markets.get(name) ?? new Map<string, Set<number>>();
    this.#markets.set(name, market);
    const dates = market.get(symbol!) ?? new Set();
    market.set(symbol!, dates.add(Number(calendar_date)));
  }

  /** Recomputes which series are off the grid, and how far runs make their series complete. */
  async settle(writer: Writer): Promise<void> {
    if (this.#markets.size + this.#instruments.size === 0) return;
    // Other rows may be damaged. Their repair looks at the grid again.
    const sound = writer.sound(ignoreDamage);
    const changed = new Map<number, readonly number[] | null>();
    if (this.#markets.size > 0) {
      await this.#followAll(writer, sound);
      await this.#followOverrides(writer, sound, changed);
    }
    for (const instrument of this.#instruments.values()) {
      for await (const { series_id } of seriesOf(sound, instrument)) changed.set(series_id, null);
    }
    await renewCoverage(writer, changed);
  }

  /** Counts every override as changed where an older Bourse may have left them without effect. */
  async #followAll(writer: Writer, sound: Reader): Promise<void> {
    if ((await rowWith(sound, counters, FOLLOWED)) !== null) return;
    for await (const row of allRows(sound, holidays)) this.#addOverride(row);
    await writer.upsert(counters, [FOLLOWED]);
  }

  /**
   * Reads the rows of all series, but blocks only of those that the overrides are about, around their dates. The whole of a series is
   * read only where it was off the grid and no bar around the dates still is. `changed` gets these series with their dates.
   */
  async #followOverrides(
    writer: Writer,
    sound: Reader,
    changed: Map<number, readonly number[] | null>,
  ): Promise<void> {
    const calendars = new Calendars();
    const known = new Map<string, readonly number[]>();
    for await (const row of allRows(sound, seriesDataset)) {
      const found = row.bar_count === 0 ? null : await this.#changed(sound, calendars, row, known);
      if (found === null) continue;
      changed.set(row.series_id, found.dates);
      await regrid(writer, row, found);
    }
  }

  /** What has changed of the calendar that a series follows; null where nothing has. `known` has the lists of dates so far. */
  async #changed(
    sound: Reader,
    calendars: Calendars,
    { instrument_id }: SeriesRow,
    known: Map<string, readonly number[]>,
  ): Promise<Changed | null> {
    const instrument = await rowWith(sound, instruments, { instrument_id });
    if (instrument === null) return null;
    const { calendar, assetSchema } = await calendars.read(sound, instrument);
    const market = this.#markets.get(`${assetSchema}:${instrument.country_iso_code}`);
    if (market === undefined) return null;
    const symbol = market.has(instrument.symbol) ? instrument.symbol : '*';
    const name = `${assetSchema}:${instrument.country_iso_code}:${symbol}`;
    const dates = known.get(name) ?? ['*', instrument.symbol].flatMap((of) => [...(market.get(of) ?? [])]);
    known.set(name, dates);
    return dates.length > 0 ? { calendar, dates } : null;
  }
}

/** Recomputes whether a series is off the grid, by its bars around changed dates. */
async function regrid(writer: Writer, row: SeriesRow, { calendar, dates }: Changed): Promise<void> {
  const minutes = intervalMinutes(row.interval as Interval);
  if (minutes === null || minutes === 1) return;
  try {
    await new StoredSeries(writer, row, calendar).regrid(bucketsAround(row.interval as Interval, dates));
  } catch (error) {
    // Damage to one series stops no other, and no override.
    if (!(error instanceof DamagedData)) throw error;
  }
}

/** The series of an instrument and of its options. */
async function* seriesOf(sound: Reader, instrument: Instrument): AsyncGenerator<SeriesRow> {
  yield* allRows(sound, seriesDataset, { instrument_id: instrument.instrument_id });
  for await (const instrument_id of optionsOf(sound, instrument))
    yield* allRows(sound, seriesDataset, { instrument_id });
}

/** Recomputes what depends on the calendar overrides of a store, where an older Bourse imported them, in one write. */
export async function followOldOverrides(store: Store, tell: Tell): Promise<void> {
  const isDue = async (reader: Reader): Promise<boolean> => {
    const [sound, order] = [reader.sound(ignoreDamage), [['country_iso_code', 'asc'] as const]];
    if ((await rowWith(sound, counters, FOLLOWED)) !== null) return false;
    return (await sound.rows(holidays, { order, limit: 1 })).length > 0;
  };
  if (!(await store.snapshot(isDue))) return;
  tell('finding out by the imported holidays which series are off the session grid');
  await store.write(async (writer) => {
    if (!(await isDue(writer))) return;
    const overrides = new ChangedCalendars();
    for await (const row of allRows(writer.sound(ignoreDamage), holidays)) overrides.add(holidays, null, row);
    await overrides.settle(writer);
  });
}
