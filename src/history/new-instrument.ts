// Instruments that the store does not know yet, and the identifiers that it gives out.
import type { RowOf } from '../datasets/dataset.ts';
import { counters, rowChanges } from '../datasets/internal.ts';
import { type Instrument, type InstrumentName, instruments } from '../datasets/reference.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { Expected, Writer } from '../store/store.ts';

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

/** The instrument that was deleted last, by changes of one name, the newest first; null without one. */
export const deletedOf = (changes: readonly RowOf<typeof rowChanges>[]): Instrument | null =>
  (changes.find(({ before }) => before !== null)?.before as Instrument | undefined) ?? null;

/** The read of the changes of a name. */
const newestChanges: Expected<typeof rowChanges> = {
  order: [['run_id', 'desc']],
  limit: CHANGES_OF_NAME_MAX,
};

const changesOf = (name: InstrumentName) => ({
  dataset: instruments.name,
  row_key: rowKeyOf(instruments, name),
});

/** The instrument of a name that was deleted last; null without one. */
async function deletedNamed(writer: Writer, name: InstrumentName): Promise<Instrument | null> {
  const read = { where: changesOf(name), ...newestChanges };
  return deletedOf(await writer.rows(rowChanges, read));
}

/**
 * Says that `newInstrument` comes next for these names, without what is known of them (`RowWriter.expect`).
 */
export const expectNewInstruments = (writer: Writer, names: readonly InstrumentName[]): Promise<void> =>
  writer.expect(rowChanges, newestChanges, names.map(changesOf));

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
  const blank = Object.fromEntries(Object.keys(instruments.columns).map((column) => [column, null]));
  const deleted = known === undefined ? await deletedNamed(writer, name) : known;
  const instrument_id = deleted?.instrument_id ?? (await ids.instrumentId());
  const asset_id = deleted?.asset_id ?? instrument_id;
  return { ...blank, ...name, instrument_id, asset_id } as Instrument;
}
