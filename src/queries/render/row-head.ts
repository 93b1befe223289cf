// The part of a row of bars before its numbers: of one length in all rows of an answer, copied from a
// template.

import { DAY_MS, FIRST_DAY, MINUTE_MS, SECOND_MS } from '../../base/instant.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import { writeDate, writePair } from './digits.ts';
import { Constant } from './sink.ts';

/** The templates of the moments of a bar; the digits of dates and times are written over theirs. */
const INSTANT_TEMPLATE = '0000-00-00T00:00:00+00:00';
const DATE_TEMPLATE = '0000-00-00';

/** Where a time begins in an instant, and its seconds. */
const TIME_AT = 'YYYY-MM-DD'.length;
const SECONDS_AT = 'YYYY-MM-DDTHH:MM:'.length;

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

/**
 * The texts before the moments of a row, in their order: open, close and, where rows have it, the date of the
 * session.
 */
type HeadTexts = readonly [beforeOpen: string, beforeClose: string, beforeDate: string | null, after: string];

/** The head of rows: texts, and a place for each moment. */
export class RowHead {
  readonly #template: Constant;
  /** The bytes of the template. */
  readonly #view: DataView;
  readonly #openAt: number;
  readonly #closeAt: number;
  /** -1 where rows have no date. */
  readonly #dateAt: number;
  // Before the first row they are those of no bar.
  #openDay = FIRST_DAY - 1;
  #closeDay = FIRST_DAY - 1;
  #day = FIRST_DAY - 1;

  constructor([beforeOpen, beforeClose, beforeDate, after]: HeadTexts) {
    const [instant, date] = [INSTANT_TEMPLATE, beforeDate === null ? '' : beforeDate + DATE_TEMPLATE];
    this.#template = new Constant(beforeOpen + instant + beforeClose + instant + date + after);
    this.#view = new DataView(this.#template.words.buffer);
    // Of the texts only the first may have characters of several bytes.
    const dateEnd = this.#template.length - after.length;
    this.#dateAt = beforeDate === null ? -1 : dateEnd - DATE_TEMPLATE.length;
    this.#closeAt = dateEnd - date.length - instant.length;
    this.#openAt = this.#closeAt - beforeClose.length - instant.length;
  }

  /** Bytes of each head. */
  get length(): number {
    return this.#template.length;
  }

  /** Writes the head of a row, whose instants are whole seconds; the place after it. */
  write(view: DataView, at: number, { openMs, closeMs, day }: TimedBars, row: number): number {
    const [open, close, date] = [openMs[row]!, closeMs[row]!, day[row]!];
    const openDay = Math.floor(open / DAY_MS) | 0;
    const closeDay = Math.floor(close / DAY_MS) | 0;
    if (openDay !== this.#openDay || closeDay !== this.#closeDay || date !== this.#day)
      this.#turn(openDay, closeDay, date);
    const end = this.#template.write(view, at);
    writeTime(view, at + this.#openAt, (open - openDay * DAY_MS) | 0);
    writeTime(view, at + this.#closeAt, (close - closeDay * DAY_MS) | 0);
    return end;
  }

  /** Writes dates into the template. */
  #turn(openDay: number, closeDay: number, day: number): void {
    [this.#openDay, this.#closeDay, this.#day] = [openDay, closeDay, day];
    writeDate(this.#view, this.#openAt, openDay);
    writeDate(this.#view, this.#closeAt, closeDay);
    if (this.#dateAt >= 0) writeDate(this.#view, this.#dateAt, day);
  }
}

/** Writes the time of a day over that of an instant. */
function writeTime(view: DataView, instantAt: number, ms: number): void {
  const minute = (ms / MINUTE_MS) | 0;
  view.setFloat64(instantAt + TIME_AT, minuteWords[minute]!, true);
  const seconds = ((ms - minute * MINUTE_MS) / SECOND_MS) | 0;
  if (seconds !== 0) writePair(view, instantAt + SECONDS_AT, seconds);
}
