// The raw closes of an instrument's sessions, as stored in DAY bars or derived from finer ones (contract 8.2).
import { DAY_MS, END_DAY, FIRST_MS } from '../base/instant.ts';
import { interval } from '../contract/interval.ts';
import type { Reader } from '../store/store.ts';
import { barStream } from './bar-stream.ts';
import type { StoredInstrument } from './series.ts';

type Close = { readonly day: number; readonly price: number };

/** Closes known at one moment; series of adjusted prices are left out. */
export class RawCloses {
  readonly #reader: Reader;
  readonly #stored: StoredInstrument;
  readonly #nowMs: number;
  #newest: Close | null | undefined;

  constructor(reader: Reader, stored: StoredInstrument, nowMs: number) {
    this.#reader = reader;
    this.#stored = { ...stored, series: stored.series.filter(({ prices }) => prices === 'raw') };
    this.#nowMs = nowMs;
  }

  /** The close before a day. Null before the first bar, and after the last one if sessions in between have no stored bars. */
  async before(day: number): Promise<number | null> {
    if (this.#stored.series.length === 0) return null;
    const last = await this.#lastBefore(day);
    if (last === null) return null;
    // The last bar may be that of a closed date, after the last session.
    const session = this.#stored.calendar.sessionOnOrBefore(day - 1);
    if (session !== null && session.day <= last.day) return last.price;
    this.#newest ??= await this.#lastBefore(END_DAY);
    return this.#newest !== null && this.#newest.day >= day ? last.price : null;
  }

  async #lastBefore(day: number): Promise<Close | null> {
    const { calendar } = this.#stored;
    const stream = barStream(
      { reader: this.#reader, calendar, interval: interval('DAY'), extended: false, rawOnly: false },
      this.#stored,
      { fromMs: FIRST_MS, toMs: day * DAY_MS, descending: true },
      this.#nowMs,
    );
    const step = await stream.next(1);
    if (step === null) return null;
    const at = step.bars.count - 1;
    return { day: step.day[at]!, price: step.bars.close[at]! };
  }
}
