// The raw closes of an instrument's sessions, as stored in DAY bars or derived from finer ones (contract
// 8.2).
import { DAY_MS, END_DAY, FIRST_DAY } from '../base/instant.ts';
import { keysInSession } from '../market/calendar/bar-end.ts';
import type { Reader } from '../store/store.ts';
import { barStream } from './bar-stream.ts';
import { partsOf } from './best-series.ts';
import type { StreamRange } from './cursor.ts';
import { candidates, DAY } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

type Close = { readonly day: number; readonly price: number };

/** Closes known at one moment; series of adjusted prices are left out. */
export class RawCloses {
  readonly #stored: StoredInstrument;
  readonly #context: StreamContext;
  readonly #nowMs: number;
  #newest: Close | null | undefined;

  constructor(reader: Reader, stored: StoredInstrument, nowMs: number) {
    this.#stored = { ...stored, series: stored.series.filter(({ prices }) => prices === 'raw') };
    const { calendar } = stored;
    this.#context = { reader, calendar, interval: DAY, extended: false, rawOnly: false, onUse: null };
    this.#nowMs = nowMs;
  }

  /**
   * The close before a day. Null before the first bar; where a later session has stored bars of which none is
   * served, because they are not all of it; and after the last bar if sessions in between have no stored
   * bars.
   */
  async before(day: number): Promise<number | null> {
    if (this.#stored.series.length === 0) return null;
    const last = await this.#lastOf(FIRST_DAY, day);
    if (last === null) return null;
    const sessionDay = this.#stored.calendar.sessionOnOrBefore(day - 1)?.day ?? day;
    // The last bar may be that of a closed date, after the last session.
    if (last.day >= sessionDay) return last.price;
    if (await this.#isHidden(last.day + 1, day)) return null;
    this.#newest ??= await this.#lastOf(FIRST_DAY, END_DAY);
    return this.#newest !== null && this.#newest.day >= day ? last.price : null;
  }

  /** The last close from one day up to another. */
  async #lastOf(fromDay: number, day: number): Promise<Close | null> {
    const step = await barStream(this.#context, this.#stored, rangeOf(fromDay, day), this.#nowMs).next(1);
    if (step === null) return null;
    const at = step.bars.count - 1;
    return { day: step.day[at]!, price: step.bars.close[at]! };
  }

  /** Whether a session from one day up to another has stored bars. The days have none that is served. */
  async #isHidden(fromDay: number, day: number): Promise<boolean> {
    for (const series of candidates(this.#stored, DAY)) {
      if ((await partsOf(this.#context, series, rangeOf(fromDay, day)).next(1)) !== null) return true;
      if (this.#hasUnfinished(series, fromDay, day)) return true;
    }
    return false;
  }

  /** Whether bars of the sessions from one day up to another are stored that are not finished. */
  #hasUnfinished({ interval, unfinished }: Series, fromDay: number, day: number): boolean {
    if (unfinished.length === 0) return false;
    const { calendar } = this.#context;
    return calendar.sessions(fromDay, day).some((session) => {
      const { fromMs, toMs } = keysInSession(calendar, interval, session);
      return unfinished.some(({ first_ms, last_ms }) => first_ms < toMs && last_ms >= fromMs);
    });
  }
}

const rangeOf = (fromDay: number, toDay: number): StreamRange => ({
  ...{ fromMs: fromDay * DAY_MS, toMs: toDay * DAY_MS, descending: true },
});
