// What one import did: counts, findings, refused rows, and the file of refused rows.
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { limits } from '../contract/limits.ts';
import { ownMark, removeLeftovers } from '../store/temporary.ts';
import type { RefusedRow } from './problem.ts';

/** The account of one import. */
export type ImportReport = {
  readonly dataset: string;
  readonly file: string;
  readonly sha256: string;
  /** The last line of a text file has no end: it may have been cut off inside its last cell. */
  readonly mayBeCut: boolean;
  /** Null where nothing was written. */
  readonly runId: number | null;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly rowsUnchanged: number;
  readonly rowsRefused: number;
  readonly newInstruments: number;
  /** What is odd about rows that were stored all the same, and how many. */
  readonly findings: Readonly<Record<string, number>>;
  readonly outsideSessions: number;
  readonly offGrid: number;
  /** Bars whose vwap lies outside their low and high: stored and served. */
  readonly vwapOutside: number;
  readonly ignoredColumns: readonly string[];
  /** The first refused rows; all of them are in `rejectedFile`. */
  readonly refused: readonly Omit<RefusedRow, 'cells'>[];
  readonly rejectedFile: string | null;
  readonly durationMs: number;
};

const cellText = (cell: string | null): string =>
  cell !== null && /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : (cell ?? '');

const lineOf = (cells: readonly (string | null)[]): string => `${cells.map(cellText).join()}\r\n`;

/** Columns that a file of refused rows has beside those of its source. */
const reasonColumns = ['rejected_row', 'rejected_column', 'rejected_reason'];

/** Collects refused rows: the first for the report, all of them in a CSV that can be mended and imported. */
export class RefusedRows {
  #path: string;
  readonly first: Omit<RefusedRow, 'cells'>[] = [];
  count = 0;
  readonly #header: readonly string[];
  #file: number | null = null;

  constructor(path: string, header: readonly string[]) {
    this.#path = path;
    this.#header = header;
  }

  add({ row, column, reason, cells }: RefusedRow): void {
    this.count++;
    if (this.first.length < limits.reportedRefusalsMax) this.first.push({ row, column, reason });
    if (this.#file === null) {
      removeLeftovers(dirname(this.#path), /\.rejected\.csv\.(\d+\.\d+)\.part$/);
      this.#file = this.#open();
      writeFileSync(this.#file, lineOf([...this.#header, ...reasonColumns]));
    }
    writeFileSync(
      this.#file,
      lineOf([...this.#header.map((_, index) => cells[index] ?? null), String(row), column, reason]),
    );
  }

  /** Beside the imported file, or where the command runs if that folder cannot be written to. */
  #open(): number {
    try {
      return openSync(this.#partPath, 'w');
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      this.#path = resolve(basename(this.#path));
      return openSync(this.#partPath, 'w');
    }
  }

  /** Puts the file in its place; its path, or null when no row was refused. */
  keep(): string | null {
    if (this.#file === null) return null;
    closeSync(this.#file);
    this.#file = null;
    try {
      renameSync(this.#partPath, this.#path);
      return this.#path;
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
