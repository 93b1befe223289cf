// A column that DuckDB computes from columns of a file while it reads them.

/** A column that is computed beside those of the file. */
export type ComputedColumn = {
  /** No column of a file has this name. */
  readonly name: string;
  /** The columns of the file that it is made of; refusals name the first. */
  readonly inputs: readonly string[];
  /** SQL of a fast reading, where what cannot be made ends the reading, and of a careful one, where it is marked. Columns stand in it as `columnText` and `columnNumber` write them. */
  readonly fast: string;
  readonly careful: string;
  readonly reason: string;
};

/** Begins what a careful reading gives for a cell that cannot be made; no cell is it. */
export const UNMADE = '\u0001';

/** A column in SQL before its file is known: between characters that no name has. */
const REFERENCE = /[\ue000\ue001]([^\ue002]*)\ue002/g;
export const columnText = (column: string): string => `\ue000${column}\ue002`;
export const columnNumber = (column: string): string => `\ue001${column}\ue002`;

/** SQL with its columns as `text` and `number` write them. */
export const filledIn = (
  sql: string,
  text: (column: string) => string,
  number: (column: string) => string,
): string =>
  sql.replaceAll(REFERENCE, (mark, column: string) => (mark[0] === '\ue000' ? text : number)(column));

/** Text as SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
