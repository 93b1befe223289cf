// The built years of all calendars of a thread, bounded in bytes.
import { calendarLimits } from './limits.ts';
import type { SegmentScope, SessionYear } from './session.ts';

/** A built year of a calendar, and whether it was used since it was last looked at. */
export type BuiltYear = { readonly sessionYear: SessionYear; isUsed: boolean };

type Kept = {
  readonly years: Map<number, BuiltYear>;
  readonly year: number;
  readonly built: BuiltYear;
  readonly bytes: number;
};

const scopes: readonly SegmentScope[] = ['regular', 'day', 'all'];

/** Bytes that a built year takes, as measured. */
export function yearBytes({ sessions, segments }: SessionYear): number {
  const { sessionBytes, segmentBytes } = calendarLimits;
  const columnBytes = scopes.reduce(
    (sum, scope) => sum + Object.values(segments[scope]).reduce((all, column) => all + column.byteLength, 0),
    0,
  );
  return sessions.length * sessionBytes + segments.all.openMs.length * segmentBytes + columnBytes;
}

/** Keeps built years. Above the bound those that were not used lately go (the clock algorithm): a look-up costs one assignment. */
export class BuiltYears {
  readonly #bytesMax: number;
  readonly #kept = new Set<Kept>();
  #bytes = 0;

  constructor(bytesMax: number = calendarLimits.yearBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of all years. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a built year to those of a calendar; takes others from their calendars where there are too many. */
  add(years: Map<number, BuiltYear>, year: number, sessionYear: SessionYear): void {
    const built = { sessionYear, isUsed: true };
    const bytes = yearBytes(sessionYear);
    years.set(year, built);
    this.#kept.add({ years, year, built, bytes });
    this.#bytes += bytes;
    for (const kept of this.#kept) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#kept.delete(kept);
      if (kept.built.isUsed) {
        kept.built.isUsed = false;
        this.#kept.add(kept);
      } else {
        kept.years.delete(kept.year);
        this.#bytes -= kept.bytes;
      }
    }
  }
}
