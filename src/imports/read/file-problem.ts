// Why a whole file is not imported: one clear message, the store as before.
import { limits } from '../../contract/limits.ts';

/** A file or a call that cannot be imported. Nothing was written. */
export class FileProblem extends Error {
  /**
   * `usage`: the call is wrong, whatever the file (exit status 2). `unfit`: the call does not fit this file,
   * or the file cannot be opened (exit status 2). `content`: the file is wrong (exit status 1).
   */
  readonly kind: 'usage' | 'unfit' | 'content';

  constructor(kind: FileProblem['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FileProblem';
    this.kind = kind;
  }
}

/** A fast reading failed, or a cell is not a number: the file must be read carefully. */
export class NeedsCare extends Error {
  constructor() {
    super('the file needs a careful reading');
    this.name = 'NeedsCare';
  }
}

/** The problem of a file that is wrong; `name` is the file's. */
export const contentProblem = (name: string, how: string, cause?: unknown): FileProblem =>
  new FileProblem('content', `${name}: ${how}`, { cause });

/** The problem of a file that the call does not fit, or that cannot be opened. */
export const unfitProblem = (name: string, how: string, cause?: unknown): FileProblem =>
  new FileProblem('unfit', `${name}: ${how}`, { cause });

/** The problem of a file with a row that is too long. */
export const longRow = (name: string): FileProblem =>
  contentProblem(name, `a row is longer than ${limits.importRowBytesMax} bytes. Nothing was imported.`);

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

/** A refused row, for the file of refused rows. */
export type RefusedRow = {
  readonly reason: string;
  /** The columns whose cells are wrong together; the report names the first. */
  readonly columns: readonly string[];
  /** Counted from 1, the header not counted. */
  readonly row: number;
  /** The cells of the row, unchanged, in the order of the file's columns. */
  readonly cells: readonly (string | null)[];
};
