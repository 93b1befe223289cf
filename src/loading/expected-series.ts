// What is stored of the series that come next in a file, looked up together: on another machine each look-up
// alone waits for its answer.
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { type InstrumentName, instruments } from '../datasets/reference.ts';
import type { KnownName } from '../history/known-names.ts';
import { expectRows, rowWith } from '../store/all-rows.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';

/** What tells one series from others. */
type SeriesKey = Pick<RowOf<typeof seriesDataset>, 'instrument_id' | 'interval'>;

const textOf = ({ instrument_id, interval }: SeriesKey): string => `${instrument_id} ${interval}`;

/** The stored series of one import. */
export class ExpectedSeries {
  readonly #writer: Writer;
  /** For the first use of each, because the import may change it. */
  readonly #found = new Map<string, RowOf<typeof seriesDataset> | null>();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /**
   * Looks up the series of names, in place of those before them. `known` is what was looked up of their
   * instruments, by row key.
   */
  async expect(
    names: readonly (InstrumentName & Pick<SeriesKey, 'interval'>)[],
    known: ReadonlyMap<string, KnownName>,
  ): Promise<void> {
    this.#found.clear();
    const keys = names.flatMap((name): SeriesKey[] => {
      const instrument = known.get(rowKeyOf(instruments, name))?.instrument ?? null;
      return instrument === null
        ? []
        : [{ instrument_id: instrument.instrument_id, interval: name.interval }];
    });
    await expectRows(this.#writer, seriesDataset, keys);
    for (const key of keys) this.#found.set(textOf(key), await rowWith(this.#writer, seriesDataset, key));
  }

  /** The stored row of a series; null where there is none. */
  async of(key: SeriesKey): Promise<RowOf<typeof seriesDataset> | null> {
    const found = this.#found.get(textOf(key));
    this.#found.delete(textOf(key));
    return found === undefined ? rowWith(this.#writer, seriesDataset, key) : found;
  }
}
