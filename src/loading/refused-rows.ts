// Rows that an import refused: the first for its report, all in a CSV that can be corrected and imported.
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { limits } from '../contract/limits.ts';
import { folderProblem } from '../disk/space.ts';
import { ownMark, removeLeftovers } from '../disk/temporary.ts';
import { lineOf } from '../files/csv-line.ts';
import type { Refusal, RefusalGroup, RefusedRow } from '../files/file-problem.ts';
import { reasonColumns, rejectedPlace, removeEarlier } from '../files/rejected-file.ts';
import type { MappedFile } from '../mapping/column-mapping.ts';

/** Collects the refused rows of one file. */
export class RefusedRows {
  #path: string;
  readonly first: Refusal[] = [];
  readonly #groups = new Map<string, { -readonly [K in keyof RefusalGroup]: RefusalGroup[K] }>();
  count = 0;
  /** The file's columns and their places; a corrected file of refused rows has old reasons, which are left out. */
  readonly #columns: readonly (readonly [name: string, place: number])[];
  /** Not for standard input: the rows of an earlier one are nowhere else. */
  readonly #replacesEarlier: boolean;
  /** For each row its number in the original file, where a preset converted that. */
  readonly #rowNumbers: readonly number[] | undefined;
  #file: number | null = null;
  readonly #isKept: boolean;

  /** Without `isKept` the rows are only counted: no file is made. */
  constructor({ rejectedPath, header, isStandardInput, rowNumbers }: MappedFile, isKept = true) {
    this.#isKept = isKept;
    this.#rowNumbers = rowNumbers;
    this.#path = rejectedPath;
    this.#columns = header
      .map((name, place) => [name, place] as const)
      .filter(([name]) => !reasonColumns.includes(name));
    this.#replacesEarlier = !isStandardInput;
  }

  add({ row: rowRead, column, reason, cells }: RefusedRow): void {
    const row = this.#rowNumbers?.[rowRead - 1] ?? rowRead;
    this.count++;
    const cell = cells[this.#columns.find(([name]) => name === column)?.[1] ?? -1] ?? '';
    this.#note({ row, column, reason, value: cell === '' ? null : cell.slice(0, limits.reportedValueMax) });
    if (!this.#isKept) return;
    if (this.#file === null) {
      removeLeftovers(dirname(this.#path), /\.rejected\.csv\.(\d+\.\d+)\.part$/);
      this.#file = this.#open();
      writeFileSync(this.#file, lineOf([...this.#columns.map(([name]) => name), ...reasonColumns]));
    }
    const kept = this.#columns.map(([, place]) => cells[place] ?? null);
    writeFileSync(this.#file, lineOf([...kept, String(row), column, reason]));
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

  /** Opens a file beside the imported one, or in the working directory if that folder cannot be written to. */
  #open(): number {
    try {
      return openSync(this.#partPath, 'w');
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    this.#path = resolve(basename(this.#path));
    try {
      return openSync(this.#partPath, 'w');
    } catch (error) {
      throw folderProblem(error, process.cwd(), 'refused rows are written beside their file, or there');
    }
  }

  /**
   * Gives the file its name, and returns its path; null where no row was refused: then an earlier import's file is removed,
   * unless this import was only a trial.
   */
  keep(isTrial: boolean): string | null {
    if (this.#file === null) {
      if (this.#isKept && this.#replacesEarlier && !isTrial) removeEarlier(this.#path);
      return null;
    }
    closeSync(this.#file);
    this.#file = null;
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
    if (this.#file === null) return;
    closeSync(this.#file);
    this.#file = null;
    rmSync(this.#partPath, { force: true });
  }

  get #partPath(): string {
    return `${this.#path}.${ownMark}.part`;
  }
}
