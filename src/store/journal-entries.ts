// The entries of the journal as they are stored: what runs found before they changed blocks and rows
// (docs/decisions/0009).
import { decodeBlock, wholeBlock } from '../market/bars/block-reader.ts';
import { type Bars, emptyBars } from '../market/bars/columns.ts';
import type { Damage } from './damage.ts';
import type { Dataset, RowOf, Values } from './schema/dataset.ts';
import type { blockChanges, heldBars, rowChanges } from './schema/internal.ts';

/** The bars of a block that a run changed, by their state before it. */
export type BlockChange = {
  /**
   * Bars that the run added: their values mean nothing. Null: the run added the block, so it added every bar.
   */
  readonly added: Bars | null;
  /** Bars that the run replaced or removed, as they were. */
  readonly before: Bars;
};

const none = emptyBars();

/** The damage of a block whose entry of a run is lost; without a number it is not known of which. */
export const lostEntry = ({ name }: Dataset, seriesId: number, bucket: number, runId?: number): Damage => ({
  dataset: name,
  place: `block ${bucket} of series ${seriesId}`,
  problem: `the entry of ${runId === undefined ? 'a run' : `run ${runId}`} is lost`,
});

/** The change that a stored entry has. */
export function decodeChange({ added, before }: RowOf<typeof blockChanges>): BlockChange {
  return {
    added: added === null ? null : decodeBlock(added, wholeBlock),
    before: before === null ? none : decodeBlock(before, wholeBlock),
  };
}

/** The bars that a stored entry says were held: their values mean nothing. */
export const decodeHeld = (entry: RowOf<typeof heldBars> | null | undefined): Bars =>
  entry == null ? none : decodeBlock(entry.keys, wholeBlock);

/** The key under which the journal keeps a row. */
export const rowKeyOf = (dataset: Dataset, row: Values): string =>
  JSON.stringify(dataset.key.map((column) => row[column]));

/** The values of such a key, by column. */
export function valuesOfKey(dataset: Dataset, rowKey: string): Record<string, string | number> {
  const values = JSON.parse(rowKey) as (string | number)[];
  return Object.fromEntries(dataset.key.map((column, index) => [column, values[index]!]));
}

/**
 * The row of an entry; null where there was none. An older program's lacks the columns that were added since.
 */
export function rowBefore(
  dataset: Dataset,
  { before }: Pick<RowOf<typeof rowChanges>, 'before'>,
): RowOf<Dataset> | null {
  if (before === null) return null;
  const cells = Object.entries(dataset.columns).map(([column, { kind }]) => {
    const value = (before as Values)[column] ?? null;
    return [column, kind === 'bytes' && value !== null ? Buffer.from(value as string, 'base64') : value];
  });
  return Object.fromEntries(cells) as RowOf<Dataset>;
}
