// Rows that an import refused: the first for its report, all of them in a CSV that can be mended and imported again.
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { limits } from '../contract/limits.ts';
import { folderProblem } from '../disk/space.ts';
import { ownMark, removeLeftovers } from '../disk/temporary.ts';
import { lineOf } from '../files/csv-line.ts';
import type { RefusedRow } from '../files/file-problem.ts';
import { reasonColumns, rejectedPlace, removeEarlier } from '../files/rejected-file.ts';

/** What of a file says where its refused rows go. */
type Source = {
  readonly rejectedPath: string;
  readonly header: readonly string[];
  readonly isStandardInput: boolean;
  /** For each row, its number in the original file, where a preset converted that. */
  readonly rowNumbers?: readonly number[];
};

/** Collects refused rows: the first for the report, all of them in a CSV that can be mended and imported. */
export class RefusedRows {
  #path: string;
  readonly first: Omit<RefusedRow, 'cells'>[] = [];
  count = 0;
  /** The source's columns and their places; a mended file of refused rows has reasons of its own, which are past. */
  readonly #columns: readonly (readonly [name: string, place: number])[];
  /** What an earlier standard input held lies nowhere else. */
  readonly #replacesEarlier: boolean;
  readonly #rowNumbers: readonly number[] | undefined;
  #file: number | null = null;

  constructor({ rejectedPath, header, isStandardInput, rowNumbers }: Source) {
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
    if (this.first.length < limits.reportedRefusalsMax) this.first.push({ row, column, reason });
    if (this.#file === null) {
      removeLeftovers(dirname(this.#path), /\.rejected\.csv\.(\d+\.\d+)\.part$/);
      this.#file = this.#open();
      writeFileSync(this.#file, lineOf([...this.#columns.map(([name]) => name), ...reasonColumns]));
    }
    writeFileSync(
      this.#file,
      lineOf([...this.#columns.map(([, place]) => cells[place] ?? null), String(row), column, reason]),
    );
  }

  /** Beside the imported file, or where the command runs if that folder cannot be written to. */
  #open(): number {
    try {
      return openSync(this.#partPath, 'w');
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return this.#openHere();
    }
  }

  #openHere(): number {
    this.#path = resolve(basename(this.#path));
    try {
      return openSync(this.#partPath, 'w');
    } catch (error) {
      throw folderProblem(error, process.cwd(), 'refused rows go beside their file, or there');
    }
  }

  /**
   * Puts the file in its place; its path, or null when no row was refused: then the one of an earlier import of the same file
   * goes, unless this import was only a trial.
   */
  keep(isTrial: boolean): string | null {
    if (this.#file === null) {
      if (this.#replacesEarlier && !isTrial) removeEarlier(this.#path);
      return null;
    }
    closeSync(this.#file);
    this.#file = null;
    try {
      const place = rejectedPlace(this.#path, this.#replacesEarlier);
      renameSync(this.#partPath, place);
      return place;
    } catch {
      // The import has been done: its refused rows stay where they are.
      return this.#partPath;
    }
  }

  /** Drops what was collected. */
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
