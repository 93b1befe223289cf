// The rules for the rows of a dataset that its declaration cannot say, and those of news: the identifier of
// an item (contract 4.5, 8.3).
import { hash } from 'node:crypto';
import { rowFormOf } from '../../store/checked-rows.ts';
import type { Dataset, RowOf, Values } from '../../store/schema/dataset.ts';
import type { RowReader } from '../../store/store.ts';
import type { RowProblem } from './refused-rows.ts';
import type { RunInstruments } from './run-instruments.ts';

/** The instruments that rows of the run name, and its report. */
export type RowContext = {
  readonly named: RunInstruments;
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

/** The row of a dataset with some values: the columns are in the order in which rows are read. */
export function rowWithValues<D extends Dataset>(dataset: D, values: Values): RowOf<D> {
  const { names, blank } = rowFormOf(dataset);
  const row = { ...blank };
  for (const name of names) row[name] = values[name] ?? null;
  return row as RowOf<D>;
}

/** The fields that link an item to an instrument: all or none. */
const ties = ['asset_name', 'country_iso_code', 'symbol'];

/** The link of an item to one instrument (spec 2.5). */
const SPECIFIC_ASSET = 'SPECIFIC_ASSET';

function problemOf(values: Values): RowProblem | null {
  const missing = ties.filter((field) => values[field] === undefined);
  if (missing.length === 0 || missing.length === ties.length) return null;
  return { column: missing[0]!, reason: `is missing: ${ties.join(', ')} belong together` };
}

/** 128 bits of SHA-256 of address, title and instrument. */
function idOf(values: Values): string {
  const parts = ['publisher_url', 'title', ...ties].map((field) => values[field] ?? null);
  return hash('sha256', JSON.stringify(parts), 'buffer').toString('base64url', 0, 16);
}

const FUTURE = 'dated after now, and among the latest news only from their own times on';

/** The particulars of news. */
export const newsItems: Particulars = {
  ties,
  problemOf,
  findingOf: ({ published_date }, _reader, startedMs) =>
    (published_date as number) > startedMs ? FUTURE : null,
  complete: (values) => ({
    link_type: values.symbol === undefined ? null : SPECIFIC_ASSET,
    ...values,
    news_id: idOf(values),
  }),
};
