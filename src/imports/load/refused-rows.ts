// Rows that an import refused: the first for its report, all in a CSV that can be corrected and imported.
import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { folderProblem } from '../../base/space.ts';
import { ownMark, removeLeftovers } from '../../base/temporary.ts';
import { limits } from '../../contract/limits.ts';
import { type FieldSources, type MappedFile, reportedColumns } from '../map/column-mapping.ts';
import type { Chunk } from '../read/chunk.ts';
import { reasonColumns, rejectedPlace } from '../read/inputs.ts';
import { lineOf } from '../read/sample.ts';

/** Why one row is refused. */
export type RowProblem = { readonly column: string; readonly reason: string };

/** A refused row, for the report. */
export type Refusal = RowProblem & {
  /** Counted from 1, the header not counted. */
  readonly row: number;
  /**
   * The cell of the column, and of the one that is joined to it, cut where it is long; null where it is
   * empty, or the reason is about the whole row.
   */
  readonly value: string | null;
};

/** The rows that one reason refuses by one column: the first of them, and their number. */
export type RefusalGroup = Refusal & { readonly rows: number };

/**
 * Refused rows of a process have names of their own until their imports are done: a group may have several
 * files of one name.
 */
let opened = 0;

/** Folders whose leftovers this process has removed. */
const cleared = new Set<string>();

/** Permission to read and write for the owner alone. */
const OWNER = 0o600;

/** Collects the refused rows of one file. */
export class RefusedRows {
  #path: string;
  readonly first: Refusal[] = [];
  readonly #groups = new Map<string, { -readonly [K in keyof RefusalGroup]: RefusalGroup[K] }>();
  count = 0;
  /** Rows that are in the file: those that it has room for. */
  rowsKept = 0;
  #bytes = 0;
  /**
   * The file's columns and their places; a corrected file of refused rows has old reasons, which are left
   * out.
   */
  readonly #columns: readonly (readonly [name: string, place: number])[];
  /** Not for standard input: the rows of an earlier one are nowhere else. */
  readonly #replacesEarlier: boolean;
  /** For each row its number in the original file, where a preset converted that. */
  readonly #rowNumbers: readonly number[] | undefined;
  /** The file that the rows are of, or its archive; null for standard input. */
  readonly #source: string | null;
  #file: number | null = null;
  /** Whether there are rows in a file that has no name of its own yet. */
  #isPartial = false;
  readonly #number = ++opened;
  readonly #mapping: FieldSources;
  readonly #isKept: boolean;

  /** Without `isKept` the rows are only counted: no file is made. */
  constructor(
    { rejectedPath, header, isStandardInput, rowNumbers, origin }: MappedFile,
    mapping: FieldSources,
    isKept: boolean,
  ) {
    this.#mapping = mapping;
    this.#isKept = isKept;
    this.#rowNumbers = rowNumbers;
    this.#path = rejectedPath;
    this.#source = origin.path;
    this.#columns = header
      .map((name, place) => [name, place] as const)
      .filter(([name]) => !reasonColumns.includes(name));
    this.#replacesEarlier = !isStandardInput;
  }

  /**
   * Adds a row of a chunk, whose first columns are those of the file; the problem names one of its columns.
   */
  add({ texts, firstRow }: Chunk, index: number, { column: wrong, reason: general }: RowProblem): void {
    const row = this.#rowNumbers?.[firstRow + index - 1] ?? firstRow + index;
    this.count++;
    const cells = this.#columns.map(([name, place]) => [name, texts[place]!.text(index)] as const);
    // The columns whose cells are wrong together.
    const columns = reportedColumns(this.#mapping, wrong);
    const wrongTexts = columns.map((one) => cells.find(([name]) => name === one)?.[1] ?? '');
    const made = this.#mapping.derived.find(({ name }) => name === wrong);
    const fault = made?.reason === general ? made.faultOf?.(wrongTexts) : undefined;
    const [column, reason] = [columns[fault?.place ?? 0]!, fault?.reason ?? general];
    const cell = wrongTexts.filter((text) => text !== '').join(' ');
    this.#note({ row, column, reason, value: cell === '' ? null : cell.slice(0, limits.reportedValueMax) });
    if (!this.#isKept) return;
    if (this.#file === null) {
      this.#file = this.#open();
      this.#isPartial = true;
      writeFileSync(this.#file, lineOf([...this.#columns.map(([name]) => name), ...reasonColumns]));
    }
    const kept = cells.map(([, text]) => text?.slice(0, limits.rejectedCellMax) ?? null);
    const line = Buffer.from(lineOf([...kept, String(row), column, reason]));
    this.#bytes += line.length;
    if (this.#bytes > limits.rejectedBytesMax) return;
    writeFileSync(this.#file, line);
    this.rowsKept++;
  }

  #note(refusal: Refusal): void {
    if (this.first.length < limits.reportedRefusalsMax) this.first.push(refusal);
    const name = JSON.stringify([refusal.column, refusal.reason]);
    const group = this.#groups.get(name);
    if (group !== undefined) group.rows++;
    else if (this.#groups.size < limits.reportedRefusalsMax) this.#groups.set(name, { ...refusal, rows: 1 });
  }

  /** The reasons in the order of their first rows; those beyond `reportedRefusalsMax` are left out. */
  get groups(): RefusalGroup[] {
    return [...this.#groups.values()];
  }

  /**
   * Opens a file beside the imported one, or in the working directory if that folder cannot be written to.
   */
  #open(): number {
    const folder = dirname(this.#path);
    // Looking through a folder of many files takes its time.
    if (!cleared.has(folder)) removeLeftovers(folder, /\.rejected\.csv\.(\d+\.\d+)(?:\.\d+)?\.part$/);
    cleared.add(folder);
    try {
      return this.#openPart();
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    this.#path = resolve(basename(this.#path));
    try {
      return this.#openPart();
    } catch (error) {
      throw folderProblem(error, process.cwd(), 'refused rows are written beside their file, or there');
    }
  }

  /** Nobody but its owner may read or write the file, and only who may do so with its source. */
  #openPart(): number {
    const source = this.#source === null ? undefined : statSync(this.#source, { throwIfNoEntry: false });
    return openSync(this.#partPath, 'w', (source?.mode ?? OWNER) & OWNER);
  }

  /** Ends the collecting: of many files in one write none stays open. */
  end(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  /**
   * Gives the file its name, and returns its path; null where no row was refused: then an earlier import's
   * file is removed, unless this import was only a trial.
   */
  keep(isTrial: boolean): string | null {
    if (!this.#isPartial) {
      if (this.#isKept && this.#replacesEarlier && !isTrial) this.#removeEarlier();
      return null;
    }
    this.#isPartial = false;
    try {
      const place = rejectedPlace(this.#path, this.#replacesEarlier);
      renameSync(this.#partPath, place);
      return place;
    } catch {
      // The import is done: its refused rows stay where they are.
      return this.#partPath;
    }
  }

  /** Removes a file that was not kept. */
  drop(): void {
    this.end();
    if (this.#isPartial) rmSync(this.#partPath, { force: true });
    this.#isPartial = false;
  }

  /** Removes the refused rows of an earlier import, if the folder allows it. */
  #removeEarlier(): void {
    try {
      rmSync(rejectedPlace(this.#path, true), { force: true });
    } catch {
      // The import is done already.
    }
  }

  get #partPath(): string {
    return `${this.#path}.${ownMark}.${this.#number}.part`;
  }
}
