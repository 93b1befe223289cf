// The instruments that the rows of one run name: unknown ones are made, known ones are kept (contract 11).
import type { AssetSchema } from '../../contract/identifiers.ts';
import { limits } from '../../contract/limits.ts';
import { findMarket } from '../../market/calendar/calendar.ts';
import { changeRows } from '../../runs/journal.ts';
import { type KnownName, lookUpNames, nameOf, newInstrument } from '../../runs/new-instrument.ts';
import { instrumentNamed, refuseLost } from '../../store/instrument-terms.ts';
import { type Instrument, type InstrumentName, instruments } from '../../store/schema/reference.ts';
import type { PresentRun } from './run.ts';

/** The instruments of one run. */
export class RunInstruments {
  /** Instruments that the run has made. */
  created = 0;
  protected readonly run: PresentRun;
  /** Instruments that the journal says this run needs: often a few that many rows name. */
  readonly #needed = new Map<string, Instrument>();
  /** The numbers of all of these. */
  readonly #recorded = new Set<number>();
  /** The store's instruments for the names that come next, by name, until the run changes them. */
  #known: Map<string, KnownName> = new Map();
  /** Known instruments that the present row names. */
  #named: Instrument[] = [];
  /** Rows that are recorded and not written yet, by their numbers. */
  readonly #unwritten = new Map<number, Parameters<typeof changeRows>[3][number]>();
  /** The first identifier that the run gave to an instrument that never was before. */
  #freshFrom = Number.POSITIVE_INFINITY;

  constructor(run: PresentRun) {
    this.run = run;
  }

  /**
   * Looks up names that come next, together; what is known of each, by name. A damaged row among them is
   * met when its name is used.
   */
  async lookUp(names: readonly InstrumentName[]): Promise<ReadonlyMap<string, KnownName>> {
    this.#known = await lookUpNames(this.run.writer, names);
    return this.#known;
  }

  /**
   * True if the run has written the instrument of a name, or noted that it needs it: then it knows its row.
   */
  has(name: InstrumentName): boolean {
    return this.#needed.has(nameOf(name));
  }

  /** The instrument of a name, as the run leaves it; null where there is none. @throws DamagedData */
  async find(name: InstrumentName): Promise<Instrument | null> {
    const key = nameOf(name);
    const known = this.#needed.get(key) ?? this.#known.get(key)?.instrument;
    return known === undefined ? instrumentNamed(this.run.writer, name) : known;
  }

  /**
   * A new instrument with nothing but its name. @throws DamagedData where its row is lost: so is its
   * identifier
   */
  async made({ asset_schema, country_iso_code, symbol }: InstrumentName): Promise<Instrument> {
    const name = { asset_schema, country_iso_code, symbol };
    const found = this.#known.get(nameOf(name));
    if (found === undefined) await refuseLost(this.run.writer, name);
    if (findMarket(asset_schema as AssetSchema, country_iso_code) === null)
      this.run.unknownMarkets.add(`${asset_schema}:${country_iso_code}`);
    const made = await newInstrument(this.run.writer, name, this.run.counters, found);
    if (found?.deleted === null) this.#freshFrom = Math.min(this.#freshFrom, made.instrument_id);
    return made;
  }

  /** True for an instrument that never was before this run: it has no stored series. */
  isFresh({ instrument_id }: Instrument): boolean {
    return instrument_id >= this.#freshFrom;
  }

  /**
   * The instrument of a name, new with its market's defaults where the store does not know it. `given` are
   * the row's fields of it; `exchange` is where the row was traded, and does not change a known one.
   */
  async of(
    name: InstrumentName,
    given: Partial<Instrument> = {},
    exchange: string | null = null,
  ): Promise<Instrument> {
    const known = await this.find(name);
    if (known !== null && !Object.keys(given).some((field) => differs(known, given, field))) {
      this.#named.push(known);
      return known;
    }
    const market = findMarket(name.asset_schema as AssetSchema, name.country_iso_code);
    const before = known ?? { ...(await this.made(name)), exchange: exchange ?? market?.exchange ?? null };
    const row = { ...before, ...given };
    await this.record(known, row);
    return row;
  }

  /** Replaces a row, null for none, and records that in the journal: `writeRecorded` writes both. */
  protected async record(before: Instrument | null, row: Instrument): Promise<void> {
    if (before === null) this.created++;
    const { instrument_id } = row;
    const isRecorded = this.#recorded.has(instrument_id);
    this.#unwritten.set(instrument_id, {
      before,
      isRecorded,
      ...this.#unwritten.get(instrument_id),
      after: row,
    });
    this.#recorded.add(instrument_id);
    this.#known.delete(nameOf(row));
    if (this.#needed.size >= limits.instrumentCacheMax) {
      await this.writeRecorded();
      this.#needed.clear();
    }
    this.#needed.set(nameOf(row), row);
  }

  /** Writes the rows that were recorded, together, with their entries in the journal. */
  async writeRecorded(): Promise<void> {
    await changeRows(this.run.writer, this.run.runId, instruments, [...this.#unwritten.values()]);
    this.#unwritten.clear();
  }

  /** Records that the run needs a known instrument: it outlives an undo of the run that made it. */
  protected async need(known: Instrument): Promise<void> {
    if (!this.#recorded.has(known.instrument_id)) await this.record(known, known);
  }

  /** Ends the present row. Where it was written, the run needs the instruments that it names. */
  async settle(isWritten: boolean): Promise<void> {
    for (const known of isWritten ? this.#named : []) await this.need(known);
    this.#named = [];
  }
}

const differs = (known: Instrument, given: Partial<Instrument>, field: string): boolean =>
  JSON.stringify(known[field as 'name']) !== JSON.stringify(given[field as 'name']);
