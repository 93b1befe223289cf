// The instruments of the bars that an import loads: stored ones, and new ones until their first bar.
import { findMarket } from '../calendar/calendar.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { type Instrument, type InstrumentName, instruments } from '../datasets/reference.ts';
import { changeRow, rowKeyOf } from '../history/journal.ts';
import { type KnownName, lookUpNames } from '../history/known-names.ts';
import { newInstrument } from '../history/new-instrument.ts';
import type { PresentRun } from '../history/run.ts';
import { instrumentNamed } from '../store/instrument-terms.ts';
import type { Writer } from '../store/store.ts';

/** An instrument as a row names it, and its exchange, null where the file names none. */
type NamedInstrument = InstrumentName & { readonly exchange: string | null };

/** The instruments of one import. */
export class LoadedInstruments {
  readonly #writer: Writer;
  readonly #run: PresentRun;
  /** Instruments that the store does not know, until their first bar. */
  readonly #unwritten = new Map<string, Instrument>();
  /** What the store knows of names that come next, by row key: for the first use of each, because this import may change it. */
  readonly #expected = new Map<string, KnownName>();
  /** The first identifier that this import gave to a new instrument: those from it on have no stored series. */
  #freshFrom = Number.POSITIVE_INFINITY;

  constructor(writer: Writer, run: PresentRun) {
    this.#writer = writer;
    this.#run = run;
  }

  /** Looks up names that come next, together; what is known of each, by row key. */
  async expect(names: readonly InstrumentName[]): Promise<ReadonlyMap<string, KnownName>> {
    const found = await lookUpNames(this.#writer, names);
    for (const [key, known] of found) this.#expected.set(key, known);
    return found;
  }

  /** The instrument of a name, with its exchange; new where the store does not know it. */
  async of(name: NamedInstrument): Promise<Instrument> {
    const { asset_schema, country_iso_code, symbol } = name;
    const where = { asset_schema, country_iso_code, symbol };
    const key = rowKeyOf(instruments, where);
    const expected = this.#expected.get(key);
    this.#expected.delete(key);
    const stored = expected === undefined ? await instrumentNamed(this.#writer, where) : expected.instrument;
    const known = stored ?? this.#unwritten.get(key);
    const exchange =
      name.exchange ??
      known?.exchange ??
      findMarket(asset_schema as AssetSchema, country_iso_code, known?.calendar_key)?.exchange ??
      null;
    if (known !== undefined && known.exchange === exchange) return known;
    const row = { ...(known ?? (await this.#made(where, expected?.deleted))), exchange };
    if (stored === null) this.#unwritten.set(key, row);
    else await changeRow(this.#writer, this.#run.runId, instruments, stored, row);
    return row;
  }

  async #made(name: InstrumentName, deleted: Instrument | null | undefined): Promise<Instrument> {
    const made = await newInstrument(this.#writer, name, this.#run.counters, { deleted });
    if (deleted === null) this.#freshFrom = Math.min(this.#freshFrom, made.instrument_id);
    return made;
  }

  /** Whether this import has made an instrument that never was before. */
  isFresh({ instrument_id }: Instrument): boolean {
    return instrument_id >= this.#freshFrom;
  }

  /** Writes an instrument that is new, and says whether it was. Only a bar makes it; a refused row does not. */
  async write(name: InstrumentName): Promise<boolean> {
    if (this.#unwritten.size === 0) return false;
    const key = rowKeyOf(instruments, name);
    const row = this.#unwritten.get(key);
    if (row === undefined) return false;
    this.#unwritten.delete(key);
    await changeRow(this.#writer, this.#run.runId, instruments, null, row);
    return true;
  }
}
