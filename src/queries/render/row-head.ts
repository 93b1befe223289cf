// The part of a row of bars between its numbers: of one length in all rows of an instrument, copied from a
// template.
import { DAY_MS, FIRST_DAY, MINUTE_MS, SECOND_MS } from '../../base/instant.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import type { Zone } from '../../market/calendar/zone.ts';
import { writeDate, writePair } from './number-column.ts';
import { Constant } from './sink.ts';

/** The templates of the moments of a bar; the digits of dates and times are written over theirs. */
const INSTANT_TEMPLATE = '0000-00-00T00:00:00+00:00';
const DATE_TEMPLATE = '0000-00-00';

/** The places of the time in an instant, of its seconds, and of its offset. */
const TIME_AT = 'YYYY-MM-DD'.length;
const SECONDS_AT = 'YYYY-MM-DDTHH:MM:'.length;
const OFFSET_AT = 'YYYY-MM-DDTHH:MM:SS'.length;

const two = (value: number): string => String(value).padStart(2, '0');

/** `T00:00:0` to `T23:59:0`, for every minute of a day: a word each. */
const minuteWords = new Float64Array(
  new TextEncoder().encode(
    Array.from(
      { length: 1440 },
      (_, minute) => `T${two(Math.floor(minute / 60))}:${two(minute % 60)}:0`,
    ).join(''),
  ).buffer,
);

/** Before the first row: the date of no bar, in no zone. */
const NO_DAY = FIRST_DAY - 2;

const [PLUS, MINUS] = [43, 45];

/** The place of an instant in a row. */
class InstantPlace {
  readonly #at: number;
  readonly #template: DataView;
  readonly #values: Float64Array;
  readonly #zone: Zone | null;
  #day = NO_DAY;
  /** Local time minus UTC, and the span in which it is this. */
  #offsetMs = 0;
  #fromMs: number;
  #toMs = Number.POSITIVE_INFINITY;

  constructor(at: number, template: DataView, values: Float64Array, zone: Zone | null) {
    this.#at = at;
    this.#template = template;
    this.#values = values;
    this.#zone = zone;
    this.#fromMs = zone === null ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  /** Writes the instant of a row, of whole seconds, over that of the template in a row that begins at `at`. */
  write(view: DataView, at: number, row: number): void {
    const ms = this.#values[row]!;
    const place = at + this.#at;
    if (ms < this.#fromMs || ms >= this.#toMs) this.#move(view, place, ms);
    const local = ms + this.#offsetMs;
    const day = Math.floor(local / DAY_MS) | 0;
    if (day !== this.#day) {
      this.#day = day;
      writeDate(this.#template, this.#at, day);
      writeDate(view, place, day);
    }
    const time = (local - day * DAY_MS) | 0;
    const minute = (time / MINUTE_MS) | 0;
    view.setFloat64(place + TIME_AT, minuteWords[minute]!, true);
    const seconds = ((time - minute * MINUTE_MS) / SECOND_MS) | 0;
    if (seconds !== 0) writePair(view, place + SECONDS_AT, seconds);
  }

  /**
   * The clocks have changed. An offset is written in minutes, and the local time goes by it: so the text is
   * the very instant where the clocks of old had seconds too.
   */
  #move(view: DataView, place: number, ms: number): void {
    const { fromMs, toMs, offsetMs } = this.#zone!.stretchAt(ms);
    [this.#fromMs, this.#toMs] = [fromMs, toMs];
    const minutes = Math.round(offsetMs / MINUTE_MS);
    this.#offsetMs = minutes * MINUTE_MS;
    writeOffset(this.#template, this.#at, minutes);
    writeOffset(view, place, minutes);
  }
}

/** Writes an offset over that of an instant. */
function writeOffset(view: DataView, instantAt: number, minutes: number): void {
  const size = Math.abs(minutes);
  view.setInt8(instantAt + OFFSET_AT, minutes < 0 ? MINUS! : PLUS!);
  writePair(view, instantAt + OFFSET_AT + 1, Math.floor(size / 60));
  writePair(view, instantAt + OFFSET_AT + 4, size % 60);
}

/** The place of a date in a row. */
class DatePlace {
  readonly #at: number;
  readonly #template: DataView;
  readonly #values: Int32Array;
  #day = NO_DAY;

  constructor(at: number, template: DataView, values: Int32Array) {
    this.#at = at;
    this.#template = template;
    this.#values = values;
  }

  write(view: DataView, at: number, row: number): void {
    const day = this.#values[row]!;
    if (day === this.#day) return;
    this.#day = day;
    writeDate(this.#template, this.#at, day);
    writeDate(view, at + this.#at, day);
  }
}

/** A moment of a bar, by its field. */
export type Moment = { readonly field: 'datetime' | 'close_datetime' | 'session_date' };

/** Texts and moments that follow each other in the rows of some bars. */
export class RowHead {
  readonly #template: Constant;
  #open: InstantPlace | null = null;
  #close: InstantPlace | null = null;
  #date: DatePlace | null = null;

  /** `zone`: in whose local time instants are; null for UTC. */
  constructor(items: readonly (string | Moment)[], { openMs, closeMs, day }: TimedBars, zone: Zone | null) {
    const texts = items.map((item) => {
      if (typeof item === 'string') return item;
      return item.field === 'session_date' ? DATE_TEMPLATE : INSTANT_TEMPLATE;
    });
    this.#template = new Constant(texts.join(''));
    const template = new DataView(this.#template.words.buffer);
    let at = 0;
    for (const [index, item] of items.entries()) {
      const field = typeof item === 'string' ? null : item.field;
      if (field === 'datetime') this.#open = new InstantPlace(at, template, openMs, zone);
      if (field === 'close_datetime') this.#close = new InstantPlace(at, template, closeMs, zone);
      if (field === 'session_date') this.#date = new DatePlace(at, template, day);
      at += Buffer.byteLength(texts[index]!);
    }
  }

  /** Bytes in each row. */
  get bytesMax(): number {
    return this.#template.length;
  }

  /** Writes those of a row; the place after them. Up to seven bytes more are written. */
  write(view: DataView, at: number, row: number): number {
    const end = this.#template.write(view, at);
    this.#open?.write(view, at, row);
    this.#close?.write(view, at, row);
    this.#date?.write(view, at, row);
    return end;
  }
}
