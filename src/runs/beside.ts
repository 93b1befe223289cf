// Rows beside those of a list, which are removed with them, and come back with them (`Beside`).
import { rowWith } from '../store/all-rows.ts';
import { rowBefore, rowKeyOf, valuesOfKey } from '../store/journal-entries.ts';
import type { Dataset, Values } from '../store/schema/dataset.ts';
import { rowChanges } from '../store/schema/internal.ts';
import type { Writer } from '../store/store.ts';
import { changeRowFirst, putRow } from './journal.ts';
import { damagedRow, removeDamagedRow } from './remove-damaged.ts';

/** Removes in a run the row beside one that it removes, and a damaged one too: true where it was damaged. */
export async function removeBeside(
  writer: Writer,
  runId: number,
  { file }: Dataset,
  row: Values,
): Promise<boolean> {
  const beside = file?.beside?.dataset;
  if (beside === undefined) return false;
  try {
    const stored = await rowWith(writer, beside, valuesOfKey(beside, rowKeyOf(beside, row)));
    if (stored !== null) await changeRowFirst(writer, runId, beside, stored, null);
    return false;
  } catch (error) {
    const damaged = damagedRow(beside, error);
    if (damaged === null) throw error;
    await removeDamagedRow(writer, beside, damaged);
    return true;
  }
}

/** Makes the removal of a row beside another, by its key, that of another run, or takes it back. */
export async function moveBeside(
  writer: Writer,
  { file }: Dataset,
  row_key: string,
  { from, to }: { readonly from: number; readonly to: number | null },
): Promise<void> {
  const beside = file?.beside?.dataset;
  if (beside === undefined) return;
  const entry = await rowWith(writer, rowChanges, { dataset: beside.name, row_key, run_id: from });
  if (entry === null) return;
  await writer.remove(rowChanges, [entry]);
  if (to === null) await putRow(writer, beside, null, rowBefore(beside, entry));
  else await writer.upsert(rowChanges, [{ ...entry, run_id: to }]);
}
