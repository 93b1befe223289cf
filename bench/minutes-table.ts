// A CSV of minutes as DuckDB reads it: every column typed, none guessed.

/** The columns of numbers. */
export const numberColumns = ['open', 'high', 'low', 'close', 'volume', 'vwap'];

/** The table of a file of minutes, in SQL; its instants without or with their offset. */
export function tableOf(csv: string, instants: 'TIMESTAMP' | 'TIMESTAMPTZ' = 'TIMESTAMP'): string {
  const types = [
    "'symbol': 'VARCHAR'",
    `'datetime': '${instants}'`,
    ...numberColumns.map((name) => `'${name}': 'DOUBLE'`),
  ];
  return `read_csv('${csv.replaceAll("'", "''")}', auto_detect=false, header=true, delim=',', quote='"', columns={${types.join()}})`;
}
