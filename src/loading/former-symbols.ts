// The present symbol of an instrument that a row names by the symbol of the row's day (contract 9.6).
import { limits } from '../contract/limits.ts';
import { type InstrumentName, instruments } from '../datasets/reference.ts';
import { bearerOn } from '../history/naming.ts';
import { expectBearers, type FormerBearer, formerBearers } from '../store/instrument-terms.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';

/** Symbols on days, as the instruments were when a run first named them. */
export class FormerSymbols {
  readonly #writer: Writer;
  readonly #bearers = new Map<string, readonly FormerBearer[]>();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Says which names come next: they are looked up together. */
  expect(names: readonly InstrumentName[]): Promise<void> {
    const unknown = new Map(names.map((name) => [rowKeyOf(instruments, name), name]));
    for (const key of this.#bearers.keys()) unknown.delete(key);
    return expectBearers(this.#writer, [...unknown.values()]);
  }

  /** The present symbol of the instrument that had a name on a day: the same one where no other had it then. */
  async presentOf(name: InstrumentName, day: number): Promise<string> {
    const key = rowKeyOf(instruments, name);
    let bearers = this.#bearers.get(key);
    if (bearers === undefined) {
      if (this.#bearers.size >= limits.instrumentCacheMax) this.#bearers.clear();
      bearers = await formerBearers(this.#writer, name);
      this.#bearers.set(key, bearers);
    }
    return bearerOn(bearers, day)?.symbol ?? name.symbol;
  }
}
