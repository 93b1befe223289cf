// The rows that a run held unchanged (an undo of an earlier run leaves them to it), and the days for which
// runs with --replace stand: their source has no other rows of a subject there (contract 10,
// docs/decisions/0009). Both are numbers of 64 bits in stored parts.
import { hash } from 'node:crypto';
import { firstWhere } from '../base/ascending.ts';
import { DAY_MS } from '../base/instant.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { Dataset, RowOf, Values } from '../store/schema/dataset.ts';
import type { FileDataset } from '../store/schema/index.ts';
import { heldRows } from '../store/schema/internal.ts';
import type { Reader, RowReader, Writer } from '../store/store.ts';

/** Parts that are read at a time. */
const PARTS_PER_READ = 16;
/** The place after every part of a run. */
const LAST_PART = Number.MAX_SAFE_INTEGER;

const byRun = [['run_id', 'asc'] as const, ['part', 'asc'] as const];

/** Records numbers of a run under a name, so many in a part. */
async function putParts(
  writer: Writer,
  run_id: number,
  dataset: string,
  numbers: BigInt64Array | BigUint64Array,
  perPart: number,
): Promise<void> {
  for (let from = 0, part = 0; from < numbers.length; from += perPart, part++) {
    const hashes = new Uint8Array(numbers.slice(from, from + perPart).buffer);
    await writer.upsert(heldRows, [{ dataset, run_id, part, hashes }]);
  }
}

/** The parts under a name in the order of the runs: of one run, of the runs after one, or of all. */
const partsOf = (
  reader: RowReader,
  dataset: string,
  { runId, afterRun }: { readonly runId?: number; readonly afterRun?: number } = {},
): AsyncGenerator<RowOf<typeof heldRows>> =>
  rowsInOrder(reader, heldRows, {
    where: { dataset, ...(runId !== undefined && { run_id: runId }) },
    ...(afterRun !== undefined && { range: { from: afterRun + 1 } }),
    order: byRun,
    limit: PARTS_PER_READ,
  });

/** Hashes in one part. */
const HASHES_PER_PART = 8_192;

/** Null values in the JSON of a row: a column that a later layout adds changes no hash. */
const NULLS = /"\w+":null,?/g;

/** A hash of a row and its values, of 64 bits, by its JSON. */
export const hashOfRow = (text: string): bigint =>
  hash('sha1', text.replace(NULLS, ''), 'buffer').readBigUInt64LE();

/** The rows that one run holds as they are stored. */
export class HeldRows {
  #hashes = new BigUint64Array(64);
  #count = 0;

  /** Adds a row by its JSON, whose columns are in the order of the dataset. */
  add(text: string): void {
    if (this.#count === this.#hashes.length) {
      const grown = new BigUint64Array(2 * this.#count);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
    this.#hashes[this.#count++] = hashOfRow(text);
  }

  /** Records them. */
  write(writer: Writer, runId: number, { name }: Dataset): Promise<void> {
    const sorted = this.#hashes.subarray(0, this.#count).sort();
    return putParts(writer, runId, name, sorted, HASHES_PER_PART);
  }
}

const hashesIn = ({ hashes }: RowOf<typeof heldRows>): BigUint64Array =>
  new BigUint64Array(Uint8Array.from(hashes).buffer);

/**
 * Adds to some hashes of rows the runs after one that held them, but for those that `passesOver` is true for.
 */
export async function findHolders(
  reader: RowReader,
  { name: dataset }: Dataset,
  afterRun: number,
  wanted: ReadonlyMap<bigint, Set<number>>,
  passesOver: (runId: number) => Promise<boolean>,
): Promise<void> {
  for (let after = [afterRun, LAST_PART]; ; ) {
    const read = { where: { dataset }, order: byRun, after, limit: PARTS_PER_READ };
    const parts = await reader.rows(heldRows, read);
    for (const part of parts) {
      if (await passesOver(part.run_id)) continue;
      const hashes = hashesIn(part);
      for (const [sought, runs] of wanted) if (holds(hashes, sought)) runs.add(part.run_id);
    }
    const last = parts.at(-1);
    if (last === undefined || parts.length < PARTS_PER_READ) return;
    after = [last.run_id, (await passesOver(last.run_id)) ? LAST_PART : last.part];
  }
}

/** Forgets which rows of a dataset a run held, and for which days it stood. */
export async function forgetHeldRows(writer: Writer, runId: number, dataset: Dataset): Promise<void> {
  for (const name of [dataset.name, replacedName(dataset)])
    for await (const part of partsOf(writer, name, { runId })) await writer.remove(heldRows, [part]);
}

/** The runs after one that held rows of a dataset. */
export class LaterHolders {
  readonly #reader: Reader;
  readonly #runId: number;
  readonly #byDataset = new Map<string, ReadonlyMap<number, readonly BigUint64Array[]>>();

  constructor(reader: Reader, runId: number) {
    this.#reader = reader;
    this.#runId = runId;
  }

  /**
   * The first run that held a row with these values, before another run where one is given; null where none
   * did.
   */
  async of(dataset: Dataset, row: Values, beforeRun = Number.POSITIVE_INFINITY): Promise<number | null> {
    const runs = this.#byDataset.get(dataset.name) ?? (await this.#read(dataset.name));
    this.#byDataset.set(dataset.name, runs);
    if (runs.size === 0) return null;
    const sought = hashOfRow(JSON.stringify(row));
    for (const [runId, parts] of runs)
      if (runId < beforeRun && parts.some((part) => holds(part, sought))) return runId;
    return null;
  }

  async #read(dataset: string): Promise<ReadonlyMap<number, readonly BigUint64Array[]>> {
    const runs = new Map<number, BigUint64Array[]>();
    for await (const part of partsOf(this.#reader, dataset, { afterRun: this.#runId })) {
      const parts = runs.get(part.run_id) ?? [];
      runs.set(part.run_id, parts);
      parts.push(hashesIn(part));
    }
    return runs;
  }
}

function holds(part: BigUint64Array, sought: bigint): boolean {
  const at = firstWhere(part.length, (index) => part[index]! >= sought);
  return part[at] === sought;
}

/** The days of one subject, both included. */
export type Days = { readonly fromDay: number; readonly toDay: number };

/**
 * The days of `--replace`, for every subject of the file. Null: for each subject from its first row in the
 * file to its last.
 */
export type ReplaceRequest = { readonly days: Days | null };

/** The days of one subject for which a run stands. */
export type ReplacedDays = Days & { readonly runId: number };

/** Numbers of one subject: a hash of it, the first day and the last. */
const NUMBERS = 3;
const NUMBERS_PER_PART = 4_096 * NUMBERS;

/** The name of their parts, which are beside the hashes of the rows that runs held. */
const replacedName = ({ name }: Pick<Dataset, 'name'>): string => `${name} replaced`;

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
  const numbers = Array.from(days, ([subject, { fromDay, toDay }]) => [
    hashOf(subject),
    BigInt(fromDay),
    BigInt(toDay),
  ]).flat();
  await putParts(writer, runId, replacedName(dataset), BigInt64Array.from(numbers), NUMBERS_PER_PART);
}

/** A recorded entry: the days of one subject, named by its hash. */
type Recorded = ReplacedDays & { readonly subjectHash: bigint };

/** The recorded days of a dataset in the order of the runs. */
async function* recordedDays(
  reader: RowReader,
  dataset: FileDataset,
  runs?: Parameters<typeof partsOf>[2],
): AsyncGenerator<Recorded> {
  for await (const { run_id, hashes } of partsOf(reader, replacedName(dataset), runs)) {
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
