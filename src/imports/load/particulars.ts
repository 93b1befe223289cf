// The rules for the rows of a dataset that its declaration cannot say.

import type { Counters } from '../../runs/new-instrument.ts';
import type { Values } from '../../store/schema/dataset.ts';
import type { RowReader, Writer } from '../../store/store.ts';
import type { RowProblem } from '../read/file-problem.ts';
import type { NamedInstruments } from './named-instruments.ts';

/** The writer of a row, and the instruments that rows of the run name. */
export type RowContext = {
  readonly writer: Writer;
  readonly counters: Counters;
  readonly named: NamedInstruments;
  /** Counts a row in the report under these words. */
  readonly warn: (finding: string) => void;
};

type Warnings = string | readonly string[] | null;

/** Rules for the rows of a dataset, beyond its declaration. */
export type Particulars = {
  /**
   * The same for the rows of one file, where that depends on all of its valid rows, and on what is stored.
   */
  readonly ofFile?: (rows: AsyncIterable<Values>, reader: RowReader) => Promise<Particulars>;
  /** Adds defaults, and identifiers made of the values. */
  readonly complete?: (values: Values) => Values;
  /** The fault of a row whose cells are all valid; `written` gives the text of a cell. */
  readonly problemOf?: (values: Values, written: (field: string) => string) => RowProblem | null;
  /** The fault of a row beside the stored rows: `known` is the row of its key, null if there is none. */
  readonly problemBeside?: (
    values: Values,
    known: Values | null,
    reader: RowReader,
  ) => RowProblem | null | Promise<RowProblem | null>;
  /**
   * Warnings about a row that is stored, at the beginning of the import: words before a count. `reader`
   * leaves damaged rows out.
   */
  readonly findingOf?: (values: Values, reader: RowReader, startedMs: number) => Warnings | Promise<Warnings>;
  /** Warnings about the store after the last row, each with a number of rows. */
  readonly findingsAfter?: (reader: RowReader) => Promise<Readonly<Record<string, number>>>;
  /**
   * Fields that a row has all of, or none: where it lacks one, those that are the same for the whole file are
   * not its own.
   */
  readonly ties?: readonly string[];
  /**
   * The values of the second and further rows of one key in a file, by their `place` among these; null where
   * they are refused.
   */
  readonly followingOf?: (values: Values, place: number) => Values | null;
  /** The row to store; `known` is the stored row with its key. It makes the instruments that it names. */
  readonly rowOf?: (values: Values, known: Values | null, context: RowContext) => Promise<Values>;
};
