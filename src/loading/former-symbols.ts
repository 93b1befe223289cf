// Whose a row is that names an instrument by a symbol: who had it on the row's day (contract 9.6).
import { limits } from '../contract/limits.ts';
import { instruments } from '../datasets/reference.ts';
import { rowKeyOf } from '../history/journal.ts';
import type { InstrumentName } from '../history/new-instrument.ts';
import { type FormerBearer, formerBearers } from '../store/instrument-terms.ts';
import type { RowReader } from '../store/store.ts';

/** Symbols on days, as the instruments stood when a run began to name them. */
export class FormerSymbols {
  readonly #reader: RowReader;
  readonly #bearers = new Map<string, readonly FormerBearer[]>();

  constructor(reader: RowReader) {
    this.#reader = reader;
  }

  /** The present symbol of the instrument that had a name on a day: the same one where no other had it then. */
  async presentOf(name: InstrumentName, day: number): Promise<string> {
    const bearers = await this.#bearersOf(name);
    return bearers.find(({ fromDay, toDay }) => fromDay <= day && day <= toDay)?.symbol ?? name.symbol;
  }

  async #bearersOf(name: InstrumentName): Promise<readonly FormerBearer[]> {
    const key = rowKeyOf(instruments, name);
    const known = this.#bearers.get(key);
    if (known !== undefined) return known;
    if (this.#bearers.size >= limits.instrumentCacheMax) this.#bearers.clear();
    const bearers = await formerBearers(this.#reader, name);
    this.#bearers.set(key, bearers);
    return bearers;
  }
}
