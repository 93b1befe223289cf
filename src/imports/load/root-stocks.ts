// Stocks that only options name, by the root of their symbols: it has no separator, so `BRKB` may be the
// class BRK.B (contract 9.21).

import { seriesWithBars } from '../../runs/naming.ts';
import { rowsAmong } from '../../store/all-rows.ts';
import { instrumentNamed } from '../../store/instrument-terms.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import { importRuns, rowChanges } from '../../store/schema/internal.ts';
import { plainOf } from '../../store/schema/notations.ts';
import { type InstrumentName, instruments } from '../../store/schema/reference.ts';
import type { Writer } from '../../store/store.ts';

/** A stock under the root of its options, and the runs that named it. */
export type RootStock = { readonly root: string; readonly runs: readonly number[] };

/** Datasets whose rows may name a stock by the root of its options. */
const rooted: readonly string[] = ['option-contracts', 'bars'];

/** Runs that are looked at. */
const RUNS_MAX = 256;

/**
 * The stock that options may have made for a US stock whose symbol has a separator; null if there is none.
 */
export async function rootStockOf(writer: Writer, name: InstrumentName): Promise<RootStock | null> {
  const { asset_schema, country_iso_code, symbol } = name;
  const root = plainOf(symbol);
  if (asset_schema !== 'stock' || country_iso_code !== 'US' || root === symbol) return null;
  const stock = await instrumentNamed(writer, { asset_schema, country_iso_code, symbol: root });
  if (stock === null) return null;
  // Bars of its own are of a stock that is called so.
  if ((await seriesWithBars(writer, stock)).length > 0) return null;
  const entries = await writer.rows(rowChanges, {
    where: { dataset: instruments.name, row_key: rowKeyOf(instruments, stock) },
    order: [['run_id', 'asc']],
    limit: RUNS_MAX,
  });
  const runs = entries.map(({ run_id }) => run_id);
  const known = await rowsAmong(writer, importRuns, {}, 'run_id', runs);
  const isRooted = known.length > 0 && known.every(({ dataset }) => rooted.includes(dataset));
  return isRooted ? { root, runs } : null;
}
