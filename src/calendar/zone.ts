// Time zones: the only file that knows them. A zone's offset transitions are taken once a year of it, then it is arithmetic.
import { DAY_MS, dateOf, dayOf, MINUTE_MS } from '../base/instant.ts';

/** What a local clock reading means: one instant, two (the hour was doubled), or none (the hour was skipped). */
export type LocalReading = {
  readonly kind: 'one' | 'two' | 'none';
  readonly ms: number;
  readonly laterMs: number;
};

type YearOffsets = { readonly fromMs: readonly number[]; readonly offsetMs: readonly number[] };

/** A time zone of the platform's own zone data. */
export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #years = new Map<number, YearOffsets>();

  /** @throws RangeError when the platform does not know the name. */
  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** Local time minus UTC at an instant, in milliseconds. */
  offsetAt(ms: number): number {
    const { fromMs, offsetMs } = this.#year(dateOf(Math.floor(ms / DAY_MS)).year);
    let index = fromMs.length - 1;
    while (index > 0 && fromMs[index]! > ms) index--;
    return offsetMs[index]!;
  }

  /** Whether the clocks change in a year. */
  changesIn(year: number): boolean {
    return new Set(this.#year(year).offsetMs).size > 1;
  }

  /** The local date at an instant, as a day number. */
  dayAt(ms: number): number {
    return Math.floor((ms + this.offsetAt(ms)) / DAY_MS);
  }

  /** What the clock reading `localMs` (as if it were UTC) means here; for a skipped hour `ms` is the reading carried over the gap. */
  read(localMs: number): LocalReading {
    const before = this.offsetAt(localMs - DAY_MS);
    const after = this.offsetAt(localMs + DAY_MS);
    const early = localMs - Math.max(before, after);
    const late = localMs - Math.min(before, after);
    const earlyHolds = early + this.offsetAt(early) === localMs;
    const lateHolds = late + this.offsetAt(late) === localMs;
    if (earlyHolds && lateHolds) return { kind: early === late ? 'one' : 'two', ms: early, laterMs: late };
    if (earlyHolds) return { kind: 'one', ms: early, laterMs: early };
    if (lateHolds) return { kind: 'one', ms: late, laterMs: late };
    return { kind: 'none', ms: localMs - before, laterMs: localMs - before };
  }

  /** The instant of a clock reading on a label date: minutes after (or before) its local midnight. */
  instantOf(day: number, minutes: number): number {
    return this.read(day * DAY_MS + minutes * MINUTE_MS).ms;
  }

  #year(year: number): YearOffsets {
    let known = this.#years.get(year);
    if (known === undefined) {
      known = this.#findTransitions(dayOf(year, 1, 1) * DAY_MS, dayOf(year + 1, 1, 1) * DAY_MS);
      this.#years.set(year, known);
    }
    return known;
  }

  #findTransitions(startMs: number, endMs: number): YearOffsets {
    const fromMs = [startMs];
    const offsetMs = [this.#probe(startMs)];
    const step = 14 * DAY_MS;
    for (let at = startMs; at < endMs; at += step) {
      const next = Math.min(at + step, endMs);
      let low = at;
      const before = offsetMs[offsetMs.length - 1]!;
      if (this.#probe(next) === before) continue;
      let high = next;
      while (high - low > 1000) {
        const middle = Math.floor((low + high) / 2000) * 1000;
        if (this.#probe(middle) === before) low = middle;
        else high = middle;
      }
      if (high >= endMs) continue;
      fromMs.push(high);
      offsetMs.push(this.#probe(high));
    }
    return { fromMs, offsetMs };
  }

  #probe(ms: number): number {
    const text = this.#format.format(ms);
    const match = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text);
    if (match === null) throw new Error(`no offset in ${text}`);
    const seconds = Number(match[2] ?? 0) * 3600 + Number(match[3] ?? 0) * 60 + Number(match[4] ?? 0);
    return (match[1] === '-' ? -1 : 1) * seconds * 1000;
  }
}

const zones = new Map<string, Zone>();

/** The zone of a name, kept once found; null when the platform does not know it. */
export function findZone(name: string): Zone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  try {
    const zone = new Zone(name);
    zones.set(name, zone);
    return zone;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The zone of a name that our own data names. */
export function zoneOf(name: string): Zone {
  const zone = findZone(name);
  if (zone === null) throw new Error(`the platform does not know the time zone ${name}`);
  return zone;
}
