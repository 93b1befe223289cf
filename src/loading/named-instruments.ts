// The instruments that rows of other datasets name: those that the store does not know are made, those that it knows are kept (contract 11).
import { findMarket } from '../calendar/calendar.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { limits } from '../contract/limits.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import { changeRow, rowKeyOf } from '../history/journal.ts';
import { type InstrumentName, newInstrument } from '../history/new-instrument.ts';
import type { Writer } from '../store/store.ts';

type Instrument = RowOf<typeof instruments>;

/** An instrument as a row names it. */
export type NamedInstrument = InstrumentName & {
  /** Of one that is made; null where the file says nothing of it. */
  readonly exchange: string | null;
};

/** The instruments of one run. */
export class NamedInstruments {
  /** Instruments that the run has made. */
  created = 0;
  readonly #writer: Writer;
  readonly #runId: number;
  /** Those of which the journal says that the run needs them: mostly a few that many rows name. */
  readonly #needed = new Map<string, Instrument>();
  /** Those that the row at hand names and that were there as they are. */
  #named: Instrument[] = [];

  constructor(writer: Writer, runId: number) {
    this.#writer = writer;
    this.#runId = runId;
  }

  /**
   * The instrument of a name, made with its market's defaults where the store does not know it; `said` is what the row says of
   * it, `exchange` where the row was traded: of a known one that changes nothing.
   */
  async of(
    name: InstrumentName,
    said: Partial<Instrument> = {},
    exchange: string | null = null,
  ): Promise<Instrument> {
    const { asset_schema, country_iso_code, symbol } = name;
    const where = { asset_schema, country_iso_code, symbol };
    const needed = this.#needed.get(rowKeyOf(instruments, where));
    const known = needed ?? (await this.#find(where));
    if (known !== null && !Object.keys(said).some((field) => differs(known, said, field))) {
      if (needed === undefined) this.#named.push(known);
      return known;
    }
    const row = { ...(known ?? (await this.#make(where, exchange))), ...said };
    if (known === null) this.created++;
    await this.#record(known, row);
    return row;
  }

  async #find(where: InstrumentName): Promise<Instrument | null> {
    const [known] = await this.#writer.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 });
    return known ?? null;
  }

  async #make(name: InstrumentName, exchange: string | null): Promise<Instrument> {
    const market = findMarket(name.asset_schema as AssetSchema, name.country_iso_code);
    return { ...(await newInstrument(this.#writer, name)), exchange: exchange ?? market?.exchange ?? null };
  }

  async #record(before: Instrument | null, row: Instrument): Promise<void> {
    await changeRow(this.#writer, this.#runId, instruments, before, row);
    if (this.#needed.size >= limits.instrumentCacheMax) this.#needed.clear();
    this.#needed.set(rowKeyOf(instruments, row), row);
  }

  /**
   * Tells what became of the row at hand. Where it was written the run needs the instruments that it names: the journal says
   * so, and they outlive the undoing of the run that made them.
   */
  async settle(isWritten: boolean): Promise<void> {
    for (const known of isWritten ? this.#named : []) await this.#record(known, known);
    this.#named = [];
  }
}

const differs = (known: Instrument, said: Partial<Instrument>, field: string): boolean =>
  JSON.stringify(known[field as 'name']) !== JSON.stringify(said[field as 'name']);
