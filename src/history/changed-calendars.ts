// Recomputes what is stored about bars after a change of their calendar: the grid, and completeness (contract 3.9, 3.10).
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
import { HiddenBars, type HiddenReport } from './hidden-bars.ts';
import { seriesWithBars } from './instrument-uses.ts';
import { bucketsAround, daysWithin, isNear } from './near-dates.ts';
import { changesCalendar, optionsOf } from './regrid-series.ts';
import { RenewedUnfinished } from './renewed-unfinished.ts';
import { renewCoverage } from './run-coverage.ts';
import { StoredSeries } from './stored-series.ts';

/**
 * Stands once the series of a store follow its overrides. Programs before that looked at none when overrides changed; those that
 * wrote 1 took the overrides of one instrument for those of others, and left unfinished bars as they were.
 */
const FOLLOWED = { name: 'overrides_followed', value: 2 };

type SeriesRow = RowOf<typeof seriesDataset>;

/** The calendar that a series follows, and the dates of changed overrides of it. */
type Changed = { readonly calendar: Calendar; readonly dates: ReadonlySet<number> };

/**
 * Collects the calendar overrides that one write changes, and the instruments that may follow another calendar. Then it recomputes
 * what depends on them. The grids of such instruments are recomputed with their rows (`regrid-series.ts`).
 */
export class ChangedCalendars {
  /** The dates by asset type and country, then by symbol. */
  readonly #markets = new Map<string, Map<string, Set<number>>>();
  readonly #instruments = new Map<number, Instrument>();

  /** Notes that a row of a dataset has changed, each null for no row. An override is named by the values of its key. */
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

  /**
   * Recomputes which series are off the grid, how far runs make their series complete, and which bars are unfinished: `hidden` gets
   * those that became so.
   */
  async settle(writer: Writer, hidden: HiddenBars): Promise<void> {
    if (this.#markets.size + this.#instruments.size === 0) return;
    // Other rows may be damaged. Their repair looks at the grid again.
    const sound = writer.sound(ignoreDamage);
    const changed = new Map<number, ReadonlySet<number> | null>();
    const unfinished = new RenewedUnfinished(writer, hidden);
    if (this.#markets.size > 0) {
      await this.#followAll(writer, sound);
      for await (const [series, dates] of this.#overridden(writer, sound)) {
        changed.set(series.row.series_id, dates);
        await passDamage(() => followDates(series, dates, unfinished));
      }
    }
    const calendars = new Calendars();
    for (const instrument of this.#instruments.values())
      for await (const series of seriesOf(writer, sound, instrument, calendars)) {
        changed.set(series.row.series_id, null);
        if (isMovable(series)) await passDamage(() => unfinished.renew(series, { isDoubtful: () => true }));
      }
    await renewCoverage(writer, changed);
  }

  /** Counts every override as changed where an older Bourse may have left them without effect. */
  async #followAll(writer: Writer, sound: Reader): Promise<void> {
    if ((await rowWith(sound, counters, FOLLOWED)) !== null) return;
    for await (const row of allRows(sound, holidays)) this.#addOverride(row);
    await writer.upsert(counters, [FOLLOWED]);
  }

  /** The series whose calendar has changed on some dates. It reads the rows of all series. */
  async *#overridden(writer: Writer, sound: Reader): AsyncGenerator<[StoredSeries, ReadonlySet<number>]> {
    const calendars = new Calendars();
    const known = new Map<string, ReadonlySet<number>>();
    for await (const row of allRows(sound, seriesDataset)) {
      const found = row.bar_count === 0 ? null : await this.#changed(sound, calendars, row, known);
      if (found !== null) yield [new StoredSeries(writer, row, found.calendar), found.dates];
    }
  }

  /** What has changed of the calendar that a series follows; null where nothing has. `known` has the lists of dates so far. */
  async #changed(
    sound: Reader,
    calendars: Calendars,
    { instrument_id }: SeriesRow,
    known: Map<string, ReadonlySet<number>>,
  ): Promise<Changed | null> {
    const instrument = await rowWith(sound, instruments, { instrument_id });
    if (instrument === null) return null;
    const { calendar, assetSchema } = await calendars.read(sound, instrument);
    const market = this.#markets.get(`${assetSchema}:${instrument.country_iso_code}`);
    if (market === undefined) return null;
    const symbol = market.has(instrument.symbol) ? instrument.symbol : '*';
    const name = `${assetSchema}:${instrument.country_iso_code}:${symbol}`;
    const of = (one: string): ReadonlySet<number> => market.get(one) ?? new Set();
    const dates = known.get(name) ?? of('*').union(of(symbol));
    known.set(name, dates);
    return dates.size > 0 ? { calendar, dates } : null;
  }
}

/**
 * Whether a calendar decides when bars of a series close. A minute ends in the session that it begins in: sessions are of whole minutes.
 */
const isMovable = ({ row }: StoredSeries): boolean => row.interval !== '1M';

/**
 * Recomputes whether a series is off the grid, and which of its bars are unfinished, after a change of some dates. It reads the blocks
 * around them alone, unless the series was off the grid and no bar around them still is.
 */
async function followDates(
  series: StoredSeries,
  dates: ReadonlySet<number>,
  unfinished: RenewedUnfinished,
): Promise<void> {
  if (!isMovable(series)) return;
  const interval = series.row.interval as Interval;
  const held = daysWithin(interval, series.row, dates);
  if (held.length === 0) return;
  const ranges = bucketsAround(interval, held);
  const renewed = intervalMinutes(interval) === null ? series : await series.regrid(ranges);
  await unfinished.renew(renewed, { isDoubtful: (keyMs) => isNear(interval, keyMs, dates), ranges });
}

/** Damage to one series stops no other, and no override. */
async function passDamage(step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
  }
}

/** The series of an instrument and of its options that have bars. */
async function* seriesOf(
  writer: Writer,
  sound: Reader,
  instrument: Instrument,
  calendars: Calendars,
): AsyncGenerator<StoredSeries> {
  const of = async function* (instrument_id: number): AsyncGenerator<StoredSeries> {
    const stored = await rowWith(sound, instruments, { instrument_id });
    if (stored === null) return;
    const rows = await seriesWithBars(sound, stored);
    if (rows.length === 0) return;
    const calendar = await calendars.of(sound, stored);
    for (const row of rows) yield new StoredSeries(writer, row, calendar);
  };
  yield* of(instrument.instrument_id);
  for await (const instrument_id of optionsOf(sound, instrument)) yield* of(instrument_id);
}

/**
 * Recomputes what depends on the calendar overrides of a store, where an older Bourse imported them, in one write. It gives the bars
 * that this hides; null where nothing was due.
 */
export async function followOldOverrides(store: Store, tell: Tell): Promise<HiddenReport | null> {
  const isDue = async (reader: Reader): Promise<boolean> => {
    const [sound, order] = [reader.sound(ignoreDamage), [['country_iso_code', 'asc'] as const]];
    if ((await rowWith(sound, counters, FOLLOWED)) !== null) return false;
    return (await sound.rows(holidays, { order, limit: 1 })).length > 0;
  };
  if (!(await store.snapshot(isDue))) return null;
  tell('recomputing by the imported holidays which bars are on the session grid, complete and finished');
  return store.write(async (writer) => {
    if (!(await isDue(writer))) return null;
    const overrides = new ChangedCalendars();
    for await (const row of allRows(writer.sound(ignoreDamage), holidays)) overrides.add(holidays, null, row);
    const hidden = new HiddenBars();
    await overrides.settle(writer, hidden);
    return hidden.report(writer);
  });
}
