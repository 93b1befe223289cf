// The rows that a file with --replace takes from its dataset: what its source brought before within the
// file's days, and it does not hold.
import { DAY_MS, formatDay, formatInstantZ } from '../../base/instant.ts';
import { FormerRuns } from '../../runs/former-runs.ts';
import { type Days, dayOfRow, putReplacedDays, subjectOf } from '../../runs/held-rows.ts';
import { historyLimits } from '../../runs/recorded-write.ts';
import { ReplacedRows } from '../../runs/replaced-rows.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import type { RowOf, Values } from '../../store/schema/dataset.ts';
import type { FileDataset } from '../../store/schema/index.ts';
import { selectedRows } from '../../store/selected-rows.ts';
import type { PresentRun, RemovedRows } from './run.ts';

type Row = RowOf<FileDataset>;

/** Stored rows that are looked at together. */
const ROWS_AT_A_TIME = 10_000;

/** The fields that name a row to a person: its subject, and the required ones. */
function nameOf({ columns, file: { fields, subject } }: FileDataset, row: Values): Record<string, string> {
  const required = Object.keys(fields).filter((field) => fields[field]!.isRequired === true);
  const named = [...new Set([...subject!, ...required])];
  const cells = named.flatMap((field) => {
    const { [field]: value = null } = row;
    if (value === null) return [];
    const { kind } = columns[field]!;
    if (kind === 'day') return [[field, formatDay(value as number)]];
    return [[field, kind === 'instant' ? formatInstantZ(value as number) : String(value as string | number)]];
  });
  return Object.fromEntries(cells) as Record<string, string>;
}

/** One file with --replace. */
export class Replacement {
  readonly #run: PresentRun;
  readonly #dataset: FileDataset;
  readonly #subjects = new Map<string, { readonly row: Values; days: Days }>();

  constructor(run: PresentRun, dataset: FileDataset) {
    this.#run = run;
    this.#dataset = dataset;
  }

  /** Notes a row of the file, as it is stored. */
  add(row: Values): void {
    const day = dayOfRow(this.#dataset, row);
    const subject = subjectOf(this.#dataset, row);
    const known = this.#subjects.get(subject);
    const days = this.#run.request.replace!.days ?? {
      fromDay: Math.min(day, known?.days.fromDay ?? day),
      toDay: Math.max(day, known?.days.toDay ?? day),
    };
    if (known === undefined) this.#subjects.set(subject, { row: this.#subjectIn(row), days });
    else known.days = days;
  }

  #subjectIn(row: Values): Values {
    return Object.fromEntries(this.#dataset.file.subject!.map((column) => [column, row[column] ?? null]));
  }

  /**
   * Removes the rows, once those of the file are stored; `holds` tells whether the file has a row of a key.
   */
  async finish(holds: (rowKey: string) => boolean): Promise<RemovedRows> {
    const days = new Map([...this.#subjects].map(([subject, { days: of }]) => [subject, of]));
    const { writer, runId, source } = this.#run;
    await putReplacedDays(writer, runId, this.#dataset, days);
    const ofRun = new Map([...days].map(([subject, of]) => [subject, { ...of, runId }]));
    const replaced = new ReplacedRows(writer, this.#dataset, { runId, source: source! });
    const former = new FormerRuns(writer, runId);
    const removedRows: Record<string, string>[] = [];
    let [rowsRemoved, rowsLeft, instrumentsDeleted] = [0, 0, 0];
    const removeSome = async (rows: Row[]): Promise<void> => {
      for (const { fate, row, from, isOwnDeleted } of await replaced.remove(rows, ofRun)) {
        if (fate === 'kept') rowsLeft++;
        if (fate !== 'removed') continue;
        rowsRemoved++;
        former.count(from, 1);
        if (isOwnDeleted) instrumentsDeleted++;
        if (removedRows.length < historyLimits.removedRowsNamed) removedRows.push(nameOf(this.#dataset, row));
      }
    };
    let some: Row[] = [];
    for await (const row of this.#stored()) {
      if (holds(rowKeyOf(this.#dataset, row))) continue;
      if (some.push(row) < ROWS_AT_A_TIME) continue;
      await removeSome(some);
      some = [];
    }
    await removeSome(some);
    return { rowsRemoved, rowsLeft, instrumentsDeleted, removed: await former.list(), removedRows };
  }

  /** The stored rows of the file's subjects in its days. */
  async *#stored(): AsyncGenerator<Row> {
    const { columns, file } = this.#dataset;
    const unit = columns[file.time!]!.kind === 'day' ? 1 : DAY_MS;
    for (const { row, days } of this.#subjects.values()) {
      const range = { from: days.fromDay * unit, to: (days.toDay + 1) * unit };
      const selection = { where: row as Record<string, string | null>, range };
      yield* selectedRows(this.#run.writer, this.#dataset, selection);
    }
  }
}
