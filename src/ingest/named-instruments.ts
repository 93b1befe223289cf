// Instruments that rows of other datasets name: made where the store does not know them (contract 8.9, 11).
import { findMarket } from '../calendar/calendar.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { instruments } from '../datasets/reference.ts';
import type { Writer } from '../store/store.ts';
import { changeRow } from './journal.ts';
import { type InstrumentName, newInstrument } from './load.ts';

/** An instrument as a row names it. */
export type NamedInstrument = InstrumentName & {
  /** Null where the file says nothing of it. */
  readonly exchange: string | null;
};

/** The instruments that one run names. */
export class NamedInstruments {
  /** Instruments that this run has made. */
  made = 0;
  readonly #writer: Writer;
  readonly #runId: number;
  readonly #known = new Set<string>();

  constructor(writer: Writer, runId: number) {
    this.#writer = writer;
    this.#runId = runId;
  }

  /** Makes sure that there is an instrument of the name; one that is made gets the defaults of its market. */
  async ensure({ exchange, ...name }: NamedInstrument): Promise<void> {
    const key = Object.values(name).join(':');
    if (this.#known.has(key)) return;
    this.#known.add(key);
    const found = await this.#writer.rows(instruments, { where: name, order: [['symbol', 'asc']], limit: 1 });
    if (found.length > 0) return;
    const market = findMarket(name.asset_schema as AssetSchema, name.country_iso_code);
    const row = {
      ...(await newInstrument(this.#writer, name)),
      exchange: exchange ?? market?.exchange ?? null,
    };
    await changeRow(this.#writer, this.#runId, instruments, null, row);
    this.made++;
  }
}
