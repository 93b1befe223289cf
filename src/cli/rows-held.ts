// How many rows a store holds of each dataset beside instruments and bars, and which time they span.
import { formatDay, formatInstant } from '../base/instant.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import { type Dataset, spokenName } from '../datasets/dataset.ts';
import { eventCodes, events } from '../datasets/economic.ts';
import { holidays } from '../datasets/holidays.ts';
import { news } from '../datasets/news.ts';
import { optionContracts } from '../datasets/options.ts';
import type { RowReader } from '../store/store.ts';

/** The rows of one dataset; their first and last time, null where they have none or there is no row. */
export type RowsHeld = {
  /** As an import calls it. */
  readonly dataset: string;
  readonly rows: number;
  readonly first: string | null;
  readonly last: string | null;
};

/** Each dataset with the column that says when its rows are, null where none does. */
const timed: readonly (readonly [dataset: Dataset, time: string | null])[] = [
  [corporateActions, 'ex_date'],
  [news, 'published_date'],
  [optionContracts, 'expiration_date'],
  [holidays, 'calendar_date'],
  [events, 'event_timestamp'],
  [eventCodes, null],
];

/** Counts the rows of every dataset, exactly. No row is read of those that can be large: what an index has is enough. */
export async function readRowsHeld(reader: RowReader): Promise<RowsHeld[]> {
  const held: RowsHeld[] = [];
  for (const [dataset, time] of timed) {
    const rows = await reader.count(dataset);
    const ends = time === null ? null : await reader.ends(dataset, time);
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
