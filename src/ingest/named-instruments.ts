// The instruments that rows of other datasets name: those that the store does not know are made, those that it knows are kept (contract 11).
import { findMarket } from '../calendar/calendar.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import type { Writer } from '../store/store.ts';
import { changeRow } from './journal.ts';
import { type InstrumentName, newInstrument } from './load.ts';

type Instrument = RowOf<typeof instruments>;

/** The instruments of one run. */
export class NamedInstruments {
  /** Instruments that the run has made. */
  created = 0;
  readonly #writer: Writer;
  readonly #runId: number;
  /** Those that the row at hand names and that were there as they are. */
  #named: Instrument[] = [];

  constructor(writer: Writer, runId: number) {
    this.#writer = writer;
    this.#runId = runId;
  }

  /** The instrument of a name, made with its market's defaults where the store does not know it; `said` is what the row says of it. */
  async of(name: InstrumentName, said: Partial<Instrument> = {}): Promise<Instrument> {
    const { asset_schema, country_iso_code, symbol } = name;
    const where = { asset_schema, country_iso_code, symbol };
    const [known] = await this.#writer.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 });
    const row = { ...(known ?? (await this.#make(where))), ...said };
    if (known === undefined) this.created++;
    if (known === undefined || Object.keys(said).some((field) => differs(known, row, field)))
      await changeRow(this.#writer, this.#runId, instruments, known ?? null, row);
    else this.#named.push(known);
    return row;
  }

  async #make(name: InstrumentName): Promise<Instrument> {
    const market = findMarket(name.asset_schema as AssetSchema, name.country_iso_code);
    return { ...(await newInstrument(this.#writer, name)), exchange: market?.exchange ?? null };
  }

  /**
   * Tells what became of the row at hand. Where it was written the run needs the instruments that it names: the journal says
   * so, and they outlive the undoing of the run that made them.
   */
  async settle(isWritten: boolean): Promise<void> {
    for (const known of isWritten ? this.#named : [])
      await changeRow(this.#writer, this.#runId, instruments, known, known);
    this.#named = [];
  }
}

const differs = (known: Instrument, row: Instrument, field: string): boolean =>
  JSON.stringify(known[field as 'name']) !== JSON.stringify(row[field as 'name']);
