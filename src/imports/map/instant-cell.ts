// Cells with a time -> instants or days: ISO 8601, epochs of any unit, local times of a named zone (contract
// 2.5, 11).
import {
  DAY_MS,
  dateOf,
  dayOf,
  END_MS,
  FIRST_MS,
  formatDay,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  weekdayOf,
} from '../../base/instant.ts';
import { findZone, type Zone } from '../../market/calendar/zone.ts';
import type { FieldRule, InstantRule } from '../../store/schema/dataset.ts';

/**
 * The kind of a cell: an instant, a local time without an offset (`ms` as if UTC), a date (`ms` is its
 * midnight), or none of these.
 */
export type CellKind = 'instant' | 'local' | 'date' | 'bad';

const [SPACE, PLUS, MINUS, POINT, SLASH, ZERO, COLON] = [32, 43, 45, 46, 47, 48, 58];
const [UPPER_T, UPPER_Z, OPENING, CLOSING, LOWER, LOWER_A, LOWER_M, LOWER_P] = [
  84, 90, 91, 93, 32, 97, 109, 112,
];

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= ZERO + 9;

/**
 * Epochs from these sizes on are milliseconds, microseconds and nanoseconds; smaller ones reach the year
 * 5138.
 */
const EPOCH_UNITS: readonly (readonly [from: number, perMs: number])[] = [
  [1e17, 1e6],
  [1e14, 1e3],
  [1e11, 1],
];

/**
 * Smaller epochs are on the first day of 1970. They are days of a spreadsheet, or zeros for a missing time.
 */
const EPOCH_LEAST = 1e5;

/**
 * Digits of dates with and without a clock reading, down to milliseconds: in the wrong unit each is an epoch
 * of the 1970s.
 */
const WRITTEN_DIGITS: readonly number[] = [8, 12, 14, 17];

/** The index of the minutes in `2025-03-03T09:30:00Z`. */
const MINUTES_AT = 14;

/** Longer cells are always parsed in full. */
const LAST_BYTES = 40;

/** An epoch with an exponent, as some programs write large numbers. */
const EXPONENT = /^(-?)(\d+)(?:\.(\d+))?[eE](\+?)(\d{1,2})$/;

/** Programs that cut numbers to so many digits, or fewer, write the sign of the exponent. */
const CUT_DIGITS = 7;

/** A date and time of RFC 2822, with the names of its zones. */
const RFC_2822 =
  /^(?:(Sun|Mon|Tue|Wed|Thu|Fri|Sat), ?)?(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d\d:\d\d(?::\d\d)?)(?: (\S+))?$/;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The names of offsets that RFC 2822 gives a meaning, and those of UTC in other times. */
export const namedOffsets: Readonly<Record<string, string>> = {
  ...{ UT: '+0000', UTC: '+0000', GMT: '+0000', Z: '+0000' },
  ...{ EST: '-0500', EDT: '-0400', CST: '-0600', CDT: '-0500' },
  ...{ MST: '-0700', MDT: '-0600', PST: '-0800', PDT: '-0700' },
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The usual form of a time that is written in another one: with blanks that join words, as mail and feeds
 * write it (RFC 2822), where the weekday must be that of the date, or as a whole number with an exponent
 * whose digits were not cut. Null for any other.
 */
function plainForm(written: string): string | null {
  const text = written.replaceAll(/[\u00a0\u2009\u202f]/g, ' ').trim();
  const [, weekday, day, month, year, clock, zone = ''] = RFC_2822.exec(text) ?? [];
  if (day !== undefined) {
    const number = dayOf(Number(year), MONTHS.indexOf(month!) + 1, Number(day));
    const isOther = weekday !== undefined && WEEKDAYS[weekdayOf(number) % 7] !== weekday;
    return isOther || dateOf(number).day !== Number(day)
      ? null
      : `${formatDay(number)} ${clock}${namedOffsets[zone] ?? zone}`;
  }
  const [, sign, whole, part = '', plus, exponent] = EXPONENT.exec(text) ?? [];
  if (whole === undefined) return text === written ? null : text;
  const digits = whole + part;
  const zeros = Number(exponent) - digits.length + whole.length;
  const isCut = zeros < 0 || (plus === '+' && digits.length <= CUT_DIGITS);
  return isCut ? null : sign + digits + '0'.repeat(zeros);
}

/** Parses cells one after the other; the result of the last one is in `kind` and `ms`. */
export class InstantCell {
  kind: CellKind = 'bad';
  ms = 0;
  /**
   * The date whose midnight an instant is written as, in its own offset, an epoch in UTC; NaN of other
   * instants.
   */
  #midnightDay = Number.NaN;
  #bytes: Uint8Array = new Uint8Array(0);
  /** A copy of the last cell that has minutes: the next chunk overwrites the bytes of a column. */
  readonly #last = new Uint8Array(LAST_BYTES);
  #lastLength = 0;
  #lastMinutes = 0;
  #dateWords = [-1, -1, -1];
  #dayMs = 0;
  /** True if the minutes of the cell are at `MINUTES_AT`, and nothing behind them depends on them. */
  #mayRepeat = false;

  /**
   * The date that the last cell names in a row of DAY, WEEK or MON (contract 3.10); null where it names an
   * instant within one.
   */
  get day(): number | null {
    if (this.kind === 'instant') return Number.isNaN(this.#midnightDay) ? null : this.#midnightDay;
    return this.kind !== 'bad' && this.ms % DAY_MS === 0 ? this.ms / DAY_MS : null;
  }

  /** Reads the cell `bytes[from .. to)`, without the blanks around it. */
  read(bytes: Uint8Array, start: number, end: number): void {
    let [from, to] = [start, end];
    while (from < to && bytes[from]! <= SPACE) from++;
    while (to > from && bytes[to - 1]! <= SPACE) to--;
    this.#bytes = bytes;
    if (this.#isSameButMinutes(bytes, from, to)) {
      const minutes = this.#two(from + MINUTES_AT);
      const ms = this.ms + (minutes - this.#lastMinutes) * MINUTE_MS;
      // The first minute of an hour may be midnight.
      if (minutes >= 1 && minutes <= 59 && ms >= FIRST_MS && ms < END_MS) {
        this.ms = ms;
        this.#lastMinutes = minutes;
        return;
      }
    }
    this.#midnightDay = Number.NaN;
    this.#mayRepeat = false;
    this.kind = this.#parse(from, to);
    if (this.kind === 'bad') this.kind = this.#parseOther(decoder.decode(bytes.subarray(from, to)));
    if (this.kind !== 'bad' && (this.ms < FIRST_MS || this.ms >= END_MS)) this.kind = 'bad';
    const length = to - from;
    const isTime = this.kind === 'instant' || this.kind === 'local';
    const mayRepeat = this.#mayRepeat && isTime && length <= LAST_BYTES && Number.isNaN(this.#midnightDay);
    this.#lastLength = mayRepeat ? length : 0;
    if (this.#lastLength === 0) return;
    this.#last.set(bytes.subarray(from, to));
    this.#lastMinutes = this.#two(from + MINUTES_AT);
  }

  /** Whether a cell is the last one but for its minutes, as most rows of a file of minutes are. */
  #isSameButMinutes(bytes: Uint8Array, from: number, to: number): boolean {
    if (to - from !== this.#lastLength || to === from) return false;
    const last = this.#last;
    for (let at = to - from - 1; at > MINUTES_AT + 1; at--) if (bytes[from + at] !== last[at]) return false;
    for (let at = MINUTES_AT - 1; at >= 0; at--) if (bytes[from + at] !== last[at]) return false;
    return true;
  }

  #parse(from: number, to: number): CellKind {
    const bytes = this.#bytes;
    if (to - from < 10) return this.#parseEpoch(from, to);
    const mark = bytes[from + 4]!;
    if (mark === MINUS || mark === POINT || mark === SLASH) {
      if (!this.#parseDate(from, mark)) return 'bad';
      this.#mayRepeat = bytes[from + MINUTES_AT - 1] === COLON;
      if (to - from > 10) return this.#parseClock(from + 10, to);
      this.ms = this.#dayMs;
      return 'date';
    }
    // `20250303 0930`: the year, month and day without marks, and a clock reading.
    const behind = bytes[from + 8];
    if (to - from > 10 && (behind === SPACE || behind === UPPER_T || behind === MINUS))
      return this.#setDay(this.#two(from), this.#two(from + 2), this.#two(from + 4), this.#two(from + 6))
        ? this.#parseClock(from + 8, to)
        : 'bad';
    return this.#parseEpoch(from, to);
  }

  /** Parses a text of another form. */
  #parseOther(written: string): CellKind {
    const text = plainForm(written);
    if (text === null) return 'bad';
    this.#bytes = encoder.encode(text);
    const kind = this.#parse(0, this.#bytes.length);
    this.#mayRepeat = false;
    return kind;
  }

  /** The number of two digits, or of the first one alone; -1 where there are none. */
  #two(at: number, isAlone = false): number {
    const tens = isAlone ? 0 : this.#bytes[at]! - ZERO;
    const ones = this.#bytes[isAlone ? at : at + 1]! - ZERO;
    return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
  }

  #parseDate(at: number, mark: number): boolean {
    const bytes = this.#bytes;
    const words = this.#dateWords;
    const first = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    const second = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
    const third = bytes[at + 8]! | (bytes[at + 9]! << 8);
    if (first === words[0] && second === words[1] && third === words[2]) return true;
    if (bytes[at + 7] !== mark) return false;
    if (!this.#setDay(this.#two(at), this.#two(at + 2), this.#two(at + 5), this.#two(at + 8))) return false;
    this.#dateWords = [first, second, third];
    return true;
  }

  /** Sets the date; false where there is none of these numbers, -1 for one that is not written. */
  #setDay(century: number, year: number, month: number, day: number): boolean {
    this.#dateWords = [-1, -1, -1];
    if (century < 0 || year < 0 || month < 1 || month > 12 || day < 1) return false;
    const number = dayOf(century * 100 + year, month, day);
    if (dateOf(number).day !== day || dateOf(number).month !== month) return false;
    this.#dayMs = number * DAY_MS;
    return true;
  }

  /**
   * Parses `T09:30:00.000`, `T0930` or ` 9:30 AM` with an offset or without one: seconds may be missing, and
   * so may the first digit of an hour before a colon. `-09:30:00` is a clock reading too, `-09:30` an offset.
   */
  #parseClock(start: number, to: number): CellKind {
    const bytes = this.#bytes;
    const isDashed = bytes[start] === MINUS && bytes[start + 3] === COLON && bytes[start + 6] === COLON;
    if ((bytes[start]! & ~LOWER) !== UPPER_T && bytes[start] !== SPACE && !isDashed) return 'bad';
    let at = start + 1;
    while (bytes[at] === SPACE && bytes[start] === SPACE) at++;
    const isShort = bytes[at + 1] === COLON;
    let hours = isShort ? this.#two(at, true) : this.#two(at);
    at += isShort ? 1 : 2;
    const hasColons = bytes[at] === COLON;
    if (hasColons) at++;
    const minutes = this.#two(at);
    at += 2;
    let seconds = 0;
    let fraction = 0;
    if (at < to && (hasColons ? bytes[at] === COLON : isDigit(bytes[at]))) {
      if (hasColons) at++;
      seconds = this.#two(at);
      at += 2;
      if (bytes[at] === POINT && at < to) {
        let scale = 100;
        const digitsAt = ++at;
        for (; at < to && isDigit(bytes[at]); at++, scale /= 10) fraction += (bytes[at]! - ZERO) * scale;
        if (at === digitsAt || at - digitsAt > 9) return 'bad';
      }
    }
    if (at > to || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return 'bad';
    if (seconds < 0 || seconds > 59) return 'bad';
    const halfAt = bytes[at] === SPACE ? at + 1 : at;
    const half = bytes[halfAt]! | LOWER;
    if (
      halfAt + 2 <= to &&
      (half === LOWER_A || half === LOWER_P) &&
      (bytes[halfAt + 1]! | LOWER) === LOWER_M &&
      (halfAt + 2 === to || bytes[halfAt + 2] === SPACE || bytes[halfAt + 2] === UPPER_Z)
    ) {
      if (hours < 1 || hours > 12) return 'bad';
      hours = (hours % 12) + (half === LOWER_P ? 12 : 0);
      at = halfAt + 2;
    }
    this.ms = this.#dayMs + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + fraction;
    if (this.ms === this.#dayMs) this.#midnightDay = this.#dayMs / DAY_MS;
    return this.#parseOffset(at, to);
  }

  /** Parses what is behind a clock reading: an offset, with the name of its zone in brackets, or a name. */
  #parseOffset(start: number, to: number): CellKind {
    if (start === to) return 'local';
    if (this.#bytes[to - 1] === CLOSING) return this.#parseZone(start, to);
    const bytes = this.#bytes;
    const at = bytes[start] === SPACE ? start + 1 : start;
    const sign = bytes[at];
    if ((sign! & ~LOWER) === UPPER_Z) return to === at + 1 ? 'instant' : 'bad';
    if (sign !== PLUS && sign !== MINUS) return this.#parseName(decoder.decode(bytes.subarray(at, to)));
    const minutesAt = bytes[at + 3] === COLON ? at + 4 : at + 3;
    const hours = this.#two(at + 1);
    // `+00` alone is an offset too.
    const minutes = to === at + 3 ? 0 : to === minutesAt + 2 ? this.#two(minutesAt) : -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return 'bad';
    this.ms -= (sign === MINUS ? -1 : 1) * (hours * HOUR_MS + minutes * MINUTE_MS);
    return 'instant';
  }

  /**
   * Places a clock reading in UTC, in a zone such as `US/Eastern`, which must have it once, or in New York by
   * the name of the offset that it must have then.
   */
  #parseName(name: string): CellKind {
    if (name === 'UTC' || name === 'GMT') return 'instant';
    if (name === 'EST' || name === 'EDT') {
      const offsetMs = (name === 'EST' ? -5 : -4) * HOUR_MS;
      this.ms -= offsetMs;
      return findZone('America/New_York')!.offsetAt(this.ms) === offsetMs ? 'instant' : 'bad';
    }
    const zone = /^[A-Z][A-Za-z]+\/[A-Z][\w/+-]+$/.test(name) ? findZone(name) : null;
    this.#mayRepeat = false;
    const reading = zone?.read(this.ms);
    if (reading?.kind !== 'one') return 'bad';
    this.ms = reading.ms;
    return 'instant';
  }

  /** Parses `-04:00[America/New_York]`, as Java writes it: the zone must have that offset then. */
  #parseZone(start: number, to: number): CellKind {
    const nameAt = this.#bytes.lastIndexOf(OPENING, to) + 1;
    const zone = nameAt <= start ? null : findZone(decoder.decode(this.#bytes.subarray(nameAt, to - 1)));
    this.#mayRepeat = false;
    const localMs = this.ms;
    if (zone === null || this.#parseOffset(start, nameAt - 1) !== 'instant') return 'bad';
    return zone.offsetAt(this.ms) === localMs - this.ms ? 'instant' : 'bad';
  }

  #parseEpoch(from: number, end: number): CellKind {
    const negative = end > from && this.#bytes[from] === MINUS;
    const start = negative ? from + 1 : from;
    let to = start;
    let value = 0;
    for (; to < end && isDigit(this.#bytes[to]); to++) value = value * 10 + (this.#bytes[to]! - ZERO);
    if (to === start || to - start > 19) return 'bad';
    if (to < end && !this.#isZeroPart(to, end)) return 'bad';
    if (!negative && (value < EPOCH_LEAST || this.#isWritten(from, to))) return 'bad';
    const perMs = EPOCH_UNITS.find(([least]) => value >= least)?.[1] ?? 1e-3;
    this.ms = ((negative ? -1 : 1) * value) / perMs;
    if (this.ms % DAY_MS === 0) this.#midnightDay = this.ms / DAY_MS;
    return 'instant';
  }

  /** Whether bytes are `.0`: a whole number, as programs write one that may have a fraction. */
  #isZeroPart(from: number, to: number): boolean {
    if (this.#bytes[from] !== POINT || to === from + 1) return false;
    for (let at = from + 1; at < to; at++) if (this.#bytes[at] !== ZERO) return false;
    return true;
  }

  /** Whether digits can be `YYYYMMDD`, `YYYYMMDDhhmm` and so on: probably a date, not an epoch. */
  #isWritten(from: number, to: number): boolean {
    if (!WRITTEN_DIGITS.includes(to - from)) return false;
    const century = this.#two(from);
    const [month, day] = [this.#two(from + 4), this.#two(from + 6)];
    if (century < 19 || century > 21 || month < 1 || month > 12 || day < 1 || day > 31) return false;
    const [hours = 0, minutes = 0, seconds = 0] = [8, 10, 12]
      .filter((at) => from + at + 2 <= to)
      .map((at) => this.#two(from + at));
    return hours < 24 && minutes < 60 && seconds < 60;
  }
}

/** Why a local time has no instant. */
type LocalProblem = 'skipped' | 'doubled';

/** The last instant of some rows, and whether it was before the one before it: null where none was. */
export class RowOrder {
  beforeMs = Number.NaN;
  isDescending: boolean | null = null;

  add(ms: number): void {
    if (ms === this.beforeMs) return;
    if (!Number.isNaN(this.beforeMs)) this.isDescending = ms < this.beforeMs;
    this.beforeMs = ms;
  }

  set({ beforeMs, isDescending }: RowOrder): void {
    this.beforeMs = beforeMs;
    this.isDescending = isDescending;
  }
}

/**
 * Finds the instants of local times, series by series. A skipped hour is refused. In a doubled hour, the
 * instant is the one that follows the row before it, or precedes it where rows descend; where the order shows
 * neither, it is refused (contract 2.5).
 */
export class LocalClock {
  readonly #zone: Zone;
  #day = Number.NaN;
  #steadyOffset = Number.NaN;

  constructor(zone: Zone) {
    this.#zone = zone;
  }

  /** The instant of a reading; `order` is that of the rows before it in the same series. */
  place(localMs: number, order: Pick<RowOrder, 'beforeMs' | 'isDescending'>): number | LocalProblem {
    const day = Math.floor(localMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      const offset = this.#zone.offsetAt((day - 1) * DAY_MS);
      // Transitions are months apart: equal offsets at both ends of four days mean that there is none
      // between.
      this.#steadyOffset = offset === this.#zone.offsetAt((day + 3) * DAY_MS) ? offset : Number.NaN;
    }
    if (!Number.isNaN(this.#steadyOffset)) return localMs - this.#steadyOffset;
    const reading = this.#zone.read(localMs);
    if (reading.kind === 'none') return 'skipped';
    return reading.kind === 'one' ? reading.ms : doubled(reading, order);
  }
}

/** The one of two readings that the order of the rows shows. */
function doubled(
  { ms, laterMs }: { readonly ms: number; readonly laterMs: number },
  { beforeMs, isDescending }: Pick<RowOrder, 'beforeMs' | 'isDescending'>,
): number | LocalProblem {
  if (beforeMs < ms) return ms;
  // A jump back may also begin the rows of something else.
  if (beforeMs > laterMs)
    return isDescending || (isDescending === null && beforeMs - laterMs < DAY_MS) ? laterMs : 'doubled';
  if (isDescending) return beforeMs > ms ? ms : 'doubled';
  return beforeMs < laterMs ? laterMs : 'doubled';
}

type Unit = InstantRule['unit'];

/** The stored value of epoch milliseconds; undefined where they are refused. */
const keptOf: Readonly<Record<Unit, (ms: number) => number | undefined>> = {
  millisecond: Math.floor,
  second: (ms) => Math.floor(ms / SECOND_MS) * SECOND_MS,
  minute: (ms) => (ms % MINUTE_MS === 0 ? ms : undefined),
};

/**
 * The rule of an instant for the rows of one file; `zone` is that of times without an offset. The order of
 * the rows tells the two readings of a repeated hour apart (contract 2.5).
 */
export function instantRule({ unit }: InstantRule, zone: Zone | null): FieldRule {
  const cell = new InstantCell();
  const clock = zone === null ? null : new LocalClock(zone);
  const keep = keptOf[unit];
  const onMinute = unit === 'minute' ? ' on a whole minute' : '';
  const order = new RowOrder();
  return {
    parse(text) {
      const bytes = encoder.encode(text);
      cell.read(bytes, 0, bytes.length);
      const placed = cell.kind === 'local' ? clock?.place(cell.ms, order) : cell.ms;
      if (cell.kind === 'bad' || cell.kind === 'date' || typeof placed !== 'number') return undefined;
      order.add(placed);
      return keep(placed);
    },
    reason:
      zone === null
        ? `must be an instant with its offset${onMinute}, such as 2025-07-03T12:30:00Z, or an epoch; for local times give --zone`
        : `must be an instant${onMinute}, or a local time that the zone has exactly once; in a repeated hour, give the offset`,
  };
}
