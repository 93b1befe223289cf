// Instruments that the store does not know yet, and the identifiers that it gives out.
import { counters, rowChanges } from '../datasets/internal.ts';
import { type Instrument, type InstrumentName, instruments } from '../datasets/reference.ts';
import { ignoreDamage } from '../store/damage.ts';
import type { Writer } from '../store/store.ts';
import { rowKeyOf } from './journal.ts';

/** The first identifier given out. */
const FIRST_INSTRUMENT_ID = 100_001;

/** Their counter. */
const INSTRUMENT_ID = 'instrument_id';

/** Changes of an instrument in which its former identifiers are looked up: the newest ones have them. */
const CHANGES_OF_NAME_MAX = 100;

/** The next value of a counter. No value is given out twice. */
export async function nextValue(writer: Writer, name: string, first: number): Promise<number> {
  const [counter] = await writer.group(counters, { name });
  const value = counter === undefined ? first : counter.value + 1;
  await writer.upsert(counters, [{ name, value }]);
  return value;
}

/** A counter of which one write takes many values: it is read once, and written by `settle`. */
export class UsedCounter {
  readonly #writer: Writer;
  readonly #name: string;
  readonly #first: number;
  /** The last value that was given out; null before the first. */
  #last: number | null = null;

  constructor(writer: Writer, name: string, first: number) {
    this.#writer = writer;
    this.#name = name;
    this.#first = first;
  }

  async next(): Promise<number> {
    this.#last ??= (await this.#writer.group(counters, { name: this.#name }))[0]?.value ?? this.#first - 1;
    return ++this.#last;
  }

  /** Writes the counter, so that later writes go on after it. */
  async settle(): Promise<void> {
    if (this.#last !== null) await this.#writer.upsert(counters, [{ name: this.#name, value: this.#last }]);
  }
}

/** The identifiers of new instruments, for a write that makes many. */
export const instrumentIds = (writer: Writer): UsedCounter =>
  new UsedCounter(writer, INSTRUMENT_ID, FIRST_INSTRUMENT_ID);

/** Where a new instrument gets its identifier. */
type Identifiers = {
  /** That of its damaged row. */
  readonly damagedId?: number | null;
  /** By default each identifier is written at once. */
  readonly ids?: UsedCounter;
};

/** A new instrument with nothing but its name. One that was deleted, or whose row is damaged, gets its former identifiers again. */
export async function newInstrument(
  writer: Writer,
  name: InstrumentName,
  { damagedId = null, ids }: Identifiers = {},
): Promise<Instrument> {
  const blank = Object.fromEntries(Object.keys(instruments.columns).map((column) => [column, null]));
  const found = await writer.sound(ignoreDamage).rows(rowChanges, {
    where: { dataset: instruments.name, row_key: rowKeyOf(instruments, name) },
    order: [['run_id', 'desc']],
    limit: CHANGES_OF_NAME_MAX,
  });
  const deleted = found.find(({ before }) => before !== null)?.before as Instrument | undefined;
  const instrument_id =
    damagedId ??
    deleted?.instrument_id ??
    (await (ids?.next() ?? nextValue(writer, INSTRUMENT_ID, FIRST_INSTRUMENT_ID)));
  const asset_id = deleted?.asset_id ?? instrument_id;
  return { ...blank, ...name, instrument_id, asset_id } as Instrument;
}
