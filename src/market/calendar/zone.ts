// Time zones: the only file that knows them. It finds the offset changes of each year once; everything else
// is arithmetic.
import { DAY_MS, dateOf, dayOf, MINUTE_MS, SECOND_MS } from '../../base/instant.ts';

/** In no zone are two offset changes closer together; some interrupt summer time during Ramadan. */
const STEP_MS = 14 * DAY_MS;

/** The instants of a local clock reading: one, two (a doubled hour), or none (a skipped hour). */
type LocalReading = {
  readonly kind: 'one' | 'two' | 'none';
  readonly ms: number;
  readonly laterMs: number;
};

/** A span `[fromMs, toMs)` in which local time minus UTC does not change. */
export type Stretch = { readonly fromMs: number; readonly toMs: number; readonly offsetMs: number };

/** A time zone of the platform's own zone data. */
export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #years = new Map<number, readonly Stretch[]>();

  /** @throws RangeError when the platform does not know the name. */
  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** Local time minus UTC at an instant, in milliseconds. */
  offsetAt(ms: number): number {
    return this.stretchAt(ms).offsetMs;
  }

  /** The span around an instant in which the offset does not change, cut at the instant's year (UTC). */
  stretchAt(ms: number): Stretch {
    const stretches = this.#year(dateOf(Math.floor(ms / DAY_MS)).year);
    let index = stretches.length - 1;
    while (index > 0 && stretches[index]!.fromMs > ms) index--;
    return stretches[index]!;
  }

  /** Whether the clocks change in a year. */
  changesIn(year: number): boolean {
    return this.#year(year).length > 1;
  }

  /** The local date at an instant, as a day number. */
  dayAt(ms: number): number {
    return Math.floor((ms + this.offsetAt(ms)) / DAY_MS);
  }

  /**
   * The instants of the clock reading `localMs`, written as if it were UTC; in a skipped hour `ms` is the
   * reading with the offset before the gap.
   */
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

  #year(year: number): readonly Stretch[] {
    let known = this.#years.get(year);
    if (known === undefined) {
      known = this.#findStretches(dayOf(year, 1, 1) * DAY_MS, dayOf(year + 1, 1, 1) * DAY_MS);
      this.#years.set(year, known);
    }
    return known;
  }

  #findStretches(startMs: number, endMs: number): Stretch[] {
    const found: Stretch[] = [];
    let [fromMs, offsetMs] = [startMs, this.#probe(startMs)];
    for (let at = startMs; at < endMs; at += STEP_MS) {
      const next = Math.min(at + STEP_MS, endMs);
      if (this.#probe(next) === offsetMs) continue;
      const toMs = this.#transition(at, next, offsetMs);
      if (toMs >= endMs) continue;
      found.push({ fromMs, toMs, offsetMs });
      [fromMs, offsetMs] = [toMs, this.#probe(toMs)];
    }
    return [...found, { fromMs, toMs: endMs, offsetMs }];
  }

  /** The first instant between two, to the second, at which the offset differs from `offsetMs`. */
  #transition(fromMs: number, toMs: number, offsetMs: number): number {
    let [low, high] = [fromMs, toMs];
    while (high - low > SECOND_MS) {
      const middle = Math.floor((low + high) / (2 * SECOND_MS)) * SECOND_MS;
      if (this.#probe(middle) === offsetMs) low = middle;
      else high = middle;
    }
    return high;
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

/** The zone of a name, cached; null when the platform does not know it. */
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

/** The zone of a name from the markets' data. @throws Error when the platform does not know it */
export function zoneOf(name: string): Zone {
  const zone = findZone(name);
  if (zone === null) throw new Error(`the platform does not know the time zone ${name}`);
  return zone;
}
