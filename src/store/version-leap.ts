// Versions that a store never had: a restored or copied store goes on apart from the one that it was made of,
// with a version that neither had before (contract 9.12, docs/decisions/0041).
import { randomInt } from 'node:crypto';
import { rowsInOrder } from './all-rows.ts';
import { DATA_VERSION, forgetBefore, versionIn } from './changes.ts';
import { KeptFormerRows } from './former-rows.ts';
import { storeLimits } from './limits.ts';
import type { RowOf } from './schema/dataset.ts';
import { changes, counters, formerRows } from './schema/internal.ts';
import type { RowReader, RowWriter } from './store.ts';

/** A version, and the one that came after it. The store never had those between. */
export type Leap = { readonly from: number; readonly to: number };

/** The known versions of other stores, and of its own. */
type LeapKnowledge = {
  /** The clock, epoch milliseconds. */
  readonly nowMs: number;
  /** The version of a store whose place it takes; 0 without one. */
  readonly replaced?: number;
  /** True if the earlier states of the store are not known. */
  readonly forgetsEarlier?: boolean;
};

/**
 * The moment, if it is greater than every known version. If the clock is behind, other stores may continue
 * from the same version by the same clock: a random step keeps them apart.
 */
const freshVersion = (newest: number, nowMs: number): number =>
  nowMs > newest ? nowMs : newest + randomInt(1, storeLimits.versionLeapMax);

/**
 * Gives a store a version that no store had before: a write of its own, which changes no data. Gives the
 * leap. @throws DamagedData
 */
export async function leapVersion(
  writer: RowWriter,
  { nowMs, replaced = 0, forgetsEarlier = false }: LeapKnowledge,
): Promise<Leap> {
  const from = await versionIn(writer);
  const to = freshVersion(Math.max(from, replaced), nowMs);
  const former = new KeptFormerRows(to - 1);
  await former.keep(writer, counters, [DATA_VERSION]);
  await writer.upsert(counters, [{ ...DATA_VERSION, value: to }]);
  // Versions follow each other in it.
  const known = await writer.rows(changes, { order: [['version', 'asc']], limit: storeLimits.changesKept });
  await writer.remove(changes, known);
  await writer.upsert(changes, [{ version: to, parts: null }]);
  if (forgetsEarlier) await forgetBefore(writer, to);
  await former.end(writer);
  return { from, to };
}

/** Leaps that are read at once: a store has few. */
const LEAPS_PER_READ = 16;

/** The leaps to versions after one, in their order. */
export async function* leapsAfter(reader: RowReader, version: number): AsyncGenerator<Leap> {
  const read = {
    where: { dataset: counters.name, part: 0 },
    range: { from: version + 1 },
    order: [['version', 'asc'] as const, ['row_key', 'asc'] as const],
    limit: LEAPS_PER_READ,
  };
  for await (const { before, version: to } of rowsInOrder(reader, formerRows, read))
    yield { from: (before as RowOf<typeof counters> | null)?.value ?? 0, to };
}

/** Counts the writes that a store had from one version to another: leaps are none. */
export async function writesBetween(reader: RowReader, from: number, to: number): Promise<number> {
  let [writes, last] = [0, from];
  for await (const leap of leapsAfter(reader, from)) {
    writes += Math.max(0, leap.from - last);
    last = leap.to;
  }
  return writes + Math.max(0, to - last);
}
