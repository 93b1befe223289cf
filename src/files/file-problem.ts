// Why a whole file is not imported: one clear message, the store as before.

/** The file, or the way it was asked for, cannot be imported. Nothing was written. */
export class FileProblem extends Error {
  /**
   * `usage`: asked for wrongly, whatever the file (exit status 2). `unfit`: this file cannot be had, or not as it was asked
   * for (exit status 2). `content`: the file is at fault (exit status 1).
   */
  readonly kind: 'usage' | 'unfit' | 'content';

  constructor(kind: FileProblem['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FileProblem';
    this.kind = kind;
  }
}

/** Why one row is refused. */
export type RowProblem = { readonly column: string; readonly reason: string };

/** A refused row, as the report and the file of refused rows name it. */
export type RefusedRow = RowProblem & {
  /** Counted from 1, the header not counted. */
  readonly row: number;
  /** The cells as they stand in the file, in the order of its columns. */
  readonly cells: readonly (string | null)[];
};
