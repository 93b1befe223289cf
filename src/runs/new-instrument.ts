// Instruments that the store does not know yet, and the identifiers that it gives out.

import { rowKeyOf } from '../store/journal-entries.ts';
import { counters, rowChanges } from '../store/schema/internal.ts';
import { type Instrument, type InstrumentName, instruments } from '../store/schema/reference.ts';
import type { Writer } from '../store/store.ts';

/** The first identifier given out. */
const FIRST_INSTRUMENT_ID = 100_001;

/** Their counter. */
const INSTRUMENT_ID = 'instrument_id';

/** Changes of an instrument in which its former identifiers are looked up: the newest ones have them. */
const CHANGES_OF_NAME_MAX = 100;

/** The counters of one write: each is read once, and written by `settle`. No value is given out twice. */
export class Counters {
  readonly #writer: Writer;
  /** The last value of each counter that was given out or found. */
  #last = new Map<string, number>();
  readonly #stored = new Map<string, number>();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async next(name: string, first: number): Promise<number> {
    let last = this.#last.get(name);
    if (last === undefined) {
      last = (await this.#writer.group(counters, { name }))[0]?.value ?? first - 1;
      this.#stored.set(name, last);
    }
    this.#last.set(name, last + 1);
    return last + 1;
  }

  instrumentId(): Promise<number> {
    return this.next(INSTRUMENT_ID, FIRST_INSTRUMENT_ID);
  }

  /** Remembers the present values: the function that it gives takes back what was given out after that. */
  mark(): () => void {
    const marked = new Map(this.#last);
    return () => {
      this.#last = marked;
    };
  }

  /** Writes the counters, so that later writes go on after them. */
  async settle(): Promise<void> {
    const used = [...this.#last].filter(([name, value]) => value !== this.#stored.get(name));
    await this.#writer.upsert(
      counters,
      used.map(([name, value]) => ({ name, value })),
    );
  }
}

/** The instrument of each name that was deleted last; null without one. */
export async function deletedNamed(
  writer: Writer,
  names: readonly InstrumentName[],
): Promise<(Instrument | null)[]> {
  const keys = names.map((name) => ({ dataset: instruments.name, row_key: rowKeyOf(instruments, name) }));
  const newest = { order: [['run_id', 'desc'] as const], limit: CHANGES_OF_NAME_MAX };
  const changes = await writer.rowsByKey(rowChanges, keys, newest);
  return changes.map(
    (some) => (some.find(({ before }) => before !== null)?.before as Instrument | undefined) ?? null,
  );
}

/** An instrument with nothing but its name and its identifiers. */
export function blankInstrument(name: InstrumentName, instrument_id: number, asset_id: number): Instrument {
  const blank = Object.fromEntries(Object.keys(instruments.columns).map((column) => [column, null]));
  return { ...blank, ...name, instrument_id, asset_id } as Instrument;
}

/**
 * A new instrument with nothing but its name. One that was deleted gets its former identifiers again;
 * `deleted` is that one where it is known.
 */
export async function newInstrument(
  writer: Writer,
  name: InstrumentName,
  ids: Counters,
  { deleted: known }: { readonly deleted?: Instrument | null | undefined } = {},
): Promise<Instrument> {
  const [deleted] = known === undefined ? await deletedNamed(writer, [name]) : [known];
  const instrument_id = deleted?.instrument_id ?? (await ids.instrumentId());
  const asset_id = deleted?.asset_id ?? instrument_id;
  return blankInstrument(name, instrument_id, asset_id);
}
