// The days for which runs with --replace stand: their source has no other rows of a subject there
// (docs/decisions/0009).
import { hash } from 'node:crypto';
import { DAY_MS } from '../base/instant.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { Values } from '../store/schema/dataset.ts';
import type { FileDataset } from '../store/schema/index.ts';
import { heldRows } from '../store/schema/internal.ts';
import type { RowReader, Writer } from '../store/store.ts';

/** The days of one subject, both included. */
export type Days = { readonly fromDay: number; readonly toDay: number };

/**
 * The days of `--replace`, for every subject of the file. Null: for each subject from its first row in the
 * file to its last.
 */
export type ReplaceRequest = { readonly days: Days | null };

/** The days of one subject for which a run stands. */
export type ReplacedDays = Days & { readonly runId: number };

/** Subjects in one stored row. */
const SUBJECTS_PER_PART = 4_096;
/** Their numbers there: a hash of the subject, the first day and the last. */
const NUMBERS = 3;
const PARTS_PER_READ = 16;

/** The name of their stored rows, which are beside the hashes of the rows that runs held. */
export const replacedName = ({ name }: Pick<FileDataset, 'name'>): string => `${name} replaced`;

/** The subject of a row, as text: an instrument, or the country and code of an event. */
export const subjectOf = ({ file: { subject } }: FileDataset, row: Values): string =>
  JSON.stringify(subject!.map((column) => row[column]));

/** The day of a row: its date, or the day in UTC of its instant (contract 2.3). */
export function dayOfRow({ columns, file: { time } }: FileDataset, row: Values): number {
  const value = row[time!] as number;
  return columns[time!]!.kind === 'day' ? value : Math.floor(value / DAY_MS);
}

/** A hash of a subject, of 64 bits. */
export const hashOf = (subject: string): bigint => hash('sha1', subject, 'buffer').readBigInt64LE();

/** Records the days for which a run stands, by subject. */
export async function putReplacedDays(
  writer: Writer,
  runId: number,
  dataset: FileDataset,
  days: ReadonlyMap<string, Days>,
): Promise<void> {
  const all = [...days];
  for (let from = 0, part = 0; from < all.length; from += SUBJECTS_PER_PART, part++) {
    const some = all.slice(from, from + SUBJECTS_PER_PART);
    const numbers = some.flatMap(([subject, { fromDay, toDay }]) => [
      hashOf(subject),
      BigInt(fromDay),
      BigInt(toDay),
    ]);
    const hashes = new Uint8Array(BigInt64Array.from(numbers).buffer);
    await writer.upsert(heldRows, [{ dataset: replacedName(dataset), run_id: runId, part, hashes }]);
  }
}

/** A recorded entry: the days of one subject, named by its hash. */
type Recorded = ReplacedDays & { readonly subjectHash: bigint };

/** The recorded days of a dataset in the order of the runs: of one run, of the runs after one, or of all. */
async function* recordedDays(
  reader: RowReader,
  dataset: FileDataset,
  runs: { readonly runId?: number; readonly afterRun?: number } = {},
): AsyncGenerator<Recorded> {
  const { runId, afterRun } = runs;
  for await (const { run_id, hashes } of rowsInOrder(reader, heldRows, {
    where: { dataset: replacedName(dataset), ...(runId !== undefined && { run_id: runId }) },
    ...(afterRun !== undefined && { range: { from: afterRun + 1 } }),
    order: [
      ['run_id', 'asc'],
      ['part', 'asc'],
    ],
    limit: PARTS_PER_READ,
  })) {
    const numbers = new BigInt64Array(Uint8Array.from(hashes).buffer);
    for (let at = 0; at < numbers.length; at += NUMBERS) {
      const [fromDay, toDay] = [Number(numbers[at + 1]), Number(numbers[at + 2])];
      yield { runId: run_id, subjectHash: numbers[at]!, fromDay, toDay };
    }
  }
}

/** The days for which runs stand, by some subjects; of each subject in the order of the runs. */
export async function readReplacedDays(
  reader: RowReader,
  dataset: FileDataset,
  subjects: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly ReplacedDays[]>> {
  const byHash = new Map([...subjects].map((subject) => [hashOf(subject), [] as ReplacedDays[]]));
  for await (const { subjectHash, ...days } of recordedDays(reader, dataset))
    byHash.get(subjectHash)?.push(days);
  return new Map([...subjects].map((subject) => [subject, byHash.get(hashOf(subject))!]));
}

/** The days for which one run stands, by the hash of each subject. */
export async function daysOfRun(
  reader: RowReader,
  dataset: FileDataset,
  runId: number,
): Promise<ReadonlyMap<bigint, Days>> {
  const found = new Map<bigint, Days>();
  for await (const { subjectHash, fromDay, toDay } of recordedDays(reader, dataset, { runId }))
    found.set(subjectHash, { fromDay, toDay });
  return found;
}

/** The runs after one that stand for days of a dataset. */
export async function laterReplacing(
  reader: RowReader,
  dataset: FileDataset,
  afterRun: number,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  for await (const { runId } of recordedDays(reader, dataset, { afterRun })) found.add(runId);
  return found;
}

/** True if any run stands for days of a dataset. */
export async function hasReplacedDays(reader: RowReader, dataset: FileDataset): Promise<boolean> {
  for await (const _ of recordedDays(reader, dataset)) return true;
  return false;
}
