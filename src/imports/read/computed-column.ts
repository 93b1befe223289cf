// Columns that DuckDB computes from columns of a file while it reads them.

/** A column that is computed beside those of the file. */
export type ComputedColumn = {
  /** Different from all names of columns in files. */
  readonly name: string;
  /** The columns of the file that it is computed from. */
  readonly inputs: readonly string[];
  /** Those whose cells a refusal shows; it names the first. */
  readonly reported: readonly string[];
  /**
   * SQL of a fast reading, which fails where a cell cannot be computed, and of a careful one, which marks
   * that cell. It names columns by `columnText` and `columnNumber`.
   */
  readonly fast: string;
  readonly careful: string;
  readonly reason: string;
  /** A cell that cannot be computed is left out, not its row. */
  readonly oddIsNull?: true;
  /** How a small plain file gives the same without DuckDB, from the first input; absent where it does not. */
  readonly plain?: PlainRule | undefined;
};

/**
 * A column of numbers made of numbers, or one of texts made of texts: undefined for a text that needs SQL.
 */
type PlainRule =
  | { readonly kind: 'number'; readonly of: (value: number) => number }
  | { readonly kind: 'text'; readonly of: (text: string) => string | undefined };

/** The mark: a careful reading puts it before a cell that cannot be computed. No cell begins with it. */
export const UNMADE = '\u0001';

/**
 * Placeholders for a column, until its name in SQL is known: the column between characters that no name has.
 */
const REFERENCE = /[\ue000\ue001]([^\ue000-\ue002]*)\ue002/g;
export const columnText = (column: string): string => `\ue000${column}\ue002`;
export const columnNumber = (column: string): string => `\ue001${column}\ue002`;

/** SQL with its placeholders replaced. */
export const filledIn = (
  sql: string,
  text: (column: string) => string,
  number: (column: string) => string,
): string =>
  sql.replaceAll(REFERENCE, (mark, column: string) => (mark[0] === '\ue000' ? text : number)(column));

/** Text as a literal in SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
