// Cells with a time -> instants or days: ISO 8601, epochs of any unit, local times of a named zone (contract
// 2.5, 11).
import {
  DAY_MS,
  dateOf,
  dayOf,
  END_MS,
  FIRST_MS,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
} from '../../base/instant.ts';
import type { Zone } from '../../market/calendar/zone.ts';
import type { FieldRule, InstantRule } from '../../store/schema/dataset.ts';

/**
 * The kind of a cell: an instant, a local time without an offset (`ms` as if UTC), a date (`ms` is its
 * midnight), or none of these.
 */
export type CellKind = 'instant' | 'local' | 'date' | 'bad';

const ZERO = 48;

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

  /**
   * The date that the last cell names in a row of DAY, WEEK or MON (contract 3.10); null where it names an
   * instant within one.
   */
  get day(): number | null {
    if (this.kind === 'instant') return Number.isNaN(this.#midnightDay) ? null : this.#midnightDay;
    return this.kind !== 'bad' && this.ms % DAY_MS === 0 ? this.ms / DAY_MS : null;
  }

  /** Reads the cell `bytes[from .. to)`. */
  read(bytes: Uint8Array, from: number, to: number): void {
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
    this.kind = this.#parse(from, to);
    if (this.kind !== 'bad' && (this.ms < FIRST_MS || this.ms >= END_MS)) this.kind = 'bad';
    const length = to - from;
    const isTime = this.kind === 'instant' || this.kind === 'local';
    const mayRepeat = isTime && length > 16 && length <= LAST_BYTES && Number.isNaN(this.#midnightDay);
    this.#lastLength = mayRepeat && bytes[from + 4] === 45 ? length : 0;
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
    if (to - from < 10 || this.#bytes[from + 4] !== 45) return this.#parseEpoch(from, to);
    if (!this.#parseDate(from)) return 'bad';
    if (to - from === 10) {
      this.ms = this.#dayMs;
      return 'date';
    }
    return this.#parseClock(from + 10, to);
  }

  #two(at: number): number {
    const tens = this.#bytes[at]! - ZERO;
    const ones = this.#bytes[at + 1]! - ZERO;
    return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
  }

  #parseDate(at: number): boolean {
    const bytes = this.#bytes;
    const words = this.#dateWords;
    const first = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    const second = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
    const third = bytes[at + 8]! | (bytes[at + 9]! << 8);
    if (first === words[0] && second === words[1] && third === words[2]) return true;
    const [century, year] = [this.#two(at), this.#two(at + 2)];
    const [month, day] = [this.#two(at + 5), this.#two(at + 8)];
    if (century < 0 || year < 0 || month < 1 || month > 12 || day < 1 || bytes[at + 7] !== 45) return false;
    const number = dayOf(century * 100 + year, month, day);
    if (dateOf(number).day !== day || dateOf(number).month !== month) return false;
    this.#dayMs = number * DAY_MS;
    this.#dateWords = [first, second, third];
    return true;
  }

  #parseClock(start: number, to: number): CellKind {
    const bytes = this.#bytes;
    if ((bytes[start] !== 84 && bytes[start] !== 32) || to - start < 9) return 'bad';
    if (bytes[start + 3] !== 58 || bytes[start + 6] !== 58) return 'bad';
    const [hours, minutes, seconds] = [this.#two(start + 1), this.#two(start + 4), this.#two(start + 7)];
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return 'bad';
    let at = start + 9;
    let fraction = 0;
    if (bytes[at] === 46 && at < to) {
      let scale = 100;
      const digitsAt = ++at;
      for (; at < to && bytes[at]! >= ZERO && bytes[at]! <= ZERO + 9; at++, scale /= 10)
        fraction += (bytes[at]! - ZERO) * scale;
      if (at === digitsAt || at - digitsAt > 9) return 'bad';
    }
    this.ms = this.#dayMs + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + fraction;
    if (this.ms === this.#dayMs) this.#midnightDay = this.#dayMs / DAY_MS;
    return this.#parseOffset(at, to);
  }

  #parseOffset(at: number, to: number): CellKind {
    const sign = this.#bytes[at];
    if (at === to) return 'local';
    if (sign === 90) return to === at + 1 ? 'instant' : 'bad';
    if (sign !== 43 && sign !== 45) return 'bad';
    const minutesAt = this.#bytes[at + 3] === 58 ? at + 4 : at + 3;
    const hours = this.#two(at + 1);
    // `+00` alone is an offset too.
    const minutes = to === at + 3 ? 0 : to === minutesAt + 2 ? this.#two(minutesAt) : -1;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return 'bad';
    this.ms -= (sign === 45 ? -1 : 1) * (hours * HOUR_MS + minutes * MINUTE_MS);
    return 'instant';
  }

  #parseEpoch(from: number, to: number): CellKind {
    const negative = to > from && this.#bytes[from] === 45;
    const start = negative ? from + 1 : from;
    if (to === start || to - start > 19) return 'bad';
    let value = 0;
    for (let at = start; at < to; at++) {
      const digit = this.#bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) return 'bad';
      value = value * 10 + digit;
    }
    if (!negative && (value < EPOCH_LEAST || this.#isWritten(from, to))) return 'bad';
    const perMs = EPOCH_UNITS.find(([least]) => value >= least)?.[1] ?? 1e-3;
    this.ms = ((negative ? -1 : 1) * value) / perMs;
    if (this.ms % DAY_MS === 0) this.#midnightDay = this.ms / DAY_MS;
    return 'instant';
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

/**
 * Finds the instants of local times, series by series. A skipped hour is refused. In a doubled hour, the
 * instant is the one that follows the row before it, in files of the newest first the one before it; without
 * such a row it is refused (contract 2.5).
 */
export class LocalClock {
  readonly #zone: Zone;
  #day = Number.NaN;
  #steadyOffset = Number.NaN;
  /** Whether the rows ascend, by the last two that differ; null before any do. */
  #ascends: boolean | null = null;

  constructor(zone: Zone) {
    this.#zone = zone;
  }

  /**
   * The instant of a reading; `beforeMs` is the instant of the row before it in the same series, NaN at its
   * start.
   */
  place(localMs: number, beforeMs: number): number | LocalProblem {
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
    const ms = reading.kind === 'one' ? reading.ms : this.#oneOf(reading.ms, reading.laterMs, beforeMs);
    if (ms !== null && ms !== beforeMs && !Number.isNaN(beforeMs)) this.#ascends = ms > beforeMs;
    return ms ?? 'doubled';
  }

  /** One of two readings by the row before: the next one in the order of the rows; null where none is. */
  #oneOf(ms: number, laterMs: number, beforeMs: number): number | null {
    if (beforeMs < ms) return ms;
    if (beforeMs > laterMs) return this.#ascends === true ? null : laterMs;
    if (this.#ascends === false) return beforeMs > ms ? ms : null;
    return beforeMs < laterMs ? laterMs : null;
  }
}

type Unit = InstantRule['unit'];

/** The stored value of epoch milliseconds; undefined where they are refused. */
const keptOf: Readonly<Record<Unit, (ms: number) => number | undefined>> = {
  millisecond: Math.floor,
  second: (ms) => Math.floor(ms / SECOND_MS) * SECOND_MS,
  minute: (ms) => (ms % MINUTE_MS === 0 ? ms : undefined),
};

const encoder = new TextEncoder();

/**
 * The rule of an instant for the rows of one file; `zone` is that of times without an offset. The order of
 * the rows tells the two readings of a repeated hour apart (contract 2.5).
 */
export function instantRule({ unit }: InstantRule, zone: Zone | null): FieldRule {
  const cell = new InstantCell();
  const clock = zone === null ? null : new LocalClock(zone);
  const keep = keptOf[unit];
  const onMinute = unit === 'minute' ? ' on a whole minute' : '';
  let beforeMs = Number.NaN;
  return {
    parse(text) {
      const bytes = encoder.encode(text);
      cell.read(bytes, 0, bytes.length);
      const placed = cell.kind === 'local' ? clock?.place(cell.ms, beforeMs) : cell.ms;
      if (cell.kind === 'bad' || cell.kind === 'date' || typeof placed !== 'number') return undefined;
      beforeMs = placed;
      return keep(placed);
    },
    reason:
      zone === null
        ? `must be an instant with its offset${onMinute}, such as 2025-07-03T12:30:00Z, or an epoch; for local times give --zone`
        : `must be an instant${onMinute}, or a local time that the zone has, and once: in a repeated hour give the offset`,
  };
}
