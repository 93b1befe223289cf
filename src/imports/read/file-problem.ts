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

/** The problem of a call that is wrong, whatever the file. */
export const usageProblem = (how: string, cause?: unknown): FileProblem =>
  new FileProblem('usage', how, { cause });

/** The problem of a file with a row that is too long. */
export const longRow = (name: string): FileProblem =>
  contentProblem(name, `a row is longer than ${limits.importRowBytesMax} bytes. Nothing was imported.`);
