// A store whose reads are counted, so that a walk that a damaged store makes endless ends.
import type { Reader, Store, Writer } from '../../src/store/store.ts';

/** Reads, and rows of them, that asking one thing may take: several times what the sound store needs. */
const READS_MAX = 20_000;
const ROWS_MAX = 200_000;

/** A walk went on far beyond what the sound store needs. */
export class Endless extends Error {
  override readonly name = 'Endless';
}

/** Counts what is read. */
export class Meter {
  #reads = 0;
  #rows = 0;
  isOver = false;

  reset(): void {
    this.#reads = 0;
    this.#rows = 0;
    this.isOver = false;
  }

  /** @throws Endless */
  count(rows: number): void {
    this.#reads++;
    this.#rows += rows;
    if (this.#reads <= READS_MAX && this.#rows <= ROWS_MAX) return;
    this.isOver = true;
    throw new Endless(`${this.#reads} reads gave ${this.#rows} rows`);
  }
}

/** The same reader or writer, with the rows of each answer counted. */
function metered<R extends Reader>(access: R, meter: Meter): R {
  return new Proxy(access, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]) => {
        const found: unknown = await member.apply(target, given);
        meter.count(Array.isArray(found) ? found.length : 0);
        return found;
      };
    },
  });
}

/** The same store, with everything that is read of it counted. */
export const meteredStore = (store: Store, meter: Meter): Store => ({
  ...store,
  snapshot: (work) => store.snapshot((reader) => work(metered(reader, meter))),
  write: (work, onWait) => store.write((writer) => work(metered<Writer>(writer, meter)), onWait),
});
