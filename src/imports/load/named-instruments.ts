// The instruments that rows of other datasets name: unknown ones are made, known ones are kept (contract 11).

import type { AssetSchema } from '../../contract/identifiers.ts';
import { limits } from '../../contract/limits.ts';
import { findMarket } from '../../market/calendar/calendar.ts';
import { changeRowFirst, putRow } from '../../runs/journal.ts';
import { type Counters, type KnownName, lookUpNames, newInstrument } from '../../runs/new-instrument.ts';
import { instrumentNamed } from '../../store/instrument-terms.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import { type Instrument, type InstrumentName, instruments } from '../../store/schema/reference.ts';
import type { Writer } from '../../store/store.ts';
import type { PresentRun } from './run.ts';

/** The instruments of one run. */
export class NamedInstruments {
  /** Instruments that the run has made. */
  created = 0;
  readonly #writer: Writer;
  readonly #runId: number;
  readonly #counters: Counters;
  /** Instruments that the journal says this run needs: often a few that many rows name. */
  readonly #needed = new Map<string, Instrument>();
  /** The numbers of all of these. */
  readonly #recorded = new Set<number>();
  /** What the store knows of names that come next, by row key, until the run changes it. */
  #known: Map<string, KnownName> = new Map();
  /** Known instruments that the present row names. */
  #named: Instrument[] = [];

  constructor(writer: Writer, { runId, counters }: Pick<PresentRun, 'runId' | 'counters'>) {
    this.#writer = writer;
    this.#runId = runId;
    this.#counters = counters;
  }

  /** Looks up names that come next, together. A damaged row among them is met when its name is used. */
  async lookUp(names: readonly InstrumentName[]): Promise<void> {
    const unknown = new Map(names.map((name) => [rowKeyOf(instruments, name), name]));
    for (const key of this.#needed.keys()) unknown.delete(key);
    this.#known = unknown.size < 2 ? new Map() : await lookUpNames(this.#writer, [...unknown.values()]);
  }

  /** The looked-up row of a name; undefined where none was looked up, or damage was met. */
  known(name: InstrumentName): KnownName | undefined {
    return this.#known.get(rowKeyOf(instruments, name));
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
    const { asset_schema, country_iso_code, symbol } = name;
    const where = { asset_schema, country_iso_code, symbol };
    const key = rowKeyOf(instruments, where);
    const found = this.#known.get(key);
    const needed = this.#needed.get(key);
    const known = needed ?? (found ?? { instrument: await instrumentNamed(this.#writer, where) }).instrument;
    if (known !== null && !Object.keys(given).some((field) => differs(known, given, field))) {
      if (!this.#recorded.has(known.instrument_id)) this.#named.push(known);
      return known;
    }
    const market = findMarket(asset_schema as AssetSchema, country_iso_code);
    const row = {
      ...(known ?? {
        ...(await newInstrument(this.#writer, where, this.#counters, { deleted: found?.deleted })),
        exchange: exchange ?? market?.exchange ?? null,
      }),
      ...given,
    };
    if (known === null) this.created++;
    await this.#record(known, row);
    return row;
  }

  async #record(before: Instrument | null, row: Instrument): Promise<void> {
    if (this.#recorded.has(row.instrument_id)) await putRow(this.#writer, instruments, before, row);
    else await changeRowFirst(this.#writer, this.#runId, instruments, before, row);
    this.#recorded.add(row.instrument_id);
    this.#known.delete(rowKeyOf(instruments, row));
    if (this.#needed.size >= limits.instrumentCacheMax) this.#needed.clear();
    this.#needed.set(rowKeyOf(instruments, row), row);
  }

  /**
   * Ends the present row. Where it was written, the journal records that this run needs the instruments that
   * it names: they outlive an undo of the run that made them.
   */
  async settle(isWritten: boolean): Promise<void> {
    for (const known of isWritten ? this.#named : []) await this.#record(known, known);
    this.#named = [];
  }
}

const differs = (known: Instrument, given: Partial<Instrument>, field: string): boolean =>
  JSON.stringify(known[field as 'name']) !== JSON.stringify(given[field as 'name']);
