// How many rows a store holds of each dataset beside instruments and bars, and which time they span.
import { formatDay, formatInstant } from '../base/instant.ts';
import { spokenName } from '../datasets/dataset.ts';
import { fileDatasets } from '../datasets/index.ts';
import { instruments } from '../datasets/reference.ts';
import type { RowReader } from '../store/store.ts';

/** The rows of one dataset; their first and last time, null where they have none or there is no row. */
export type RowsHeld = {
  /** As an import calls it. */
  readonly dataset: string;
  readonly rows: number;
  readonly first: string | null;
  readonly last: string | null;
};

/** Counts the rows of every dataset, exactly. No row is read of those that can be large: what an index has is enough. */
export async function readRowsHeld(reader: RowReader): Promise<RowsHeld[]> {
  const held: RowsHeld[] = [];
  for (const dataset of fileDatasets.filter((one) => one !== instruments)) {
    const { time } = dataset.file;
    const rows = await reader.count(dataset);
    const ends = time === undefined ? null : await reader.ends(dataset, time);
    const text = (value: number): string =>
      dataset.columns[time!]!.kind === 'day' ? formatDay(value) : formatInstant(value);
    held.push({
      dataset: spokenName(dataset),
      rows,
      first: ends === null ? null : text(ends.first),
      last: ends === null ? null : text(ends.last),
    });
  }
  return held;
}
